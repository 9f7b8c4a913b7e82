/* The numbers of an input: draws from its streams, made into numbers by the tensor's recipe and the family.  Pure functions;
 * any thread. */
#ifndef RKB_TASK_INPUT_NUMBERS_H
#define RKB_TASK_INPUT_NUMBERS_H

#include <stdint.h>

#define RKB_INPUT_PIECE 4096u

/* An rkb_drawing_t over a const rkb_inputs_t.  Draws at most RKB_INPUT_PIECE neighbours and rounds them to the tensor's
 * type.  Drawing neighbours is faster than drawing single elements. */
void rkb_input_numbers_draw(const void *inputs, uint32_t tensor, uint64_t first, uint64_t count, double *out);

#endif
