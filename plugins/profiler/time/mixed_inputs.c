/* Chooses how the inputs of timed runs are mixed from the two sets of a sitting (docs/timing.md).  Runs on a worker. */
#include "sitting.h"
#include <string.h>

/* Where inputs are independent of each other, no kernel can see that they are a mixture.  Inputs of a backward direction may be results of
 * the forward one: they agree with the forward inputs of their own set alone.  Its gradients depend on nothing. */
static bool is_independent(const rkb_tensor_t *tensor, bool backward) {
   return !backward || strncmp(tensor->name, "grad_", 5) == 0;
}

/* Whether every matrix seems to be its own transpose, and not only by its zeros.  Half of another matrix would end that. */
static int looks_symmetric(const struct timer *me, const rkb_inputs_t *inputs, const rkb_tensor_t *tensor,
                           uint32_t t, bool *symmetric, rkb_error_t *err) {
   enum { PAIRS = 8, MOST_BYTES = 8 };
   const uint64_t n = tensor->rank >= 2 ? (uint64_t)tensor->shape[tensor->rank - 1] : 0,
                  width = tensor->bytes / tensor->elements;
   bool equal = true, zeros = true;
   int status = RKB_OK;
   *symmetric = false;
   if (n < 2 || tensor->shape[tensor->rank - 2] != tensor->shape[tensor->rank - 1])
      return RKB_OK;
   for (uint64_t pair = 0; pair < PAIRS && equal && status == RKB_OK; pair++) {
      const uint64_t row = pair * 7 % n, column = (row + 1 + pair * 11 % (n - 1)) % n;
      char one[MOST_BYTES] = {0}, transposed[MOST_BYTES] = {0};
      status = me->task->inputs_fill(inputs, t, row * n + column, 1, one, err);
      if (status == RKB_OK)
         status = me->task->inputs_fill(inputs, t, column * n + row, 1, transposed, err);
      equal = memcmp(one, transposed, width) == 0;
      zeros &= memcmp(one, (char[MOST_BYTES]){0}, width) == 0;
   }
   *symmetric = equal && !zeros;
   return status;
}

int mixed_inputs(const struct timer *me, const struct subject *s, uint32_t *bits, rkb_error_t *err) {
   const rkb_task_info_t *info = me->task->info(me->host);
   const bool backward = info && strcmp(info->direction, "backward") == 0;
   int status = RKB_OK;
   *bits = RKB_FRESH_INPUTS;
   for (uint32_t t = 0; t < s->the_case->tensor_count && t < RKB_MIXED_BITS && status == RKB_OK; t++) {
      const rkb_tensor_t *tensor = &s->the_case->tensors[t];
      bool symmetric;
      if (tensor->role == RKB_OUT || tensor->elements == 0 || !is_independent(tensor, backward))
         continue;
      status = looks_symmetric(me, s->inputs[0], tensor, t, &symmetric, err);
      if (status == RKB_OK && !symmetric)
         *bits |= 1u << t;
   }
   return status;
}
