/* vector_copy: a copy into shared memory fetches four numbers at once.
 *
 * Before: `for (int i = threadIdx.x; i < rows * depth; i += threads)` computes row and k from i by / and %, and stores
 * matrix.at(row, k) or zero in a tile.
 * After: where the conditions below hold, a thread makes four consecutive iterations, and
 * matrix.at_four(row, k) is one access of 16 bytes; elsewhere the loop is as before.
 *
 * Holds where
 *   - the loop stores one element in an iteration and reads nothing of the tile, and barriers of the block stand between
 *     the copy and all other uses of the tile, so that it does not matter which thread makes which iteration;
 *   - all threads begin the loop with the same values, so that together they make the same iterations as before;
 *   - four iterations that begin at a multiple of four have the same quotient, and remainders that grow by one: the
 *     divisor is a multiple of four;
 *   - so one argument of the method grows by one, and the method reads a tensor at an index that grows with it:
 *     `row * pitch + k`.  The index is a multiple of four if pitch is one; the tensor itself begins at a multiple of 16
 *     bytes;
 *   - conditions around the access are the same for the four iterations: they do not name the value that grows, or
 *     they compare it by < with a multiple of four.
 * The written code tests at run time whether these numbers are multiples of four; all threads share the values of the
 * test.  For a struct whose method has another form, the test fails.  One assumption is not tested: a tensor whose rows
 * are multiples of four has at least four elements. */
#include "lift/vector_copy.h"

#include <stdlib.h>
#include <string.h>

static void free_copy(vector_copy_t *copy) {
   for (int w = 0; w < 2; w++)
      rkb_text_free(&copy->ways[w].guard);
   for (uint32_t o = 0; o < copy->object_count; o++)
      rkb_text_free(&copy->objects[o].guard);
   free(copy);
}

static bool apply_to(const lift_subject_t *subject, const lift_launches_t *launches, uint32_t loop,
                     lift_change_t *change) {
   vector_copy_t *copy = rkb_allocate(1, sizeof *copy);
   *copy = (vector_copy_t){.tree = subject->tree,
                           .change = change,
                           .launches = launches,
                           .function = lift_function_of(subject->tree, loop),
                           .choice = LIFT_NONE};
   for (int w = 0; w < 2; w++)
      rkb_text_init(&copy->ways[w].guard, 4096);
   bool sound = lift_loop_read(subject->tree, loop, &copy->loop) ||
                lift_refuse(change, "line %u: no loop that counts up", lift_line(subject->tree, loop));
   sound = sound && vector_copy_read_loop(copy) && vector_copy_has_barriers(copy) &&
           vector_copy_read_objects(copy);
   if (sound) {
      vector_copy_write(copy);
      snprintf(change->note, sizeof change->note, "the copy in line %u reads four numbers at once",
               lift_line(subject->tree, loop));
   }
   free_copy(copy);
   return sound;
}

/* Whether the loop begins at threadIdx.x and counts in steps. */
static bool is_shared_by_threads(const lift_tree_t *tree, uint32_t loop) {
   lift_loop_t read;
   return lift_is(tree, loop, LIFT_FOR) && lift_loop_read(tree, loop, &read) && read.step != LIFT_NONE &&
          lift_text_is(tree, lift_plain(tree, read.first), "threadIdx.x");
}

bool lift_vector_copy(const lift_subject_t *subject, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   uint32_t places[64], count = 0;
   bool made = false;
   for (uint32_t i = 0; i < tree->count && count < 64; i++)
      if (is_shared_by_threads(tree, i))
         places[count++] = i;
   const uint32_t first = lift_draw(subject, count);
   for (uint32_t i = 0; lift_launches_read(subject->manifest, launches, change) && !made && i < count; i++) {
      lift_change_t attempt = {0};
      made =
         lift_attempted(change, &attempt, apply_to(subject, launches, places[(first + i) % count], &attempt));
   }
   free(launches);
   return made || lift_refuse(change, "no loop from threadIdx.x on in steps");
}
