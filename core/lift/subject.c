/* Queries that every rewrite makes about its subject: a drawn place to begin at, and the text's kernels.  Any thread. */
#include "base/random.h"
#include "lift/rewrite.h"

uint32_t lift_draw(const lift_subject_t *subject, uint32_t count) {
   return count > 1 ? (uint32_t)rkb_random_below(subject->stream, count) : 0;
}

uint32_t lift_kernels(const lift_tree_t *tree, uint32_t *out, uint32_t most) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < tree->count && count < most; i++)
      if (tree->nodes[i].kind == LIFT_KERNEL && lift_body(tree, i) != LIFT_NONE)
         out[count++] = i;
   return count;
}
