/* The elements of outputs that are compared with the reference.  They are chosen before values are computed, so that only the values on which they depend
 * must be computed (compared_elements.c).  Owned by the sample; one worker thread. */
#ifndef MACHINE_COMPARED_ELEMENTS_H
#define MACHINE_COMPARED_ELEMENTS_H

#include "bench_values.h"

/* Whether this can save work: the plan has one launch, which multiplies tiles of tensor copies by warpgroups. */
bool compared_elements_apply(const struct sample *s);
/* The same where inputs steer the kernels: these inputs have their values in both runs.  One launch writes the outputs, by mma of what threads copied without waiting. */
bool compared_elements_apply_steered(const struct sample *s);
/* Called after s->machine's run without values, in which nothing was found.  Chooses the elements, and executes the blocks with only the values on which
 * the elements depend.  *enough: s->buffers have the results, and s->compared the expected values.  If not, the blocks must be executed with all values. */
int compared_elements_run(struct sample *s, const rkb_machine_options_t *options, bool *enough,
                          rkb_error_t *err);

/* The same for inputs that steer the kernels, with such a run.  If it is not enough, s->machine is closed, and the buffers are made anew. */
int compared_elements_run_steered(struct sample *s, const rkb_machine_options_t *options, bool *enough,
                                  rkb_error_t *err);
/* As compared_elements_run, but without such a run.  options: as of the run that judges the blocks; counted: of a run of the counted blocks.  The blocks that will be executed and
 * the bytes that they will store are foreseen.  *enough: s->machine and s->buffers have the results, else both are as before.  *foreseen: what was foreseen held; if it is
 * false, nothing is known yet of what a run without values and compared_elements_run() would find. */
int compared_elements_run_foreseen(struct sample *s, const rkb_machine_options_t *options,
                                   const rkb_machine_report_t *counted, bool *enough, bool *foreseen,
                                   rkb_error_t *err);

/* Forgets the elements, and opens the inputs anew.  With the same inputs, values that were read before would cost less, and other elements would be
 * judged. */
int compared_elements_drop(struct sample *s, rkb_error_t *err);

/* Whether elements are being chosen: expected values are computed and kept, and nothing is compared. */
bool compared_elements_asks(const struct compared_elements *compared);
/* Keeps the results of a call for expected values; returns its status.  numbers: three for each element. */
int compared_elements_keep(struct compared_elements *compared, uint32_t buffer, const uint64_t *elements,
                           uint64_t count, const double *numbers, const uint8_t *flags, int status,
                           rkb_error_t *err);
/* Finds the results of that call. */
int compared_elements_find(const struct compared_elements *compared, uint32_t buffer,
                           const uint64_t *elements, uint64_t count, double *numbers, uint8_t *flags,
                           rkb_error_t *err);
void compared_elements_free(struct compared_elements *compared);

#endif
