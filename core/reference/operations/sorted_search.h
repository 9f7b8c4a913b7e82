/* Places of numbers in sorted rows. */
#ifndef RKB_REFERENCE_OPERATIONS_SORTED_SEARCH_H
#define RKB_REFERENCE_OPERATIONS_SORTED_SEARCH_H

#include "reference/operation.h"

/* As torch.searchsorted: for each of values [.., n], how many elements of its row of sorted [.., V] are less (right: or equal), as
 * int64. */
uint32_t rkb_make_search(rkb_program_t *program, uint32_t sorted, uint32_t values, bool right);

#endif
