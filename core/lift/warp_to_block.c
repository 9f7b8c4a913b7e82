/* warp_to_block: a block computes the row that a warp computed.
 *
 * Before: `lane = threadIdx.x % 32`, a row's number `blockIdx.x * warps + threadIdx.x / 32`, loops from lane in steps of
 * 32, and shuffles that leave a warp's total in every lane.
 * After: the same loops from threadIdx.x in steps of the block.  After each loop of shuffles the warps' totals go through
 * shared memory, and the statement that joined two lanes joins them.
 *
 * Holds where
 *   - the block has 32 threads for each of `warps` rows, and the grid is ceildiv(rows, warps);
 *   - threadIdx.x occurs only in `threadIdx.x % 32` and in the row's number, and `warps` only in the latter;
 *   - a lane's number only begins loops in steps of 32 and picks lane 0;
 *   - each loop of shuffles is a butterfly (`__shfl_xor_sync` over distances 16 to 1) in the kernel's own block.  Then
 *     all lanes hold the total.  All threads meet the barrier, because a return before it is a return for the whole row.
 *     And totals may be joined in any order, as before. */
#include <stdlib.h>
#include <string.h>
#include "lift/launches.h"
#include "lift/rewrite.h"

enum { MOST_PLACES = 64, MOST_VALUES = 8 };

typedef struct shape {
   uint32_t kernel, body;
   uint32_t row;            /* the sum `blockIdx.x * warps + threadIdx.x / 32` */
   uint32_t warps;          /* the template parameter with the number of warps */
   uint32_t lane;           /* the variable with the lane's number, or LIFT_NONE */
   uint32_t butterflies[MOST_VALUES], butterfly_count;
} shape_t;

/* `threadIdx.x <operator> 32` */
static bool is_thread(const lift_tree_t *tree, uint32_t node, const char *operator) {
   return lift_is(tree, node, LIFT_BINARY) && lift_operator_is(tree, node, operator) &&
          lift_text_is(tree, lift_plain(tree, lift_child(tree, node, 0)), "threadIdx.x") && lift_text_is(tree, lift_child(tree, node, 1), "32");
}

/* Whether a node is blockIdx.x * warps + threadIdx.x / 32, with or without a cast before it. */
static bool is_row(const lift_tree_t *tree, uint32_t node, uint32_t *warps) {
   if (!lift_is(tree, node, LIFT_BINARY) || !lift_operator_is(tree, node, "+") || !is_thread(tree, lift_plain(tree, lift_child(tree, node, 1)), "/"))
      return false;
   const uint32_t product = lift_plain(tree, lift_child(tree, node, 0));
   if (!lift_is(tree, product, LIFT_BINARY) || !lift_operator_is(tree, product, "*"))
      return false;
   const uint32_t factor = lift_child(tree, product, 1);
   *warps = lift_is(tree, factor, LIFT_NAME) ? tree->nodes[factor].declaration : LIFT_NONE;
   return lift_text_is(tree, lift_plain(tree, lift_child(tree, product, 0)), "blockIdx.x") && lift_is(tree, *warps, LIFT_TEMPLATE_PARAMETER);
}

static bool find_row(const lift_subject_t *subject, shape_t *shape, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   shape->row = shape->lane = LIFT_NONE;
   for (uint32_t i = shape->body; i < tree->nodes[shape->body].last; i++) {
      if (shape->row == LIFT_NONE && is_row(tree, i, &shape->warps))
         shape->row = i;
      if (lift_is(tree, i, LIFT_VARIABLE) && lift_initialiser(tree, i) != LIFT_NONE &&
          is_thread(tree, lift_plain(tree, lift_initialiser(tree, i)), "%"))
         shape->lane = i;
   }
   if (shape->row == LIFT_NONE)
      return lift_refuse(change, "no row of a warp: blockIdx.x * warps + threadIdx.x / 32");
   if (shape->lane == LIFT_NONE)
      return lift_refuse(change, "no variable holds the lane, threadIdx.x %% 32");
   return true;
}

/* The for loop whose start is this use of the variable; LIFT_NONE when the use is elsewhere. */
static uint32_t loop_started_by(const lift_tree_t *tree, uint32_t use) {
   const uint32_t variable = lift_around(tree, use, LIFT_VARIABLE);
   const uint32_t loop = variable == LIFT_NONE ? LIFT_NONE : lift_around(tree, variable, LIFT_FOR);
   return loop != LIFT_NONE && lift_inside(tree, use, lift_child(tree, loop, 0)) && lift_plain(tree, lift_initialiser(tree, variable)) == use
             ? loop
             : LIFT_NONE;
}

/* The number 32 in a loop's step `i += 32`. */
static uint32_t step_of(const lift_tree_t *tree, uint32_t loop) {
   const uint32_t step = lift_children(tree, loop) == 4 ? lift_child(tree, loop, 2) : LIFT_NONE;
   if (step == LIFT_NONE || !lift_is(tree, step, LIFT_COMPOUND_ASSIGNMENT) || !lift_operator_is(tree, step, "+="))
      return LIFT_NONE;
   const uint32_t value = lift_child(tree, step, 1);
   return lift_text_is(tree, value, "32") ? value : LIFT_NONE;
}

static bool check_threads(const lift_subject_t *subject, const shape_t *shape, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   char warps[64];
   lift_name(tree, shape->warps, warps, sizeof warps);
   for (uint32_t i = shape->body; i < tree->nodes[shape->body].last; i++) {
      if (!lift_is(tree, i, LIFT_NAME))
         continue;
      const bool in_row = lift_inside(tree, i, shape->row);
      if (lift_named(tree, i, "threadIdx") && tree->nodes[i].declaration == LIFT_NONE && !in_row && !lift_inside(tree, i, shape->lane))
         return lift_refuse(change, "line %u: threadIdx stands outside of the lane and the row's number", lift_line(tree, i));
      if (tree->nodes[i].declaration == shape->warps && !in_row)
         return lift_refuse(change, "line %u: '%s' is used for more than the row's number", lift_line(tree, i), warps);
      if (tree->nodes[i].declaration == LIFT_NONE && lift_named(tree, i, "blockIdx") && !in_row)
         return lift_refuse(change, "line %u: blockIdx stands outside of the row's number", lift_line(tree, i));
      if (tree->nodes[i].declaration != shape->lane)
         continue;
      const uint32_t loop = loop_started_by(tree, i), compared = tree->nodes[i].parent;
      const bool picks = lift_is(tree, compared, LIFT_BINARY) && lift_operator_is(tree, compared, "==") &&
                         lift_text_is(tree, lift_child(tree, compared, 1), "0");
      if (!picks && (loop == LIFT_NONE || step_of(tree, loop) == LIFT_NONE))
         return lift_refuse(change, "line %u: the lane does more than begin a loop in steps of 32 or pick lane 0", lift_line(tree, i));
   }
   return true;
}

static bool is_butterfly(const lift_tree_t *tree, uint32_t loop) {
   if (lift_children(tree, loop) != 4)
      return false;
   const uint32_t variable = lift_child(tree, lift_child(tree, loop, 0), 0), step = lift_child(tree, loop, 2);
   return lift_is(tree, variable, LIFT_VARIABLE) && lift_initialiser(tree, variable) != LIFT_NONE &&
          lift_text_is(tree, lift_initialiser(tree, variable), "16") &&
          ((lift_operator_is(tree, step, "/=") && lift_text_is(tree, lift_child(tree, step, 1), "2")) ||
           (lift_operator_is(tree, step, ">>=") && lift_text_is(tree, lift_child(tree, step, 1), "1"))) &&
          lift_calls(tree, lift_child(tree, loop, 3), "__shfl_xor_sync");
}

static bool find_butterflies(const lift_subject_t *subject, shape_t *shape, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   char callee[64];
   shape->butterfly_count = 0;
   for (uint32_t s = lift_child(tree, shape->body, 0); s != LIFT_NONE; s = tree->nodes[s].next)
      if (lift_is(tree, s, LIFT_FOR) && is_butterfly(tree, s) && shape->butterfly_count < MOST_VALUES)
         shape->butterflies[shape->butterfly_count++] = s;
   for (uint32_t i = shape->body; i < tree->nodes[shape->body].last; i++) {
      if (!lift_is(tree, i, LIFT_CALL))
         continue;
      bool inside = false;
      for (uint32_t b = 0; b < shape->butterfly_count; b++)
         inside = inside || lift_inside(tree, i, shape->butterflies[b]);
      lift_callee(tree, i, callee, sizeof callee);
      if (!inside && (strstr(callee, "_sync") || strstr(callee, "__sync") || strstr(callee, "atomic")))
         return lift_refuse(change, "line %u: %s outside of a butterfly in the kernel's own block", lift_line(tree, i), callee);
      for (uint32_t f = 0; !inside && f < tree->count; f++)
         if (lift_is(tree, f, LIFT_FUNCTION) && lift_named(tree, f, callee) && (lift_mentions(tree, f, "threadIdx") || lift_calls(tree, f, "__shfl_xor_sync")))
            return lift_refuse(change, "line %u: %s works with the threads of a warp", lift_line(tree, i), callee);
   }
   return shape->butterfly_count > 0 || lift_refuse(change, "no loop of __shfl_xor_sync in the kernel's own block");
}

/* Writes the code after the butterfly that joins the warps' totals in shared memory.  Each shuffled value is
 * a variable of its own. */
static bool write_join(const lift_subject_t *subject, const shape_t *shape, uint32_t loop, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   const uint32_t body = lift_child(tree, loop, 3);
   uint32_t values[MOST_VALUES], count = 0;
   char name[64], array[96], warps[64];
   lift_change_t inside = {0};
   rkb_text_t arrays, stores, loads, joined;
   bool sound = true;
   rkb_text_init(&arrays, 4096);
   rkb_text_init(&stores, 4096);
   rkb_text_init(&loads, 4096);
   rkb_text_init(&joined, LIFT_MAX_TEXT);
   lift_name(tree, shape->warps, warps, sizeof warps);
   for (uint32_t i = body; sound && i < tree->nodes[body].last; i++) {
      if (!lift_is(tree, i, LIFT_CALL))
         continue;
      lift_callee(tree, i, name, sizeof name);
      if (strcmp(name, "__shfl_xor_sync") != 0)
         continue;
      const uint32_t value = lift_plain(tree, lift_child(tree, i, 2)), variable = lift_is(tree, value, LIFT_NAME) ? tree->nodes[value].declaration : LIFT_NONE;
      sound = count < MOST_VALUES && lift_is(tree, variable, LIFT_VARIABLE) && lift_children(tree, i) == 4 && !strchr(tree->nodes[variable].type, '[') &&
              !strchr(tree->nodes[variable].type, '*');
      if (!sound) {
         lift_refuse(change, "line %u: what is shuffled is not a variable", lift_line(tree, i));
         break;
      }
      values[count++] = variable;
      lift_name(tree, variable, name, sizeof name);
      char wanted[80];
      snprintf(wanted, sizeof wanted, "%s_of_warp", name);
      lift_fresh_name(tree, wanted, array, sizeof array);
      const char *type = tree->nodes[variable].type;
      rkb_text_format(&arrays, "   __shared__ %s %s[%s];\n", strncmp(type, "const ", 6) == 0 ? type + 6 : type, array, warps);
      rkb_text_format(&stores, "      %s[threadIdx.x / 32] = %s;\n", array, name);
      rkb_text_format(&loads, "   %s = %s[0];\n", name, array);
      lift_replace(&inside, tree->nodes[i].start, tree->nodes[i].end, "%s[warp]", array);
   }
   for (uint32_t v = 0; v + 1 < count; v++)
      if (values[v] == values[v + 1])
         sound = lift_refuse(change, "line %u: one value is shuffled twice", lift_line(tree, loop));
   if (sound) {
      lift_write(&joined, tree, &inside, tree->nodes[body].start, lift_statement_end(tree, body));
      lift_replace(change, lift_statement_end(tree, loop), lift_statement_end(tree, loop),
                   "\n   /* The warps' totals, joined in the same order by every thread. */\n%s   if (threadIdx.x %% 32 == 0) {\n%s   }\n   __syncthreads();\n%s"
                   "   for (int warp = 1; warp < %s; warp++)%s%s",
                   rkb_text_get(&arrays), rkb_text_get(&stores), rkb_text_get(&loads), warps, lift_is(tree, body, LIFT_COMPOUND) ? " " : "\n      ", rkb_text_get(&joined));
   }
   lift_change_free(&inside);
   rkb_text_free(&arrays);
   rkb_text_free(&stores);
   rkb_text_free(&loads);
   rkb_text_free(&joined);
   return sound;
}

static bool change_launches(const lift_subject_t *subject, const shape_t *shape, lift_change_t *change) {
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   lift_list_t *arguments = rkb_allocate(2, sizeof *arguments), *grid = arguments + 1;
   bool sound = lift_launches_read(subject->manifest, launches, change);
   uint32_t found = 0;
   for (uint32_t l = 0; sound && l < launches->count; l++) {
      lift_launch_t *launch = &launches->list[l];
      char threads[LIFT_MAX_EXPRESSION + 16], rows[LIFT_MAX_EXPRESSION];
      if (!lift_launch_runs(launch, subject->tree, shape->kernel, arguments))
         continue;
      const char *warps = lift_template_argument(subject->tree, shape->kernel, arguments, shape->warps);
      snprintf(threads, sizeof threads, "32 * %s", warps ? warps : "");
      size_t length = strlen(launch->grid);
      sound = warps && lift_same_text(launch->block, threads) && strncmp(launch->grid, "ceildiv(", 8) == 0 && launch->grid[length - 1] == ')';
      if (sound) {
         snprintf(rows, sizeof rows, "%.*s", (int)(length - 9), launch->grid + 8);
         sound = lift_list_split(rows, grid) && grid->count == 2 && lift_same_text(grid->entries[1], warps);
      }
      if (!sound)
         lift_refuse(change, "launch %u is not of 32 * warps threads over ceildiv(rows, warps) blocks", l + 1);
      else
         snprintf(launch->grid, sizeof launch->grid, "%s", grid->entries[0]);
      found++;
   }
   sound = sound && (found > 0 || lift_refuse(change, "no launch runs the kernel")) &&
           lift_write_launches(change, subject->tree, subject->manifest, launches);
   free(launches);
   free(arguments);
   return sound;
}

static bool apply_to(const lift_subject_t *subject, uint32_t kernel, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   shape_t shape = {.kernel = kernel, .body = lift_body(tree, kernel)};
   char warps[64], name[64];
   if (!find_row(subject, &shape, change) || !check_threads(subject, &shape, change) || !find_butterflies(subject, &shape, change) ||
       !change_launches(subject, &shape, change))
      return false;
   for (uint32_t b = 0; b < shape.butterfly_count; b++)
      if (!write_join(subject, &shape, shape.butterflies[b], change))
         return false;
   lift_name(tree, shape.warps, warps, sizeof warps);
   lift_name(tree, kernel, name, sizeof name);
   const uint32_t product = lift_plain(tree, lift_child(tree, shape.row, 0));
   rkb_text_t block;
   rkb_text_init(&block, 1024);
   lift_write_node(&block, tree, lift_child(tree, product, 0));
   lift_replace_node(change, tree, shape.row, rkb_text_get(&block));
   rkb_text_free(&block);
   lift_replace_node(change, tree, lift_initialiser(tree, shape.lane), "threadIdx.x");
   for (uint32_t i = shape.body; i < tree->nodes[shape.body].last; i++) {
      if (!lift_is(tree, i, LIFT_NAME) || tree->nodes[i].declaration != shape.lane || loop_started_by(tree, i) == LIFT_NONE)
         continue;
      lift_replace(change, tree->nodes[step_of(tree, loop_started_by(tree, i))].start, tree->nodes[step_of(tree, loop_started_by(tree, i))].end,
                   "32 * %s", warps);
   }
   snprintf(change->note, sizeof change->note, "a block of %s computes a row, its warps join in shared memory", name);
   return true;
}

bool lift_warp_to_block(const lift_subject_t *subject, lift_change_t *change) {
   return lift_try_kernels(subject, change, apply_to);
}
