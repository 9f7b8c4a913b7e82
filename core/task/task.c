/* A loaded task: one definition, one direction, all its cases bound.  Does not change after loading; any thread. */
#include "task/task_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "task/evaluator_identity.h"

#define DEFAULT_BUDGET (UINT64_C(4) << 30)

static bool serves(const rkb_case_definition_t *definition, bool backward) {
   return backward ? definition->backward : definition->forward;
}

static bool bind_cases(rkb_task_t *task, rkb_problems_t *problems) {
   const rkb_definition_t *definition = task->definition;
   task->cases = rkb_allocate(definition->case_count + 1, sizeof *task->cases);
   bool good = true;
   for (uint32_t i = 0; i < definition->case_count; i++) {
      const rkb_case_definition_t *one = &definition->cases[i];
      if (!serves(one, task->backward))
         continue;
      rkb_bound_t *bound = rkb_bound_new(definition, task->backward, one->name, one->kind, one->dims,
                                         one->attributes, one->setting, task->budget, one->place, problems);
      if (bound)
         task->cases[task->case_count++] = bound;
      else
         good = false;
   }
   return good;
}

static void hash_task(rkb_task_t *task) {
   rkb_hasher_t *hasher = rkb_hasher_new();
   if (!hasher)
      return;
   rkb_hasher_add_text(hasher, task->definition->hash);
   rkb_hasher_add_text(hasher, task->info.direction);
   rkb_hasher_finish(hasher, task->hash);
   snprintf(task->values_identity, sizeof task->values_identity, "%s-%s", task->hash, RKB_EVALUATOR_IDENTITY);
}

rkb_task_t *rkb_task_load(const char *directory, const char *direction, uint64_t memory_budget,
                          rkb_problems_t *problems) {
   rkb_task_t *task = rkb_allocate(1, sizeof *task);
   task->budget = memory_budget ? memory_budget : DEFAULT_BUDGET;
   task->definition = rkb_definition_load(directory, problems);
   if (!task->definition)
      goto failed;
   const rkb_definition_t *definition = task->definition;
   const char *chosen = direction ? NULL : definition->directions[0];
   for (uint32_t i = 0; direction && definition->directions[i]; i++)
      if (strcmp(definition->directions[i], direction) == 0)
         chosen = definition->directions[i];
   if (!chosen) {
      rkb_problem(problems, (rkb_place_t){0}, "task %s has no direction %s; it has %s%s%s", definition->name,
                  direction, definition->directions[0], definition->directions[1] ? " and " : "",
                  definition->directions[1] ? definition->directions[1] : "");
      goto failed;
   }
   task->backward = strcmp(chosen, "backward") == 0;
   task->info = (rkb_task_info_t){.name = definition->name,
                                  .direction = chosen,
                                  .summary = definition->summary,
                                  .precision = definition->precision,
                                  .directory = definition->directory,
                                  .reference = definition->reference};
   hash_task(task);
   if (!bind_cases(task, problems))
      goto failed;
   if (task->case_count > 0)
      return task;
   rkb_problem(problems, (rkb_place_t){0}, "task %s has no case for direction %s", definition->name, chosen);
failed:
   rkb_task_free(task);
   return NULL;
}

bool rkb_task_exists(const char *directory) {
   char *found = rkb_find_named("tasks", directory);
   char *file = rkb_path_join(found, "task.yaml");
   bool exists = rkb_path_exists(file);
   free(file);
   free(found);
   return exists;
}

void rkb_task_free(rkb_task_t *task) {
   if (!task)
      return;
   for (uint32_t i = 0; i < task->case_count; i++)
      rkb_bound_free(task->cases[i]);
   free(task->cases);
   rkb_definition_free(task->definition);
   free(task);
}

const rkb_task_info_t *rkb_task_info(const rkb_task_t *task) {
   return &task->info;
}

const char *const *rkb_task_directions(const rkb_task_t *task) {
   return task->definition->directions;
}

const char *rkb_task_hash(const rkb_task_t *task) {
   return task->hash;
}

const char *rkb_task_values_identity(const rkb_task_t *task) {
   return task->values_identity;
}

uint32_t rkb_task_dim_count(const rkb_task_t *task) {
   return task->definition->dim_count;
}

const char *rkb_task_dim(const rkb_task_t *task, uint32_t index, const char **domain) {
   if (domain)
      *domain = task->definition->dims[index].domain;
   return task->definition->dims[index].name;
}

rkb_task_domain_t rkb_task_dim_domain(const rkb_task_t *task, uint32_t index) {
   const rkb_dim_t *dim = &task->definition->dims[index];
   return (rkb_task_domain_t){dim->low, dim->high, dim->multiple_of, dim->choices, dim->choice_count};
}

const char *rkb_task_require_at(const rkb_task_t *task, uint32_t index) {
   return index < task->definition->require_count ? rkb_expression_text(task->definition->require[index]) : NULL;
}

const char *rkb_task_operation_at(const rkb_task_t *task, uint32_t index) {
   return index < task->definition->node_count ? task->definition->nodes[index].function->name : NULL;
}

const char *rkb_task_attribute_at(const rkb_task_t *task, uint32_t index, double *least, double *greatest) {
   if (index >= task->definition->attribute_count)
      return NULL;
   const rkb_task_attribute_t *attribute = &task->definition->attributes[index];
   *least = *greatest = attribute->fallback;
   for (uint32_t i = 0; i < attribute->choice_count; i++) {
      *least = fmin(*least, attribute->choices[i]);
      *greatest = fmax(*greatest, attribute->choices[i]);
   }
   return attribute->name;
}

const char *rkb_task_shape_text(const rkb_task_t *task, uint32_t tensor) {
   return task->cases[0]->origins[tensor]->shape_text;
}

const char *rkb_task_let_at(const rkb_task_t *task, uint32_t index, const char **text) {
   if (index >= task->definition->let_count)
      return NULL;
   *text = rkb_expression_text(task->definition->lets[index].value);
   return task->definition->lets[index].name;
}

const rkb_case_t *rkb_task_case(const rkb_task_t *task, uint32_t kind, uint32_t index) {
   for (uint32_t i = 0; i < task->case_count; i++)
      if (task->cases[i]->view.kind == kind && index-- == 0)
         return &task->cases[i]->view;
   return NULL;
}

bool rkb_case_lookup(const rkb_task_t *task, const rkb_case_t *the_case, const char *name, bool *is_real,
                     int64_t *integer, double *real) {
   (void)task;
   rkb_value_t value;
   if (!rkb_bound_lookup((void *)(uintptr_t)rkb_bound_of(the_case), name, &value))
      return false;
   *is_real = value.is_real;
   *integer = value.integer;
   *real = value.real;
   return true;
}

const rkb_family_t *rkb_task_family(const rkb_task_t *task, const rkb_case_t *the_case, uint32_t index) {
   (void)task;
   const rkb_family_list_t *families = rkb_bound_of(the_case)->families;
   return index < families->count ? &families->entries[index].view : NULL;
}
