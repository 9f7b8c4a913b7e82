/* block_to_warp: a warp computes the row that a block computed, so that a block computes several rows.
 *
 * Before: a row's number `blockIdx.x`; loops from threadIdx.x in steps of the block; sums and maxima over the block, through shared memory.
 * After: the row's number is that of the warp, loops go from the lane's number in steps of 32, and a sum needs shuffles alone.
 * A barrier becomes __syncwarp(), which orders the accesses of a warp's threads to memory as the barrier ordered those of the block's.
 *
 * Holds where
 *   - every launch has a block of one dimension, of whole warps, and no dynamic shared memory; gridDim.x is not used;
 *   - threadIdx.x only begins loops in steps of the number of threads, picks thread 0, or stands in a recognised sum; the number of threads
 *     stands nowhere else.  So which thread makes which steps of a loop does not matter, apart from the order of sums;
 *   - the block's sums and maxima have a known form (block_to_warp_join.c, block_to_warp_tree.c), in the kernel's own block or in a function.
 *     They join lanes and warps by the same operation;
 *   - shared memory is used by these alone;
 *   - the number of threads is a tune parameter with several values, which the text says are all right, or loops only gather sums, maxima and
 *     minima.
 * All threads of a warp meet its shuffles, because all threads of a block met the barriers. */
#include "lift/block_to_warp.h"

#include <stdlib.h>
#include <string.h>
#include "lift/loops.h"

enum { MOST_EFFECTS = 64 };

static const rkb_tune_parameter_t *tune_named(const manifest_t *manifest, const char *name) {
   for (uint32_t i = 0; i < manifest->public.tune_count; i++)
      if (strcmp(manifest->public.tune[i].name, name) == 0)
         return &manifest->public.tune[i];
   return NULL;
}

/* Whether a block's number of threads is a multiple of 32 and more than 32. */
static bool is_of_warps(const manifest_t *manifest, const char *block) {
   const rkb_tune_parameter_t *tune = tune_named(manifest, block);
   if (tune) {
      bool whole = tune->fallback > 32 && tune->fallback % 32 == 0;
      for (uint32_t c = 0; c < tune->choice_count; c++)
         whole = whole && tune->choices[c] % 32 == 0;
      return whole;
   }
   char *end;
   const long threads = strtol(block, &end, 10);
   if (threads == 32 && strncmp(end, " * ", 3) == 0)
      return tune_named(manifest, end + 3) != NULL;
   return *end == '\0' && threads > 32 && threads % 32 == 0;
}

/* A block of whole warps in every launch that runs the kernel; *free: the text says that any of several numbers is right. */
static bool check_launches(const block_to_warp_t *to, bool *free_number) {
   lift_list_t *lists = rkb_allocate(2, sizeof *lists), *arguments = lists, *grid = lists + 1;
   uint32_t found = 0;
   bool sound = true;
   *free_number = true;
   for (uint32_t l = 0; sound && l < to->launches->count; l++) {
      const lift_launch_t *launch = &to->launches->list[l];
      if (!lift_launch_runs(launch, to->tree, to->kernel, arguments))
         continue;
      found++;
      const rkb_tune_parameter_t *tune = tune_named(to->manifest, launch->block);
      *free_number = *free_number && tune && tune->choice_count > 1;
      if (launch->shared[0] || launch->cooperative)
         sound = lift_refuse(to->change, "launch %u has dynamic shared memory or is cooperative", l + 1);
      else if (!is_of_warps(to->manifest, launch->block))
         sound = lift_refuse(to->change, "launch %u: '%s' threads are not known to be several whole warps",
                             l + 1, launch->block);
      else if (!lift_list_split(launch->grid, grid) || grid->count == 0 || strcmp(grid->entries[0], "1") == 0)
         sound = lift_refuse(to->change, "launch %u has a single row", l + 1);
   }
   free(lists);
   return sound && (found > 0 || lift_refuse(to->change, "no launch runs the kernel"));
}

/* Whether an assignment only gathers: x += value, x -= value, or x = max(x, value). */
static bool gathers(const lift_tree_t *tree, uint32_t assignment, uint32_t variable) {
   static const char *const joins[] = {"fmaxf", "fminf", "max", "min", NULL};
   char callee[64];
   if (lift_operator_is(tree, assignment, "+=") || lift_operator_is(tree, assignment, "-="))
      return lift_is(tree, assignment, LIFT_COMPOUND_ASSIGNMENT) &&
             !lift_uses(tree, lift_child(tree, assignment, 1), variable);
   const uint32_t value =
      lift_is(tree, assignment, LIFT_BINARY) ? lift_plain(tree, lift_child(tree, assignment, 1)) : LIFT_NONE;
   if (!lift_is(tree, value, LIFT_CALL) || lift_children(tree, value) != 3)
      return false;
   lift_callee(tree, value, callee, sizeof callee);
   for (int i = 0; joins[i]; i++)
      if (strcmp(callee, joins[i]) == 0)
         return lift_base(tree, lift_child(tree, value, 1)) == variable &&
                !lift_uses(tree, lift_child(tree, value, 2), variable);
   return false;
}

/* Whether what loops leave behind does not depend on the number of threads. */
static bool check_gathering(const block_to_warp_t *to) {
   const lift_tree_t *tree = to->tree;
   for (uint32_t i = to->kernel; i < tree->nodes[to->kernel].last; i++) {
      lift_effect_t effects[MOST_EFFECTS];
      lift_loop_t loop;
      if (!lift_is(tree, i, LIFT_FOR) || block_to_warp_owns(to, i) || !lift_loop_read(tree, i, &loop) ||
          loop.step == LIFT_NONE)
         continue;
      const uint32_t count = lift_effects(tree, loop.body, effects, MOST_EFFECTS, to->change);
      if (count == LIFT_NONE)
         return false;
      for (uint32_t e = 0; e < count; e++) {
         const uint32_t variable = effects[e].variable;
         if (variable != LIFT_NONE && strchr(tree->nodes[variable].type, '*'))
            continue;
         bool sound = lift_is(tree, variable, LIFT_VARIABLE) && lift_is_assignment(tree, effects[e].node);
         for (uint32_t n = loop.body; sound && n < tree->nodes[loop.body].last; n++)
            sound = !lift_is_assignment(tree, n) || lift_base(tree, lift_assigned(tree, n)) != variable ||
                    gathers(tree, n, variable);
         if (!sound)
            return lift_refuse(
               to->change,
               "line %u: what the loop gathers may depend on the number of threads, which is one number here",
               lift_line(tree, i));
      }
   }
   return true;
}

/* Several rows a block in each launch, and the number of rows as the last argument. */
static bool change_launches(const block_to_warp_t *to, const lift_launches_t *before) {
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   lift_list_t *lists = rkb_allocate(2, sizeof *lists), *arguments = lists, *grid = lists + 1;
   bool sound = true;
   *launches = *before;
   for (uint32_t l = 0; sound && l < launches->count; l++) {
      lift_launch_t *launch = &launches->list[l];
      if (!lift_launch_runs(launch, to->tree, to->kernel, arguments) || !lift_list_split(launch->grid, grid))
         continue;
      char warps[32], *end;
      const long threads = strtol(launch->block, &end, 10);
      rkb_text_t text;
      rkb_text_init(&text, 4 * LIFT_MAX_EXPRESSION);
      if (*end == '\0')
         snprintf(warps, sizeof warps, "%ld", threads / 32);
      rkb_text_format(&text, "ceildiv(%s, ", grid->entries[0]);
      if (*end == '\0')
         rkb_text_format(&text, "%s)", warps);
      else if (end != launch->block)
         rkb_text_format(&text, "%s)", end + 3);
      else
         rkb_text_format(&text, "%s / 32)", launch->block);
      for (uint32_t g = 1; g < grid->count; g++)
         rkb_text_format(&text, ", %s", grid->entries[g]);
      sound = text.length < sizeof launch->grid &&
              strlen(launch->args) + strlen(grid->entries[0]) + 3 < sizeof launch->args;
      if (sound) {
         snprintf(launch->grid, sizeof launch->grid, "%s", rkb_text_get(&text));
         snprintf(launch->args + strlen(launch->args), sizeof launch->args - strlen(launch->args), "%s%s",
                  launch->args[0] ? ", " : "", grid->entries[0]);
      } else
         lift_refuse(to->change, "an expression of launch %u becomes too long", l + 1);
      rkb_text_free(&text);
   }
   sound = sound && lift_write_launches(to->change, to->tree, to->manifest, launches);
   free(launches);
   free(lists);
   return sound;
}

static bool write_head(block_to_warp_t *to) {
   const lift_tree_t *tree = to->tree;
   const uint32_t body = lift_body(tree, to->kernel);
   uint32_t last = LIFT_NONE;
   for (uint32_t p = 0; lift_parameter(tree, to->kernel, p) != LIFT_NONE; p++)
      last = lift_parameter(tree, to->kernel, p);
   if (last == LIFT_NONE)
      return lift_refuse(to->change, "the kernel has no parameters");
   rkb_text_t size;
   rkb_text_init(&size, 1024);
   lift_write_node(&size, tree, to->size);
   lift_replace(to->change, tree->nodes[last].end, tree->nodes[last].end, ", int %s", to->rows);
   lift_replace(
      to->change, tree->nodes[body].start + 1, tree->nodes[body].start + 1,
      "\n   /* A warp computes a row, and a block several. */\n   const unsigned %s = threadIdx.x %% 32, %s = blockIdx.x * (%s / 32) + threadIdx.x / 32;\n"
      "   if (%s >= (unsigned)%s)\n      return; /* the same for a whole warp */",
      to->lane, to->row, rkb_text_get(&size), to->row, to->rows);
   rkb_text_free(&size);
   return true;
}

static bool apply_to(const lift_subject_t *subject, uint32_t kernel, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   block_to_warp_t to = {.tree = tree,
                         .manifest = subject->manifest,
                         .change = change,
                         .launches = launches,
                         .kernel = kernel,
                         .size = LIFT_NONE};
   char name[64];
   bool free_number = false;
   lift_fresh_name(tree, "lane", to.lane, sizeof to.lane);
   lift_fresh_name(tree, "row_of_warp", to.row, sizeof to.row);
   lift_fresh_name(tree, "row_count", to.rows, sizeof to.rows);
   bool sound = (tree->nodes[kernel].last - kernel <= LIFT_MAX_KERNEL ||
                 lift_refuse(change, "the kernel is too long")) &&
                lift_launches_read(subject->manifest, launches, change) && check_launches(&to, &free_number);
   if (sound) {
      block_to_warp_joins(&to, lift_body(tree, kernel), change);
      block_to_warp_trees(&to, lift_body(tree, kernel), change);
      block_to_warp_sent(&to, lift_body(tree, kernel), change);
   }
   sound = sound && block_to_warp_functions(&to) && block_to_warp_threads(&to) &&
           (to.found > 0 || lift_refuse(change, "no sum or maximum over a block is known here")) &&
           (free_number || check_gathering(&to)) && change_launches(&to, launches) && write_head(&to);
   if (sound) {
      lift_name(tree, kernel, name, sizeof name);
      snprintf(change->note, sizeof change->note, "a warp of %s computes a row, and a block several", name);
   }
   free(launches);
   return sound;
}

bool lift_block_to_warp(const lift_subject_t *subject, lift_change_t *change) {
   return lift_try_kernels(subject, change, apply_to);
}
