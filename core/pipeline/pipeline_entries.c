/* Reads the entries of propose, screen, evaluate and search: stage, id, options and limits of each. */
#include "pipeline/pipeline_parts.h"

#include <rkb/items.h>
#include <string.h>
#include "base/nearest_name.h"
#include "base/units.h"
#include "plugin/options.h"

#define MAX_JOBS 1024
#define MAX_RETRIES 100

/* The kinds of stage, and the keys of an entry, that a section accepts. */
typedef struct section {
   uint32_t section;
   const char *name;
   uint32_t first_kind, second_kind;
   uint32_t keys; /* enum rkb_pipeline_map */
} section_t;

static const section_t SECTIONS[] = {
   {RKB_IN_PROPOSE, "propose", RKB_TRANSLATOR, RKB_TRANSLATOR, RKB_KEYS_PROPOSED},
   {RKB_IN_SCREEN, "screen", RKB_VERIFIER, RKB_PROFILER, RKB_KEYS_STAGE},
   {RKB_IN_EVALUATE, "evaluate", RKB_VERIFIER, RKB_PROFILER, RKB_KEYS_STAGE},
   {RKB_IN_STRATEGY, "search", RKB_STRATEGY, RKB_STRATEGY, RKB_KEYS_SEARCH},
   {RKB_IN_OPERATORS, "search.operators", RKB_MUTATOR, RKB_TRANSLATOR, RKB_KEYS_OPERATOR},
};

const char *rkb_pipeline_section_name(uint32_t section) {
   for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++)
      if (SECTIONS[i].section == section)
         return SECTIONS[i].name;
   return "";
}

static bool whole(const rkb_yaml_t *node, const char *what, int64_t low, int64_t high, uint32_t *out,
                  rkb_problems_t *problems) {
   int64_t value;
   if (rkb_yaml_is_null(node))
      return true;
   if (!rkb_yaml_int(node, what, &value, problems))
      return false;
   if (value < low || value > high) {
      rkb_problem(problems, node->place, "%s must be from %lld to %lld, not %lld", what, (long long)low,
                  (long long)high, (long long)value);
      return false;
   }
   *out = (uint32_t)value;
   return true;
}

static void read_only(rkb_entry_t *entry, const rkb_yaml_t *only, rkb_arena_t *arena,
                      rkb_problems_t *problems) {
   rkb_text_t list;
   if (rkb_yaml_is_null(only) || !rkb_yaml_expect(only, RKB_YAML_LIST, "only", problems))
      return;
   rkb_text_init(&list, 128);
   for (uint32_t i = 0; i < only->count; i++) {
      int32_t chosen = rkb_pipeline_choice(only->items[i], "only", RKB_ONLY_CHOICES, problems);
      if (chosen < 0)
         continue;
      entry->only |= 1u << chosen;
      rkb_text_format(&list, "%s%s", list.length ? ", " : "", RKB_ONLY_CHOICES[chosen]);
   }
   if (!only->count) { /* an empty list switches the entry off, as weight 0 does for an operator */
      entry->only = RKB_ONLY_NONE;
      rkb_text_add(&list, "none");
   }
   entry->node.only = rkb_arena_text(arena, rkb_text_get(&list), list.length);
   rkb_text_free(&list);
}

static void read_gate(rkb_entry_t *entry, const rkb_yaml_t *yaml, rkb_arena_t *arena,
                      rkb_problems_t *problems) {
   const rkb_yaml_t *shadow = rkb_yaml_get(yaml, "shadow"), *sample = rkb_yaml_get(yaml, "sample");
   const rkb_yaml_t *on_unknown = rkb_yaml_get(yaml, "on_unknown"), *only = rkb_yaml_get(yaml, "only");
   if (!rkb_yaml_is_null(shadow))
      rkb_yaml_bool(shadow, "shadow", &entry->node.shadow, problems);
   if (!rkb_yaml_is_null(on_unknown))
      entry->node.stops_unknown =
         rkb_pipeline_choice(on_unknown, "on_unknown", RKB_UNKNOWN_CHOICES, problems) == 1;
   read_only(entry, only, arena, problems);
   if (!rkb_yaml_is_null(sample) && rkb_yaml_real(sample, "sample", &entry->node.sample, problems)) {
      if (entry->node.sample < 0 || entry->node.sample > 1)
         rkb_problem(problems, sample->place, "sample is a share, from 0 to 1");
      else if (!entry->only)
         rkb_problem(problems, sample->place,
                     "sample draws from what 'only' leaves out; write only: [...] too");
   }
}

static void read_limits(rkb_entry_t *entry, const rkb_yaml_t *yaml, rkb_problems_t *problems) {
   const rkb_yaml_t *deadline = rkb_yaml_get(yaml, "deadline");
   const char *text;
   entry->node.retries = RKB_DEFAULT_RETRIES;
   entry->node.deadline_ns = RKB_DEFAULT_DEADLINE;
   whole(rkb_yaml_get(yaml, "jobs"), "jobs", 1, MAX_JOBS, &entry->node.jobs, problems);
   whole(rkb_yaml_get(yaml, "retries"), "retries", 0, MAX_RETRIES, &entry->node.retries, problems);
   if (!rkb_yaml_is_null(deadline) && rkb_yaml_scalar(deadline, "deadline", &text, problems) &&
       (!rkb_parse_duration(text, &entry->node.deadline_ns) || !entry->node.deadline_ns))
      rkb_problem(problems, deadline->place, "deadline is '%s'; write a duration, as in 250ms, 30s or 5m",
                  text);
}

static void add_depends(void *argument, const char *hash) {
   rkb_text_format(argument, "%s\n", hash);
}

static void read_config(rkb_pipeline_t *pipeline, rkb_entry_t *entry, const rkb_option_t *options,
                        uint32_t count, size_t config_size, rkb_problems_t *problems) {
   rkb_options_context_t context = {.arena = pipeline->arena,
                                    .models = rkb_yaml_get(pipeline->root, "models"),
                                    .models_used = pipeline->models_used,
                                    .stage = entry->node.use,
                                    .depends = add_depends,
                                    .argument = &pipeline->depends};
   void *config = rkb_arena_alloc(pipeline->arena, config_size ? config_size : 1);
   entry->config = config;
   rkb_options_read(&context, options, count, rkb_yaml_get(entry->yaml, "with"), entry->node.place, config,
                    problems);
}

static bool find_stage(rkb_pipeline_t *pipeline, const section_t *section, rkb_entry_t *entry,
                       const rkb_yaml_t *use, rkb_problems_t *problems) {
   const char *id = entry->node.use;
   entry->stage = rkb_registry_stage(pipeline->registry, id, NULL);
   entry->strategy = rkb_registry_strategy(pipeline->registry, id, NULL);
   if (!entry->stage && !entry->strategy) {
      const char *near = rkb_registry_nearest(pipeline->registry, id);
      rkb_problem(problems, use->place, "there is no stage '%s'%s%s%s", id, near ? "; did you mean '" : "",
                  near ? near : "", near ? "'?" : "; 'rkb plugins' lists them");
      return false;
   }
   uint32_t kind = entry->stage ? entry->stage->kind : RKB_STRATEGY;
   if (kind == section->first_kind || kind == section->second_kind)
      return true;
   bool two = section->first_kind != section->second_kind;
   rkb_problem(problems, use->place, "%s is a %s; %s takes a %s%s%s", id, rkb_kind_name(kind), section->name,
               rkb_kind_name(section->first_kind), two ? " or a " : "",
               two ? rkb_kind_name(section->second_kind) : "");
   return false;
}

static bool id_ok(const char *id) {
   size_t length = strlen(id);
   return length && length <= 60 &&
          strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == length;
}

static void read_id(rkb_pipeline_t *pipeline, rkb_entry_t *entry, rkb_problems_t *problems) {
   const char *id = entry->node.id;
   const rkb_yaml_t *written = rkb_yaml_get(entry->yaml, "id");
   rkb_place_t place = written ? written->place : entry->node.place;
   if (!id_ok(id))
      rkb_problem(problems, place, "'%s' is not an id; write letters, digits, '-' and '_', at most 60", id);
   else if (strcmp(id, RKB_BUILD_ID) == 0)
      rkb_problem(problems, place, "'build' is the core's own step; write another id:");
   for (uint32_t i = 0; i + 1 < pipeline->entry_count; i++)
      if (strcmp(pipeline->entries[i].node.id, id) == 0) {
         rkb_problem(problems, place, "the id '%s' is taken by line %u; write an id: of its own", id,
                     pipeline->entries[i].node.place.line);
         break;
      }
}

static void read_entry(rkb_pipeline_t *pipeline, const section_t *section, rkb_yaml_t *yaml,
                       rkb_problems_t *problems) {
   if (!rkb_yaml_expect(yaml, RKB_YAML_MAP, section->name, problems))
      return;
   rkb_pipeline_keys_only(yaml, section->name, section->keys, problems);
   rkb_yaml_t *use = rkb_yaml_get(yaml, "use");
   const char *use_text;
   if (!use) {
      rkb_problem(problems, yaml->place, "an entry of %s needs use: <owner>.<kind>.<name>", section->name);
      return;
   }
   if (!rkb_yaml_scalar(use, "use", &use_text, problems))
      return;
   if (pipeline->entry_count >= RKB_MAX_ENTRIES - 1) { /* keep one entry free for build */
      if (!pipeline->too_many)                         /* report it only once */
         rkb_problem(problems, yaml->place, "a pipeline has at most %d entries", RKB_MAX_ENTRIES - 1);
      pipeline->too_many = true;
      return;
   }
   rkb_entry_t *entry = &pipeline->entries[pipeline->entry_count];
   *entry = (rkb_entry_t){.yaml = yaml, .index = pipeline->entry_count, .requests = RKB_DEFAULT_REQUESTS};
   entry->node = (rkb_graph_node_t){.id = rkb_tree_entry_id(pipeline->arena, yaml),
                                    .use = use_text,
                                    .section = section->section,
                                    .weight = RKB_DEFAULT_WEIGHT,
                                    .only = "",
                                    .place = yaml->place};
   if (!entry->node.id) {
      rkb_problem(problems, yaml->place, "id: write one word");
      return;
   }
   pipeline->entry_count++;
   read_id(pipeline, entry, problems);
   read_limits(entry, yaml, problems);
   if (section->section == RKB_IN_SCREEN || section->section == RKB_IN_EVALUATE)
      read_gate(entry, yaml, pipeline->arena, problems);
   whole(rkb_yaml_get(yaml, "requests"), "requests", 1, RKB_MAX_REQUESTS, &entry->requests, problems);
   const rkb_yaml_t *weight = rkb_yaml_get(yaml, "weight");
   if (!rkb_yaml_is_null(weight) && rkb_yaml_real(weight, "weight", &entry->node.weight, problems) &&
       !(entry->node.weight >= 0))
      rkb_problem(problems, weight->place, "weight must be 0 or more");
   if (!find_stage(pipeline, section, entry, use, problems)) {
      entry->stage = NULL;
      entry->strategy = NULL;
      return;
   }
   if (entry->stage) {
      entry->node.flags = entry->stage->flags;
      read_config(pipeline, entry, entry->stage->options, entry->stage->option_count,
                  entry->stage->config_size, problems);
      if ((entry->node.flags & RKB_STAGE_SERIAL) && entry->node.jobs > 1)
         rkb_problem(problems, yaml->place, "%s runs one job at a time; leave jobs: out", entry->node.use);
   } else {
      read_config(pipeline, entry, entry->strategy->options, entry->strategy->option_count,
                  entry->strategy->config_size, problems);
   }
   if (section->section == RKB_IN_OPERATORS && entry->node.weight == 0)
      pipeline->entry_count--; /* an operator of weight 0 is checked like the others and then left out, so that no strategy can ask it */
}

static void read_list(rkb_pipeline_t *pipeline, const section_t *section, const rkb_yaml_t *list,
                      rkb_problems_t *problems) {
   if (rkb_yaml_is_null(list) || !rkb_yaml_expect(list, RKB_YAML_LIST, section->name, problems))
      return;
   for (uint32_t i = 0; i < list->count; i++)
      read_entry(pipeline, section, list->items[i], problems);
}

static void read_search(rkb_pipeline_t *pipeline, rkb_yaml_t *search, rkb_problems_t *problems) {
   uint32_t at = pipeline->entry_count, before = problems->errors;
   pipeline->strategy = -1;
   pipeline->first_operator = at;
   pipeline->window = 0;
   if (rkb_yaml_is_null(search))
      return;
   read_entry(pipeline, &SECTIONS[3], search, problems);
   if (pipeline->entry_count == at)
      return;
   pipeline->strategy = (int32_t)at;
   pipeline->window = RKB_DEFAULT_WINDOW;
   whole(rkb_yaml_get(search, "window"), "window", 1, RKB_MAX_WINDOW, &pipeline->window, problems);
   pipeline->first_operator = pipeline->entry_count;
   const rkb_yaml_t *operators = rkb_yaml_get(search, "operators");
   read_list(pipeline, &SECTIONS[4], operators, problems);
   pipeline->operator_count = pipeline->entry_count - pipeline->first_operator;
   if (rkb_yaml_is_null(operators) || !operators->count)
      rkb_problem(problems, search->place, "search needs operators: a list of mutators or translators");
   else if (!pipeline->operator_count && problems->errors == before)
      rkb_problem(problems, operators->place, "every operator has weight 0; one must be above 0");
}

static void list_operators(rkb_pipeline_t *pipeline) {
   pipeline->operators =
      rkb_arena_array(pipeline->arena, pipeline->operator_count + 1, sizeof *pipeline->operators);
   for (uint32_t i = 0; i < pipeline->operator_count; i++) {
      const rkb_entry_t *entry = &pipeline->entries[pipeline->first_operator + i];
      pipeline->operators[i] = (rkb_operator_t){.id = entry->node.id,
                                                .stage = entry->node.use,
                                                .weight = entry->node.weight,
                                                .kind = entry->stage ? entry->stage->kind : 0};
   }
}

bool rkb_pipeline_entries(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   const rkb_yaml_t *models = rkb_yaml_get(pipeline->root, "models");
   if (models && models->kind == RKB_YAML_MAP)
      pipeline->models_used =
         rkb_arena_array(pipeline->arena, models->count + 1, sizeof *pipeline->models_used);
   read_list(pipeline, &SECTIONS[0], rkb_yaml_get(pipeline->root, "propose"), problems);
   pipeline->propose_count = pipeline->entry_count;
   read_list(pipeline, &SECTIONS[1], rkb_yaml_get(pipeline->root, "screen"), problems);
   read_list(pipeline, &SECTIONS[2], rkb_yaml_get(pipeline->root, "evaluate"), problems);
   read_search(pipeline, rkb_yaml_get(pipeline->root, "search"), problems);
   list_operators(pipeline);
   return problems->errors == before;
}
