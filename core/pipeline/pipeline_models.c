/* A pipeline's models without the rest of it, for commands that load no plugin.  Any thread; nothing is kept. */
#include <string.h>
#include "llm/llm.h"
#include "pipeline/pipeline_parts.h"

/* Whether a scalar below this node, in the options of an entry, has this text. */
static bool mentions(const rkb_yaml_t *node, const char *text) {
   bool found = node->kind == RKB_YAML_SCALAR && node->text && strcmp(node->text, text) == 0;
   for (uint32_t i = 0; i < node->count && !found; i++)
      found = mentions(node->items[i], text);
   return found;
}

struct rkb_models *rkb_pipeline_read_models(rkb_arena_t *arena, const rkb_pipeline_options_t *options, const char *besides, double cost_limit,
                                            rkb_problems_t *problems) {
   static const char *const sections[] = {"propose", "screen", "evaluate", "search"};
   rkb_pipeline_t pipeline = {.arena = arena, .root = rkb_pipeline_merge(arena, options->path, problems)};
   if (!pipeline.root || pipeline.root->kind != RKB_YAML_MAP || !rkb_pipeline_apply_options(&pipeline, options, problems))
      return NULL;
   const rkb_yaml_t *models = rkb_yaml_get(pipeline.root, "models");
   const uint32_t count = !rkb_yaml_is_null(models) && models->kind == RKB_YAML_MAP ? models->count : 0;
   bool *used = rkb_arena_array(arena, count + 1, sizeof *used);
   for (uint32_t i = 0; i < count; i++) {
      used[i] = besides && strcmp(besides, models->keys[i]->text) == 0;
      for (size_t s = 0; s < sizeof sections / sizeof sections[0]; s++) {
         const rkb_yaml_t *section = rkb_yaml_get(pipeline.root, sections[s]);
         used[i] |= section && mentions(section, models->keys[i]->text);
      }
   }
   return rkb_models_read(arena, models, used, cost_limit, NULL, NULL, problems);
}

const struct rkb_models *rkb_pipeline_models(const rkb_pipeline_t *pipeline) {
   return pipeline->models;
}
