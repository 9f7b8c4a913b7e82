/* Elements of true intermediates that were drawn for a case.  Several launches of a candidate are judged on the same made-up intermediates, each
 * with inputs of its own, and such elements can cost more than to execute the launch. */
#ifndef RKB_TASK_DRAWN_ELEMENT_LISTS_H
#define RKB_TASK_DRAWN_ELEMENT_LISTS_H

#include <stdint.h>

#define RKB_POOL_GIVEN 64u /* intermediates that an entry can tell apart; with more, nothing is kept */

/* What decides the elements: inputs of one case, and the intermediates given so far.  The elements are of the last of these. */
typedef struct rkb_pool_key {
   const void *family;
   uint64_t seed;
   uint32_t count;
   uint32_t values[RKB_POOL_GIVEN], dtypes[RKB_POOL_GIVEN];
} rkb_pool_key_t;

typedef struct rkb_given_pool rkb_given_pool_t;
typedef _Atomic(rkb_given_pool_t *) rkb_drawn_lists_t; /* a list; NULL: empty */

/* A copy for the caller to free, of *count elements; NULL: it was not kept, or there is no memory. */
double *rkb_drawn_lists_find(const rkb_drawn_lists_t *pools, const rkb_pool_key_t *key, uint32_t *count);
/* Without memory, or where the list is long, nothing is kept. */
void rkb_drawn_lists_keep(rkb_drawn_lists_t *pools, const rkb_pool_key_t *key, const double *pool,
                          uint32_t count);
void rkb_drawn_lists_free(rkb_drawn_lists_t *pools);

#endif
