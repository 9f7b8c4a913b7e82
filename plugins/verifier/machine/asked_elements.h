/* The elements of inputs on which held elements of outputs depend (asked_elements.c).  Owned by a run of a sample; one worker thread. */
#ifndef MACHINE_ASKED_ELEMENTS_H
#define MACHINE_ASKED_ELEMENTS_H

#include "bench_values.h"

/* A call for expected values of elements that were chosen to be held. */
struct held_call {
   uint32_t buffer;
   uint64_t count, *elements;
   double *numbers; /* three for each element */
   uint8_t *flags;
   int status;
};

struct asked_elements;

/* After the calls, which were made with inputs that are noted, and with s->machine, which knows the block that wrote each element. */
int asked_elements_make(const struct sample *s, const struct held_call *calls, uint32_t count,
                        struct asked_elements **asked, rkb_error_t *err);
void asked_elements_put(const struct asked_elements *asked, rkb_machine_options_t *options);
void asked_elements_free(struct asked_elements *asked);

#endif
