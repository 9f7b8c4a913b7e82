/* What block_to_warp allows the kernel to say of its threads, and how a warp says it (block_to_warp.h). */
#include <stdlib.h>
#include <string.h>
#include "lift/block_to_warp.h"
#include "lift/loops.h"

bool block_to_warp_own(block_to_warp_t *to, uint32_t node) {
   if (to->owned_count == BLOCK_TO_WARP_OWNED)
      return false;
   to->owned[to->owned_count++] = node;
   return true;
}

bool block_to_warp_owns(const block_to_warp_t *to, uint32_t node) {
   for (uint32_t o = 0; o < to->owned_count; o++)
      if (lift_inside(to->tree, node, to->owned[o]))
         return true;
   return false;
}

/* The expression that gives a constant variable its value; any other expression itself. */
static uint32_t value_of(const lift_tree_t *tree, uint32_t expression) {
   const uint32_t plain = lift_plain(tree, expression);
   if (!lift_is(tree, plain, LIFT_NAME))
      return plain;
   const uint32_t variable = tree->nodes[plain].declaration,
                  function = variable == LIFT_NONE ? LIFT_NONE : lift_function_of(tree, variable);
   if (!lift_is(tree, variable, LIFT_VARIABLE) || function == LIFT_NONE ||
       lift_initialiser(tree, variable) == LIFT_NONE || lift_assigns(tree, function, variable))
      return plain;
   return lift_plain(tree, lift_initialiser(tree, variable));
}

bool block_to_warp_is_thread(const block_to_warp_t *to, uint32_t expression) {
   return block_to_warp_text_is(to->tree, value_of(to->tree, expression), "threadIdx.x");
}

static bool is_part_of_thread(const block_to_warp_t *to, uint32_t expression, const char *operator,
                              const char * number, const char *other_operator, const char *other_number) {
   const lift_tree_t *tree = to->tree;
   const uint32_t value = value_of(tree, expression);
   if (!lift_is(tree, value, LIFT_BINARY) || !block_to_warp_is_thread(to, lift_child(tree, value, 0)))
      return false;
   const uint32_t right = lift_child(tree, value, 1);
   return (lift_operator_is(tree, value, operator) && block_to_warp_text_is(tree, right, number)) ||
          (lift_operator_is(tree, value, other_operator) && block_to_warp_text_is(tree, right, other_number));
}

bool block_to_warp_is_lane(const block_to_warp_t *to, uint32_t expression) {
   return is_part_of_thread(to, expression, "%", "32", "&", "31");
}

bool block_to_warp_is_warp(const block_to_warp_t *to, uint32_t expression) {
   return is_part_of_thread(to, expression, "/", "32", ">>", "5");
}

/* Whether every launch of the kernel passes, as this template argument or by this text, the number of threads of its block. */
static bool is_number_of_threads(const block_to_warp_t *to, uint32_t parameter, const char *text) {
   lift_list_t *arguments = rkb_allocate(1, sizeof *arguments);
   uint32_t found = 0, equal = 0;
   for (uint32_t l = 0; l < to->launches->count; l++) {
      if (!lift_launch_runs(&to->launches->list[l], to->tree, to->kernel, arguments))
         continue;
      const char *argument =
         parameter == LIFT_NONE ? text : lift_template_argument(to->tree, to->kernel, arguments, parameter);
      found++;
      equal += argument && lift_same_text(argument, to->launches->list[l].block);
   }
   free(arguments);
   return found > 0 && found == equal;
}

/* Whether a template argument of a call, as its text says it, is the number of threads. */
static bool is_size_by_text(const block_to_warp_t *to, uint32_t call, uint32_t index) {
   const lift_tree_t *tree = to->tree;
   const char *from = tree->text + tree->nodes[call].start,
              *close = memchr(from, '>', tree->nodes[call].end - tree->nodes[call].start),
              *open = close ? memchr(from, '<', (size_t)(close - from)) : NULL;
   char text[LIFT_MAX_EXPRESSION];
   if (!open || (size_t)(close - open) > sizeof text)
      return false;
   snprintf(text, sizeof text, "%.*s", (int)(close - open - 1), open + 1);
   lift_list_t *list = rkb_allocate(1, sizeof *list);
   bool sound = lift_list_split(text, list) && index < list->count;
   uint32_t parameter = LIFT_NONE;
   for (uint32_t c = lift_child(tree, to->kernel, 0); sound && c != LIFT_NONE; c = tree->nodes[c].next)
      parameter = lift_is(tree, c, LIFT_TEMPLATE_PARAMETER) && lift_named(tree, c, list->entries[index])
                     ? c
                     : parameter;
   sound = sound && is_number_of_threads(to, parameter, list->entries[index]);
   free(list);
   return sound;
}

/* Whether every call in the kernel gives a function's template parameter the number of threads. */
static bool is_size_at_calls(const block_to_warp_t *to, uint32_t parameter) {
   const lift_tree_t *tree = to->tree;
   const uint32_t function = tree->nodes[parameter].parent;
   char name[128], callee[128];
   uint32_t index = 0, found = 0;
   if (!lift_is(tree, function, LIFT_FUNCTION))
      return false;
   lift_name(tree, function, name, sizeof name);
   for (uint32_t c = lift_child(tree, function, 0); c != parameter && c != LIFT_NONE; c = tree->nodes[c].next)
      index += lift_is(tree, c, LIFT_TEMPLATE_PARAMETER);
   for (uint32_t i = to->kernel; i < tree->nodes[to->kernel].last; i++) {
      if (!lift_is(tree, i, LIFT_CALL))
         continue;
      lift_callee(tree, i, callee, sizeof callee);
      if (strcmp(callee, name) != 0)
         continue;
      if (!is_size_by_text(to, i, index))
         return false;
      found++;
   }
   return found > 0;
}

bool block_to_warp_is_size(const block_to_warp_t *to, uint32_t expression) {
   const lift_tree_t *tree = to->tree;
   const uint32_t value = value_of(tree, expression);
   char text[LIFT_MAX_EXPRESSION];
   if (value == LIFT_NONE)
      return false;
   const lift_node_t *n = &tree->nodes[value];
   if (block_to_warp_text_is(tree, value, "blockDim.x"))
      return true;
   if (lift_is(tree, value, LIFT_NAME) && lift_is(tree, n->declaration, LIFT_TEMPLATE_PARAMETER))
      return lift_is(tree, tree->nodes[n->declaration].parent, LIFT_KERNEL)
                ? tree->nodes[n->declaration].parent == to->kernel &&
                     is_number_of_threads(to, n->declaration, NULL)
                : is_size_at_calls(to, n->declaration);
   if (n->end - n->start >= sizeof text)
      return false;
   snprintf(text, sizeof text, "%.*s", (int)(n->end - n->start), tree->text + n->start);
   const bool named = lift_is(tree, value, LIFT_NAME) && n->declaration == LIFT_NONE;
   return (named || lift_is(tree, value, LIFT_INTEGER) || lift_is(tree, value, LIFT_BINARY)) &&
          is_number_of_threads(to, LIFT_NONE, text);
}

bool block_to_warp_counts_warps(const block_to_warp_t *to, uint32_t expression) {
   const lift_tree_t *tree = to->tree;
   const uint32_t value = value_of(tree, expression);
   char threads[32];
   if (lift_is(tree, value, LIFT_INTEGER)) {
      snprintf(threads, sizeof threads, "%lld", 32 * atoll(tree->text + tree->nodes[value].start));
      return is_number_of_threads(to, LIFT_NONE, threads);
   }
   return lift_is(tree, value, LIFT_BINARY) && block_to_warp_is_size(to, lift_child(tree, value, 0)) &&
          ((lift_operator_is(tree, value, "/") &&
            block_to_warp_text_is(tree, lift_child(tree, value, 1), "32")) ||
           (lift_operator_is(tree, value, ">>") &&
            block_to_warp_text_is(tree, lift_child(tree, value, 1), "5")));
}

/* The factor's other side when an expression is the wanted one times a number; *other LIFT_NONE when it is the wanted one itself. */
static uint32_t find_factor(const block_to_warp_t *to, uint32_t expression,
                            bool (*wanted)(const block_to_warp_t *to, uint32_t expression), uint32_t *other) {
   const lift_tree_t *tree = to->tree;
   const uint32_t plain = lift_plain(tree, expression);
   *other = LIFT_NONE;
   if (wanted(to, plain))
      return plain;
   if (!lift_is(tree, plain, LIFT_BINARY) || !lift_operator_is(tree, plain, "*"))
      return LIFT_NONE;
   for (uint32_t side = 0; side < 2; side++) {
      *other = lift_plain(tree, lift_child(tree, plain, 1 - side));
      if (wanted(to, lift_child(tree, plain, side)))
         return lift_plain(tree, lift_child(tree, plain, side));
   }
   return LIFT_NONE;
}

/* Whether the threads of a block share a loop's steps: from the thread's number in steps of the number of threads, both times the same
 * factor.  The step's number of threads, or LIFT_NONE. */
static uint32_t shared_step(const block_to_warp_t *to, uint32_t node, uint32_t *thread) {
   lift_loop_t loop;
   uint32_t factor, step_factor;
   if (!lift_is(to->tree, node, LIFT_FOR) || !lift_loop_read(to->tree, node, &loop) || loop.step == LIFT_NONE)
      return LIFT_NONE;
   *thread = find_factor(to, loop.first, block_to_warp_is_thread, &factor);
   if (*thread == LIFT_NONE || (factor != LIFT_NONE && !lift_is(to->tree, factor, LIFT_INTEGER) &&
                                !lift_is(to->tree, factor, LIFT_NAME)))
      return LIFT_NONE;
   const uint32_t size = find_factor(to, loop.step, block_to_warp_is_size, &step_factor);
   return size != LIFT_NONE && (factor == LIFT_NONE || step_factor == LIFT_NONE
                                   ? factor == step_factor
                                   : lift_same_source(to->tree, factor, step_factor))
             ? size
             : LIFT_NONE;
}

/* Whether each use of a constant variable belongs to a recognised sum, or, if steps are allowed, to the step of a loop of the block's threads. */
static bool is_in_a_step(const block_to_warp_t *to, uint32_t use);
static bool serves_sums(const block_to_warp_t *to, uint32_t variable, bool steps) {
   const lift_tree_t *tree = to->tree;
   if (!lift_is(tree, variable, LIFT_VARIABLE) || lift_assigns(tree, to->kernel, variable))
      return false;
   for (uint32_t i = to->kernel; i < tree->nodes[to->kernel].last; i++)
      if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == variable &&
          !block_to_warp_owns(to, i) && !(steps && is_in_a_step(to, i)))
         return false;
   return true;
}

/* Whether a use of the thread's number begins a loop of the block's threads, picks thread 0, or gives a constant variable its value. */
static bool is_allowed(const block_to_warp_t *to, uint32_t use) {
   const lift_tree_t *tree = to->tree;
   uint32_t top = use, thread;
   while (lift_is(tree, tree->nodes[top].parent, LIFT_PARENTHESES) ||
          lift_is(tree, tree->nodes[top].parent, LIFT_CAST))
      top = tree->nodes[top].parent;
   const uint32_t around = tree->nodes[top].parent;
   if (lift_is(tree, around, LIFT_BINARY) && lift_operator_is(tree, around, "==") &&
       lift_child(tree, around, 0) == top && block_to_warp_text_is(tree, lift_child(tree, around, 1), "0"))
      return true;
   if (lift_is(tree, around, LIFT_BINARY) && lift_is(tree, tree->nodes[around].parent, LIFT_VARIABLE) &&
       (block_to_warp_is_lane(to, around) || block_to_warp_is_warp(to, around)) &&
       serves_sums(to, tree->nodes[around].parent, false))
      return true;
   if (lift_is(tree, around, LIFT_VARIABLE) && lift_initialiser(tree, around) == top &&
       !lift_assigns(tree, to->kernel, around) &&
       !lift_is(tree, tree->nodes[tree->nodes[around].parent].parent, LIFT_FOR))
      return true;
   const uint32_t variable = lift_around(tree, use, LIFT_VARIABLE),
                  loop = variable == LIFT_NONE ? LIFT_NONE : lift_around(tree, variable, LIFT_FOR);
   return loop != LIFT_NONE && shared_step(to, loop, &thread) != LIFT_NONE && thread == use;
}

static uint32_t member_of(const lift_tree_t *tree, uint32_t name) {
   return lift_is(tree, tree->nodes[name].parent, LIFT_MEMBER) ? tree->nodes[name].parent : name;
}

static bool is_in_a_step(const block_to_warp_t *to, uint32_t use) {
   uint32_t thread;
   for (uint32_t loop = lift_around(to->tree, use, LIFT_FOR); loop != LIFT_NONE;
        loop = lift_around(to->tree, loop, LIFT_FOR)) {
      const uint32_t size = shared_step(to, loop, &thread);
      if (size != LIFT_NONE && lift_inside(to->tree, use, size))
         return true;
   }
   return false;
}

/* Whether a name stands among the template arguments of a call of one of the block's sums. */
static bool is_in_a_callee(const block_to_warp_t *to, uint32_t use) {
   char callee[128];
   for (uint32_t call = lift_around(to->tree, use, LIFT_CALL); call != LIFT_NONE;
        call = lift_around(to->tree, call, LIFT_CALL)) {
      lift_callee(to->tree, call, callee, sizeof callee);
      for (uint32_t f = 0; f < to->function_count; f++)
         if (lift_named(to->tree, to->functions[f], callee) &&
             lift_inside(to->tree, use, lift_child(to->tree, call, 0)))
            return true;
   }
   return false;
}

static bool check_name(block_to_warp_t *to, uint32_t name) {
   const lift_tree_t *tree = to->tree;
   const uint32_t member = member_of(tree, name), declaration = tree->nodes[name].declaration;
   char text[64];
   lift_name(tree, name, text, sizeof text);
   if (declaration == LIFT_NONE && strcmp(text, "threadIdx") == 0) {
      if (!block_to_warp_text_is(tree, member, "threadIdx.x") || !is_allowed(to, member))
         return lift_refuse(
            to->change,
            "line %u: threadIdx does more than begin a loop in steps of the block or pick thread 0",
            lift_line(tree, name));
      lift_replace_node(to->change, tree, member, to->lane);
      return true;
   }
   if (declaration == LIFT_NONE && strcmp(text, "blockIdx") == 0) {
      if (block_to_warp_text_is(tree, member, "blockIdx.x"))
         lift_replace_node(to->change, tree, member, to->row);
      return member != name ||
             lift_refuse(to->change, "line %u: blockIdx stands alone", lift_line(tree, name));
   }
   if (declaration == LIFT_NONE && strcmp(text, "gridDim") == 0)
      return block_to_warp_text_is(tree, member, "gridDim.y") ||
             block_to_warp_text_is(tree, member, "gridDim.z") ||
             lift_refuse(to->change, "line %u: the number of blocks is used", lift_line(tree, name));
   if (declaration != LIFT_NONE && lift_is(tree, declaration, LIFT_VARIABLE) &&
       block_to_warp_is_thread(to, name))
      return is_allowed(to, name) ||
             lift_refuse(
                to->change,
                "line %u: '%s', the thread's number, does more than begin a loop in steps of the block or pick thread 0",
                lift_line(tree, name), text);
   if (lift_is(tree, declaration, LIFT_SHARED))
      return lift_refuse(to->change, "line %u: shared memory, '%s', outside of a known sum",
                         lift_line(tree, name), text);
   const bool is_size = (declaration == LIFT_NONE || lift_is(tree, declaration, LIFT_TEMPLATE_PARAMETER)) &&
                        (strcmp(text, "blockDim") == 0 || block_to_warp_is_size(to, name));
   const uint32_t around = tree->nodes[member].parent;
   return !is_size || is_in_a_step(to, name) || is_in_a_callee(to, name) ||
          (lift_is(tree, around, LIFT_VARIABLE) && lift_initialiser(tree, around) == member &&
           serves_sums(to, around, true)) ||
          lift_refuse(to->change, "line %u: the number of threads is more than a loop's step",
                      lift_line(tree, name));
}

/* Loops of the block's threads go in steps of a warp. */
static void write_steps(block_to_warp_t *to) {
   const lift_tree_t *tree = to->tree;
   const uint32_t body = lift_body(tree, to->kernel);
   for (uint32_t i = body; i < tree->nodes[body].last; i++) {
      uint32_t thread;
      const uint32_t size = block_to_warp_owns(to, i) ? LIFT_NONE : shared_step(to, i, &thread);
      if (size == LIFT_NONE)
         continue;
      to->size = to->size != LIFT_NONE && !lift_is(tree, tree->nodes[to->size].declaration, LIFT_VARIABLE)
                    ? to->size
                    : size;
      lift_replace_node(to->change, tree, size, "32");
   }
}

bool block_to_warp_threads(block_to_warp_t *to) {
   const lift_tree_t *tree = to->tree;
   const uint32_t body = lift_body(tree, to->kernel);
   for (uint32_t i = body; i < tree->nodes[body].last; i++) {
      if (block_to_warp_owns(to, i))
         continue;
      if (lift_is(tree, i, LIFT_ASSEMBLY) || lift_is(tree, i, LIFT_LAMBDA))
         return lift_refuse(to->change, "line %u: assembly or a lambda", lift_line(tree, i));
      if (lift_is(tree, i, LIFT_NAME) && lift_around(tree, i, LIFT_SHARED) == LIFT_NONE && !check_name(to, i))
         return false;
      if (lift_is_barrier(tree, i))
         lift_replace_node(to->change, tree, i, "__syncwarp()");
   }
   write_steps(to);
   return to->size != LIFT_NONE ||
          lift_refuse(to->change, "no loop from threadIdx.x on in steps of the number of threads");
}
