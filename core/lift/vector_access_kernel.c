/* Reads the form of a kernel in which a thread computes one element (vector_access.h). */
#include <string.h>
#include "lift/block_to_warp.h"
#include "lift/loops.h"
#include "lift/vector_access.h"

enum { MOST_EFFECTS = 64 };

/* blockIdx.x * threads + threadIdx.x */
static bool is_element_number(const vector_access_t *access, uint32_t expression) {
   const lift_tree_t *tree = access->tree;
   const block_to_warp_t to = {.tree = tree, .launches = access->launches, .kernel = access->kernel};
   const uint32_t sum = lift_plain(tree, expression);
   if (!lift_is(tree, sum, LIFT_BINARY) || !lift_operator_is(tree, sum, "+"))
      return false;
   uint32_t product = lift_plain(tree, lift_child(tree, sum, 0)),
            thread = lift_plain(tree, lift_child(tree, sum, 1));
   if (lift_text_is(tree, product, "threadIdx.x")) {
      const uint32_t other = product;
      product = thread;
      thread = other;
   }
   if (!lift_text_is(tree, thread, "threadIdx.x") || !lift_is(tree, product, LIFT_BINARY) ||
       !lift_operator_is(tree, product, "*"))
      return false;
   const uint32_t left = lift_plain(tree, lift_child(tree, product, 0)),
                  right = lift_plain(tree, lift_child(tree, product, 1));
   return (lift_text_is(tree, left, "blockIdx.x") && block_to_warp_is_size(&to, right)) ||
          (lift_text_is(tree, right, "blockIdx.x") && block_to_warp_is_size(&to, left));
}

static bool returns(const lift_tree_t *tree, uint32_t statement) {
   return lift_is(tree, statement, LIFT_RETURN) ||
          (lift_is(tree, statement, LIFT_COMPOUND) && lift_children(tree, statement) == 1 &&
           lift_is(tree, lift_child(tree, statement, 0), LIFT_RETURN));
}

/* Reads the guard: if (element >= count) return; and the rest behind it, or if (element < count) and its branch at the end. */
static bool read_guard(vector_access_t *access, uint32_t statement) {
   const lift_tree_t *tree = access->tree;
   const uint32_t condition = lift_plain(tree, lift_child(tree, statement, 0)),
                  then = lift_child(tree, statement, 1);
   if (lift_children(tree, statement) != 2 || !lift_is(tree, condition, LIFT_BINARY))
      return false;
   const uint32_t compared = lift_plain(tree, lift_child(tree, condition, 0)),
                  count = lift_plain(tree, lift_child(tree, condition, 1));
   const bool leaves = lift_operator_is(tree, condition, ">=") && returns(tree, then),
              enters = lift_operator_is(tree, condition, "<") && tree->nodes[statement].next == LIFT_NONE;
   if ((!leaves && !enters) || !lift_is(tree, compared, LIFT_NAME) ||
       tree->nodes[compared].declaration != access->element || !lift_is(tree, count, LIFT_NAME))
      return false;
   access->guard = statement;
   access->count = tree->nodes[count].declaration;
   access->in_branch = enters;
   access->rest = enters ? then : tree->nodes[statement].next;
   access->rest_end = enters ? tree->nodes[then].last : tree->nodes[access->body].last;
   return access->rest != LIFT_NONE && lift_is(tree, access->count, LIFT_PARAMETER) &&
          !strchr(tree->nodes[access->count].type, '*') && !lift_assigns(tree, access->kernel, access->count);
}

/* Finds the element's number and the guard.  Between them and before, only declarations that do not name the element. */
static bool find_element(vector_access_t *access) {
   const lift_tree_t *tree = access->tree;
   access->element = LIFT_NONE;
   for (uint32_t s = lift_child(tree, access->body, 0); s != LIFT_NONE; s = tree->nodes[s].next) {
      if (lift_is(tree, s, LIFT_IF) && access->element != LIFT_NONE)
         return read_guard(access, s) ||
                lift_refuse(access->change, "line %u: no guard of the element's number by a parameter",
                            lift_line(tree, s));
      const uint32_t variable = lift_is(tree, s, LIFT_DECLARATIONS) ? lift_child(tree, s, 0) : LIFT_NONE;
      if (!lift_is(tree, variable, LIFT_VARIABLE))
         return lift_refuse(access->change,
                            "line %u: the kernel does not begin with the element's number and its guard",
                            lift_line(tree, s));
      if (access->element == LIFT_NONE && lift_children(tree, s) == 1 &&
          lift_initialiser(tree, variable) != LIFT_NONE &&
          is_element_number(access, lift_initialiser(tree, variable)))
         access->element = variable;
      else if (access->element != LIFT_NONE && lift_uses(tree, s, access->element))
         return lift_refuse(access->change, "line %u: the element's number is used before its guard",
                            lift_line(tree, s));
   }
   return lift_refuse(access->change,
                      "no element's number, blockIdx.x * threads + threadIdx.x, with a guard");
}

/* Whether a name is one by which a thread says which it is. */
static bool is_of_thread(const lift_tree_t *tree, uint32_t name) {
   if (!lift_is(tree, name, LIFT_NAME) || tree->nodes[name].declaration != LIFT_NONE)
      return false;
   const uint32_t member = tree->nodes[name].parent;
   return lift_named(tree, name, "threadIdx") ||
          ((lift_named(tree, name, "blockIdx") || lift_named(tree, name, "gridDim") ||
            lift_named(tree, name, "blockDim")) &&
           !lift_text_is(tree, member, "blockIdx.y") && !lift_text_is(tree, member, "blockIdx.z"));
}

static bool check_threads(const vector_access_t *access) {
   const lift_tree_t *tree = access->tree;
   char callee[128];
   bool calls = false;
   for (uint32_t i = access->body; i < tree->nodes[access->body].last; i++) {
      if (lift_is(tree, i, LIFT_ASSEMBLY) || lift_is(tree, i, LIFT_LAMBDA) || lift_is(tree, i, LIFT_SHARED))
         return lift_refuse(access->change, "line %u: assembly, a lambda or shared memory",
                            lift_line(tree, i));
      if (is_of_thread(tree, i) && !lift_inside(tree, i, access->element))
         return lift_refuse(access->change, "line %u: a thread's or block's number outside of the element's",
                            lift_line(tree, i));
      if (!lift_is(tree, i, LIFT_CALL))
         continue;
      lift_callee(tree, i, callee, sizeof callee);
      if (strstr(callee, "_sync") || strstr(callee, "__sync") || strstr(callee, "atomic"))
         return lift_refuse(access->change, "line %u: %s", lift_line(tree, i), callee);
      calls = calls || lift_is(tree, lift_child(tree, i, 0), LIFT_MEMBER) ||
              lift_function_named(tree, callee) != LIFT_NONE;
   }
   for (uint32_t i = 0; calls && i < tree->count; i++) {
      const uint32_t function = is_of_thread(tree, i) ? lift_function_of(tree, i) : LIFT_NONE;
      if (function != LIFT_NONE && !lift_is(tree, function, LIFT_KERNEL))
         return lift_refuse(access->change, "line %u: a function works with threads", lift_line(tree, i));
   }
   return true;
}

/* Whether the rest changes only variables of its own and memory. */
static bool check_effects(const vector_access_t *access) {
   const lift_tree_t *tree = access->tree;
   lift_effect_t effects[MOST_EFFECTS];
   for (uint32_t s = access->rest; s != LIFT_NONE; s = access->in_branch ? LIFT_NONE : tree->nodes[s].next) {
      const uint32_t count = lift_effects(tree, s, effects, MOST_EFFECTS, access->change);
      if (count == LIFT_NONE)
         return false;
      for (uint32_t e = 0; e < count; e++) {
         const uint32_t variable = effects[e].variable;
         const bool own = variable != LIFT_NONE && variable >= access->rest && variable < access->rest_end;
         const bool memory =
            lift_is(tree, variable, LIFT_PARAMETER) && strchr(tree->nodes[variable].type, '*') &&
            lift_is_assignment(tree, effects[e].node) &&
            !lift_is(tree, lift_plain(tree, lift_assigned(tree, effects[e].node)), LIFT_NAME);
         if (!own && !memory)
            return lift_refuse(access->change,
                               "line %u: this changes more than memory and variables of one element",
                               lift_line(tree, effects[e].node));
      }
   }
   for (uint32_t i = access->rest; i < access->rest_end; i++)
      if (lift_is(tree, i, LIFT_RETURN))
         return lift_refuse(access->change, "line %u: another return", lift_line(tree, i));
   return !lift_assigns(tree, access->kernel, access->element) ||
          lift_refuse(access->change, "the element's number is changed");
}

bool vector_access_read(vector_access_t *access) {
   return find_element(access) && check_threads(access) && check_effects(access);
}
