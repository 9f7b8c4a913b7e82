/* What the parameters of the second of two kernels are called when both are one (join_launches.h). */
#include <string.h>
#include "lift/join_launches.h"
#include "lift/loops.h"

/* Whether a kernel declares the name, other than by the node. */
static bool declares(const lift_tree_t *tree, uint32_t kernel, const char *name, uint32_t except) {
   for (uint32_t i = kernel + 1; i < tree->nodes[kernel].last; i++) {
      const enum lift_kind kind = tree->nodes[i].kind;
      if (i != except &&
          (kind == LIFT_PARAMETER || kind == LIFT_TEMPLATE_PARAMETER || kind == LIFT_VARIABLE ||
           kind == LIFT_SHARED || kind == LIFT_OTHER) &&
          tree->nodes[i].name != tree->nodes[i].start && lift_named(tree, i, name))
         return true;
   }
   return false;
}

static const char *unqualified(const char *type) {
   return strncmp(type, "const ", 6) == 0 ? type + 6 : type;
}

static uint32_t template_parameter(const lift_tree_t *tree, uint32_t kernel, uint32_t index) {
   for (uint32_t c = lift_child(tree, kernel, 0); c != LIFT_NONE; c = tree->nodes[c].next)
      if (lift_is(tree, c, LIFT_TEMPLATE_PARAMETER) && index-- == 0)
         return c;
   return LIFT_NONE;
}

static uint32_t parameter_of(const lift_tree_t *tree, uint32_t kernel, uint32_t index, bool of_template) {
   return of_template ? template_parameter(tree, kernel, index) : lift_parameter(tree, kernel, index);
}

/* The first kernel's parameter that has the same value and type; the new kernel has one for both.  A pointer through which only one of
 * them stores is shared too, and is no pointer to const then. */
static uint32_t find_shared(const join_launches_t *join, uint32_t parameter, uint32_t index,
                            bool of_template) {
   const lift_tree_t *tree = join->tree;
   lift_list_t *const *lists = of_template ? join->templates : join->arguments;
   char name[64];
   for (uint32_t i = 0; i < lists[0]->count; i++) {
      const uint32_t other = parameter_of(tree, join->kernels[0]->kernel, i, of_template);
      if (other == LIFT_NONE || strcmp(lists[0]->entries[i], lists[1]->entries[index]) != 0)
         continue;
      const char *one = tree->nodes[other].type, *two = tree->nodes[parameter].type;
      const bool pointer = strchr(one, '*') != NULL;
      lift_name(tree, other, name, sizeof name);
      if (strcmp(pointer ? unqualified(one) : one, pointer ? unqualified(two) : two) == 0 &&
          !declares(tree, join->kernels[1]->kernel, name, parameter) &&
          (pointer || !lift_assigns(tree, join->kernels[0]->kernel, other)))
         return other;
   }
   return LIFT_NONE;
}

static bool add_names(join_launches_t *join, bool of_template) {
   const lift_tree_t *tree = join->tree;
   const uint32_t first = join->kernels[0]->kernel, second = join->kernels[1]->kernel;
   const lift_list_t *list = of_template ? join->templates[1] : join->arguments[1];
   for (uint32_t i = 0; parameter_of(tree, second, i, of_template) != LIFT_NONE; i++) {
      const uint32_t parameter = parameter_of(tree, second, i, of_template);
      char own[64], wanted[80];
      if (i >= list->count || join->name_count == JOIN_NAMES)
         return lift_refuse(join->change, "launch %u has too many or too few arguments", join->first + 2);
      join_name_t *name = &join->names[join->name_count++];
      lift_name(tree, parameter, own, sizeof own);
      *name = (join_name_t){.parameter = parameter, .shared = find_shared(join, parameter, i, of_template)};
      if (name->shared != LIFT_NONE) {
         lift_name(tree, name->shared, name->name, sizeof name->name);
      } else if (declares(tree, first, own, LIFT_NONE)) {
         snprintf(wanted, sizeof wanted, "second_%s", own);
         lift_fresh_name(tree, wanted, name->name, sizeof name->name);
      } else {
         snprintf(name->name, sizeof name->name, "%s", own);
      }
   }
   return true;
}

/* Whether a name of a function, type or constant means something else in the new kernel, where the first one's parameters are declared too. */
static bool is_hidden(const join_launches_t *join) {
   const lift_tree_t *tree = join->tree;
   const uint32_t first = join->kernels[0]->kernel, second = join->kernels[1]->kernel;
   char own[64];
   for (uint32_t i = 0; i < 2 * JOIN_NAMES; i++) {
      const uint32_t parameter = parameter_of(tree, first, i / 2, i % 2);
      if (parameter == LIFT_NONE)
         continue;
      lift_name(tree, parameter, own, sizeof own);
      for (uint32_t n = second; n < tree->nodes[second].last; n++) {
         const uint32_t declaration = lift_is(tree, n, LIFT_NAME) ? tree->nodes[n].declaration : LIFT_NONE;
         if (lift_is(tree, n, LIFT_NAME) && lift_named(tree, n, own) &&
             (declaration == LIFT_NONE || !lift_inside(tree, declaration, second)))
            return true;
      }
   }
   return false;
}

bool join_launches_names(join_launches_t *join) {
   char one[64], other[64], wanted[160];
   lift_name(join->tree, join->kernels[0]->kernel, one, sizeof one);
   lift_name(join->tree, join->kernels[1]->kernel, other, sizeof other);
   snprintf(wanted, sizeof wanted, "%.50s_and_%.50s", one, other);
   lift_fresh_name(join->tree, wanted, join->name, sizeof join->name);
   lift_fresh_name(join->tree, "handed_on", join->handed, sizeof join->handed);
   if (is_hidden(join))
      return lift_refuse(join->change, "%s uses a name that is a parameter of %s", other, one);
   return add_names(join, true) && add_names(join, false);
}
