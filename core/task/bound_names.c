/* The names that a bound case knows: dims, lets and attributes.  Any thread. */
#include "task/bound_case.h"

#include "base/name_table.h"

bool rkb_bound_lookup(void *argument, const char *name, rkb_value_t *value) {
   const rkb_bound_t *bound = argument;
   *value = (rkb_value_t){0};
   for (uint32_t i = 0; i < bound->view.dim_count; i++)
      if (rkb_same_name(bound->view.dims[i].name, name)) {
         value->integer = bound->view.dims[i].value;
         return true;
      }
   for (uint32_t i = 0; i < bound->lets_known; i++)
      if (rkb_same_name(bound->definition->lets[i].name, name)) {
         *value = (rkb_value_t){bound->let_is_real[i], bound->let_values[i], bound->let_reals[i]};
         return true;
      }
   for (uint32_t i = 0; i < bound->view.attribute_count; i++)
      if (rkb_same_name(bound->view.attributes[i].name, name)) {
         *value = (rkb_value_t){true, 0, bound->view.attributes[i].value};
         return true;
      }
   return false;
}
