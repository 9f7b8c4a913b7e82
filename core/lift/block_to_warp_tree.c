/* Recognises sums and maxima of a block in a shared array that is folded in halves, and values that thread 0 tells the others.
 *
 *   part[threadIdx.x] = value;
 *   __syncthreads();
 *   for (int half = blockDim.x / 2; half > 0; half /= 2) {
 *      if (threadIdx.x < half)
 *         part[threadIdx.x] += part[threadIdx.x + half];          or part[...] = fmaxf(part[...], part[...])
 *      __syncthreads();
 *   }
 *   ... part[0] ...
 *
 * For a warp, the array becomes a variable of each thread, and the loop one of shuffles, after which every thread has the total.  Pure; any
 * thread. */
#include <stdlib.h>
#include <string.h>
#include "lift/block_to_warp.h"
#include "lift/loops.h"

enum { MOST_STEPS = 32, MOST_ARRAYS = 8 };

/* What a statement of the function's own block does with the array. */
typedef struct step {
   uint32_t statement, array;
   bool folds; /* else stores each thread's value */
} step_t;

typedef struct trees {
   block_to_warp_t *to;
   uint32_t block;
   step_t steps[MOST_STEPS];
   uint32_t step_count;
} trees_t;

/* array[threadIdx.x] */
static uint32_t own_element(const block_to_warp_t *to, uint32_t expression) {
   const lift_tree_t *tree = to->tree;
   const uint32_t plain = lift_plain(tree, expression);
   if (!lift_is(tree, plain, LIFT_SUBSCRIPT) || !lift_is(tree, lift_child(tree, plain, 0), LIFT_NAME) ||
       !block_to_warp_is_thread(to, lift_child(tree, plain, 1)))
      return LIFT_NONE;
   const uint32_t array = lift_base(tree, plain);
   return lift_is(tree, array, LIFT_SHARED) ? array : LIFT_NONE;
}

/* array[threadIdx.x + distance] */
static bool is_other_element(const block_to_warp_t *to, uint32_t expression, uint32_t array,
                             uint32_t distance) {
   const lift_tree_t *tree = to->tree;
   const uint32_t plain = lift_plain(tree, expression),
                  sum = lift_is(tree, plain, LIFT_SUBSCRIPT) ? lift_plain(tree, lift_child(tree, plain, 1))
                                                             : LIFT_NONE;
   return lift_is(tree, sum, LIFT_BINARY) && lift_operator_is(tree, sum, "+") &&
          lift_base(tree, plain) == array && lift_is(tree, lift_child(tree, plain, 0), LIFT_NAME) &&
          block_to_warp_is_thread(to, lift_child(tree, sum, 0)) &&
          lift_is(tree, lift_child(tree, sum, 1), LIFT_NAME) &&
          tree->nodes[lift_child(tree, sum, 1)].declaration == distance;
}

/* part[t] += part[t + half], or part[t] = fmaxf(part[t], part[t + half]): the array, and the other element. */
static uint32_t read_fold(const block_to_warp_t *to, uint32_t statement, uint32_t distance, uint32_t *other) {
   static const char *const joins[] = {"fmaxf", "fminf", "max", "min", NULL};
   const lift_tree_t *tree = to->tree;
   const uint32_t array =
      lift_is_assignment(tree, statement) ? own_element(to, lift_assigned(tree, statement)) : LIFT_NONE;
   uint32_t value = array == LIFT_NONE ? LIFT_NONE : lift_plain(tree, lift_child(tree, statement, 1));
   char callee[64];
   if (value == LIFT_NONE)
      return LIFT_NONE;
   if (lift_operator_is(tree, statement, "=")) {
      const uint32_t right = value;
      bool joined = false;
      if (lift_is(tree, right, LIFT_CALL) && lift_children(tree, right) == 3) {
         lift_callee(tree, right, callee, sizeof callee);
         for (int i = 0; joins[i]; i++)
            joined = joined || strcmp(callee, joins[i]) == 0;
         value = lift_child(tree, right, 2);
         joined = joined && own_element(to, lift_child(tree, right, 1)) == array;
      } else if (lift_is(tree, right, LIFT_BINARY) && lift_operator_is(tree, right, "+")) {
         value = lift_child(tree, right, 1);
         joined = own_element(to, lift_child(tree, right, 0)) == array;
      }
      if (!joined)
         return LIFT_NONE;
   } else if (!lift_operator_is(tree, statement, "+=")) {
      return LIFT_NONE;
   }
   *other = lift_plain(tree, value);
   return is_other_element(to, value, array, distance) ? array : LIFT_NONE;
}

typedef struct fold {
   uint32_t condition, barrier, first; /* the if, the barrier, and the start of the distance */
   uint32_t arrays[MOST_ARRAYS], others[MOST_ARRAYS], count;
} fold_t;

/* The loop over halves of the block. */
static bool read_loop(const block_to_warp_t *to, uint32_t loop, fold_t *fold) {
   const lift_tree_t *tree = to->tree;
   if (!lift_is(tree, loop, LIFT_FOR) || lift_children(tree, loop) != 4)
      return false;
   const uint32_t distance = lift_child(tree, lift_child(tree, loop, 0), 0),
                  condition = lift_child(tree, loop, 1), step = lift_child(tree, loop, 2),
                  body = lift_child(tree, loop, 3);
   if (!lift_is(tree, distance, LIFT_VARIABLE) || lift_initialiser(tree, distance) == LIFT_NONE ||
       !lift_is(tree, condition, LIFT_BINARY) || !lift_operator_is(tree, condition, ">") ||
       !block_to_warp_text_is(tree, lift_child(tree, condition, 1), "0") ||
       !lift_is(tree, step, LIFT_COMPOUND_ASSIGNMENT) || !lift_is(tree, body, LIFT_COMPOUND) ||
       lift_children(tree, body) != 2)
      return false;
   const uint32_t first = lift_plain(tree, lift_initialiser(tree, distance));
   const bool halves =
      (lift_operator_is(tree, step, "/=") && block_to_warp_text_is(tree, lift_child(tree, step, 1), "2")) ||
      (lift_operator_is(tree, step, ">>=") && block_to_warp_text_is(tree, lift_child(tree, step, 1), "1"));
   const bool half =
      lift_is(tree, first, LIFT_BINARY) &&
      ((lift_operator_is(tree, first, "/") && block_to_warp_text_is(tree, lift_child(tree, first, 1), "2")) ||
       (lift_operator_is(tree, first, ">>") && block_to_warp_text_is(tree, lift_child(tree, first, 1), "1")));
   *fold =
      (fold_t){.condition = lift_child(tree, body, 0), .barrier = lift_child(tree, body, 1), .first = first};
   if (!halves || !half || !block_to_warp_is_size(to, lift_child(tree, first, 0)) ||
       !lift_is_barrier(tree, fold->barrier) || !lift_is(tree, fold->condition, LIFT_IF) ||
       lift_children(tree, fold->condition) != 2)
      return false;
   const uint32_t test = lift_plain(tree, lift_child(tree, fold->condition, 0)),
                  then = lift_child(tree, fold->condition, 1);
   if (!lift_is(tree, test, LIFT_BINARY) || !lift_operator_is(tree, test, "<") ||
       !block_to_warp_is_thread(to, lift_child(tree, test, 0)) ||
       lift_base(tree, lift_child(tree, test, 1)) != distance ||
       !lift_is(tree, lift_child(tree, test, 1), LIFT_NAME))
      return false;
   const bool compound = lift_is(tree, then, LIFT_COMPOUND);
   for (uint32_t s = compound ? lift_child(tree, then, 0) : then; s != LIFT_NONE;
        s = compound ? tree->nodes[s].next : LIFT_NONE) {
      if (fold->count == MOST_ARRAYS)
         return false;
      fold->arrays[fold->count] = read_fold(to, s, distance, &fold->others[fold->count]);
      for (uint32_t a = 0; a < fold->count; a++)
         if (fold->arrays[a] == fold->arrays[fold->count])
            return false;
      if (fold->arrays[fold->count++] == LIFT_NONE)
         return false;
   }
   return fold->count > 0;
}

static void add_step(trees_t *trees, uint32_t statement, uint32_t array, bool folds) {
   if (trees->step_count < MOST_STEPS)
      trees->steps[trees->step_count] = (step_t){statement, array, folds};
   trees->step_count++;
}

/* Whether every use of the array is a store, a fold, or a read of the total after a fold; and a barrier stands between a store and a fold. */
static bool check_array(const trees_t *trees, uint32_t array) {
   const lift_tree_t *tree = trees->to->tree;
   uint32_t folds = 0;
   for (uint32_t s = 0; s < trees->step_count; s++) {
      const step_t *step = &trees->steps[s];
      if (step->array != array)
         continue;
      folds += step->folds;
      bool barrier = false, stored = false;
      for (uint32_t before = lift_child(tree, trees->block, 0); step->folds && before != step->statement;
           before = tree->nodes[before].next)
         for (uint32_t k = 0; k <= s; k++) {
            if (trees->steps[k].array == array && trees->steps[k].statement == before) {
               stored = !trees->steps[k].folds;
               barrier = false;
            }
            barrier = barrier || lift_is_barrier(tree, before);
         }
      if (step->folds && (!stored || !barrier))
         return false;
   }
   for (uint32_t i = trees->block; i < tree->nodes[trees->block].last; i++) {
      if (!lift_is(tree, i, LIFT_NAME) || tree->nodes[i].declaration != array)
         continue;
      bool known = false, total = false;
      for (uint32_t s = 0; s < trees->step_count; s++) {
         const step_t *step = &trees->steps[s];
         if (step->array != array)
            continue;
         const bool target = !step->folds && lift_inside(tree, i, lift_assigned(tree, step->statement));
         known = known || target || (step->folds && lift_inside(tree, i, step->statement));
         if (i >= tree->nodes[step->statement].last)
            total = step->folds;
      }
      const uint32_t access = tree->nodes[i].parent;
      known = known || (total && lift_is(tree, access, LIFT_SUBSCRIPT) && lift_child(tree, access, 0) == i &&
                        block_to_warp_text_is(tree, lift_plain(tree, lift_child(tree, access, 1)), "0") &&
                        !(lift_is_assignment(tree, tree->nodes[access].parent) &&
                          lift_assigned(tree, tree->nodes[access].parent) == access));
      if (!known)
         return false;
   }
   uint32_t lengths[2];
   return folds > 0 && lift_children(tree, tree->nodes[array].parent) == 1 &&
          lift_lengths(tree, array, lengths, 2) == 1;
}

/* The declaration of a variable in the place of the array's. */
static void write_array(const trees_t *trees, uint32_t array, lift_change_t *edits) {
   const lift_tree_t *tree = trees->to->tree;
   const uint32_t declaration = tree->nodes[array].parent;
   char name[64];
   lift_name(tree, array, name, sizeof name);
   const char *type = tree->nodes[array].type;
   size_t length = strcspn(type, "[");
   while (length > 0 && type[length - 1] == ' ')
      length--;
   lift_replace(edits, tree->nodes[declaration].start, lift_statement_end(tree, declaration),
                "%.*s %s; /* every lane has the total of its warp */", (int)length, type, name);
   for (uint32_t i = trees->block; i < tree->nodes[trees->block].last; i++) {
      bool folded = false;
      for (uint32_t s = 0; s < trees->step_count; s++)
         folded = folded || (trees->steps[s].folds && lift_inside(tree, i, trees->steps[s].statement));
      if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == array && !folded) {
         lift_replace_node(edits, tree, tree->nodes[i].parent, name);
         block_to_warp_own(trees->to, tree->nodes[i].parent);
      }
   }
}

/* A loop of shuffles in the place of a fold. */
static void write_fold(const trees_t *trees, uint32_t loop, const fold_t *fold, lift_change_t *edits) {
   const lift_tree_t *tree = trees->to->tree;
   const uint32_t then = lift_child(tree, fold->condition, 1),
                  distance = lift_child(tree, lift_child(tree, loop, 0), 0);
   char name[64], own[64];
   lift_name(tree, distance, own, sizeof own);
   lift_replace_node(edits, tree, fold->first, "16");
   lift_replace(edits, tree->nodes[fold->condition].start, tree->nodes[then].start, "%s", "");
   const uint32_t line = lift_line_start(tree, tree->nodes[fold->barrier].start),
                  end = lift_statement_end(tree, fold->barrier);
   lift_replace(edits, line, end + (line != tree->nodes[fold->barrier].start && tree->text[end] == '\n'),
                "%s", "");
   for (uint32_t a = 0; a < fold->count; a++) {
      lift_name(tree, fold->arrays[a], name, sizeof name);
      lift_replace(edits, tree->nodes[fold->others[a]].start, tree->nodes[fold->others[a]].end,
                   "__shfl_xor_sync(0xffffffffu, %s, %s)", name, own);
      for (uint32_t i = then; i < tree->nodes[then].last; i++)
         if (lift_is(tree, i, LIFT_SUBSCRIPT) && lift_base(tree, i) == fold->arrays[a] &&
             !lift_inside(tree, i, fold->others[a]))
            lift_replace_node(edits, tree, i, name);
   }
   block_to_warp_own(trees->to, loop);
}

void block_to_warp_trees(block_to_warp_t *to, uint32_t block, lift_change_t *edits) {
   const lift_tree_t *tree = to->tree;
   trees_t trees = {.to = to, .block = block};
   fold_t fold;
   for (uint32_t s = lift_child(tree, block, 0); s != LIFT_NONE; s = tree->nodes[s].next) {
      if (lift_is(tree, s, LIFT_BINARY) && lift_operator_is(tree, s, "=") &&
          own_element(to, lift_child(tree, s, 0)) != LIFT_NONE)
         add_step(&trees, s, own_element(to, lift_child(tree, s, 0)), false);
      else if (read_loop(to, s, &fold))
         for (uint32_t a = 0; a < fold.count; a++)
            add_step(&trees, s, fold.arrays[a], true);
   }
   bool sound = trees.step_count > 0 && trees.step_count <= MOST_STEPS;
   for (uint32_t s = 0; sound && s < trees.step_count; s++)
      sound = check_array(&trees, trees.steps[s].array);
   if (!sound)
      return;
   for (uint32_t s = 0; s < trees.step_count; s++) {
      bool first = true, first_loop = trees.steps[s].folds;
      for (uint32_t k = 0; k < s; k++) {
         first = first && trees.steps[k].array != trees.steps[s].array;
         first_loop = first_loop && trees.steps[k].statement != trees.steps[s].statement;
      }
      if (first)
         write_array(&trees, trees.steps[s].array, edits);
      if (first_loop && read_loop(to, trees.steps[s].statement, &fold)) {
         write_fold(&trees, trees.steps[s].statement, &fold, edits);
         to->found++;
      }
   }
}

/* if (threadIdx.x == 0) variable = value; with a shared variable. */
static uint32_t read_sent(const block_to_warp_t *to, uint32_t statement, uint32_t *variable) {
   const lift_tree_t *tree = to->tree;
   if (!lift_is(tree, statement, LIFT_IF) || lift_children(tree, statement) != 2)
      return LIFT_NONE;
   const uint32_t test = lift_plain(tree, lift_child(tree, statement, 0));
   uint32_t store = lift_child(tree, statement, 1);
   if (lift_is(tree, store, LIFT_COMPOUND) && lift_children(tree, store) == 1)
      store = lift_child(tree, store, 0);
   if (!lift_is(tree, test, LIFT_BINARY) || !lift_operator_is(tree, test, "==") ||
       !block_to_warp_is_thread(to, lift_child(tree, test, 0)) ||
       !block_to_warp_text_is(tree, lift_child(tree, test, 1), "0") || !lift_is(tree, store, LIFT_BINARY) ||
       !lift_operator_is(tree, store, "="))
      return LIFT_NONE;
   *variable = lift_is(tree, lift_child(tree, store, 0), LIFT_NAME)
                  ? lift_base(tree, lift_child(tree, store, 0))
                  : LIFT_NONE;
   return lift_is(tree, *variable, LIFT_SHARED) ? store : LIFT_NONE;
}

/* Whether a thread can compute a value without effects and without reading memory. */
static bool can_be_computed_by_all(const block_to_warp_t *to, uint32_t value) {
   static const char *const names[] = {"rsqrtf", "sqrtf", "expf", "logf",  "fmaxf",
                                       "fminf",  "max",   "min",  "fabsf", NULL};
   const lift_tree_t *tree = to->tree;
   char callee[64];
   for (uint32_t i = value; i < tree->nodes[value].last; i++) {
      if (lift_is_assignment(tree, i) || (lift_is(tree, i, LIFT_SUBSCRIPT) && !block_to_warp_owns(to, i)) ||
          lift_is(tree, i, LIFT_LAMBDA) || (lift_is(tree, i, LIFT_UNARY) && lift_operator_is(tree, i, "*")))
         return false;
      if (!lift_is(tree, i, LIFT_CALL))
         continue;
      bool known = false;
      lift_callee(tree, i, callee, sizeof callee);
      for (int n = 0; names[n]; n++)
         known = known || strcmp(callee, names[n]) == 0;
      if (!known)
         return false;
   }
   return true;
}

void block_to_warp_sent(block_to_warp_t *to, uint32_t block, lift_change_t *edits) {
   const lift_tree_t *tree = to->tree;
   for (uint32_t s = lift_child(tree, block, 0); s != LIFT_NONE; s = tree->nodes[s].next) {
      uint32_t variable, stores = 0;
      const uint32_t store = read_sent(to, s, &variable);
      if (store == LIFT_NONE || !can_be_computed_by_all(to, lift_child(tree, store, 1)) ||
          lift_children(tree, tree->nodes[variable].parent) != 1 || strchr(tree->nodes[variable].type, '['))
         continue;
      for (uint32_t i = block; i < tree->nodes[block].last; i++)
         stores += lift_is_assignment(tree, i) && lift_base(tree, lift_assigned(tree, i)) == variable;
      uint32_t next = tree->nodes[s].next;
      if (stores != 1 || next == LIFT_NONE || !lift_is_barrier(tree, next))
         continue;
      char name[64];
      lift_name(tree, variable, name, sizeof name);
      const uint32_t declaration = tree->nodes[variable].parent, value = lift_child(tree, store, 1);
      lift_replace(edits, tree->nodes[declaration].start, lift_statement_end(tree, declaration), "%s %s;",
                   tree->nodes[variable].type, name);
      lift_replace(edits, tree->nodes[s].start, tree->nodes[value].start, "%s = __shfl_sync(0xffffffffu, ",
                   name);
      lift_replace(edits, tree->nodes[value].end, lift_statement_end(tree, s), ", 0);");
      for (uint32_t i = block; i < tree->nodes[block].last; i++)
         if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == variable)
            block_to_warp_own(to, i);
      block_to_warp_own(to, lift_child(tree, s, 0));
   }
}
