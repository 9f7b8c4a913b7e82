/* Computes the sums that the gates of a recurrent layer read: products of weights with inputs and states,
 * with variances.  Owns the weights while a layer is computed; any thread. */
#include "reference/operations/recurrent_layer.h"

#include <cblas.h>
#include <stdlib.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/evaluation_threads.h"
#include "reference/operations/elementwise.h"

rkb_layer_functions_t rkb_layer_functions(const rkb_precision_t *precision) {
   return (rkb_layer_functions_t){.precision = precision,
                                  .sigmoid = rkb_elementwise_find("sigmoid")->point,
                                  .tanh = rkb_elementwise_find("tanh")->point,
                                  .sigmoid_slope = rkb_elementwise_find("sigmoid_slope")->point,
                                  .tanh_slope = rkb_elementwise_find("tanh_slope")->point,
                                  .add = rkb_elementwise_find("add")->point,
                                  .multiply = rkb_elementwise_find("mul")->point};
}

/* The unit to which the class rounds a factor; a factor that was stored in a narrow type is not rounded
 * again. */
static double product_unit(const rkb_reader_t *reader, uint32_t value) {
   const uint32_t kept = rkb_program_kept_type(rkb_reader_program(reader), value);
   return rkb_dtype_narrow(kept) ? 0 : rkb_reader_precision(reader)->product;
}

int rkb_layer_matrix_read(rkb_reader_t *reader, uint32_t value, uint64_t rows, uint64_t depth, bool transposed,
                          rkb_layer_matrix_t *matrix) {
   const uint64_t count = rows * depth;
   const double product = product_unit(reader, value);
   rkb_block_t block = {0};
   int64_t *index = rkb_try_uncleared(count + 1, sizeof *index, NULL);
   *matrix = (rkb_layer_matrix_t){.rows = rows, .depth = depth, .value = rkb_try_uncleared(3 * count + 1, sizeof(double), NULL)};
   int status = index && matrix->value && rkb_block_new(&block, count) ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      index[i] = transposed ? (int64_t)(i % depth * rows + i / depth) : (int64_t)i;
   if (status == RKB_OK)
      status = rkb_read(reader, value, count, index, &block);
   bool exact = true;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      const double x = block.value[i], variance = block.variance[i] + product * product * x * x / 3;
      matrix->value[i] = x;
      matrix->value[count + i] = x * x;
      matrix->value[2 * count + i] = variance;
      exact = exact && variance == 0;
   }
   if (status == RKB_OK) {
      matrix->square = matrix->value + count;
      matrix->variance = exact ? NULL : matrix->value + 2 * count;
   }
   free(index);
   rkb_block_free(&block);
   return status;
}

bool rkb_layer_vectors_new(rkb_layer_vectors_t *vectors, uint64_t count, uint64_t depth) {
   const uint64_t places = count * depth;
   *vectors = (rkb_layer_vectors_t){.count = count, .depth = depth, .value = rkb_try_allocate(3 * places + 1, sizeof(double), NULL)};
   vectors->square = vectors->value ? vectors->value + places : NULL;
   vectors->variance = vectors->value ? vectors->square + places : NULL;
   return vectors->value != NULL;
}

bool rkb_layer_sums_new(rkb_layer_sums_t *sums, uint64_t count) {
   sums->value = rkb_try_allocate(3 * count + 1, sizeof(double), NULL);
   sums->square = sums->value ? sums->value + count : NULL;
   sums->variance = sums->value ? sums->square + count : NULL;
   return sums->value != NULL;
}

static void multiply(const rkb_layer_matrix_t *matrix, const double *with, const double *vectors, uint64_t count, double before,
                     double *out) {
   const int rows = (int)matrix->rows, depth = (int)matrix->depth;
   rkb_evaluation_use_one_blas_thread();
   if (count == 1)
      cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, depth, 1, with, depth, vectors, 1, before, out, 1);
   else
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, rows, depth, 1, vectors, depth, with, depth, before, out, rows);
}

void rkb_layer_multiply(const rkb_layer_matrix_t *matrix, const rkb_layer_vectors_t *vectors, rkb_layer_sums_t *sums, uint64_t first) {
   const uint64_t places = vectors->count * vectors->depth;
   multiply(matrix, matrix->value, vectors->value, vectors->count, 0, sums->value + first);
   multiply(matrix, matrix->square, vectors->square, vectors->count, 0, sums->square + first);
   multiply(matrix, matrix->square, vectors->variance, vectors->count, 0, sums->variance + first);
   for (uint64_t i = 0; matrix->variance && i < places; i++) /* (w^2 + a) (x^2 + b) - w^2 x^2 */
      vectors->square[i] += vectors->variance[i];
   if (matrix->variance)
      multiply(matrix, matrix->variance, vectors->square, vectors->count, 1, sums->variance + first);
}

static int read_bias(rkb_reader_t *reader, uint32_t value, uint64_t count, rkb_block_t *bias) {
   int64_t *index = rkb_try_uncleared(count + 1, sizeof *index, NULL);
   int status = index && rkb_block_new(bias, count) ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      index[i] = (int64_t)i;
   if (status == RKB_OK)
      status = rkb_read(reader, value, count, index, bias);
   free(index);
   return status;
}

int rkb_layer_weights_read(rkb_reader_t *reader, const rkb_layer_t *layer, rkb_layer_weights_t *weights) {
   const uint64_t wide = layer->gates * layer->hidden;
   *weights = (rkb_layer_weights_t){.product_input = product_unit(reader, layer->x), .product_hidden = rkb_reader_precision(reader)->product};
   int status = rkb_layer_matrix_read(reader, layer->weight_input, wide, layer->inputs, false, &weights->input);
   if (status == RKB_OK)
      status = rkb_layer_matrix_read(reader, layer->weight_hidden, wide, layer->hidden, false, &weights->hidden);
   if (status == RKB_OK && layer->biased)
      status = read_bias(reader, layer->bias_input, wide, &weights->bias_input);
   if (status == RKB_OK && layer->biased)
      status = read_bias(reader, layer->bias_hidden, wide, &weights->bias_hidden);
   if (status != RKB_OK)
      rkb_layer_weights_free(weights);
   return status;
}

void rkb_layer_weights_free(rkb_layer_weights_t *weights) {
   free(weights->input.value);
   free(weights->hidden.value);
   rkb_block_free(&weights->bias_input);
   rkb_block_free(&weights->bias_hidden);
   *weights = (rkb_layer_weights_t){.input = {0}};
}

rkb_layer_gates_t rkb_layer_gates_at(const rkb_layer_t *layer, const rkb_layer_weights_t *weights, const rkb_precision_t *precision,
                                     const rkb_layer_sums_t *from_input, uint64_t input_at, const rkb_layer_sums_t *from_hidden,
                                     uint64_t hidden_at, uint64_t unit) {
   rkb_layer_gates_t gates = {0};
   for (uint32_t g = 0; g < layer->gates; g++) {
      const uint64_t at = g * layer->hidden;
      /* The reset gate multiplies only the state's part. */
      const bool apart = layer->kind == RKB_LAYER_GRU && g == 2;
      rkb_layer_part_t input = {0}, hidden = {0};
      rkb_layer_part_t *second = apart ? &hidden : &input;
      rkb_layer_part_add(&input, from_input, input_at + at, (double)layer->inputs);
      rkb_layer_part_add(second, from_hidden, hidden_at + at, (double)layer->hidden);
      if (layer->biased) {
         rkb_layer_part_add_point(&input, rkb_block_get(&weights->bias_input, at + unit));
         rkb_layer_part_add_point(second, rkb_block_get(&weights->bias_hidden, at + unit));
      }
      gates.sum[g] = rkb_layer_conclude(precision, &input);
      if (apart)
         gates.sum[3] = rkb_layer_conclude(precision, &hidden);
   }
   return gates;
}

rkb_layer_t rkb_layer_of(const rkb_program_t *program, const rkb_program_node_t *node, uint32_t from) {
   static const uint32_t gates[] = {[RKB_LAYER_RNN] = 1, [RKB_LAYER_GRU] = 3, [RKB_LAYER_LSTM] = 4};
   const uint32_t kind = (uint32_t)node->integers[0], states = kind == RKB_LAYER_LSTM ? 2 : 1, *inputs = node->inputs + from;
   const rkb_shape_t *x = rkb_program_shape(program, inputs[0]);
   const bool biased = node->integers[1] != 0;
   return (rkb_layer_t){.kind = kind,
                        .biased = biased,
                        .states = states,
                        .gates = gates[kind],
                        .steps = (uint64_t)x->size[0],
                        .batch = (uint64_t)x->size[1],
                        .inputs = (uint64_t)x->size[2],
                        .hidden = (uint64_t)rkb_program_shape(program, inputs[1])->size[1],
                        .x = inputs[0],
                        .first = {inputs[1], states > 1 ? inputs[2] : RKB_NO_VALUE},
                        .weight_input = inputs[1 + states],
                        .weight_hidden = inputs[2 + states],
                        .bias_input = biased ? inputs[3 + states] : RKB_NO_VALUE,
                        .bias_hidden = biased ? inputs[4 + states] : RKB_NO_VALUE};
}
