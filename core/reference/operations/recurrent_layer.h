/* A recurrent layer as one operation: LSTM, GRU or tanh RNN, one layer in one direction, over many steps.
 *
 * A layer of a few steps is expanded into an operation for each step (functions/recurrent.c), whose hard
 * bounds are proven.  Over hundreds of steps such a bound exceeds the values themselves, and the number of
 * operations exceeds every limit.  Here each step carries values and variances by the same rules as the
 * single operations (rkb_sum_rounding, and the points of sigmoid, tanh, products and sums).  The hard bound
 * is RKB_LAYER_DEVIATIONS standard deviations, as in deep graphs (deep_graph_bounds.c); it is not a proof, and holds only
 * on random data. */
#ifndef RKB_REFERENCE_OPERATIONS_RECURRENT_LAYER_H
#define RKB_REFERENCE_OPERATIONS_RECURRENT_LAYER_H

#include "reference/operation.h"

enum rkb_layer_kind { RKB_LAYER_RNN, RKB_LAYER_GRU, RKB_LAYER_LSTM };

/* A layer with at least this many steps is one operation. */
#define RKB_LAYER_LEAST_STEPS 9
#define RKB_LAYER_DEVIATIONS                                                                                 \
   64 /* twice the 32 of deep_graph_bounds.c: variances here carry no factor for their own uncertainty */

/* The operands of a layer: x [T, B, I], states [B, H], weights [gates H, I] and [gates H, H], and both biases [gates H] or none. */
typedef struct rkb_layer {
   uint32_t kind; /* enum rkb_layer_kind */
   bool biased;
   uint32_t states, gates;              /* states: h, and c of an LSTM */
   uint64_t steps, batch, inputs, hidden;
   uint32_t x, first[2], weight_input, weight_hidden, bias_input, bias_hidden; /* values; first: h and c before the first step */
} rkb_layer_t;

/* The operands from number `from` of a node on; its integers are the kind and whether there are biases. */
rkb_layer_t rkb_layer_of(const rkb_program_t *program, const rkb_program_node_t *node, uint32_t from);

/* Adds the layer: [T, B, states H], where a row is h, and c of an LSTM after it.  inputs: as rkb_layer_t lists them, count of them. */
uint32_t rkb_make_recurrent_layer(rkb_program_t *program, uint32_t kind, const uint32_t *inputs, uint32_t count);

/* The gradient of operand number `which` of a layer. */
uint32_t rkb_recurrent_layer_gradient(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which, uint32_t grad);

/* Products with one matrix of weights ------------------------------------------------------------------------------------------------ */

/* A matrix [rows, depth] of weights, for products with many vectors. */
typedef struct rkb_layer_matrix {
   uint64_t rows, depth;
   double *value, *square, *variance; /* variance NULL: the weights are exact; value owns all */
} rkb_layer_matrix_t;

/* Vectors side by side, [count, depth]: what a matrix multiplies. */
typedef struct rkb_layer_vectors {
   uint64_t count, depth;
   double *value, *square, *variance; /* square and variance lie one after the other; value owns all */
} rkb_layer_vectors_t;

/* Products of each vector with each row, [count, rows]. */
typedef struct rkb_layer_sums {
   double *value, *square, *variance; /* value owns all */
} rkb_layer_sums_t;

/* transposed: takes the matrix [depth, rows] that lies in memory across. */
int rkb_layer_matrix_read(rkb_reader_t *reader, uint32_t value, uint64_t rows, uint64_t depth, bool transposed,
                          rkb_layer_matrix_t *matrix);
bool rkb_layer_vectors_new(rkb_layer_vectors_t *vectors, uint64_t count, uint64_t depth);
bool rkb_layer_sums_new(rkb_layer_sums_t *sums, uint64_t count);
/* Puts a point in its place.  product: the unit to which the class rounds factors. */
static inline void rkb_layer_vectors_put(rkb_layer_vectors_t *vectors, uint64_t i, rkb_point_t point, double product) {
   vectors->value[i] = point.value;
   vectors->square[i] = point.value * point.value;
   vectors->variance[i] = point.variance + product * product * point.value * point.value / 3;
}
/* Writes count * rows products, from place `first` of sums on. */
void rkb_layer_multiply(const rkb_layer_matrix_t *matrix, const rkb_layer_vectors_t *vectors, rkb_layer_sums_t *sums, uint64_t first);

/* A sum of products that grows by parts: by products with one matrix, and by biases. */
typedef struct rkb_layer_part {
   double value, square, variance, count;
} rkb_layer_part_t;

static inline void rkb_layer_part_add(rkb_layer_part_t *part, const rkb_layer_sums_t *sums, uint64_t i, double count) {
   part->value += sums->value[i];
   part->square += sums->square[i];
   part->variance += sums->variance[i];
   part->count += count;
}

static inline void rkb_layer_part_add_point(rkb_layer_part_t *part, rkb_point_t point) {
   part->value += point.value;
   part->square += point.value * point.value;
   part->variance += point.variance;
   part->count += 1;
}

/* The hard bound of a point whose variance is known.  NaN stays: of an input in all units of its step, and from there on in all states. */
static inline rkb_point_t rkb_layer_settled(rkb_point_t point) {
   if (rkb_point_is_nan(point))
      return rkb_point_nan();
   point.hard = RKB_LAYER_DEVIATIONS * sqrt(point.variance);
   if (!isfinite(point.value) || !isfinite(point.hard))
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}

static inline rkb_point_t rkb_layer_conclude(const rkb_precision_t *precision, const rkb_layer_part_t *part) {
   rkb_point_t point = {part->value, 0, part->variance, 0};
   rkb_sum_rounding(precision, part->value, 0, part->square, part->count, part->count, &point);
   return rkb_layer_settled(point);
}

/* Cells ------------------------------------------------------------------------------------------------------------------------------ */

/* The elementwise operations of a cell. */
typedef struct rkb_layer_functions {
   const rkb_precision_t *precision;
   rkb_point_t (*sigmoid)(const rkb_precision_t *precision, const double *reals, const rkb_point_t *operands);
   rkb_point_t (*tanh)(const rkb_precision_t *precision, const double *reals, const rkb_point_t *operands);
   rkb_point_t (*sigmoid_slope)(const rkb_precision_t *precision, const double *reals, const rkb_point_t *operands);
   rkb_point_t (*tanh_slope)(const rkb_precision_t *precision, const double *reals, const rkb_point_t *operands);
   rkb_point_t (*add)(const rkb_precision_t *precision, const double *reals, const rkb_point_t *operands);
   rkb_point_t (*multiply)(const rkb_precision_t *precision, const double *reals, const rkb_point_t *operands);
} rkb_layer_functions_t;

rkb_layer_functions_t rkb_layer_functions(const rkb_precision_t *precision);

static inline rkb_point_t rkb_layer_plus(const rkb_layer_functions_t *f, rkb_point_t a, rkb_point_t b) {
   return f->add(f->precision, NULL, (rkb_point_t[]){a, b});
}

static inline rkb_point_t rkb_layer_times(const rkb_layer_functions_t *f, rkb_point_t a, rkb_point_t b) {
   return f->multiply(f->precision, NULL, (rkb_point_t[]){a, b});
}

static inline rkb_point_t rkb_layer_negative(rkb_point_t a) {
   a.value = -a.value;
   return a;
}

static inline rkb_point_t rkb_layer_one_minus(const rkb_layer_functions_t *f, rkb_point_t a) {
   return rkb_layer_plus(f, (rkb_point_t){.value = 1}, rkb_layer_negative(a));
}

/* The sums that the gates of one cell read, before sigmoid and tanh.  LSTM: input, forget, cell, output.
 * GRU: reset, update, and the parts of the input and of the state in the new state.  RNN: its one sum. */
typedef struct rkb_layer_gates {
   rkb_point_t sum[4];
} rkb_layer_gates_t;

/* Weights and biases of a layer, read once. */
typedef struct rkb_layer_weights {
   rkb_layer_matrix_t input, hidden;
   rkb_block_t bias_input, bias_hidden; /* empty without biases */
   /* The unit to which the class rounds the other factor; 0: it does not round. */
   double product_input, product_hidden;
} rkb_layer_weights_t;

int rkb_layer_weights_read(rkb_reader_t *reader, const rkb_layer_t *layer, rkb_layer_weights_t *weights);
void rkb_layer_weights_free(rkb_layer_weights_t *weights);

/* The gates of hidden unit `unit`, from the products of x and of the state before; at: place of the unit's first gate in each. */
rkb_layer_gates_t rkb_layer_gates_at(const rkb_layer_t *layer, const rkb_layer_weights_t *weights, const rkb_precision_t *precision,
                                     const rkb_layer_sums_t *from_input, uint64_t input_at, const rkb_layer_sums_t *from_hidden,
                                     uint64_t hidden_at, uint64_t unit);

/* A group of sequences --------------------------------------------------------------------------------------------------------------- */

/* Sequences that are computed together.  Their rows of the output lie in `out`, [count, T, width]. */
typedef struct rkb_layer_group {
   const uint64_t *sequences; /* numbers in the batch */
   uint64_t count;
   /* Some operand may overflow, so nothing of these sequences can be judged. */
   bool spoilt;
   rkb_block_t out;
} rkb_layer_group_t;

typedef int rkb_layer_rows_t(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer,
                             const rkb_layer_weights_t *weights, rkb_layer_group_t *group);

/* Computes the points of a node whose output is [T, B, width], sequence by sequence.  When only points are
 * computed, the whole sequence is remembered. */
int rkb_layer_compute(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, rkb_layer_rows_t *rows,
                      uint64_t count, const int64_t *index, rkb_block_t *out);
int rkb_layer_whole(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, rkb_layer_rows_t *rows,
                    rkb_block_t *out);
/* Reads rows [T, B, width] of the group's sequences as [count, T, width].  Ambiguous numbers keep their
 * variance; don't-care numbers mark the group as spoilt. */
int rkb_layer_read(rkb_reader_t *reader, const rkb_layer_t *layer, uint32_t value, uint64_t width, rkb_layer_group_t *group, rkb_block_t *out);
/* The products of x with the input's weights, [count T, gates H]. */
int rkb_layer_input_sums(rkb_reader_t *reader, const rkb_layer_t *layer, const rkb_layer_weights_t *weights, rkb_layer_group_t *group,
                         rkb_layer_sums_t *sums);
/* The states before the first step, [count, states H]. */
int rkb_layer_first_states(rkb_reader_t *reader, const rkb_layer_t *layer, rkb_layer_group_t *group, rkb_block_t *out);

#endif
