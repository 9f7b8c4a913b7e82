/* One (case, family, seed): where every input element comes from, by counter. */
#ifndef RKB_TASK_INPUTS_H
#define RKB_TASK_INPUTS_H

#include <pthread.h>
#include "task/families.h"

struct rkb_inputs {
   const rkb_bound_t *bound;
   const rkb_family_entry_t *family;
   uint64_t seed;
   rkb_random_t *streams; /* two a case tensor: the recipe's, and what a family adds */
   uint32_t replaced;     /* tensor drawn with another seed, or UINT32_MAX: to see whether it matters */
   double most_work;      /* of one call for points */
   rkb_memory_t *memory;  /* points already computed; guarded by lock */
   pthread_mutex_t lock;
   double **saved; /* by case tensor: what the forward pass made, once it was asked for; guarded by lock */
   /* by case tensor: the elements of a small one of f32 that was filled whole, which the reference reads next */
   _Atomic(float *) *kept;
};

/* Whether a case's tensor is what the forward pass saved: an input that the reference computes. */
static inline bool rkb_inputs_is_saved(const rkb_bound_t *bound, uint32_t tensor) {
   return bound->view.tensors[tensor].role == RKB_IN && bound->program->outputs[tensor] != RKB_NO_VALUE;
}

/* An rkb_source_t's fill, with a const rkb_inputs_t as argument. */
int rkb_inputs_source(const void *inputs, uint32_t tensor, uint64_t count, const int64_t *index, double *out);
rkb_source_t rkb_inputs_as_source(const rkb_inputs_t *inputs);
/* Streams of another seed for one tensor, before any of its elements were asked for. */
void rkb_inputs_replace(rkb_inputs_t *inputs, uint32_t tensor);

#endif
