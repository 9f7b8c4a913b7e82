/* Opens a pipeline (file, parents, overrides, plugins, entries, wiring, cells of a sweep, task and device) and answers questions about it.  Loop
 * thread. */
#include "pipeline/pipeline_parts.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "pipeline/pipeline_subject.h"

#define MAX_TEXT (4u << 20)
#define MAX_PLUGINS 256

/* Puts command line options into the tree, so that the resolved form is what really runs. */
bool rkb_pipeline_apply_options(rkb_pipeline_t *pipeline, const rkb_pipeline_options_t *options,
                          rkb_problems_t *problems) {
   const char *const keys[] = {"task", "direction", "target"};
   const char *const values[] = {options->task, options->direction, options->target};
   bool ok = true;
   for (int i = 0; i < 3; i++) {
      if (!values[i])
         continue;
      rkb_place_t place = {.file = i == 0 ? "--task" : i == 1 ? "--direction" : "--target"};
      rkb_yaml_t *node = rkb_tree_scalar(pipeline->arena, values[i], true, place);
      ok = ok && rkb_tree_put(pipeline->arena, pipeline->root, keys[i], node);
   }
   for (const char *const *set = options->set; set && *set; set++)
      ok &= rkb_pipeline_override(pipeline->arena, pipeline->root, *set, problems);
   return ok;
}

static bool open_registry(rkb_pipeline_t *pipeline, const char *const *paths, rkb_problems_t *problems) {
   const rkb_yaml_t *plugins = rkb_yaml_get(pipeline->root, "plugins");
   const char *first[MAX_PLUGINS + 1] = {NULL};
   if (!rkb_yaml_is_null(plugins)) {
      if (!rkb_yaml_expect(plugins, RKB_YAML_LIST, "plugins", problems))
         return false;
      for (uint32_t i = 0; i < plugins->count && i < MAX_PLUGINS; i++) {
         const char *text;
         if (!rkb_yaml_scalar(plugins->items[i], "plugins", &text, problems))
            return false;
         rkb_pipeline_resolve_path(pipeline, plugins->items[i], NULL);
         first[i] = plugins->items[i]->text;
         if (!rkb_path_exists(first[i]))
            rkb_problem(problems, plugins->items[i]->place, "plugins: there is nothing at %s", first[i]);
      }
   }
   pipeline->registry = rkb_registry_open(first, paths, problems);
   return true;
}

/* Takes a key's value out of the tree; NULL when there is none. */
static const rkb_yaml_t *take_key(rkb_yaml_t *root, const char *key) {
   const rkb_yaml_t *value = rkb_yaml_get(root, key);
   rkb_tree_remove_key(root, key);
   return rkb_yaml_is_null(value) ? NULL : value;
}

/* Hashes everything that must be the same on resume: all except limits and workers. */
static void hash_pipeline(rkb_pipeline_t *pipeline) {
   rkb_text_t text;
   rkb_text_init(&text, MAX_TEXT);
   rkb_yaml_t fixed = *pipeline->root;
   rkb_arena_t *scratch = rkb_arena_new(0);
   rkb_yaml_t *copy = rkb_tree_copy(scratch, &fixed);
   rkb_tree_remove_key(copy, "limits");
   rkb_tree_remove_key(copy, "workers");
   rkb_tree_write(copy, &text);
   rkb_text_add(&text, rkb_text_get(&pipeline->depends));
   rkb_hash_text(rkb_text_get(&text), text.length, pipeline->hash);
   rkb_arena_free(scratch);
   rkb_text_free(&text);
}

rkb_pipeline_t *rkb_pipeline_open(const rkb_pipeline_options_t *options, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   rkb_pipeline_t *pipeline = rkb_pipeline_new(options->path);
   pipeline->root = rkb_pipeline_merge(pipeline->arena, options->path, problems);
   if (!pipeline->root || pipeline->root->kind != RKB_YAML_MAP)
      goto failed;
   rkb_pipeline_apply_options(pipeline, options, problems);
   if (rkb_arena_refused(pipeline->arena))
      goto failed;
   pipeline->seeds = take_key(pipeline->root, "seeds");
   pipeline->arms = take_key(pipeline->root, "arms");
   pipeline->matrix = take_key(pipeline->root, "matrix");
   if (!open_registry(pipeline, options->plugin_paths, problems))
      goto failed;
   rkb_pipeline_read(pipeline, problems);
   if (problems->errors == before && (pipeline->task_path || !rkb_pipeline_is_sweep(pipeline)))
      rkb_subject_load(pipeline, problems); /* a sweep may leave the task to its cells */
   if (problems->errors == before)
      rkb_pipeline_expand(pipeline, problems);
   if (problems->errors != before || !rkb_pipeline_resolve(pipeline))
      goto failed;
   hash_pipeline(pipeline);
   return pipeline;
failed:
   if (problems->errors == before) {
      rkb_error_t err;
      rkb_arena_fail(pipeline->arena, "the pipeline", &err);
      rkb_problem(problems, (rkb_place_t){.file = options->path}, "%s", err.message);
   }
   rkb_pipeline_close(pipeline);
   return NULL;
}

void rkb_pipeline_free(rkb_pipeline_t *pipeline) {
   rkb_pipeline_close(pipeline);
}

const char *rkb_pipeline_name(const rkb_pipeline_t *pipeline) {
   return pipeline->name;
}

const char *rkb_pipeline_path(const rkb_pipeline_t *pipeline) {
   return pipeline->path;
}

const char *rkb_pipeline_text(const rkb_pipeline_t *pipeline) {
   return rkb_text_get(&pipeline->text);
}

const char *rkb_pipeline_hash(const rkb_pipeline_t *pipeline) {
   return pipeline->hash;
}

uint32_t rkb_pipeline_cell_count(const rkb_pipeline_t *pipeline) {
   return pipeline->cell_count;
}

const rkb_pipeline_cell_t *rkb_pipeline_cell(const rkb_pipeline_t *pipeline, uint32_t index) {
   return index < pipeline->cell_count ? &pipeline->cells[index] : NULL;
}

uint32_t rkb_pipeline_node_count(const rkb_pipeline_t *pipeline) {
   return pipeline->entry_count;
}

const rkb_graph_node_t *rkb_pipeline_node(const rkb_pipeline_t *pipeline, uint32_t index) {
   return index < pipeline->entry_count ? &pipeline->entries[index].node : NULL;
}

rkb_pipeline_facts_t rkb_pipeline_facts(const rkb_pipeline_t *pipeline) {
   bool listed = pipeline->promotes && pipeline->promote_by;
   return (rkb_pipeline_facts_t){.objective = pipeline->objective ? pipeline->objective : "",
                                 .task = rkb_subject_task_name(pipeline),
                                 .direction = rkb_subject_direction(pipeline),
                                 .target = pipeline->target ? pipeline->target : "",
                                 .seed = pipeline->seed,
                                 .limit_candidates = pipeline->limit_candidates,
                                 .limit_calls = pipeline->limit_calls,
                                 .limit_generations = pipeline->limit_generations,
                                 .limit_stale = pipeline->limit_stale,
                                 .limit_wall_ns = pipeline->limit_wall_ns,
                                 .limit_cost_usd = pipeline->limit_cost_usd,
                                 .limit_within = pipeline->limit_within,
                                 .window = pipeline->window,
                                 .promote_keep = listed ? pipeline->promote_keep : 0,
                                 .promote_of = listed ? pipeline->promote_of : 0,
                                 .promote_by = pipeline->promote_by ? pipeline->promote_by : "",
                                 .verified_by_execution = pipeline->verified_by_execution};
}
