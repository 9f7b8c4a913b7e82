/* vector_access: a thread computes four neighbouring elements, and loads and stores them four at once.
 *
 * Before: `i = blockIdx.x * threads + threadIdx.x; if (i >= count) return; y[i] = f(x[i]);`.
 * After: where count is a multiple of four, a second kernel runs in which a thread begins at four times this number, loads x of four elements at
 * once, makes the same statements for each, and stores y at once.  Elsewhere the old kernel runs.
 *
 * Holds where
 *   - the element's number is the block's number * the number of threads + the thread's number, and threads say nothing else of themselves;
 *   - the guard's count is a parameter, so that the launch can tell whether it is a multiple of four;
 *   - what comes before the guard is the same for all elements of a thread; what comes after changes nothing except variables of its own and
 *     memory;
 *   - the index of such an access grows by one with the element, and is a multiple of four for each fourth element; the pointer is a whole
 *     tensor or scratch of numbers of two or four bytes;
 *   - every element makes the access, so that none is made beyond the end of a tensor;
 *   - no two pointers name one buffer, and what is stored to is accessed at no other place.
 * One assumption is not tested: the grid covers all elements, or those that it does not cover are nobody's. */
#include "lift/vector_access.h"

#include <stdlib.h>
#include <string.h>
#include "lift/loops.h"

#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/* The count as the launch says it: the argument of a parameter. */
static bool count_of(const vector_access_t *access, const lift_launch_t *launch,
                     char out[LIFT_MAX_EXPRESSION]) {
   const lift_tree_t *tree = access->tree;
   lift_list_t *values = rkb_allocate(1, sizeof *values);
   uint32_t index = 0;
   while (lift_parameter(tree, access->kernel, index) != LIFT_NONE &&
          lift_parameter(tree, access->kernel, index) != access->count)
      index++;
   const bool found = lift_list_split(launch->args, values) && index < values->count;
   if (found)
      snprintf(out, LIFT_MAX_EXPRESSION, "%s", values->entries[index]);
   free(values);
   return found;
}

/* The launch of the new kernel, before the old one's. */
static bool make_launch(const vector_access_t *access, const lift_launch_t *old, lift_launch_t *launch) {
   char count[LIFT_MAX_EXPRESSION], own[100];
   lift_list_t *grid = rkb_allocate(1, sizeof *grid);
   rkb_text_t when, blocks;
   rkb_text_init(&when, 4 * LIFT_MAX_EXPRESSION);
   rkb_text_init(&blocks, 4 * LIFT_MAX_EXPRESSION);
   bool sound = count_of(access, old, count) && lift_list_split(old->grid, grid) && grid->count > 0;
   if (sound) {
      lift_name(access->tree, access->kernel, own, sizeof own);
      const bool plain = count[strspn(count, NAME)] == '\0';
      if (old->when[0])
         rkb_text_format(&when, "(%s) and ", old->when);
      rkb_text_format(&when, plain ? "%s %% 4 == 0" : "(%s) %% 4 == 0", count);
      rkb_text_format(&blocks, "ceildiv(%s, 4)", grid->entries[0]);
      for (uint32_t g = 1; g < grid->count; g++)
         rkb_text_format(&blocks, ", %s", grid->entries[g]);
      *launch = *old;
      const int length =
         snprintf(launch->kernel, sizeof launch->kernel, "%s%s", access->name, old->kernel + strlen(own));
      sound = when.length < sizeof launch->when && blocks.length < sizeof launch->grid &&
              (size_t)length < sizeof launch->kernel;
      snprintf(launch->when, sizeof launch->when, "%s", rkb_text_get(&when));
      snprintf(launch->grid, sizeof launch->grid, "%s", rkb_text_get(&blocks));
   }
   rkb_text_free(&when);
   rkb_text_free(&blocks);
   free(grid);
   return sound || lift_refuse(access->change, "a launch's count or grid is not known, or too long");
}

static bool change_launches(const vector_access_t *access) {
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   lift_list_t *arguments = rkb_allocate(1, sizeof *arguments);
   bool sound = true, found = false;
   launches->count = 0;
   for (uint32_t l = 0; sound && l < access->launches->count; l++) {
      const lift_launch_t *old = &access->launches->list[l];
      const bool runs = lift_launch_runs(old, access->tree, access->kernel, arguments);
      sound = launches->count + 2 <= LIFT_MAX_LAUNCHES ||
              lift_refuse(access->change, "the manifest would have more than %d launches", LIFT_MAX_LAUNCHES);
      if (sound && runs) {
         sound =
            old->shared[0] == '\0' && !old->cooperative && !strchr(old->args, '{')
               ? make_launch(access, old, &launches->list[launches->count])
               : lift_refuse(access->change,
                             "launch %u has dynamic shared memory, is cooperative or passes a struct", l + 1);
         launches->count++;
         found = true;
      }
      if (sound) {
         launches->list[launches->count] = *old;
         launches->list[launches->count++].is_else = old->is_else || runs;
      }
   }
   sound = sound && (found || lift_refuse(access->change, "no launch runs the kernel")) &&
           lift_write_launches(access->change, access->tree, access->manifest, launches);
   free(launches);
   free(arguments);
   return sound;
}

static bool apply_to(const lift_subject_t *subject, uint32_t kernel, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   vector_access_t *access = rkb_allocate(1, sizeof *access);
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   char own[64], wanted[80];
   memset(access, 0, sizeof *access);
   access->tree = tree;
   access->manifest = subject->manifest;
   access->change = change;
   access->launches = launches;
   access->kernel = kernel;
   access->body = lift_body(tree, kernel);
   lift_name(tree, kernel, own, sizeof own);
   snprintf(wanted, sizeof wanted, "%s_by_fours", own);
   lift_fresh_name(tree, wanted, access->name, sizeof access->name);
   lift_fresh_name(tree, "Four", access->four_type, sizeof access->four_type);
   lift_fresh_name(tree, "first_of_four", access->first, sizeof access->first);
   bool sound =
      lift_launches_read(subject->manifest, launches, change) &&
      (tree->nodes[kernel].last - kernel <= LIFT_MAX_KERNEL || lift_refuse(change, "%s is too long", own)) &&
      (lift_no_alias(tree, launches, kernel) ||
       lift_refuse(change, "two pointers of %s name one buffer", own)) &&
      vector_access_read(access) && vector_access_groups(access) && change_launches(access) &&
      vector_access_write(access);
   if (sound)
      snprintf(change->note, sizeof change->note,
               "a thread of %s computes four elements, and accesses them at once", own);
   free(access);
   free(launches);
   return sound;
}

bool lift_vector_access(const lift_subject_t *subject, lift_change_t *change) {
   return lift_try_kernels(subject, change, apply_to);
}
