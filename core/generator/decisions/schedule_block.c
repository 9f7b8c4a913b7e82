/* The `schedule:` block of a manifest: prints schedules and reads them.  Pure functions. */
#include "generator/decisions/launch_decisions.h"
#include "generator/decisions/schedule_block.h"

#include <stdlib.h>
#include <string.h>
#include "base/yaml.h"
#include "generator/row/row_range_sums.h"

/* Decisions that are younger than schedules that people have kept.  So a schedule names one of them only if it does not
 * have its first value. */
static const uint64_t told_where_chosen =
   UINT64_C(1) << RKB_PLACES | UINT64_C(1) << RKB_WINDOW | UINT64_C(1) << RKB_MOMENTS |
   UINT64_C(1) << RKB_STRETCHES | UINT64_C(1) << RKB_SEGMENTS | UINT64_C(1) << RKB_CHANNELS |
   UINT64_C(1) << RKB_SHORTER | UINT64_C(1) << RKB_SMALL | UINT64_C(1) << RKB_BESIDE |
   UINT64_C(1) << RKB_HELD | UINT64_C(1) << RKB_STRIP | UINT64_C(1) << RKB_LISTED |
   UINT64_C(1) << RKB_CLUSTER | UINT64_C(1) << RKB_OTHER_M | UINT64_C(1) << RKB_OTHER_N |
   UINT64_C(1) << RKB_OTHER_SPLIT | UINT64_C(1) << RKB_PHASES | UINT64_C(1) << RKB_DEPENDENT |
   UINT64_C(1) << RKB_WARPS | UINT64_C(1) << RKB_SHARE_LAST | UINT64_C(1) << RKB_NARROW |
   UINT64_C(1) << RKB_PARTS | UINT64_C(1) << RKB_LINES;

static void print_names(const rkb_graph_t *graph, const uint32_t *nodes, uint32_t count, rkb_text_t *out) {
   rkb_text_add(out, "[");
   for (uint32_t i = 0; i < count; i++)
      rkb_text_format(out, "%s%s", i ? ", " : "", graph->nodes[nodes[i]].name);
   rkb_text_add(out, "]");
}

/* Whether a decision is younger than other decisions of this mapping, and has no effect here. */
static bool is_left_out(const rkb_launch_t *launch, uint32_t decision) {
   if (launch->mapping == RKB_MAP_RANK)
      return !launch->decisions[RKB_KEEP] && decision != RKB_THREADS;
   if (launch->mapping == RKB_MAP_ROW && decision == RKB_STAGES)
      return !rkb_rows_are_staged(launch);
   return launch->mapping == RKB_MAP_ROW && decision == RKB_PREFETCH && !(launch->decisions[decision] && launch->decisions[RKB_KEEP]);
}

void rkb_schedule_print(const rkb_graph_t *graph, const rkb_schedule_t *schedule, rkb_text_t *out) {
   rkb_text_format(out, "schedule:\n  version: %d\n  launches:\n", RKB_SCHEDULE_VERSION);
   for (uint32_t i = 0; i < schedule->count; i++) {
      const rkb_launch_t *launch = &schedule->launches[i];
      rkb_text_format(out, "    - {map: %s, ", rkb_mapping_name(launch->mapping));
      if (launch->anchor_count) {
         rkb_text_add(out, "compute: ");
         print_names(graph, launch->anchors, launch->anchor_count, out);
         rkb_text_add(out, ", ");
      }
      rkb_text_add(out, "write: ");
      print_names(graph, launch->roots, launch->root_count, out);
      for (uint32_t d = 0; d < RKB_DECISIONS; d++)
         if (rkb_mapping_has(launch->mapping, d) && !is_left_out(launch, d) && (!(told_where_chosen >> d & 1) || launch->decisions[d] > rkb_decision_values(d)[0])) {
            const char *word = rkb_decision_word(d, launch->decisions[d]);
            if (word)
               rkb_text_format(out, ", %s: %s", rkb_decision_name(d), word);
            else
               rkb_text_format(out, ", %s: %lld", rkb_decision_name(d), (long long)launch->decisions[d]);
         }
      rkb_text_add(out, "}\n");
   }
}

static bool parse_nodes(const rkb_graph_t *graph, const rkb_yaml_t *list, uint32_t *nodes, uint32_t *count) {
   *count = 0;
   for (uint32_t i = 0; list && i < list->count; i++) {
      uint32_t found = RKB_NO_NODE;
      for (uint32_t n = 0; n < graph->node_count && list->items[i]->kind == RKB_YAML_SCALAR; n++)
         if (strcmp(graph->nodes[n].name, list->items[i]->text) == 0)
            found = n;
      if (found == RKB_NO_NODE || *count == RKB_MAX_LAUNCH_NODES)
         return false;
      nodes[(*count)++] = found;
   }
   return true;
}

static bool is_value(uint32_t decision, int64_t value) {
   for (const int64_t *v = rkb_decision_values(decision); *v >= 0; v++)
      if (*v == value)
         return true;
   return decision == RKB_THREADS && value == 32;
}

/* Returns the value of a word or a number; -1: there is none. */
static int64_t value_of(uint32_t decision, const char *text) {
   for (const int64_t *v = rkb_decision_values(decision); *v >= 0; v++) {
      const char *word = rkb_decision_word(decision, *v);
      if (word && strcmp(word, text) == 0)
         return *v;
   }
   return rkb_decision_word(decision, rkb_decision_values(decision)[0]) ? -1 : strtoll(text, NULL, 10);
}

static bool parse_launch(const rkb_graph_t *graph, const rkb_yaml_t *map, rkb_schedule_t *schedule) {
   const rkb_yaml_t *mapping = rkb_yaml_get(map, "map");
   rkb_launch_t *launch = NULL;
   for (uint32_t m = RKB_MAP_ELEMENT; mapping && mapping->kind == RKB_YAML_SCALAR && m < RKB_MAPPINGS; m++)
      if (strcmp(rkb_mapping_name(m), mapping->text) == 0)
         launch = rkb_schedule_add(schedule, m);
   if (!launch || !parse_nodes(graph, rkb_yaml_get(map, "compute"), launch->anchors, &launch->anchor_count) ||
       !parse_nodes(graph, rkb_yaml_get(map, "write"), launch->roots, &launch->root_count) ||
       !launch->root_count)
      return false;
   for (uint32_t d = 0; d < RKB_DECISIONS; d++) {
      const rkb_yaml_t *value = rkb_yaml_get(map, rkb_decision_name(d));
      if (!value)
         continue;
      launch->decisions[d] = value->kind == RKB_YAML_SCALAR ? value_of(d, value->text) : -1;
      if (!is_value(d, launch->decisions[d]))
         return false;
   }
   return true;
}

const rkb_yaml_t *rkb_schedule_launches(rkb_arena_t *arena, const char *source) {
   const char *start = strstr(source, "\nschedule:\n"), *end = start ? strstr(start, "*/") : NULL;
   if (!start || !end)
      return NULL;
   /* The block ends at the first line that begins in the first column. */
   for (const char *line = strchr(start + 1, '\n'); line && line < end; line = strchr(line + 1, '\n'))
      if (line[1] != ' ') {
         end = line + 1;
         break;
      }
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   const rkb_yaml_t *root =
      rkb_yaml_parse(arena, "schedule", start + 1, (size_t)(end - start - 1), 1, 1, &problems);
   const rkb_yaml_t *block = root && root->kind == RKB_YAML_MAP ? rkb_yaml_get(root, "schedule") : NULL;
   const rkb_yaml_t *launches = block && block->kind == RKB_YAML_MAP ? rkb_yaml_get(block, "launches") : NULL;
   const rkb_yaml_t *version = launches ? rkb_yaml_get(block, "version") : NULL;
   rkb_problems_free(&problems);
   const bool good = launches && launches->kind == RKB_YAML_LIST && version && version->kind == RKB_YAML_SCALAR &&
                     strtol(version->text, NULL, 10) == RKB_SCHEDULE_VERSION;
   return good ? launches : NULL;
}

int rkb_schedule_parse(const rkb_graph_t *graph, const char *source, rkb_schedule_t *schedule,
                       rkb_error_t *err) {
   *schedule = (rkb_schedule_t){0};
   rkb_arena_t *arena = rkb_arena_new(0);
   const rkb_yaml_t *launches = rkb_schedule_launches(arena, source);
   bool good = launches != NULL;
   for (uint32_t i = 0; good && i < launches->count; i++)
      good = launches->items[i]->kind == RKB_YAML_MAP && parse_launch(graph, launches->items[i], schedule);
   rkb_arena_free(arena);
   return good ? RKB_OK
               : rkb_fail(err, RKB_ERR_INVALID, "the kernel has no schedule of this task and version: it was written by hand");
}
