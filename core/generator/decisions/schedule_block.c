/* The `schedule:` block of a manifest: prints schedules and reads them.  Pure functions. */
#include "generator/decisions/launch_decisions.h"
#include "generator/decisions/schedule_block.h"

#include <stdio.h>
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
   UINT64_C(1) << RKB_PARTS | UINT64_C(1) << RKB_LINES | UINT64_C(1) << RKB_SHARED_LAYOUT |
   UINT64_C(1) << RKB_PAD_ROWS;

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

/* What the names in a list are, with the list's key: false, and a problem with its place, where one is no value of the graph. */
static bool parse_nodes(const rkb_graph_t *graph, const rkb_yaml_t *map, const char *key, uint32_t *nodes,
                        uint32_t *count, rkb_problems_t *problems) {
   const rkb_yaml_t *list = rkb_yaml_get(map, key);
   *count = 0;
   if (list && !rkb_yaml_expect(list, RKB_YAML_LIST, key, problems))
      return false;
   for (uint32_t i = 0; list && i < list->count; i++) {
      const char *name = list->items[i]->kind == RKB_YAML_SCALAR ? list->items[i]->text : "";
      uint32_t found = RKB_NO_NODE;
      for (uint32_t n = 0; n < graph->node_count; n++)
         if (strcmp(graph->nodes[n].name, name) == 0)
            found = n;
      if (found == RKB_NO_NODE)
         rkb_problem(problems, list->items[i]->place, "%s: the task's graph has no value '%.60s'", key, name);
      else if (*count == RKB_MAX_LAUNCH_NODES)
         rkb_problem(problems, list->items[i]->place, "%s: a launch has at most %u values", key,
                     RKB_MAX_LAUNCH_NODES);
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
   char *end = NULL;
   for (const int64_t *v = rkb_decision_values(decision); *v >= 0; v++) {
      const char *word = rkb_decision_word(decision, *v);
      if (word && strcmp(word, text) == 0)
         return *v;
   }
   const int64_t number = strtoll(text, &end, 10);
   return rkb_decision_word(decision, rkb_decision_values(decision)[0]) || end == text || *end ? -1 : number;
}

static void say_values(uint32_t decision, const rkb_yaml_t *value, rkb_problems_t *problems) {
   rkb_text_t list;
   rkb_text_init(&list, 512);
   for (const int64_t *v = rkb_decision_values(decision); *v >= 0; v++) {
      const char *word = rkb_decision_word(decision, *v);
      rkb_text_add(&list, v == rkb_decision_values(decision) ? "" : v[1] < 0 ? " or " : ", ");
      if (word)
         rkb_text_add(&list, word);
      else
         rkb_text_format(&list, "%lld", (long long)*v);
   }
   rkb_problem(problems, value->place, "%s cannot be '%.40s'; write %s", rkb_decision_name(decision),
               value->kind == RKB_YAML_SCALAR ? value->text : "a list or a map", rkb_text_get(&list));
   rkb_text_free(&list);
}

/* Reads the decisions of a launch; every key of the map is one of them, or one of map, compute and write. */
static bool parse_decisions(const rkb_yaml_t *map, rkb_launch_t *launch, rkb_problems_t *problems) {
   const char *known[RKB_DECISIONS + 4] = {"map", "compute", "write"};
   char what[64];
   uint32_t count = 3;
   const uint32_t before = problems->errors;
   for (uint32_t d = 0; d < RKB_DECISIONS; d++) {
      const rkb_yaml_t *value = rkb_yaml_get(map, rkb_decision_name(d));
      if (!rkb_mapping_has(launch->mapping, d))
         continue;
      known[count++] = rkb_decision_name(d);
      if (!value)
         continue;
      launch->decisions[d] = value->kind == RKB_YAML_SCALAR ? value_of(d, value->text) : -1;
      if (!is_value(d, launch->decisions[d]))
         say_values(d, value, problems);
   }
   snprintf(what, sizeof what, "a launch with map: %s", rkb_mapping_name(launch->mapping));
   rkb_yaml_only(map, what, known, problems);
   return problems->errors == before;
}

static bool parse_launch(const rkb_graph_t *graph, const rkb_yaml_t *map, rkb_schedule_t *schedule,
                         rkb_problems_t *problems) {
   if (!rkb_yaml_expect(map, RKB_YAML_MAP, "a launch", problems))
      return false;
   const rkb_yaml_t *mapping = rkb_yaml_get(map, "map");
   const char *name = mapping && mapping->kind == RKB_YAML_SCALAR ? mapping->text : "";
   uint32_t m = RKB_MAP_ELEMENT;
   while (m < RKB_MAPPINGS && strcmp(rkb_mapping_name(m), name) != 0)
      m++;
   rkb_launch_t *launch = m < RKB_MAPPINGS ? rkb_schedule_add(schedule, m) : NULL;
   if (m == RKB_MAPPINGS)
      rkb_problem(problems, mapping ? mapping->place : map->place, "map: there is no mapping '%.40s'", name);
   else if (!launch)
      rkb_problem(problems, map->place, "a schedule has at most %u launches", RKB_MAX_SCHEDULE_LAUNCHES);
   if (!launch || !parse_nodes(graph, map, "compute", launch->anchors, &launch->anchor_count, problems) ||
       !parse_nodes(graph, map, "write", launch->roots, &launch->root_count, problems))
      return false;
   if (!launch->root_count)
      rkb_problem(problems, map->place, "write: a launch writes at least one value");
   return launch->root_count && parse_decisions(map, launch, problems);
}

/* As rkb_schedule_launches, and adds what is no YAML to problems. */
static const rkb_yaml_t *find_launches(rkb_arena_t *arena, const char *source, rkb_problems_t *problems) {
   uint32_t line_number = 2; /* of the line "schedule:" */
   const char *start = strstr(source, "\nschedule:\n"), *end = start ? strstr(start, "*/") : NULL;
   if (!start || !end)
      return NULL;
   /* The block ends at the first line that begins in the first column. */
   for (const char *line = strchr(start + 1, '\n'); line && line < end; line = strchr(line + 1, '\n'))
      if (line[1] != ' ') {
         end = line + 1;
         break;
      }
   for (const char *at = source; at < start; at++)
      line_number += *at == '\n';
   const rkb_yaml_t *root =
      rkb_yaml_parse(arena, "schedule", start + 1, (size_t)(end - start - 1), line_number, 1, problems);
   const rkb_yaml_t *block = root && root->kind == RKB_YAML_MAP ? rkb_yaml_get(root, "schedule") : NULL;
   const rkb_yaml_t *launches = block && block->kind == RKB_YAML_MAP ? rkb_yaml_get(block, "launches") : NULL;
   const rkb_yaml_t *version = launches ? rkb_yaml_get(block, "version") : NULL;
   const bool good = launches && launches->kind == RKB_YAML_LIST && version && version->kind == RKB_YAML_SCALAR &&
                     strtol(version->text, NULL, 10) == RKB_SCHEDULE_VERSION;
   return good ? launches : NULL;
}

const rkb_yaml_t *rkb_schedule_launches(rkb_arena_t *arena, const char *source) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   const rkb_yaml_t *launches = find_launches(arena, source, &problems);
   rkb_problems_free(&problems);
   return launches;
}

int rkb_schedule_parse(const rkb_graph_t *graph, const char *source, rkb_schedule_t *schedule,
                       rkb_error_t *err) {
   *schedule = (rkb_schedule_t){0};
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   const rkb_yaml_t *launches = find_launches(arena, source, &problems);
   bool good = launches != NULL;
   for (uint32_t i = 0; good && i < launches->count; i++)
      good = parse_launch(graph, launches->items[i], schedule, &problems);
   int status = rkb_problems_error(&problems, err);
   if (!good && status == RKB_OK)
      status =
         rkb_fail(err, RKB_ERR_INVALID, "the kernel has no schedule of version %d: it was written by hand",
                  RKB_SCHEDULE_VERSION);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   return status;
}
