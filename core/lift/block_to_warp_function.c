/* Functions that compute a sum or a maximum over the block, and those of the same result over a warp (block_to_warp.h).  Pure; any thread. */
#include <stdlib.h>
#include <string.h>
#include "lift/block_to_warp.h"
#include "lift/loops.h"

enum { DEPTH = 16 };

/* Whether a call is one that threads make together, or that orders memory. */
static bool is_joint(const lift_tree_t *tree, uint32_t call) {
   char callee[128];
   lift_callee(tree, call, callee, sizeof callee);
   return strstr(callee, "_sync") || strstr(callee, "__sync") || strstr(callee, "__threadfence") ||
          strstr(callee, "__activemask");
}

/* All functions and methods of the text, and whether each says anything of threads, itself or in one that it calls. */
typedef struct functions {
   uint32_t list[BLOCK_TO_WARP_ALL], count;
   enum { UNKNOWN, VISITED, WORKS_WITH_THREADS } states[BLOCK_TO_WARP_ALL];
} functions_t;

static bool works_with_threads(const lift_tree_t *tree, functions_t *all, uint32_t index, int depth) {
   const uint32_t function = all->list[index];
   char name[128];
   if (all->states[index] != UNKNOWN)
      return all->states[index] == WORKS_WITH_THREADS;
   all->states[index] = depth == 0 ? WORKS_WITH_THREADS : VISITED;
   for (uint32_t i = function; all->states[index] == VISITED && i < tree->nodes[function].last; i++) {
      bool works = lift_is(tree, i, LIFT_SHARED) || lift_is(tree, i, LIFT_ASSEMBLY) ||
                   (lift_is(tree, i, LIFT_CALL) && is_joint(tree, i));
      if (lift_is(tree, i, LIFT_NAME) || lift_is(tree, i, LIFT_MEMBER)) {
         lift_name(tree, i, name, sizeof name);
         works = works || strcmp(name, "threadIdx") == 0 || strcmp(name, "blockIdx") == 0 ||
                 strcmp(name, "blockDim") == 0 || strcmp(name, "gridDim") == 0;
         for (uint32_t f = 0; !works && f < all->count; f++)
            works = f != index && lift_named(tree, all->list[f], name) &&
                    works_with_threads(tree, all, f, depth - 1);
      }
      if (works)
         all->states[index] = WORKS_WITH_THREADS;
   }
   return all->states[index] == WORKS_WITH_THREADS;
}

/* Whether a declaration gives the thread's, the lane's or the warp's number a name. */
static bool is_number(const block_to_warp_t *to, uint32_t variable) {
   const uint32_t value =
      lift_is(to->tree, variable, LIFT_VARIABLE) ? lift_initialiser(to->tree, variable) : LIFT_NONE;
   return value != LIFT_NONE && (block_to_warp_is_lane(to, value) || block_to_warp_is_warp(to, value) ||
                                 block_to_warp_is_thread(to, value));
}

static bool is_owned(const block_to_warp_t *to, uint32_t node) {
   for (uint32_t o = 0; o < to->owned_count; o++)
      if (to->owned[o] == node)
         return true;
   return false;
}

/* A statement of a function's own block that computes the sum, names a number or a total, stores what is added up, or is a barrier or the return. */
static bool belongs_to_a_sum(const block_to_warp_t *to, uint32_t statement) {
   const lift_tree_t *tree = to->tree;
   if (lift_is_barrier(tree, statement) || is_owned(to, statement) ||
       (lift_is(tree, statement, LIFT_RETURN) && tree->nodes[statement].next == LIFT_NONE))
      return true;
   if (lift_is(tree, statement, LIFT_BINARY))
      return lift_operator_is(tree, statement, "=") &&
             is_owned(to, lift_plain(tree, lift_child(tree, statement, 0)));
   bool known = lift_is(tree, statement, LIFT_DECLARATIONS);
   for (uint32_t c = known ? lift_child(tree, statement, 0) : LIFT_NONE; known && c != LIFT_NONE;
        c = tree->nodes[c].next) {
      const uint32_t value = lift_is(tree, c, LIFT_VARIABLE) ? lift_initialiser(tree, c) : LIFT_NONE;
      known = lift_is(tree, c, LIFT_SHARED) || is_number(to, c) ||
              (value != LIFT_NONE && is_owned(to, lift_plain(tree, value)));
   }
   return known;
}

/* Whether a function does nothing except to compute a sum and to return it. */
static bool is_only_a_sum(const block_to_warp_t *to, uint32_t function) {
   const lift_tree_t *tree = to->tree;
   const uint32_t body = lift_body(tree, function);
   for (uint32_t s = lift_child(tree, body, 0); s != LIFT_NONE; s = tree->nodes[s].next)
      if (!belongs_to_a_sum(to, s))
         return false;
   for (uint32_t p = 0; lift_parameter(tree, function, p) != LIFT_NONE; p++)
      if (strchr(tree->nodes[lift_parameter(tree, function, p)].type, '&'))
         return false;
   for (uint32_t i = body; i < tree->nodes[body].last; i++) {
      if (!lift_is(tree, i, LIFT_NAME) || block_to_warp_owns(to, i))
         continue;
      const uint32_t declaration = tree->nodes[i].declaration, around = lift_around(tree, i, LIFT_VARIABLE);
      const bool thread =
         declaration == LIFT_NONE && (lift_named(tree, i, "threadIdx") || lift_named(tree, i, "blockIdx") ||
                                      lift_named(tree, i, "blockDim") || lift_named(tree, i, "gridDim"));
      if ((thread || (declaration != LIFT_NONE && is_number(to, declaration))) &&
          (around == LIFT_NONE || !lift_inside(tree, around, body) || !is_number(to, around)))
         return false;
      if (lift_is(tree, declaration, LIFT_SHARED))
         return false;
   }
   return to->found > 0;
}

/* A new function after the old one, or in its place when nothing else calls it. */
static bool write_function(block_to_warp_t *to, uint32_t function, const lift_change_t *edits) {
   const lift_tree_t *tree = to->tree;
   char old[100], name[120], wanted[120];
   rkb_text_t text;
   lift_change_t all = {0};
   uint32_t inside = 0;
   lift_name(tree, function, old, sizeof old);
   const char *word = strstr(old, "block");
   if (word)
      snprintf(wanted, sizeof wanted, "%.*swarp%s", (int)(word - old), old, word + 5);
   else
      snprintf(wanted, sizeof wanted, "warp_%s", old);
   lift_fresh_name(tree, wanted, name, sizeof name);
   for (uint32_t e = 0; e < edits->count; e++)
      lift_replace(&all, edits->edits[e].start, edits->edits[e].end, "%s", edits->edits[e].text);
   lift_replace(&all, tree->nodes[function].name, tree->nodes[function].name + (uint32_t)strlen(old), "%s",
                name);
   rkb_text_init(&text, LIFT_MAX_TEXT);
   const uint32_t start = lift_function_start(tree, function);
   bool sound = lift_write(&text, tree, &all, start, tree->nodes[function].end) && !text.cut;
   for (uint32_t i = to->kernel; i < tree->nodes[to->kernel].last; i++)
      if (lift_is(tree, i, LIFT_CALL) && lift_child(tree, i, 0) != LIFT_NONE) {
         const uint32_t callee = lift_child(tree, i, 0);
         if (!lift_is(tree, callee, LIFT_NAME) || !lift_named(tree, callee, old))
            continue;
         inside++;
         lift_replace(to->change, tree->nodes[callee].name, tree->nodes[callee].name + (uint32_t)strlen(old),
                      "%s", name);
      }
   sound = sound && (inside > 0 || lift_refuse(to->change, "the calls of %s are not read", old));
   if (lift_count_calls(tree, old) == inside)
      lift_replace(to->change, start, tree->nodes[function].end, "%s", rkb_text_get(&text));
   else
      lift_replace(to->change, tree->nodes[function].end, tree->nodes[function].end,
                   "\n\n/* The same over a warp. */\n%s", rkb_text_get(&text));
   rkb_text_free(&text);
   lift_change_free(&all);
   return sound || lift_refuse(to->change, "%s is not understood", old);
}

/* Has the kernel call a function over a warp instead of this one over the block. */
static bool change_function(block_to_warp_t *to, uint32_t function, uint32_t call) {
   lift_change_t edits = {0};
   char name[128];
   const uint32_t found = to->found, body = lift_body(to->tree, function);
   lift_name(to->tree, function, name, sizeof name);
   to->found = 0;
   block_to_warp_joins(to, body, &edits);
   block_to_warp_trees(to, body, &edits);
   for (uint32_t i = body; i < to->tree->nodes[body].last; i++)
      if (lift_is_barrier(to->tree, i) && !block_to_warp_owns(to, i))
         lift_replace_node(&edits, to->tree, i, "__syncwarp()");
   const bool sum = is_only_a_sum(to, function);
   to->found += found;
   if (sum && to->function_count < BLOCK_TO_WARP_FUNCTIONS)
      to->functions[to->function_count++] = function;
   const bool sound =
      sum ? write_function(to, function, &edits)
          : lift_refuse(to->change,
                        "line %u: %s works with threads, and is no known sum or maximum over a block",
                        lift_line(to->tree, call), name);
   lift_change_free(&edits);
   return sound;
}

/* Shared arrays that the kernel only passes to its sums belong to these. */
static bool own_passed_array(block_to_warp_t *to, uint32_t call, uint32_t function) {
   const lift_tree_t *tree = to->tree;
   for (uint32_t p = 0; lift_parameter(tree, function, p) != LIFT_NONE; p++) {
      const uint32_t argument = lift_child(tree, call, p + 1);
      if (argument != LIFT_NONE && lift_is(tree, lift_plain(tree, argument), LIFT_NAME) &&
          lift_is(tree, lift_base(tree, argument), LIFT_SHARED) && !block_to_warp_own(to, argument))
         return false;
   }
   return true;
}

static bool check_call(block_to_warp_t *to, functions_t *all, uint32_t call) {
   const lift_tree_t *tree = to->tree;
   char callee[128];
   bool known = false;
   lift_callee(tree, call, callee, sizeof callee);
   for (uint32_t f = 0; f < to->function_count; f++)
      known = known || lift_named(tree, to->functions[f], callee);
   for (uint32_t f = 0; !known && f < all->count; f++) {
      if (!lift_named(tree, all->list[f], callee) || !works_with_threads(tree, all, f, DEPTH))
         continue;
      if (lift_function_named(tree, callee) != all->list[f])
         return lift_refuse(to->change, "line %u: %s works with threads", lift_line(tree, call), callee);
      if (!change_function(to, all->list[f], call))
         return false;
      known = true;
   }
   if (known && !own_passed_array(to, call, lift_function_named(tree, callee)))
      return lift_refuse(to->change, "the kernel has too many sums");
   return known || !is_joint(tree, call) ||
          lift_refuse(to->change, "line %u: %s outside of a known sum", lift_line(tree, call), callee);
}

bool block_to_warp_functions(block_to_warp_t *to) {
   const lift_tree_t *tree = to->tree;
   const uint32_t body = lift_body(tree, to->kernel);
   functions_t *all = rkb_allocate(1, sizeof *all);
   bool sound = true;
   memset(all, 0, sizeof *all);
   for (uint32_t f = 0; sound && f < tree->count; f++) {
      if ((!lift_is(tree, f, LIFT_FUNCTION) && !lift_is(tree, f, LIFT_METHOD)) ||
          lift_body(tree, f) == LIFT_NONE)
         continue;
      sound = all->count < BLOCK_TO_WARP_ALL ||
              lift_refuse(to->change, "the text has more than %d functions", BLOCK_TO_WARP_ALL);
      if (sound)
         all->list[all->count++] = f;
   }
   for (uint32_t i = body; sound && i < tree->nodes[body].last; i++)
      if (lift_is(tree, i, LIFT_CALL) && !block_to_warp_owns(to, i) && !lift_is_barrier(tree, i))
         sound = check_call(to, all, i);
   free(all);
   return sound;
}
