/* The list of a case's families while it is built (families.h).  One thread. */
#include "task/families.h"

#include <string.h>

bool rkb_family_is_free(const rkb_bound_t *bound, uint32_t tensor) {
   const rkb_recipe_t *recipe = &bound->recipes[tensor];
   if (bound->view.tensors[tensor].role == RKB_OUT || !rkb_dtype_is_float(bound->view.tensors[tensor].dtype))
      return false;
   return recipe->kind == RKB_INIT_NORMAL || recipe->kind == RKB_INIT_KAIMING ||
          recipe->kind == RKB_INIT_KAIMING_NORMAL || recipe->kind == RKB_INIT_XAVIER ||
          (recipe->kind == RKB_INIT_UNIFORM && recipe->first < 0);
}

rkb_family_entry_t *rkb_family_add(rkb_bound_t *bound, const char *name, bool stat, bool exact,
                                   bool decides) {
   rkb_family_list_t *list = bound->families;
   if (list->count == list->room)
      return NULL;
   rkb_draw_t *draws = rkb_arena_array(bound->arena, bound->view.tensor_count + 1, sizeof *draws);
   const char *kept = rkb_arena_text(bound->arena, name, strlen(name));
   rkb_family_entry_t *entry = &list->entries[list->count++];
   *entry = (rkb_family_entry_t){.view = {kept, stat, exact, decides}, .draws = draws};
   return entry;
}
