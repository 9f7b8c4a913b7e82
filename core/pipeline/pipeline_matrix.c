/* matrix: {path: [values], ...}: every combination is a pipeline.  This file checks and lists them; the user runs one of them with
 * --set. */
#include "pipeline/pipeline_parts.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define MAX_VARIANTS 1000

/* Checks one combination as a pipeline, and reports its first problem under the combination's name. */
static void check_variant(const rkb_pipeline_t *pipeline, rkb_yaml_t *root, const char *name,
                          rkb_problems_t *problems) {
   rkb_problems_t own;
   rkb_pipeline_t *variant = rkb_pipeline_new(pipeline->path);
   rkb_problems_init(&own);
   variant->registry = pipeline->registry;
   variant->borrowed_registry = true;
   variant->root = root;
   rkb_pipeline_read(variant, &own);
   if (own.errors)
      for (uint32_t i = 0; i < own.count; i++)
         if (!own.list[i].warning) {
            rkb_place_t place = {
               .file = own.list[i].file, .line = own.list[i].line, .column = own.list[i].column};
            rkb_problem(problems, place, "with %s: %s", name, own.list[i].message);
            break;
         }
   rkb_pipeline_close(variant);
   rkb_problems_free(&own);
}

static char *variant_name(const rkb_yaml_t *matrix, const uint32_t *chosen) {
   rkb_text_t name;
   rkb_text_init(&name, 4096);
   for (uint32_t i = 0; i < matrix->count; i++) {
      const rkb_yaml_t *value = matrix->items[i]->items[chosen[i]];
      rkb_text_format(&name, "%s%s=", i ? " " : "", matrix->keys[i]->text);
      if (value->kind == RKB_YAML_SCALAR)
         rkb_text_add(&name, value->text);
      else
         rkb_text_format(&name, "#%u", chosen[i] + 1);
   }
   return rkb_text_take(&name);
}

static bool shape_ok(const rkb_yaml_t *matrix, uint64_t *total, rkb_problems_t *problems) {
   *total = 1;
   if (!rkb_yaml_expect(matrix, RKB_YAML_MAP, "matrix", problems))
      return false;
   if (!matrix->count || matrix->count > 16) {
      rkb_problem(problems, matrix->place, "matrix takes 1 to 16 paths, each with a list of values");
      return false;
   }
   for (uint32_t i = 0; i < matrix->count; i++) {
      if (!rkb_yaml_expect(matrix->items[i], RKB_YAML_LIST, matrix->keys[i]->text, problems))
         return false;
      if (!matrix->items[i]->count) {
         rkb_problem(problems, matrix->items[i]->place, "%s: the list of values is empty",
                     matrix->keys[i]->text);
         return false;
      }
      *total *= matrix->items[i]->count;
      if (*total > MAX_VARIANTS) {
         rkb_problem(problems, matrix->place, "matrix makes more than %d combinations", MAX_VARIANTS);
         return false;
      }
   }
   return true;
}

bool rkb_pipeline_expand(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   const rkb_yaml_t *matrix = pipeline->matrix;
   uint32_t chosen[16] = {0}, before = problems->errors;
   uint64_t total;
   if (!matrix)
      return true;
   if (!shape_ok(matrix, &total, problems))
      return false;
   pipeline->variants = rkb_allocate(total, sizeof *pipeline->variants);
   for (uint64_t at = 0; at < total; at++) {
      uint64_t rest = at;
      for (uint32_t i = matrix->count; i-- > 0;) { /* the last path varies fastest */
         chosen[i] = (uint32_t)(rest % matrix->items[i]->count);
         rest /= matrix->items[i]->count;
      }
      char *name = variant_name(matrix, chosen);
      rkb_arena_t *scratch = rkb_arena_new(0);
      rkb_yaml_t *root = rkb_tree_copy(scratch, pipeline->root);
      bool ok = true;
      for (uint32_t i = 0; ok && i < matrix->count; i++)
         ok = rkb_tree_set(scratch, root, matrix->keys[i]->text, matrix->items[i]->items[chosen[i]],
                           matrix->keys[i]->place, problems);
      rkb_error_t err;
      if (ok)
         check_variant(pipeline, root, name, problems);
      else if (problems->errors == before && rkb_arena_fail(scratch, "the pipeline", &err) != RKB_OK)
         rkb_problem(problems, matrix->place, "with %s: %s", name, err.message);
      rkb_arena_free(scratch);
      pipeline->variants[at] = name;
      pipeline->variant_count++;
      if (problems->errors != before)
         break; /* the other combinations most likely have the same fault */
   }
   return problems->errors == before;
}
