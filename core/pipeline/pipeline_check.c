/* Reads and checks the parts of the file other than stages: heading, objective, promotion, limits. */
#include "pipeline/pipeline_parts.h"

#include <string.h>
#include "base/nearest_name.h"
#include "base/units.h"
#include "llm/llm.h"

static void text_of(const rkb_yaml_t *root, const char *key, const char **out, rkb_problems_t *problems) {
   const rkb_yaml_t *node = rkb_yaml_get(root, key);
   if (!rkb_yaml_is_null(node))
      rkb_yaml_scalar(node, key, out, problems);
}

/* Reads a whole number of at least `least`.  *out keeps its value when the key is absent. */
static void count_of(const rkb_yaml_t *map, const char *key, int64_t least, uint64_t *out,
                     rkb_problems_t *problems) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   int64_t value;
   if (rkb_yaml_is_null(node) || !rkb_yaml_int(node, key, &value, problems))
      return;
   if (value < least)
      rkb_problem(problems, node->place, "%s must be at least %lld, not %lld", key, (long long)least,
                  (long long)value);
   else
      *out = (uint64_t)value;
}

static bool file_name_ok(const char *name) {
   for (const char *at = name; *at; at++)
      if ((unsigned char)*at < ' ' || *at == 0x7f)
         return false;
   return name[0] && name[0] != '.' && strlen(name) <= 60 && !strpbrk(name, "/\\ :");
}

bool rkb_pipeline_heading(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   const rkb_yaml_t *root = pipeline->root, *version = rkb_yaml_get(root, "rkb");
   uint32_t before = problems->errors;
   int64_t number;
   rkb_pipeline_keys_only(root, "a pipeline", RKB_KEYS_FILE, problems);
   if (!version)
      rkb_problem(problems, root->place, "the first line of a pipeline is 'rkb: 1'; write it");
   else if (rkb_yaml_int(version, "rkb", &number, problems) && number != 1)
      rkb_problem(problems, version->place, "rkb: %lld is a version this program does not know; it reads 1",
                  (long long)number);
   const char *slash = strrchr(pipeline->path, '/');
   const char *base = slash ? slash + 1 : pipeline->path;
   const char *dot = strrchr(base, '.');
   pipeline->name =
      rkb_arena_text(pipeline->arena, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
   text_of(root, "name", &pipeline->name, problems);
   if (!file_name_ok(pipeline->name))
      rkb_problem(problems, rkb_yaml_get(root, "name") ? rkb_yaml_get(root, "name")->place : root->place,
                  "name is '%s'; it becomes a directory's name: write letters, digits, '-' and '_'",
                  pipeline->name);
   pipeline->seed = RKB_DEFAULT_SEED;
   count_of(root, "seed", 0, &pipeline->seed, problems);
   text_of(root, "direction", &pipeline->direction, problems);
   text_of(root, "target", &pipeline->target, problems);
   return problems->errors == before;
}

bool rkb_pipeline_produces(const rkb_pipeline_t *pipeline, uint64_t set, const char *measurement) {
   const char *dot = strchr(measurement, '.');
   for (uint32_t i = 0; dot && i < pipeline->entry_count; i++) {
      const rkb_entry_t *entry = &pipeline->entries[i];
      if (!(set & (1ull << i)) || entry->node.shadow ||
          strlen(entry->node.id) != (size_t)(dot - measurement) ||
          strncmp(entry->node.id, measurement, (size_t)(dot - measurement)) != 0)
         continue;
      const char *const *names = entry->is_build ? RKB_BUILD_MEASURES
                                 : entry->stage  ? entry->stage->measures
                                                 : NULL;
      for (; names && *names; names++)
         if (strcmp(*names, dot + 1) == 0)
            return true;
   }
   return false;
}

/* Appends "; it produces a.b, c.d" to a message about a measurement that no stage produces. */
static void produced(const rkb_pipeline_t *pipeline, uint64_t set, rkb_text_t *out) {
   for (uint32_t i = 0; i < pipeline->entry_count; i++) {
      const rkb_entry_t *entry = &pipeline->entries[i];
      const char *const *names = entry->is_build ? RKB_BUILD_MEASURES
                                 : entry->stage  ? entry->stage->measures
                                                 : NULL;
      for (; (set & (1ull << i)) && !entry->node.shadow && names && *names; names++)
         rkb_text_format(out, "%s%s.%s", out->length ? ", " : "", entry->node.id, *names);
   }
}

static void not_produced(const rkb_pipeline_t *pipeline, uint64_t set, rkb_place_t place, const char *what,
                         rkb_problems_t *problems) {
   rkb_text_t names;
   rkb_text_init(&names, 2048);
   produced(pipeline, set, &names);
   rkb_problem(problems, place, "%s; its stages give %s", what,
               names.length ? rkb_text_get(&names) : "no measurement");
   rkb_text_free(&names);
}

static void check_minimise(rkb_pipeline_t *pipeline, const rkb_yaml_t *minimise, rkb_problems_t *problems) {
   const rkb_yaml_t *const *names = (const rkb_yaml_t *const *)minimise->items;
   uint32_t count = minimise->count, before = problems->errors;
   if (minimise->kind == RKB_YAML_SCALAR) {
      names = &minimise;
      count = 1;
   }
   for (uint32_t i = 0; i < count; i++) {
      const char *name;
      if (rkb_yaml_scalar(names[i], "minimise", &name, problems) && !pipeline->objective &&
          rkb_pipeline_produces(pipeline, pipeline->screen | pipeline->evaluate, name))
         pipeline->objective = name;
   }
   if (!pipeline->objective && problems->errors == before)
      not_produced(pipeline, pipeline->screen | pipeline->evaluate, minimise->place,
                   "minimise: this pipeline gives none of these measurements", problems);
}

static void check_objective(rkb_pipeline_t *pipeline, const rkb_yaml_t *objective, rkb_problems_t *problems) {
   pipeline->objective_over = RKB_OVER_CHOICES[0];
   if (rkb_yaml_is_null(objective) || !rkb_yaml_expect(objective, RKB_YAML_MAP, "objective", problems))
      return;
   rkb_pipeline_keys_only(objective, "objective", RKB_KEYS_OBJECTIVE, problems);
   const rkb_yaml_t *over = rkb_yaml_get(objective, "over"), *combine = rkb_yaml_get(objective, "combine");
   if (!rkb_yaml_is_null(over)) {
      int32_t chosen = rkb_pipeline_choice(over, "over", RKB_OVER_CHOICES, problems);
      pipeline->objective_over = RKB_OVER_CHOICES[chosen < 0 ? 0 : chosen];
   }
   if (!rkb_yaml_is_null(combine)) {
      int32_t chosen = rkb_pipeline_choice(combine, "combine", RKB_COMBINE_CHOICES, problems);
      pipeline->objective_combine = chosen < 0 ? RKB_COMBINE_GEOMEAN : (uint32_t)chosen;
   }
   const rkb_yaml_t *least = rkb_yaml_get(objective, "least");
   text_of(objective, "least", &pipeline->objective_least, problems);
   if (pipeline->objective_least &&
       !rkb_pipeline_produces(pipeline, pipeline->screen | pipeline->evaluate, pipeline->objective_least))
      not_produced(pipeline, pipeline->screen | pipeline->evaluate, least->place,
                   "least: this pipeline gives no such measurement", problems);
   const rkb_yaml_t *minimise = rkb_yaml_get(objective, "minimise");
   if (rkb_yaml_is_null(minimise) || minimise->kind == RKB_YAML_MAP)
      rkb_problem(problems, objective->place, "objective needs minimise: [<entry id>.<measurement>, ...]");
   else
      check_minimise(pipeline, minimise, problems);
}

static void check_promote(rkb_pipeline_t *pipeline, const rkb_yaml_t *promote, rkb_problems_t *problems) {
   uint64_t keep = 0, of = 0;
   pipeline->promotes = pipeline->evaluate != 0;
   pipeline->promote_keep = UINT32_MAX;
   pipeline->promote_of = 1;
   if (rkb_yaml_is_null(promote) || !rkb_yaml_expect(promote, RKB_YAML_MAP, "promote", problems))
      return;
   rkb_pipeline_keys_only(promote, "promote", RKB_KEYS_PROMOTE, problems);
   count_of(promote, "keep", 1, &keep, problems);
   count_of(promote, "of", 1, &of, problems);
   text_of(promote, "by", &pipeline->promote_by, problems);
   if (!keep || !of || !pipeline->promote_by || keep > UINT32_MAX || of > RKB_MAX_WINDOW) {
      rkb_problem(problems, promote->place,
                  "promote needs keep:, of: and by:, as in {keep: 4, of: 8, by: model.predicted_us}");
      return;
   }
   if (pipeline->window && pipeline->window % of != 0)
      rkb_problem(problems, rkb_yaml_get(promote, "of")->place,
                  "of: %llu must divide window: %u, so that a generation is whole groups",
                  (unsigned long long)of, pipeline->window);
   if (!rkb_pipeline_produces(pipeline, pipeline->screen, pipeline->promote_by))
      not_produced(pipeline, pipeline->screen, rkb_yaml_get(promote, "by")->place,
                   "by: the screen gives no such measurement", problems);
   if (!pipeline->promotes)
      rkb_problem_warning(problems, promote->place, "promote is skipped: there is nothing to evaluate");
   pipeline->promote_keep = (uint32_t)keep;
   pipeline->promote_of = (uint32_t)of;
}

static void duration_of(const rkb_yaml_t *limits, const char *name, uint64_t *value_ns,
                        rkb_problems_t *problems) {
   const rkb_yaml_t *node = rkb_yaml_get(limits, name);
   const char *text;
   if (!rkb_yaml_is_null(node) && rkb_yaml_scalar(node, name, &text, problems) &&
       (!rkb_parse_duration(text, value_ns) || !*value_ns))
      rkb_problem(problems, node->place, "%s is '%s'; write a duration, as in 30s, 10m or 2h", name, text);
}

static void bytes_of(const rkb_yaml_t *limits, const char *name, uint64_t *value, rkb_problems_t *problems) {
   const rkb_yaml_t *node = rkb_yaml_get(limits, name);
   const char *text;
   if (!rkb_yaml_is_null(node) && rkb_yaml_scalar(node, name, &text, problems) &&
       (!rkb_parse_bytes(text, value) || !*value || *value > 1ull << 44))
      rkb_problem(problems, node->place, "%s is '%s'; write a size up to 16 TiB, as in 512MiB or 4GiB", name, text);
}

static void check_limits(rkb_pipeline_t *pipeline, const rkb_yaml_t *limits, rkb_problems_t *problems) {
   pipeline->limit_cost_usd = pipeline->limit_within = -1;
   pipeline->limit_execute_ns = RKB_DEFAULT_EXECUTE_NS;
   pipeline->limit_execute_bytes = RKB_DEFAULT_EXECUTE_BYTES;
   if (rkb_yaml_is_null(limits) || !rkb_yaml_expect(limits, RKB_YAML_MAP, "limits", problems))
      return;
   rkb_pipeline_keys_only(limits, "limits", RKB_KEYS_LIMITS, problems);
   count_of(limits, "candidates", 1, &pipeline->limit_candidates, problems);
   count_of(limits, "calls", 1, &pipeline->limit_calls, problems);
   count_of(limits, "generations", 1, &pipeline->limit_generations, problems);
   count_of(limits, "stale", 1, &pipeline->limit_stale, problems);
   duration_of(limits, "wall", &pipeline->limit_wall_ns, problems);
   duration_of(limits, "compile", &pipeline->limit_compile_ns, problems);
   if (pipeline->limit_compile_ns > 3600000000000ull)
      rkb_problem(problems, rkb_yaml_get(limits, "compile")->place, "compile must be at most 1h");
   duration_of(limits, "execute", &pipeline->limit_execute_ns, problems);
   if (pipeline->limit_execute_ns > 3600000000000ull)
      rkb_problem(problems, rkb_yaml_get(limits, "execute")->place, "execute must be at most 1h");
   bytes_of(limits, "execute_memory", &pipeline->limit_execute_bytes, problems);
   const rkb_yaml_t *within = rkb_yaml_get(limits, "within");
   if (!rkb_yaml_is_null(within) && rkb_yaml_real(within, "within", &pipeline->limit_within, problems)) {
      if (!(pipeline->limit_within >= 0 && pipeline->limit_within <= 100))
         rkb_problem(problems, within->place, "within must be 0 to 100; 0.03 is three percent");
      else if (!pipeline->objective_least)
         rkb_problem(problems, within->place, "within needs objective.least, as in least: model.least_us");
   }
   const rkb_yaml_t *cost = rkb_yaml_get(limits, "cost_usd");
   if (!rkb_yaml_is_null(cost) && rkb_yaml_real(cost, "cost_usd", &pipeline->limit_cost_usd, problems) &&
       pipeline->limit_cost_usd < 0)
      rkb_problem(problems, cost->place, "cost_usd must be 0 or more");
}

bool rkb_pipeline_goal(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   check_objective(pipeline, rkb_yaml_get(pipeline->root, "objective"), problems);
   check_promote(pipeline, rkb_yaml_get(pipeline->root, "promote"), problems);
   return problems->errors == before;
}

static void add_depends(void *argument, const char *hash) {
   rkb_text_format(argument, "%s\n", hash);
}

/* Reads the limits, and the models, because a limit on cost applies to them. */
bool rkb_pipeline_limits(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   check_limits(pipeline, rkb_yaml_get(pipeline->root, "limits"), problems);
   pipeline->models = rkb_models_read(pipeline->arena, rkb_yaml_get(pipeline->root, "models"),
                                      pipeline->models_used, pipeline->limit_cost_usd, add_depends, &pipeline->depends, problems);
   if (pipeline->strategy >= 0 && !pipeline->limit_candidates && !pipeline->limit_calls && !pipeline->limit_generations &&
       !pipeline->limit_stale && !pipeline->limit_wall_ns && pipeline->limit_cost_usd < 0)
      rkb_problem_warning(problems, pipeline->entries[pipeline->strategy].node.place,
                          "the search has no limit and may run for ever; write limits: {candidates: 200}");
   return problems->errors == before;
}
