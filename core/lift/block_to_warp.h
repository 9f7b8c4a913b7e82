/* What block_to_warp knows of a kernel and of the sums and maxima that its block computes.  The block_to_warp_*.c files share this header. */
#ifndef RKB_LIFT_BLOCK_TO_WARP_H
#define RKB_LIFT_BLOCK_TO_WARP_H

#include "lift/launches.h"
#include "lift/rewrite.h"

enum { BLOCK_TO_WARP_OWNED = 64, BLOCK_TO_WARP_FUNCTIONS = 8, BLOCK_TO_WARP_ALL = 256 };

typedef struct block_to_warp {
   const lift_tree_t *tree;
   const manifest_t *manifest;
   lift_change_t *change;
   const lift_launches_t *launches;
   uint32_t kernel;
   uint32_t size; /* the first expression that stands for the number of threads, or LIFT_NONE */
   char lane[64], row[64], rows[64];
   /* Statements and shared variables of recognised sums and maxima: what they say of threads is theirs. */
   uint32_t owned[BLOCK_TO_WARP_OWNED], owned_count;
   uint32_t functions[BLOCK_TO_WARP_FUNCTIONS], function_count; /* that compute one over the block */
   uint32_t found;                                              /* sums and maxima */
} block_to_warp_t;

static inline bool block_to_warp_text_is(const lift_tree_t *tree, uint32_t node, const char *text) {
   return node != LIFT_NONE && lift_text_is(tree, node, text);
}

/* Statements and threads: block_to_warp_threads.c */
bool block_to_warp_is_thread(const block_to_warp_t *to,
                             uint32_t expression); /* threadIdx.x, or a constant variable of that value */
bool block_to_warp_is_lane(const block_to_warp_t *to, uint32_t expression); /* the thread's number % 32 */
bool block_to_warp_is_warp(const block_to_warp_t *to, uint32_t expression); /* the thread's number / 32 */
bool block_to_warp_is_size(const block_to_warp_t *to,
                           uint32_t expression); /* the number of threads of every launch's block */
bool block_to_warp_counts_warps(const block_to_warp_t *to,
                                uint32_t expression); /* the number of threads / 32 */
bool block_to_warp_own(block_to_warp_t *to, uint32_t node);
bool block_to_warp_owns(const block_to_warp_t *to, uint32_t node);
/* Checks each use of a thread's number, of the block's number and of the number of threads, and writes those of a warp. */
bool block_to_warp_threads(block_to_warp_t *to);

/* Recognise the sums and maxima of a function's own block, and add the edits that leave them to a warp.  A form that is not recognised is left alone,
 * and what it says of threads is refused later. */
void block_to_warp_joins(block_to_warp_t *to, uint32_t block,
                         lift_change_t *edits); /* block_to_warp_join.c: shuffles, then the warps' values */
void block_to_warp_trees(block_to_warp_t *to, uint32_t block,
                         lift_change_t *edits); /* block_to_warp_tree.c: halves of a shared array */
void block_to_warp_sent(block_to_warp_t *to, uint32_t block,
                        lift_change_t *edits); /* the same file: what thread 0 tells the others */

/* Recognises the functions that compute a sum or maximum over the block, and has the kernel call new ones: block_to_warp_function.c */
bool block_to_warp_functions(block_to_warp_t *to);

#endif
