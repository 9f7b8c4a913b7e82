/* The inputs of one (case, family, seed): generates any element from its number. */
#ifndef RKB_TASK_INPUTS_H
#define RKB_TASK_INPUTS_H

#include <pthread.h>
#include "task/drawn_pieces.h"
#include "task/families.h"
#include "task/intermediates.h"
#include "task/planted_numbers.h"

struct rkb_inputs {
   const rkb_bound_t *bound;
   const rkb_family_entry_t *family;
   uint64_t seed;
   int tiny_power;        /* the family "tiny" scales by 2 to minus this, where a type's range allows 2^-40 */
   rkb_random_t *streams; /* two per case tensor: one for the recipe, one for what the family adds */
   uint32_t replaced;     /* a tensor drawn with another seed, to test whether outputs depend on it; or UINT32_MAX */
   double most_work;      /* limit of one call for points */
   rkb_memory_t *memory;  /* points already computed; guarded by lock */
   pthread_mutex_t lock;
   double **saved; /* by case tensor: the forward pass's result, computed on demand; guarded by lock */
   /* By case tensor: the elements of a tensor that was filled whole, because the reference reads them next; NULL of a large one, and
    * of one with a number that no float holds exactly. */
   _Atomic(float *) *kept;
   rkb_drawn_pieces_t *pieces; /* pieces of large tensors that were drawn lately */
   rkb_planted_t *planted;     /* numbers of the kernel's text; NULL: none */
   rkb_given_t *given; /* intermediates that the reference does not compute; NULL: none */
   /* By case tensor: a bit for each element that the reference has read since inputs_note; NULL: it is not noted. */
   uint64_t **noted;
};

/* What the reference computes from these inputs. */
static inline const rkb_program_t *rkb_inputs_program(const rkb_inputs_t *inputs) {
   return inputs->given ? inputs->given->program : inputs->bound->steps;
}

/* Whether a case's tensor was saved by the forward pass: the reference computes such an input. */
static inline bool rkb_inputs_is_saved(const rkb_bound_t *bound, uint32_t tensor) {
   return bound->view.tensors[tensor].role == RKB_IN && bound->program->outputs[tensor] != RKB_NO_VALUE;
}

/* The fill function of an rkb_source_t; its argument is a const rkb_inputs_t. */
int rkb_inputs_source(const void *inputs, uint32_t tensor, uint64_t count, const int64_t *index, double *out);
rkb_source_t rkb_inputs_as_source(const rkb_inputs_t *inputs);
/* Gives one tensor the streams of another seed.  Call it before any of its elements is read. */
void rkb_inputs_replace(rkb_inputs_t *inputs, uint32_t tensor);

#endif
