/* Operations whose value is that of their first operand, with wider bounds: for other ways to compute it.
 * All are named "allowance", so that code which reads a program only for its values can skip them. */
#ifndef RKB_REFERENCE_OPERATIONS_WIDENED_BOUNDS_H
#define RKB_REFERENCE_OPERATIONS_WIDENED_BOUNDS_H

#include "reference/operation.h"

/* Returns x with `units` more roundings of numbers of size |scale * other| (|scale| if other is RKB_NO_VALUE).  Use it to allow a way
 * to compute x that passes through numbers of that size. */
uint32_t rkb_make_widened_bound(rkb_program_t *program, uint32_t x, uint32_t scale, uint32_t other,
                                double units);

/* Returns x as a kernel may hold it that stores x in the narrow type dtype, once.  slope_units: the slopes at x may be off by so many
 * roundings of that type, because the kernel computes them from what it stored. */
uint32_t rkb_make_stored(rkb_program_t *program, uint32_t x, uint32_t dtype, uint32_t slope_units);

/* Returns x = part + addend as a kernel may hold it that stores the part in the narrow type dtype before it adds the addend. */
uint32_t rkb_make_stored_part(rkb_program_t *program, uint32_t x, uint32_t addend, uint32_t dtype);

/* Returns x, where a kernel may also compute it as `other`, which is the same in exact arithmetic.  Gradients flow to x alone. */
uint32_t rkb_make_other_way(rkb_program_t *program, uint32_t x, uint32_t other);

#endif
