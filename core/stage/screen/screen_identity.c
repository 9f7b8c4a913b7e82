/* Lists what the program and its screening workers must have in common (screen_protocol.h). */
#include "pipeline/pipeline_subject.h"
#include "stage/screen/screen_protocol.h"

/* The plugin that provides an entry of the pipeline; NULL for the build entry. */
static const rkb_registry_object_t *plugin_of(const rkb_pipeline_t *pipeline, uint32_t entry) {
   const rkb_registry_object_t *object = NULL;
   const char *use = pipeline->entries[entry].node.use;
   if (!rkb_registry_stage(pipeline->registry, use, &object))
      rkb_registry_strategy(pipeline->registry, use, &object);
   return object;
}

void screen_identity_write(const rkb_pipeline_t *pipeline, rkb_text_t *out) {
   rkb_text_format(out, "interface %d.%d\npipeline %s\ntask %s\n", RKB_ABI_MAJOR, RKB_ABI_MINOR, pipeline->hash,
                   pipeline->task ? rkb_subject_task_hash(pipeline) : "");
   for (uint32_t i = 0; i < pipeline->entry_count; i++) {
      const rkb_registry_object_t *object = plugin_of(pipeline, i);
      const char *hash = object ? rkb_registry_hash(pipeline->registry, object) : NULL;
      if (object)
         rkb_text_format(out, "plugin %s %s\n", pipeline->entries[i].node.use, hash ? hash : "(unreadable)");
   }
}
