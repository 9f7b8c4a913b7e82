/* Running sums and products along one dim. */
#ifndef RKB_REFERENCE_OPERATIONS_SCAN_H
#define RKB_REFERENCE_OPERATIONS_SCAN_H

#include "reference/operation.h"

/* name: "cumulative_sum" "cumulative_product".  Element i combines elements 0 .. i of its row. */
uint32_t rkb_make_scan(rkb_program_t *program, const char *name, uint32_t x, uint32_t dim);

#endif
