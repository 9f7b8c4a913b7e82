/* The elements of outputs that are held against the reference, chosen before values are made, so that nothing else need be made
 * (held_elements.c).  Owned by the sample; one worker thread. */
#ifndef MACHINE_HELD_ELEMENTS_H
#define MACHINE_HELD_ELEMENTS_H

#include "bench_values.h"

/* Whether it may save something: a single launch multiplies by warpgroups what tensor copies bring. */
bool held_elements_apply(const struct sample *s);
/* After a run without values in which nothing was found, s->machine's: chooses the elements and makes what they depend on.  *enough: s->buffers hold it, and s->held
 * has the expected values; else the blocks have to be executed with all values. */
int held_elements_run(struct sample *s, const rkb_machine_options_t *options, bool *enough, rkb_error_t *err);

/* Forgets them, and opens the inputs anew: of these, what was read before costs less, so that other elements would be judged. */
int held_elements_drop(struct sample *s, rkb_error_t *err);

/* Elements are being chosen: expected values are computed and kept, and nothing is compared. */
bool held_elements_asks(const struct held_elements *held);
/* Keeps what a call for expected values gave; returns its status.  numbers: three for each element. */
int held_elements_keep(struct held_elements *held, uint32_t buffer, const uint64_t *elements, uint64_t count,
                       const double *numbers, const uint8_t *flags, int status, rkb_error_t *err);
/* Finds it again. */
int held_elements_find(const struct held_elements *held, uint32_t buffer, const uint64_t *elements,
                       uint64_t count, double *numbers, uint8_t *flags, rkb_error_t *err);
void held_elements_free(struct held_elements *held);

#endif
