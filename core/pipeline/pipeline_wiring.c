/* Wires the entries: places the build step, resolves needs and closes them transitively.  Sets of entries are bit masks.  The file order
 * is a topological order, because an entry may need only earlier ones. */
#include "pipeline/pipeline_parts.h"

#include <string.h>
#include "base/nearest_name.h"

int32_t rkb_pipeline_find(const rkb_pipeline_t *pipeline, const char *id) {
   for (uint32_t i = 0; i < pipeline->entry_count; i++)
      if (strcmp(pipeline->entries[i].node.id, id) == 0)
         return (int32_t)i;
   return -1;
}

static bool in_graph(const rkb_entry_t *entry) {
   return entry->node.section == RKB_IN_SCREEN || entry->node.section == RKB_IN_EVALUATE;
}

/* Puts the build step before the first stage that needs a build.  The core runs it; its limits are the compiler's. */
static void place_build(rkb_pipeline_t *pipeline) {
   uint32_t at = 0;
   pipeline->build = -1;
   while (at < pipeline->entry_count &&
          !(in_graph(&pipeline->entries[at]) && (pipeline->entries[at].node.flags & RKB_STAGE_NEEDS_BUILD)))
      at++;
   if (at == pipeline->entry_count)
      return;
   memmove(&pipeline->entries[at + 1], &pipeline->entries[at],
           (pipeline->entry_count - at) * sizeof pipeline->entries[0]);
   const rkb_entry_t *first = &pipeline->entries[at + 1];
   pipeline->entries[at] = (rkb_entry_t){.is_build = true, .yaml = NULL};
   pipeline->entries[at].node = (rkb_graph_node_t){.id = RKB_BUILD_ID,
                                                   .use = "",
                                                   .section = first->node.section,
                                                   .flags = RKB_STAGE_DETERMINISTIC,
                                                   .retries = 1,
                                                   .deadline_ns = RKB_DEFAULT_DEADLINE,
                                                   .weight = 1,
                                                   .only = "",
                                                   .place = first->node.place};
   pipeline->entry_count++;
   pipeline->build = (int32_t)at;
   pipeline->first_operator++;
   if (pipeline->strategy >= 0)
      pipeline->strategy++;
   for (uint32_t i = 0; i < pipeline->entry_count; i++)
      pipeline->entries[i].index = i;
}

static const char *nearest_id(const rkb_pipeline_t *pipeline, uint32_t section, const char *written) {
   const char *ids[RKB_MAX_ENTRIES + 1];
   uint32_t count = 0;
   for (uint32_t i = 0; i < pipeline->entry_count; i++)
      if (pipeline->entries[i].node.section == section)
         ids[count++] = pipeline->entries[i].node.id;
   ids[count] = NULL;
   return rkb_nearest(written, ids);
}

static void read_need(rkb_pipeline_t *pipeline, rkb_entry_t *entry, const rkb_yaml_t *need,
                      rkb_problems_t *problems) {
   const char *id;
   if (!rkb_yaml_scalar(need, "needs", &id, problems))
      return;
   int32_t at = rkb_pipeline_find(pipeline, id);
   const rkb_entry_t *other = at >= 0 ? &pipeline->entries[at] : NULL;
   if (!other && strcmp(id, RKB_BUILD_ID) == 0) {
      rkb_problem(problems, need->place, "needs: no stage of this pipeline needs a build, so there is none");
   } else if (!other || !in_graph(other)) {
      const char *near = nearest_id(pipeline, entry->node.section, id);
      rkb_problem(problems, need->place, "needs: there is no entry '%s' in screen or evaluate%s%s%s", id,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
   } else if (other->node.section != entry->node.section) {
      /* All entries of screen run before evaluate anyway. */
      rkb_problem(problems, need->place,
                  "needs: '%s' stands in another section; name entries of the same one", id);
   } else if (at >= (int32_t)entry->index) {
      rkb_problem(problems, need->place, "needs: '%s' %s; an entry needs earlier ones only", id,
                  at == (int32_t)entry->index ? "is the entry itself" : "comes later in the file");
   } else {
      entry->needs |= 1ull << at;
   }
}

static void resolve_needs(rkb_pipeline_t *pipeline, rkb_entry_t *entry, rkb_problems_t *problems) {
   const rkb_yaml_t *needs = entry->yaml ? rkb_yaml_get(entry->yaml, "needs") : NULL;
   bool has_previous =
      entry->index > 0 && pipeline->entries[entry->index - 1].node.section == entry->node.section;
   if (entry->is_build) {
      /* The build has the needs of the first stage that needs it. */
      const rkb_entry_t *first = &pipeline->entries[entry->index + 1];
      needs = first->yaml ? rkb_yaml_get(first->yaml, "needs") : NULL;
      for (uint32_t i = 0; needs && i < needs->count; i++)
         if (needs->items[i]->kind == RKB_YAML_SCALAR && strcmp(needs->items[i]->text, RKB_BUILD_ID) == 0)
            needs = NULL;
      if (needs && needs->kind == RKB_YAML_LIST) {
         rkb_problems_t ignored; /* the stage itself reports the same faults */
         rkb_problems_init(&ignored);
         for (uint32_t i = 0; i < needs->count; i++)
            read_need(pipeline, entry, needs->items[i], &ignored);
         rkb_problems_free(&ignored);
         return;
      }
   }
   if (!needs) {
      entry->needs = has_previous ? 1ull << (entry->index - 1) : 0;
   } else if (rkb_yaml_expect(needs, RKB_YAML_LIST, "needs", problems)) {
      for (uint32_t i = 0; i < needs->count; i++)
         read_need(pipeline, entry, needs->items[i], problems);
   }
   bool same_section =
      pipeline->build >= 0 && pipeline->entries[pipeline->build].node.section == entry->node.section;
   if ((entry->node.flags & RKB_STAGE_NEEDS_BUILD) && same_section)
      entry->needs |= 1ull << pipeline->build;
}

static void name_needs(rkb_pipeline_t *pipeline, rkb_entry_t *entry) {
   const char **names = rkb_arena_array(pipeline->arena, RKB_MAX_ENTRIES + 1, sizeof *names);
   uint32_t count = 0;
   for (uint32_t i = 0; i < pipeline->entry_count; i++)
      if (entry->needs & (1ull << i))
         names[count++] = pipeline->entries[i].node.id;
   entry->node.needs = names;
}

bool rkb_pipeline_wire(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   place_build(pipeline);
   for (uint32_t i = 0; i < pipeline->entry_count; i++) {
      rkb_entry_t *entry = &pipeline->entries[i];
      if (entry->node.section == RKB_IN_SCREEN)
         pipeline->screen |= 1ull << i;
      if (entry->node.section == RKB_IN_EVALUATE)
         pipeline->evaluate |= 1ull << i;
      if (in_graph(entry))
         resolve_needs(pipeline, entry, problems);
      entry->before = entry->needs;
      for (uint32_t j = 0; j < i; j++)
         if (entry->needs & (1ull << j))
            entry->before |= pipeline->entries[j].before;
      if (entry->node.section == RKB_IN_EVALUATE)
         entry->before |= pipeline->screen;
      name_needs(pipeline, entry);
      pipeline->verified_by_execution |= (entry->node.flags & RKB_STAGE_EXECUTES) && !entry->node.shadow;
   }
   return problems->errors == before;
}
