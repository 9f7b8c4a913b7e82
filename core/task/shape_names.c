/* The names of many shapes (task.h): dims, lets and attributes, without the graph, the tensors and the work of a case.  One thread an object. */
#include "task/task_parts.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/name_table.h"

struct rkb_shape_names {
   const rkb_definition_t *definition;
   const rkb_bound_t *like; /* its attributes; borrowed */
   rkb_value_t *lets;
   uint32_t lets_known;
   int64_t dims[RKB_MAX_DIMS];
};

rkb_shape_names_t *rkb_shape_names_new(const rkb_task_t *task, const rkb_case_t *like) {
   rkb_shape_names_t *names = rkb_allocate(1, sizeof *names);
   *names = (rkb_shape_names_t){.definition = task->definition, .like = rkb_bound_of(like)};
   names->lets = rkb_allocate(task->definition->let_count + 1, sizeof *names->lets);
   return names;
}

void rkb_shape_names_free(rkb_shape_names_t *names) {
   if (names)
      free(names->lets);
   free(names);
}

static bool find(void *argument, const char *name, rkb_value_t *value) {
   const rkb_shape_names_t *names = argument;
   *value = (rkb_value_t){0};
   for (uint32_t i = 0; i < names->definition->dim_count; i++)
      if (rkb_same_name(names->definition->dims[i].name, name)) {
         value->integer = names->dims[i];
         return true;
      }
   for (uint32_t i = 0; i < names->lets_known; i++)
      if (rkb_same_name(names->definition->lets[i].name, name)) {
         *value = names->lets[i];
         return true;
      }
   for (uint32_t i = 0; i < names->like->view.attribute_count; i++)
      if (rkb_same_name(names->like->view.attributes[i].name, name)) {
         *value = (rkb_value_t){true, 0, names->like->view.attributes[i].value};
         return true;
      }
   return false;
}

static bool admits(const rkb_dim_t *dim, int64_t value) {
   for (uint32_t i = 0; i < dim->choice_count; i++)
      if (dim->choices[i] == value)
         return true;
   return !dim->choice_count && value >= dim->low && value <= dim->high && value % dim->multiple_of == 0;
}

bool rkb_shape_names_set(rkb_shape_names_t *names, const int64_t *dims) {
   const rkb_definition_t *definition = names->definition;
   char message[256];
   rkb_value_t value;
   names->lets_known = 0;
   for (uint32_t i = 0; i < definition->dim_count; i++) {
      names->dims[i] = dims[i];
      if (!admits(&definition->dims[i], dims[i]))
         return false;
   }
   for (uint32_t i = 0; i < definition->let_count; i++, names->lets_known++)
      if (!definition->lets[i].value ||
          rkb_expression_evaluate(definition->lets[i].value, find, names, &names->lets[i], message,
                                  sizeof message) != RKB_FAULT_NONE)
         return false;
   for (uint32_t i = 0; i < definition->require_count; i++)
      if (rkb_expression_evaluate(definition->require[i], find, names, &value, message, sizeof message) !=
             RKB_FAULT_NONE ||
          (value.is_real ? value.real == 0 : value.integer == 0))
         return false;
   return true;
}

bool rkb_shape_names_lookup(const rkb_shape_names_t *names, const char *name, bool *is_real, int64_t *integer,
                            double *real) {
   rkb_value_t value;
   if (!find((void *)(uintptr_t)names, name, &value))
      return false;
   *is_real = value.is_real;
   *integer = value.integer;
   *real = value.real;
   return true;
}

void rkb_task_dim_range(const rkb_task_t *task, uint32_t dim, int64_t *low, int64_t *high) {
   const rkb_dim_t *d = &task->definition->dims[dim];
   *low = d->choice_count ? d->choices[0] : d->low;
   *high = d->choice_count ? d->choices[0] : d->high;
   for (uint32_t i = 1; i < d->choice_count; i++) {
      *low = d->choices[i] < *low ? d->choices[i] : *low;
      *high = d->choices[i] > *high ? d->choices[i] : *high;
   }
}
