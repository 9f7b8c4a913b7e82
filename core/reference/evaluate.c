/* Evaluates whole tensors: computes every node once, in order, and frees each tensor after its last reader.  Owns the tensors while
 * it runs; the calling thread, with OpenMP helpers inside one node. */
#include "reference/point_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/deep_graph_bounds.h"

#define POINT_BYTES (3 * sizeof(double) + 1)

/* For each value, the last node that reads it; node_count for outputs, which live to the end; -1 for values that nothing needs. */
static int64_t *last_uses(const rkb_program_t *program) {
   int64_t *last = rkb_allocate(program->value_count + 1, sizeof *last);
   for (uint32_t i = 0; i < program->value_count; i++)
      last[i] = -1;
   for (uint32_t i = 0; i < program->tensor_count; i++)
      if (program->outputs[i] != RKB_NO_VALUE)
         last[program->outputs[i]] = program->node_count;
   for (uint32_t i = program->node_count; i-- > 0;) {
      const rkb_program_node_t *node = &program->nodes[i];
      for (uint32_t j = 0; last[node->output] >= 0 && j < node->input_count; j++)
         if (last[node->inputs[j]] < (int64_t)i)
            last[node->inputs[j]] = i;
   }
   return last;
}

static uint64_t value_bytes(const rkb_program_value_t *value) {
   return value->elements * (value->node < 0 ? sizeof(double) : POINT_BYTES);
}

uint64_t rkb_evaluate_peak(const rkb_program_t *program) {
   int64_t *last = last_uses(program);
   bool *held = rkb_allocate(program->value_count + 1, sizeof *held);
   uint64_t now = 0, peak = 0;
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      if (last[node->output] < 0)
         continue;
      now += value_bytes(&program->values[node->output]);
      for (uint32_t j = 0; j < node->input_count; j++) {
         uint32_t input = node->inputs[j];
         if (program->values[input].node < 0 && !held[input]) {
            held[input] = true;
            now += value_bytes(&program->values[input]);
         }
      }
      peak = now > peak ? now : peak;
      for (uint32_t j = 0; j < node->input_count; j++) {
         uint32_t input = node->inputs[j];
         bool again = false;
         for (uint32_t k = 0; k < j; k++)
            again |= node->inputs[k] == input;
         if (!again && last[input] == (int64_t)i)
            now -= value_bytes(&program->values[input]);
      }
   }
   free(last);
   free(held);
   return peak;
}

static int evaluate_piece(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t first,
                          uint64_t count, const rkb_block_t *block) {
   int64_t few[RKB_CHUNK], *many = count > RKB_CHUNK ? rkb_try_uncleared(count, sizeof *many, NULL) : NULL,
                           *index = count > RKB_CHUNK ? many : few;
   if (!index)
      return RKB_ERR_NOMEM;
   for (uint64_t i = 0; i < count; i++)
      index[i] = (int64_t)(first + i);
   rkb_block_t part = rkb_block_from(block, first);
   const int status = rkb_compute(reader, node, count, index, &part);
   free(many);
   return status;
}

static uint64_t piece_of(const rkb_program_t *program, const rkb_program_node_t *node) {
   const uint64_t shared = node->operation->shared ? node->operation->shared(program, node) : 0;
   return shared > RKB_CHUNK ? shared : RKB_CHUNK;
}

static int evaluate_node(rkb_reader_t *reader, const rkb_program_node_t *node) {
   rkb_block_t block;
   uint64_t elements = reader->program->values[node->output].elements;
   if (reader->spare.value && reader->spare_elements == elements) {
      block = reader->spare;
      reader->spare = (rkb_block_t){0};
   } else if (!rkb_block_new(&block, elements)) {
      return RKB_ERR_NOMEM;
   }
   int status = RKB_OK;
   if (node->operation->whole) {
      status = node->operation->whole(reader, node, &block);
      rkb_round_storage(reader->program, node, elements, &block);
   } else {
      const uint64_t most = piece_of(reader->program, node);
      const int64_t pieces = (int64_t)((elements + most - 1) / most);
#pragma omp parallel for schedule(dynamic) if (elements >= RKB_SHARED_ELEMENTS)
      for (int64_t piece = 0; piece < pieces; piece++) {
         const uint64_t first = (uint64_t)piece * most, left = elements - first;
         const int result = evaluate_piece(reader, node, first, left < most ? left : most, &block);
         if (result != RKB_OK) {
#pragma omp atomic write
            status = result;
         }
      }
   }
   if (status != RKB_OK) {
      rkb_block_free(&block);
      return status;
   }
   if (reader->sizes)
      rkb_deep_bounds_apply(node, node->output, reader->pass, elements, &block, &reader->sizes[node->output]);
   reader->stored[node->output] = block;
   return RKB_OK;
}

/* Keeps freed memory for the next tensor: fresh memory would be faulted in page by page. */
static void recycle(rkb_reader_t *reader, uint32_t value) {
   rkb_block_t *block = &reader->stored[value];
   if (block->value && block->hard) {
      rkb_block_free(&reader->spare);
      reader->spare = *block;
      reader->spare_elements = reader->program->values[value].elements;
      *block = (rkb_block_t){0};
   }
   rkb_block_free(block);
}

static int evaluate_all(rkb_reader_t *reader, const int64_t *last) {
   const rkb_program_t *program = reader->program;
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      if (last[node->output] < 0)
         continue;
      /* Otherwise the peak of memory would grow. */
      if (reader->spare_elements != program->values[node->output].elements)
         rkb_block_free(&reader->spare);
      for (uint32_t j = 0; j < node->input_count; j++) {
         uint32_t input = node->inputs[j];
         if (reader->stored[input].value)
            continue;
         int status = rkb_load_input(reader, input, &reader->stored[input].value);
         if (status != RKB_OK)
            return status;
      }
      int status = evaluate_node(reader, node);
      if (status != RKB_OK)
         return status;
      for (uint32_t j = 0; j < node->input_count; j++)
         if (last[node->inputs[j]] == (int64_t)i)
            recycle(reader, node->inputs[j]);
   }
   return RKB_OK;
}

/* Hands an output to the caller.  Copies it where needed: two task tensors may hold one value, and an output may be an input. */
static int take_output(rkb_reader_t *reader, uint32_t tensor, rkb_block_t *out) {
   uint32_t value = reader->program->outputs[tensor];
   uint64_t elements = reader->program->values[value].elements;
   if (!rkb_block_new(out, elements))
      return RKB_ERR_NOMEM;
   int64_t index[RKB_CHUNK];
   for (uint64_t first = 0; first < elements; first += RKB_CHUNK) {
      uint64_t piece = elements - first < RKB_CHUNK ? elements - first : RKB_CHUNK;
      for (uint64_t i = 0; i < piece; i++)
         index[i] = (int64_t)(first + i);
      rkb_block_t part = rkb_block_from(out, first);
      int status = rkb_read(reader, value, piece, index, &part);
      if (status != RKB_OK)
         return status;
   }
   return RKB_OK;
}

static int evaluate_pass(const rkb_program_t *program, const rkb_precision_t *precision, uint32_t pass,
                         rkb_deep_bounds_size_t *sizes, const rkb_source_t *source, rkb_block_t *outputs,
                         rkb_error_t *err) {
   rkb_reader_t reader = {
      .program = program, .precision = precision, .source = *source, .pass = pass, .sizes = sizes};
   int64_t *last = last_uses(program);
   reader.stored = rkb_allocate(program->value_count + 1, sizeof *reader.stored);
   int status = evaluate_all(&reader, last);
   rkb_block_free(&reader.spare);
   for (uint32_t i = 0; status == RKB_OK && i < program->tensor_count; i++) {
      bool shared = false;
      for (uint32_t j = 0; j < program->tensor_count; j++)
         shared |= j != i && program->outputs[j] == program->outputs[i];
      uint32_t value = program->outputs[i];
      if (value == RKB_NO_VALUE)
         continue;
      if (!shared && program->values[value].node >= 0) {
         outputs[i] = reader.stored[value];
         reader.stored[value] = (rkb_block_t){0};
      } else {
         status = take_output(&reader, i, &outputs[i]);
      }
   }
   for (uint32_t i = 0; i < program->value_count; i++)
      rkb_block_free(&reader.stored[i]);
   free(reader.stored);
   free(last);
   if (status != RKB_OK) {
      for (uint32_t i = 0; i < program->tensor_count; i++)
         rkb_block_free(&outputs[i]);
      if (status == RKB_ERR_NOMEM)
         return rkb_fail_memory(err, 0);
      return rkb_fail(err, status, "the reference could not be evaluated: internal error");
   }
   return RKB_OK;
}

static void free_outputs(const rkb_program_t *program, rkb_block_t *outputs) {
   for (uint32_t i = 0; outputs && i < program->tensor_count; i++)
      rkb_block_free(&outputs[i]);
}

/* Computes the bounds of a deep graph from the outputs of several passes and the exact outputs (deep_graph_bounds.c). */
static int add_noise_bounds(const rkb_program_t *program, const rkb_precision_t *precision,
                            const rkb_source_t *source, rkb_deep_bounds_size_t *sizes, rkb_block_t *outputs,
                            rkb_error_t *err) {
   const uint32_t count = program->tensor_count;
   rkb_block_t *noisy = rkb_allocate(count + 1, sizeof *noisy);
   double **squares = rkb_allocate(count + 1, sizeof *squares);
   uint8_t **flags = rkb_allocate(count + 1, sizeof *flags);
   bool *beyond = rkb_allocate(program->value_count + 1, sizeof *beyond);
   int status = RKB_OK;
   for (uint32_t i = 0; i < count; i++)
      if (outputs[i].value) {
         const uint64_t elements = program->values[program->outputs[i]].elements;
         squares[i] = rkb_allocate(elements + 1, sizeof **squares);
         flags[i] = rkb_allocate(elements + 1, sizeof **flags);
      }
   for (uint32_t pass = 1; status == RKB_OK && pass <= precision->passes; pass++) {
      status = evaluate_pass(program, precision, pass, sizes, source, noisy, err);
      for (uint32_t i = 0; status == RKB_OK && i < count; i++)
         if (squares[i])
            rkb_deep_bounds_gather(&outputs[i], &noisy[i], program->values[program->outputs[i]].elements,
                                   squares[i], flags[i]);
      free_outputs(program, noisy);
   }
   rkb_deep_bounds_beyond(program, sizes, beyond);
   for (uint32_t i = 0; i < count; i++) {
      const uint32_t value = program->outputs[i];
      if (status == RKB_OK && squares[i])
         rkb_deep_bounds_conclude(program->values[value].elements, precision->passes, squares[i], flags[i],
                                  beyond[value], &outputs[i]);
      free(squares[i]);
      free(flags[i]);
   }
   free(noisy);
   free(squares);
   free(flags);
   free(beyond);
   return status;
}

int rkb_evaluate_whole(const rkb_program_t *program, const rkb_precision_t *precision,
                       const rkb_source_t *source, uint64_t budget, rkb_block_t *outputs, rkb_error_t *err) {
   uint64_t peak = rkb_evaluate_peak(program);
   if (peak > budget)
      return rkb_fail(err, RKB_ERR_LIMIT,
                      "the reference needs %.1f MiB for whole tensors, over the budget of %.1f MiB",
                      (double)peak / 0x1p20, (double)budget / 0x1p20);
   rkb_deep_bounds_size_t *sizes =
      precision->passes > 0 ? rkb_allocate(program->value_count + 1, sizeof *sizes) : NULL;
   int status = evaluate_pass(program, precision, 0, sizes, source, outputs, err);
   if (status == RKB_OK && precision->passes > 0)
      status = add_noise_bounds(program, precision, source, sizes, outputs, err);
   free(sizes);
   if (status != RKB_OK)
      free_outputs(program, outputs);
   return status;
}
