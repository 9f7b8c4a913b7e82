/* Builds the list of operations of one case.  Owns only arena memory; one thread while it is built. */
#include "reference/graph_program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/operation.h"

static const rkb_shape_t scalar = {0};

rkb_program_t *rkb_program_new(rkb_arena_t *arena, uint32_t tensor_count) {
   rkb_program_t *program = rkb_arena_alloc(arena, sizeof *program);
   program->arena = arena;
   program->tensor_count = tensor_count;
   program->outputs = rkb_arena_array(arena, tensor_count + 1, sizeof *program->outputs);
   for (uint32_t i = 0; i < tensor_count; i++)
      program->outputs[i] = RKB_NO_VALUE;
   return program;
}

uint32_t rkb_program_fail(rkb_program_t *program, const char *fmt, ...) {
   if (program->failed)
      return RKB_NO_VALUE;
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(program->error, sizeof program->error, fmt, ap);
   va_end(ap);
   program->failed = true;
   return RKB_NO_VALUE;
}

/* Makes room for one more entry of a list in the arena.  The old copy stays in the arena and wastes at most
 * as much memory again. */
static void grow(rkb_arena_t *arena, void **list, uint32_t count, uint32_t *room, size_t size) {
   if (count < *room)
      return;
   uint32_t wanted = *room ? *room * 2 : 16;
   void *larger = rkb_arena_array(arena, wanted, size);
   if (count)
      memcpy(larger, *list, count * size);
   *list = larger;
   *room = wanted;
}

static uint32_t add_value(rkb_program_t *program, const char *name, uint32_t dtype,
                          const rkb_shape_t *shape) {
   void *list = program->values;
   grow(program->arena, &list, program->value_count, &program->value_room, sizeof *program->values);
   program->values = list;
   rkb_program_value_t *value = &program->values[program->value_count];
   *value = (rkb_program_value_t){.name = name, .dtype = dtype, .node = -1, .tensor = -1, .shape = *shape};
   if (!rkb_shape_elements(shape, &value->elements) || value->elements == 0) {
      char text[128];
      rkb_shape_text(shape, text, sizeof text);
      return rkb_program_fail(program, "a tensor of %s elements cannot be computed", text);
   }
   return program->value_count++;
}

uint32_t rkb_program_input(rkb_program_t *program, const char *name, uint32_t dtype, const rkb_shape_t *shape,
                           uint32_t tensor) {
   if (program->failed)
      return RKB_NO_VALUE;
   uint32_t value = add_value(program, name, dtype, shape);
   if (value != RKB_NO_VALUE)
      program->values[value].tensor = (int32_t)tensor;
   return value;
}

uint32_t rkb_program_add(rkb_program_t *program, const rkb_operation_t *operation, const uint32_t *inputs,
                         uint32_t input_count, const int64_t *integers, uint32_t integer_count,
                         const double *reals, uint32_t real_count, uint32_t dtype, const rkb_shape_t *shape) {
   if (program->failed)
      return RKB_NO_VALUE;
   if (input_count > RKB_MAX_OPERANDS)
      return rkb_program_fail(program, "%s takes at most %d inputs", operation->name, RKB_MAX_OPERANDS);
   if (program->node_count >= RKB_MAX_PROGRAM_NODES)
      return rkb_program_fail(program, "more than %u operations", RKB_MAX_PROGRAM_NODES);
   void *list = program->nodes;
   int64_t *integer_copy = rkb_arena_array(program->arena, integer_count + 1, sizeof *integer_copy);
   double *real_copy = rkb_arena_array(program->arena, real_count + 1, sizeof *real_copy);
   grow(program->arena, &list, program->node_count, &program->node_room, sizeof *program->nodes);
   program->nodes = list;
   if (integer_count)
      memcpy(integer_copy, integers, integer_count * sizeof *integers);
   if (real_count)
      memcpy(real_copy, reals, real_count * sizeof *reals);
   rkb_program_node_t *node = &program->nodes[program->node_count];
   *node = (rkb_program_node_t){.operation = operation,
                                .input_count = input_count,
                                .integer_count = integer_count,
                                .real_count = real_count,
                                .integers = integer_copy,
                                .reals = real_copy};
   for (uint32_t i = 0; i < input_count; i++) {
      if (inputs[i] >= program->value_count)
         return rkb_program_fail(program, "%s reads a value that does not exist", operation->name);
      node->inputs[i] = inputs[i];
   }
   uint32_t output = add_value(program, "", dtype, shape);
   if (output == RKB_NO_VALUE)
      return RKB_NO_VALUE;
   node->output = output;
   program->values[output].node = (int32_t)program->node_count++;
   return output;
}

const rkb_shape_t *rkb_program_shape(const rkb_program_t *program, uint32_t value) {
   return value < program->value_count ? &program->values[value].shape : &scalar;
}

uint32_t rkb_program_dtype(const rkb_program_t *program, uint32_t value) {
   return value < program->value_count ? program->values[value].dtype : RKB_F32;
}

bool rkb_program_widens(const rkb_program_t *program, const rkb_program_node_t *node) {
   return node->operation->converts &&
          rkb_dtype_holds(rkb_program_dtype(program, node->output), rkb_program_dtype(program, node->inputs[0]));
}

uint32_t rkb_program_kept_type(const rkb_program_t *program, uint32_t value) {
   uint32_t dtype = rkb_program_dtype(program, value);
   while (!rkb_dtype_narrow(dtype) && value < program->value_count && program->values[value].node >= 0) {
      const rkb_program_node_t *node = &program->nodes[program->values[value].node];
      if (!node->operation->moves && !rkb_program_widens(program, node))
         break;
      value = node->inputs[0];
      dtype = rkb_program_dtype(program, value);
   }
   return dtype;
}

void rkb_program_widen(rkb_program_t *program, uint32_t first) {
   for (uint32_t i = first; i < program->value_count; i++)
      if (program->values[i].node >= 0 && rkb_dtype_narrow(program->values[i].dtype))
         program->values[i].dtype = RKB_F32;
}

void rkb_program_prune(rkb_program_t *program) {
   bool *needed = rkb_arena_array(program->arena, program->value_count + 1, sizeof *needed);
   for (uint32_t i = 0; i < program->tensor_count; i++)
      if (program->outputs[i] != RKB_NO_VALUE)
         needed[program->outputs[i]] = true;
   for (uint32_t i = program->node_count; i-- > 0;)
      for (uint32_t j = 0; needed[program->nodes[i].output] && j < program->nodes[i].input_count; j++)
         needed[program->nodes[i].inputs[j]] = true;
   uint32_t kept = 0;
   for (uint32_t i = 0; i < program->node_count; i++) {
      if (!needed[program->nodes[i].output])
         continue;
      program->nodes[kept] = program->nodes[i];
      program->values[program->nodes[kept].output].node = (int32_t)kept;
      kept++;
   }
   program->node_count = kept;
   for (uint32_t i = kept; i-- > 0;)
      for (uint32_t j = 0; j < program->nodes[i].input_count; j++)
         program->values[program->nodes[i].inputs[j]].read |=
            j > 0 || !program->nodes[i].operation->moves || program->values[program->nodes[i].output].read;
   kept = 0;
   for (uint32_t i = 0; i < program->guard_count; i++)
      if (program->guards[i] != RKB_NO_VALUE && needed[program->guards[i]])
         program->guards[kept++] = program->guards[i];
   program->guard_count = kept;
}

uint32_t rkb_program_depth(const rkb_program_t *program) {
   uint32_t *depth = rkb_allocate(program->value_count + 1, sizeof *depth), most = 0;
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      uint32_t before = 0;
      for (uint32_t j = 0; j < node->input_count; j++)
         before = depth[node->inputs[j]] > before ? depth[node->inputs[j]] : before;
      depth[node->output] = before + (node->operation->depth ? RKB_PRODUCT_DEPTH : 0) +
                            (node->operation->divides ? RKB_NORM_DEPTH : 0);
      most = depth[node->output] > most ? depth[node->output] : most;
   }
   free(depth);
   return most;
}

bool rkb_program_needs_random_data(const rkb_program_t *program) {
   bool needs = false;
   for (uint32_t i = 0; i < program->node_count; i++)
      needs |= program->nodes[i].operation->random_data;
   return needs;
}

double rkb_program_sequential(const rkb_program_t *program) {
   double most = 0;
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      const double own = node->operation->sequential ? node->operation->sequential(program, node) : 0;
      most = own > most ? own : most;
   }
   return most;
}

double rkb_program_operations(const rkb_program_t *program) {
   double total = 0;
   for (uint32_t i = 0; i < program->node_count; i++)
      total += program->nodes[i].operation->work(program, &program->nodes[i]);
   return total;
}
