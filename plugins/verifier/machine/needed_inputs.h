/* The elements of inputs on which compared elements of outputs depend (needed_inputs.c).  Owned by a run of a sample; one worker thread. */
#ifndef MACHINE_NEEDED_INPUTS_H
#define MACHINE_NEEDED_INPUTS_H

#include "bench_values.h"

/* A call for expected values of elements that were chosen to be compared, and its results. */
struct compared_call {
   uint32_t buffer;
   uint64_t count, *elements;
   double *numbers; /* three for each element */
   uint8_t *flags;
   int status;
};

struct needed_inputs;

/* Makes the lists.  The calls must have been made with inputs that note what is read, and sample_writers() must know the blocks that wrote each element. */
int needed_inputs_make(const struct sample *s, const struct compared_call *calls, uint32_t count,
                       struct needed_inputs **needed, rkb_error_t *err);
void needed_inputs_put(const struct needed_inputs *needed, rkb_machine_options_t *options);
void needed_inputs_free(struct needed_inputs *needed);

#endif
