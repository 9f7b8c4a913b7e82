/* Decides whether an input can change any output; the verdict 'input ignored' needs this.  Any thread. */
#include "task/task_parts.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define SAMPLED 64u

/* Whether the tensor reaches any output in the program. */
static bool reaches(const rkb_case_t *view, uint32_t tensor) {
   const rkb_program_t *program = rkb_bound_of(view)->program;
   bool *reached = rkb_allocate(program->value_count + 1, sizeof *reached), found = false;
   for (uint32_t i = 0; i < program->value_count; i++)
      reached[i] = program->values[i].tensor == (int32_t)tensor;
   for (uint32_t i = 0; i < program->node_count; i++)
      for (uint32_t j = 0; j < program->nodes[i].input_count; j++)
         reached[program->nodes[i].output] |= reached[program->nodes[i].inputs[j]];
   for (uint32_t i = 0; i < program->tensor_count; i++)
      found |= view->tensors[i].role != RKB_IN && reached[program->outputs[i]];
   free(reached);
   return found;
}

/* Whether something computes with all of a value.  A gather reads those elements that its indices name, perhaps few. */
static bool is_read_whole(const rkb_case_t *view, uint32_t value) {
   const rkb_program_t *program = rkb_bound_of(view)->program;
   for (uint32_t i = 0; i < program->tensor_count; i++)
      if (view->tensors[i].role != RKB_IN && program->outputs[i] == value)
         return true;
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      const bool picks = strcmp(node->operation->name, "gather") == 0;
      for (uint32_t j = 0; j < node->input_count; j++)
         if (node->inputs[j] == value && !(picks && j == 0) && (!node->operation->moves || is_read_whole(view, node->output)))
            return true;
   }
   return false;
}

static bool is_tensor_read_whole(const rkb_case_t *view, uint32_t tensor) {
   const rkb_program_t *program = rkb_bound_of(view)->program;
   for (uint32_t i = 0; i < program->value_count; i++)
      if (program->values[i].tensor == (int32_t)tensor && is_read_whole(view, i))
         return true;
   return false;
}

double rkb_bound_least_bytes(const rkb_bound_t *bound) {
   double bytes = 0;
   for (uint32_t i = 0; i < bound->view.tensor_count; i++) {
      const rkb_tensor_t *tensor = &bound->view.tensors[i];
      if (tensor->role != RKB_IN)
         bytes += (double)tensor->bytes;
      if (tensor->role != RKB_OUT && reaches(&bound->view, i) && is_tensor_read_whole(&bound->view, i))
         bytes += (double)tensor->bytes;
   }
   return bytes;
}

/* Draws the tensor anew and compares sampled elements of all outputs. */
static int differs(const rkb_inputs_t *inputs, const rkb_inputs_t *other, bool *matters, rkb_error_t *err) {
   const rkb_case_t *view = &inputs->bound->view;
   *matters = false;
   for (uint32_t i = 0; i < view->tensor_count && !*matters; i++) {
      uint64_t elements[SAMPLED],
         count = view->tensors[i].elements < SAMPLED ? view->tensors[i].elements : SAMPLED;
      double value[2][SAMPLED], hard[2][SAMPLED], stat[SAMPLED];
      uint8_t flags[SAMPLED];
      if (view->tensors[i].role == RKB_IN)
         continue;
      for (uint64_t j = 0; j < count; j++)
         elements[j] = j * (view->tensors[i].elements / count);
      int status = rkb_task_expect_points(inputs, i, elements, count, value[0], hard[0], stat, flags, err);
      if (status == RKB_OK)
         status = rkb_task_expect_points(other, i, elements, count, value[1], hard[1], stat, flags, err);
      if (status != RKB_OK)
         return status;
      for (uint64_t j = 0; j < count; j++)
         *matters |= !(value[0][j] == value[1][j]) && value[0][j] - value[1][j] != 0;
   }
   return RKB_OK;
}

int rkb_task_input_matters(const rkb_inputs_t *inputs, uint32_t tensor, bool *matters, rkb_error_t *err) {
   const rkb_bound_t *bound = inputs->bound;
   *matters = false;
   if (tensor >= bound->view.tensor_count || bound->view.tensors[tensor].role == RKB_OUT)
      return rkb_fail(err, RKB_ERR_INVALID, "tensor %u is not an input of case %s", tensor, bound->view.name);
   if (!reaches(&bound->view, tensor))
      return RKB_OK;
   rkb_inputs_t *other;
   int status = rkb_task_inputs_open(NULL, &bound->view, &inputs->family->view, inputs->seed, &other, err);
   if (status != RKB_OK)
      return status;
   rkb_inputs_replace(other, tensor);
   status = differs(inputs, other, matters, err);
   rkb_task_inputs_free(other);
   return status;
}
