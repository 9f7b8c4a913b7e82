/* Evaluates whole tensors: computes every node once, in order, and frees each tensor after its last reader.  Owns the tensors while
 * it runs; the calling thread, with OpenMP helpers inside one node. */
#include "reference/point_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/noise.h"
#include "reference/operations/convert.h"

#define MOST_DEPTH 400u /* operations between an output and an input, when points are computed */
#define POINTS_CHUNK (UINT64_C(1) << 18) /* large, so that the products it reads see many elements at once */
#define POINT_BYTES (3 * sizeof(double) + 1)

const rkb_precision_t *rkb_reader_precision(const rkb_reader_t *reader) {
   return reader->precision;
}

const rkb_program_t *rkb_reader_program(const rkb_reader_t *reader) {
   return reader->program;
}

/* Reads are split into parts of this size for several threads.  Most reads are a few elements inside a region that is already
 * parallel; there, opening another parallel region, even for one thread, costs more than the read. */
#define SHARED_PART (UINT64_C(1) << 14)

/* Input values are exact, except that a kernel may read subnormal numbers as zero. */
static void exact_part(const rkb_precision_t *precision, uint64_t first, uint64_t end, rkb_block_t *out) {
   for (uint64_t i = first; i < end; i++) {
      double size = fabs(out->value[i]);
      out->hard[i] = size < precision->tiny ? size : 0;
      out->variance[i] = 0;
      out->flags[i] = 0;
   }
}

static uint64_t end_of_part(uint64_t first, uint64_t count) {
   return count - first < SHARED_PART ? count : first + SHARED_PART;
}

static void exact_points(const rkb_precision_t *precision, uint64_t count, rkb_block_t *out) {
   if (count < RKB_SHARED_ELEMENTS) {
      exact_part(precision, 0, count, out);
      return;
   }
#pragma omp parallel for schedule(static)
   for (uint64_t first = 0; first < count; first += SHARED_PART)
      exact_part(precision, first, end_of_part(first, count), out);
}

static void take_part(const double *from, uint64_t first, uint64_t end, const int64_t *index, double *out) {
   for (uint64_t i = first; i < end; i++)
      out[i] = index[i] < 0 ? 0 : from[index[i]];
}

static void take(const double *from, uint64_t count, const int64_t *index, double *out) {
   if (count < RKB_SHARED_ELEMENTS) {
      take_part(from, 0, count, index, out);
      return;
   }
#pragma omp parallel for schedule(static)
   for (uint64_t first = 0; first < count; first += SHARED_PART)
      take_part(from, first, end_of_part(first, count), index, out);
}

static void take_single_part(const float *from, uint64_t first, uint64_t end, const int64_t *index,
                             double *out) {
   for (uint64_t i = first; i < end; i++)
      out[i] = index[i] < 0 ? 0 : (double)from[index[i]];
}

static void take_single(const float *from, uint64_t count, const int64_t *index, double *out) {
   if (count < RKB_SHARED_ELEMENTS) {
      take_single_part(from, 0, count, index, out);
      return;
   }
#pragma omp parallel for schedule(static)
   for (uint64_t first = 0; first < count; first += SHARED_PART)
      take_single_part(from, first, end_of_part(first, count), index, out);
}

static void gather(const rkb_precision_t *precision, const rkb_block_t *from, uint64_t count,
                   const int64_t *index, rkb_block_t *out) {
   take(from->value, count, index, out->value);
   if (!from->hard) {
      exact_points(precision, count, out);
      return;
   }
   for (uint64_t i = 0; i < count; i++) {
      bool none = index[i] < 0;
      out->hard[i] = none ? 0 : from->hard[index[i]];
      out->variance[i] = none ? 0 : from->variance[index[i]];
      out->flags[i] = none ? 0 : from->flags[index[i]];
   }
}

bool rkb_reader_view(const rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index,
                     rkb_block_t *view) {
   const rkb_block_t *stored = &reader->stored[value];
   if (!stored->value || !stored->hard || count == 0 || index[0] < 0 ||
       index[count - 1] != index[0] + (int64_t)count - 1)
      return false;
   for (uint64_t i = 1; i < count; i++)
      if (index[i] != index[0] + (int64_t)i)
         return false;
   *view = rkb_block_from(stored, (uint64_t)index[0]);
   return true;
}

/* Whether a node's result is rounded where it is stored: in a narrow type, unless each element was stored in it before. */
static bool rounds_storage(const rkb_program_t *program, const rkb_program_node_t *node) {
   uint32_t dtype = program->values[node->output].dtype;
   if (!rkb_dtype_narrow(dtype) || rkb_converts(node))
      return false;
   return !node->operation->moves || rkb_program_kept_type(program, node->inputs[0]) != dtype;
}

/* A storage type narrower than the arithmetic rounds once more, by half a unit or half the least subnormal number, and overflows
 * earlier.  In the variance, a rounding of random sign that sums may average out counts as it does elsewhere; that of an output,
 * which is judged alone, counts as the largest that it can be: 8 standard deviations are 8 of the rest and the rounding. */
static void round_storage(const rkb_program_t *program, const rkb_program_node_t *node, uint64_t count,
                          rkb_block_t *block) {
   if (!rounds_storage(program, node))
      return;
   const rkb_program_value_t *value = &program->values[node->output];
   const rkb_narrow_t *type = rkb_dtype_narrow(value->dtype);
   const double unit = ldexp(1, -type->bits), least = ldexp(1, type->least_exponent - 1);
   for (uint64_t i = 0; i < count; i++) {
      if (isinf(block->value[i]) || rkb_point_is_nan(rkb_block_get(block, i)) ||
          (block->hard[i] == 0 && rkb_dtype_round(value->dtype, block->value[i]) == block->value[i]))
         continue;
      double rounding = fmax(unit * (fabs(block->value[i]) + block->hard[i]), least);
      double sigma = sqrt(block->variance[i]),
             alone = sigma + fmax(unit * (fabs(block->value[i]) + 8 * sigma), least) / 8;
      block->hard[i] += rounding;
      block->variance[i] = value->read ? block->variance[i] + rounding * rounding / 3 : alone * alone;
      if (!(fabs(block->value[i]) + block->hard[i] < type->largest))
         block->flags[i] |= RKB_POINT_DONT_CARE;
   }
}

int rkb_compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                rkb_block_t *out) {
   /* A costly operation shares work between its elements, so compute them all at once. */
   uint64_t most = node->operation->costly ? count : reader->memory ? POINTS_CHUNK : RKB_CHUNK;
   for (uint64_t first = 0; first < count; first += most) {
      uint64_t piece = count - first < most ? count - first : most;
      rkb_block_t part = rkb_block_from(out, first);
      int status = node->operation->compute(reader, node, piece, index + first, &part);
      if (status != RKB_OK)
         return status;
   }
   round_storage(reader->program, node, count, out);
   return RKB_OK;
}

/* Computes elements of a value that is not in memory.  An index of -1 means zero. */
static int read_computed(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                         const int64_t *index, rkb_block_t *out) {
   bool holes = false;
   for (uint64_t i = 0; i < count && !holes; i++)
      holes = index[i] < 0;
   if (!holes)
      return node->operation->costly && reader->memory ? rkb_memory_read(reader, node, count, index, out)
                                                       : rkb_compute(reader, node, count, index, out);
   int64_t *dense = rkb_try_uncleared(count + 1, sizeof *dense, NULL);
   if (!dense)
      return RKB_ERR_NOMEM;
   uint64_t kept = 0;
   for (uint64_t i = 0; i < count; i++)
      if (index[i] >= 0)
         dense[kept++] = index[i];
   int status = kept ? read_computed(reader, node, kept, dense, out) : RKB_OK;
   free(dense);
   for (uint64_t i = count; i-- > 0;) /* spread in place, from the back */
      rkb_block_put(out, i, index[i] < 0 ? (rkb_point_t){0} : rkb_block_get(out, --kept));
   return status;
}

int rkb_reader_work(rkb_reader_t *reader, double work) {
   reader->work += work;
   return reader->most_work > 0 && reader->work > reader->most_work ? RKB_ERR_LIMIT : RKB_OK;
}

int rkb_read(rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index, rkb_block_t *out) {
   const rkb_program_value_t *info = &reader->program->values[value];
   int status = reader->memory ? rkb_reader_work(reader, (double)count) : RKB_OK;
   if (status == RKB_OK && reader->memory && info->node < 0)
      status = rkb_memory_note(reader, value, count);
   if (status != RKB_OK)
      return status;
   if (reader->stored[value].value) {
      gather(reader->precision, &reader->stored[value], count, index, out);
      return RKB_OK;
   }
   const float *single = reader->memory ? reader->memory->single[value] : NULL;
   if (single) {
      take_single(single, count, index, out->value);
      exact_points(reader->precision, count, out);
      return RKB_OK;
   }
   if (info->node >= 0) {
      /* Points are computed by recursion.  A graph of a thousand operations one after another would need a deep stack. */
      if (!reader->memory)
         return read_computed(reader, &reader->program->nodes[info->node], count, index, out);
      if (reader->depth >= MOST_DEPTH)
         return RKB_ERR_LIMIT;
      reader->depth++;
      status = read_computed(reader, &reader->program->nodes[info->node], count, index, out);
      reader->depth--;
      return status;
   }
   status = reader->source.fill(reader->source.argument, (uint32_t)info->tensor, count, index, out->value);
   exact_points(reader->precision, count, out);
   return status;
}

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

/* Long enough that the source can use several threads. */
#define LOAD_CHUNK (UINT64_C(1) << 20)

int rkb_load_input(rkb_reader_t *reader, uint32_t value, double **out) {
   const rkb_program_value_t *info = &reader->program->values[value];
   const uint64_t most = info->elements < LOAD_CHUNK ? info->elements : LOAD_CHUNK;
   double *data = rkb_try_uncleared(info->elements, sizeof *data, NULL);
   int64_t *index = rkb_try_uncleared(most, sizeof *index, NULL);
   int status = data && index ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t first = 0; status == RKB_OK && first < info->elements; first += most) {
      uint64_t piece = info->elements - first < most ? info->elements - first : most;
      for (uint64_t i = 0; i < piece; i++)
         index[i] = (int64_t)(first + i);
      status =
         reader->source.fill(reader->source.argument, (uint32_t)info->tensor, piece, index, data + first);
   }
   free(index);
   if (status != RKB_OK) {
      free(data);
      return status;
   }
   *out = data;
   return RKB_OK;
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
      round_storage(reader->program, node, elements, &block);
   } else {
      int64_t pieces = (int64_t)((elements + RKB_CHUNK - 1) / RKB_CHUNK);
#pragma omp parallel for schedule(dynamic) if (elements >= RKB_SHARED_ELEMENTS)
      for (int64_t piece = 0; piece < pieces; piece++) {
         uint64_t first = (uint64_t)piece * RKB_CHUNK;
         uint64_t count = elements - first < RKB_CHUNK ? elements - first : RKB_CHUNK;
         int64_t index[RKB_CHUNK];
         for (uint64_t i = 0; i < count; i++)
            index[i] = (int64_t)(first + i);
         rkb_block_t part = rkb_block_from(&block, first);
         int result = rkb_compute(reader, node, count, index, &part);
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
   if (reader->precision->passes > 0)
      rkb_noise_apply(node, node->output, reader->pass, elements, &block);
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
      if (reader->spare_elements != program->values[node->output].elements) /* or the peak would grow */
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
                         const rkb_source_t *source, rkb_block_t *outputs, rkb_error_t *err) {
   rkb_reader_t reader = {.program = program, .precision = precision, .source = *source, .pass = pass};
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

/* Bounds of a deep graph: the outputs of several passes beside the exact ones (noise.c). */
static int add_noise_bounds(const rkb_program_t *program, const rkb_precision_t *precision, const rkb_source_t *source,
                            rkb_block_t *outputs, rkb_error_t *err) {
   const uint32_t count = program->tensor_count;
   rkb_block_t *noisy = rkb_allocate(count + 1, sizeof *noisy);
   double **squares = rkb_allocate(count + 1, sizeof *squares);
   uint8_t **flags = rkb_allocate(count + 1, sizeof *flags);
   int status = RKB_OK;
   for (uint32_t i = 0; i < count; i++)
      if (outputs[i].value) {
         const uint64_t elements = program->values[program->outputs[i]].elements;
         squares[i] = rkb_allocate(elements + 1, sizeof **squares);
         flags[i] = rkb_allocate(elements + 1, sizeof **flags);
      }
   for (uint32_t pass = 1; status == RKB_OK && pass <= precision->passes; pass++) {
      status = evaluate_pass(program, precision, pass, source, noisy, err);
      for (uint32_t i = 0; status == RKB_OK && i < count; i++)
         if (squares[i])
            rkb_noise_gather(&outputs[i], &noisy[i], program->values[program->outputs[i]].elements, squares[i], flags[i]);
      free_outputs(program, noisy);
   }
   for (uint32_t i = 0; i < count; i++) {
      if (status == RKB_OK && squares[i])
         rkb_noise_conclude(program->values[program->outputs[i]].elements, precision->passes, squares[i], flags[i], &outputs[i]);
      free(squares[i]);
      free(flags[i]);
   }
   free(noisy);
   free(squares);
   free(flags);
   return status;
}

int rkb_evaluate_whole(const rkb_program_t *program, const rkb_precision_t *precision,
                       const rkb_source_t *source, uint64_t budget, rkb_block_t *outputs, rkb_error_t *err) {
   uint64_t peak = rkb_evaluate_peak(program);
   if (peak > budget)
      return rkb_fail(err, RKB_ERR_LIMIT,
                      "the reference needs %.1f MiB for whole tensors, over the budget of %.1f MiB",
                      (double)peak / 0x1p20, (double)budget / 0x1p20);
   int status = evaluate_pass(program, precision, 0, source, outputs, err);
   if (status == RKB_OK && precision->passes > 0)
      status = add_noise_bounds(program, precision, source, outputs, err);
   if (status != RKB_OK)
      free_outputs(program, outputs);
   return status;
}
