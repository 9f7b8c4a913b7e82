/* Remembers what operations found out about rows: the sum of a row's exps, say.  Elements of an output are judged in several calls, and each call asks
 * for more elements of the same rows.  An operation that keeps a row's sum as a node of its own has it in the memory of points; one that
 * does not keeps it here.  One thread at a time. */
#ifndef RKB_REFERENCE_ROW_MEMORY_H
#define RKB_REFERENCE_ROW_MEMORY_H

#include "reference/operation.h"

typedef struct rkb_row_memory rkb_row_memory_t;

void rkb_row_memory_free(rkb_row_memory_t *rows); /* also NULL */

/* The finding of a row of a node, which has RKB_ROW_BYTES bytes; NULL: it is not there.  Valid until the next rkb_row_memory_make. */
const void *rkb_row_memory_find(const rkb_row_memory_t *rows, uint32_t value, uint64_t row);
/* Room for the finding of a row; another row may lose its own.  *rows is made when first needed.  NULL without memory. */
void *rkb_row_memory_make(rkb_row_memory_t **rows, uint32_t value, uint64_t row);

#endif
