/* See float_program.h.  Test code: aborts when memory is out. */
#include "float_program.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "task/dtype.h"
#include "task/operations/reduce.h"

const float_mode_t float_modes[] = {
   {.name = "sequential", .order = ORDER_SEQUENTIAL},
   {.name = "reversed fma", .order = ORDER_REVERSED, .fma = true},
   {.name = "pairwise", .order = ORDER_PAIRWISE},
   {.name = "strided fma approx", .order = ORDER_STRIDED, .fma = true, .approximate = 6, .flush = true},
   {.name = "one pass", .order = ORDER_STRIDED, .one_pass = true},
   {.name = "3xTF32", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_TF32_THREE},
   {0},
};

const float_mode_t fast_mode = {
   .name = "fast", .order = ORDER_STRIDED, .fma = true, .approximate = 60, .flush = true};

const float_mode_t low_modes[] = {
   {.name = "TF32", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_TF32},
   {.name = "bf16", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_BF16},
   {.name = "half", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_HALF},
   {.name = "fp8", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_FP8},
   {0},
};

typedef struct run {
   float_plan_t *plan;
   const rkb_program_t *program;
   const float_mode_t *mode;
   rkb_reader_t reader;
   rkb_random_t noise;
   enum float_products products; /* of the node at hand */
   uint32_t product;             /* its number */
} run_t;

static double *numbers(uint64_t count) {
   double *made = malloc((count + 1) * sizeof *made);
   assert(made);
   return made;
}

static const double *operand(const run_t *run, const rkb_program_node_t *node, uint32_t which) {
   return run->reader.stored[node->inputs[which]].value;
}

static float flushed(const run_t *run, float x) {
   return run->mode->flush && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* What an approximate function of a GPU may return. */
static float rough(run_t *run, float x) {
   if (run->mode->approximate == 0)
      return x;
   double noise = (2 * rkb_random_real(&run->noise) - 1) * run->mode->approximate * 0x1p-24;
   return (float)(x * (1 + noise));
}

static float add_product(const run_t *run, float sum, float a, float b) {
   return run->mode->fma ? fmaf(a, b, sum) : sum + a * b;
}

/* Sums */

static float pairwise(const float *terms, uint64_t count) {
   if (count <= 2)
      return count == 2 ? terms[0] + terms[1] : terms[0];
   return pairwise(terms, count / 2) + pairwise(terms + count / 2, count - count / 2);
}

/* Sum of a[i] * b[i] (b NULL: of a[i]) in the mode's order. */
static float sum_of(const run_t *run, const float *a, const float *b, uint64_t count) {
   float sum = 0, parts[32] = {0};
   switch (run->mode->order) {
   case ORDER_SEQUENTIAL:
      for (uint64_t i = 0; i < count; i++)
         sum = b ? add_product(run, sum, a[i], b[i]) : sum + a[i];
      return sum;
   case ORDER_REVERSED:
      for (uint64_t i = count; i-- > 0;)
         sum = b ? add_product(run, sum, a[i], b[i]) : sum + a[i];
      return sum;
   case ORDER_STRIDED:
      for (uint64_t i = 0; i < count; i++)
         parts[i % 32] = b ? add_product(run, parts[i % 32], a[i], b[i]) : parts[i % 32] + a[i];
      return pairwise(parts, 32);
   default: {
      float *terms = malloc((count + 1) * sizeof *terms);
      assert(terms);
      for (uint64_t i = 0; i < count; i++)
         terms[i] = b ? a[i] * b[i] : a[i];
      sum = count ? pairwise(terms, count) : 0;
      free(terms);
      return sum;
   }
   }
}

/* To the nearest number of so many significant bits, ties to even: what is added and taken away again is as much
 * larger than x as the bits that go (Dekker's splitting), in double so that it cannot overflow. */
static float cut_to(float x, int bits) {
   double away = (double)x * (double)((INT64_C(1) << (53 - bits)) + 1);
   return isfinite(x) ? (float)(away - (away - (double)x)) : x;
}

static float truncated(double x) {
   float y = (float)x;
   if (!(fabs((double)y) > fabs(x)))
      return y;
   uint32_t bits;
   memcpy(&bits, &y, sizeof bits);
   bits--; /* the next number towards zero; an infinity becomes the largest number */
   memcpy(&y, &bits, sizeof y);
   return y;
}

/* Numbers ready to be factors: rounded as the products at hand have them, or for 3xTF32 in two parts. */
typedef struct factors {
   float *high, *low; /* one allocation; low only for 3xTF32 */
} factors_t;

static factors_t factors_new(uint64_t count) {
   float *memory = malloc((2 * count + 1) * sizeof *memory);
   assert(memory);
   return (factors_t){memory, memory + count};
}

static factors_t factors_from(const factors_t *factors, uint64_t first) {
   return (factors_t){factors->high + first, factors->low + first};
}

/* Three products of the high and low parts, eight terms at a time into a truncating accumulator, as tensor
 * cores have it. */
static float three_products(factors_t a, factors_t b, uint64_t count) {
   float sum = 0;
   for (uint64_t first = 0; first < count; first += 8) {
      uint64_t last = first + 8 < count ? first + 8 : count;
      double low_right = 0, low_left = 0, high = 0;
      for (uint64_t i = first; i < last; i++) {
         low_right += (double)a.high[i] * (double)b.low[i];
         low_left += (double)a.low[i] * (double)b.high[i];
         high += (double)a.high[i] * (double)b.high[i];
      }
      sum = truncated((double)sum + low_right);
      sum = truncated((double)sum + low_left);
      sum = truncated((double)sum + high);
   }
   return sum;
}

static void set_factor(const run_t *run, factors_t *factors, uint64_t i, double x) {
   static const int bits[] = {0, 11, 8, 11, 0, 4};
   float number = (float)x;
   switch (run->products) {
   case PRODUCTS_FULL:
      break;
   case PRODUCTS_HALF: /* which has a narrow range besides */
      number = (float)rkb_dtype_round(RKB_F16, x);
      break;
   case PRODUCTS_TF32_THREE:
      number = cut_to((float)x, 11);
      factors->low[i] = cut_to((float)x - number, 11);
      break;
   default:
      number = cut_to(number, bits[run->products]);
   }
   factors->high[i] = number;
}

static float dot(const run_t *run, factors_t a, factors_t b, uint64_t count) {
   return run->products == PRODUCTS_TF32_THREE ? three_products(a, b, count)
                                               : sum_of(run, a.high, b.high, count);
}

/* Elementwise */

static float sigmoid(run_t *run, float x) {
   return rough(run, 1 / (1 + rough(run, expf(-x))));
}

static float gelu_inner(float x) {
   return 0.7978845608f * (x + 0.044715f * x * x * x);
}

static float unary(run_t *run, const char *name, float x, const double *reals) {
   float r, s, t;
#define IS(label) (strcmp(name, label) == 0)
   if (IS("neg"))
      return -x;
   if (IS("relu"))
      return x > 0 ? x : 0;
   if (IS("step"))
      return x > 0;
   if (IS("abs"))
      return fabsf(x);
   if (IS("sign"))
      return (float)((x > 0) - (x < 0));
   if (IS("leaky_relu"))
      return x > 0 ? x : x * (float)reals[0];
   if (IS("clamp"))
      return fminf(fmaxf(x, (float)reals[0]), (float)reals[1]);
   if (IS("inside"))
      return x >= (float)reals[0] && x <= (float)reals[1];
   if (IS("exp"))
      return rough(run, expf(x));
   if (IS("log"))
      return rough(run, logf(x));
   if (IS("sqrt"))
      return rough(run, sqrtf(x));
   if (IS("sqrt_slope"))
      return rough(run, 0.5f / sqrtf(x));
   if (IS("rsqrt"))
      return rough(run, 1 / sqrtf(x));
   if (IS("rsqrt_slope")) {
      r = rough(run, 1 / sqrtf(x));
      return -0.5f * r * r * r;
   }
   if (IS("reciprocal"))
      return rough(run, 1 / x);
   if (IS("reciprocal_slope")) {
      r = rough(run, 1 / x);
      return -r * r;
   }
   if (IS("sin"))
      return rough(run, sinf(x));
   if (IS("cos"))
      return rough(run, cosf(x));
   if (IS("minus_sin"))
      return -rough(run, sinf(x));
   if (IS("erf"))
      return rough(run, erff(x));
   if (IS("erf_slope"))
      return 1.1283791671f * rough(run, expf(-x * x));
   if (IS("tanh"))
      return rough(run, tanhf(x));
   if (IS("tanh_slope")) {
      t = rough(run, tanhf(x));
      return 1 - t * t;
   }
   if (IS("sigmoid"))
      return sigmoid(run, x);
   if (IS("sigmoid_slope")) {
      s = sigmoid(run, x);
      return s * (1 - s);
   }
   if (IS("silu"))
      return x * sigmoid(run, x);
   if (IS("silu_slope")) {
      s = sigmoid(run, x);
      return s * (1 + x * (1 - s));
   }
   if (IS("gelu"))
      return 0.5f * x * (1 + rough(run, erff(x * 0.7071067812f)));
   if (IS("gelu_slope"))
      return 0.5f * (1 + rough(run, erff(x * 0.7071067812f))) +
             x * 0.3989422804f * rough(run, expf(-0.5f * x * x));
   if (IS("gelu_tanh"))
      return 0.5f * x * (1 + rough(run, tanhf(gelu_inner(x))));
   if (IS("gelu_tanh_slope")) {
      t = rough(run, tanhf(gelu_inner(x)));
      return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * x * x);
   }
   if (IS("softplus"))
      return x > 20 ? x : rough(run, logf(1 + rough(run, expf(x))));
   if (IS("elu"))
      return x > 0 ? x : (float)reals[0] * (rough(run, expf(x)) - 1);
   if (IS("elu_slope"))
      return x > 0 ? 1 : (float)reals[0] * rough(run, expf(x));
   if (IS("pow"))
      return rough(run, powf(x, (float)reals[0]));
   if (IS("add_scalar"))
      return x + (float)reals[0];
   if (IS("mul_scalar"))
      return x * (float)reals[0];
   if (IS("div_scalar")) /* a reciprocal of 1 is exact */
      return reals[0] == 1 ? x : rough(run, x / (float)reals[0]);
   if (IS("reverse_sub"))
      return (float)reals[0] - x;
   if (IS("reverse_div"))
      return rough(run, (float)reals[0] / x);
   if (IS("greater_scalar"))
      return x > (float)reals[0];
   if (IS("greater_equal_scalar"))
      return x >= (float)reals[0];
   if (IS("less_scalar"))
      return x < (float)reals[0];
   if (IS("less_equal_scalar"))
      return x <= (float)reals[0];
   if (IS("equal_scalar"))
      return x == (float)reals[0];
   fprintf(stderr, "float_program: no operation %s\n", name);
   abort();
}

static float binary(run_t *run, const char *name, float a, float b) {
   if (IS("add"))
      return a + b;
   if (IS("sub"))
      return a - b;
   if (IS("mul"))
      return a * b;
   if (IS("div"))
      return rough(run, a / b);
   if (IS("maximum"))
      return fmaxf(a, b);
   if (IS("minimum"))
      return fminf(a, b);
   if (IS("share"))
      return a > b ? 1 : a == b ? 0.5f : 0;
   if (IS("greater"))
      return a > b;
   if (IS("greater_equal"))
      return a >= b;
   if (IS("less"))
      return a < b;
   if (IS("less_equal"))
      return a <= b;
   if (IS("equal"))
      return a == b;
   fprintf(stderr, "float_program: no operation %s\n", name);
   abort();
}

static void elementwise(run_t *run, const rkb_program_node_t *node, double *out) {
   const rkb_shape_t *shape = rkb_program_shape(run->program, node->output);
   int64_t strides[3][RKB_MAX_RANK], at[RKB_MAX_RANK];
   for (uint32_t k = 0; k < node->input_count; k++)
      rkb_shape_broadcast_strides(rkb_program_shape(run->program, node->inputs[k]), shape, strides[k]);
   for (uint64_t i = 0; i < run->program->values[node->output].elements; i++) {
      float in[3] = {0};
      rkb_shape_split(shape, i, at);
      for (uint32_t k = 0; k < node->input_count; k++) {
         int64_t from = 0;
         for (uint32_t d = 0; d < shape->rank; d++)
            from += at[d] * strides[k][d];
         in[k] = (float)operand(run, node, k)[from];
      }
      const char *name = node->operation->name;
      float y = IS("allowance")          ? in[0]
                : node->input_count == 1 ? unary(run, name, in[0], node->reals)
                : node->input_count == 2 ? binary(run, name, in[0], in[1])
                                         : (in[0] != 0 ? in[1] : in[2]);
      out[i] = flushed(run, y);
   }
}

/* Rows */

static float variance_of(const run_t *run, const float *x, uint64_t count, float divisor) {
   float mean = sum_of(run, x, NULL, count) / (float)count;
   if (run->mode->one_pass) {
      float square = sum_of(run, x, x, count) / (float)count;
      return (square - mean * mean) * ((float)count / divisor);
   }
   float *away = malloc((count + 1) * sizeof *away);
   assert(away);
   for (uint64_t i = 0; i < count; i++)
      away[i] = x[i] - mean;
   float sum = sum_of(run, away, away, count);
   free(away);
   return sum / divisor;
}

static void reduce_rows(run_t *run, const rkb_program_node_t *node, double *out) {
   rkb_rows_t rows =
      rkb_rows_of(rkb_program_shape(run->program, node->inputs[0]), (uint64_t)node->integers[0]);
   float *x = malloc((rows.length + 1) * sizeof *x);
   int64_t *index = malloc((rows.length + 1) * sizeof *index);
   assert(x && index);
   const char *name = node->operation->name;
   for (uint64_t row = 0; row < rows.count; row++) {
      rkb_rows_index(&rows, row, 0, rows.length, index);
      for (uint64_t i = 0; i < rows.length; i++)
         x[i] = (float)operand(run, node, 0)[index[i]];
      float y = x[0];
      if (IS("sum"))
         y = sum_of(run, x, NULL, rows.length);
      else if (IS("mean"))
         y = run->mode->fma ? sum_of(run, x, NULL, rows.length) * (1 / (float)rows.length)
                            : sum_of(run, x, NULL, rows.length) / (float)rows.length;
      else if (IS("variance"))
         y = variance_of(run, x, rows.length, (float)rows.length - (float)node->integers[2]);
      else
         for (uint64_t i = 0; i < rows.length; i++)
            y = IS("amax") ? fmaxf(y, x[i]) : fminf(y, x[i]);
      out[row] = flushed(run, y);
   }
   free(x);
   free(index);
}

/* Running sums and products, and the gradient of the latter as kernels without zeros have it: reversed running sums
 * of g y, divided by x. */
static void scan_rows(run_t *run, const rkb_program_node_t *node, double *out) {
   const char *name = node->operation->name;
   bool sum = IS("cumulative_sum"), gradient = IS("cumulative_product_gradient");
   rkb_rows_t rows =
      rkb_rows_of(rkb_program_shape(run->program, node->inputs[0]), UINT64_C(1) << node->integers[0]);
   int64_t *index = malloc((rows.length + 1) * sizeof *index);
   float *y = malloc((rows.length + 1) * sizeof *y);
   assert(index && y);
   for (uint64_t row = 0; row < rows.count; row++) {
      rkb_rows_index(&rows, row, 0, rows.length, index);
      const double *x = operand(run, node, gradient);
      float so_far = sum ? 0 : 1;
      for (uint64_t i = 0; i < rows.length; i++) {
         so_far = sum ? so_far + (float)x[index[i]] : so_far * (float)x[index[i]];
         y[i] = flushed(run, so_far);
         out[index[i]] = y[i];
      }
      so_far = 0;
      for (uint64_t i = rows.length; gradient && i-- > 0;) {
         so_far = add_product(run, so_far, (float)operand(run, node, 0)[index[i]], y[i]);
         float others = 1;
         if (x[index[i]] != 0) {
            out[index[i]] = rough(run, so_far / (float)x[index[i]]);
            continue;
         }
         float each = 0; /* a zero: the products without it */
         for (uint64_t j = 0; j < i; j++)
            others *= (float)x[index[j]];
         for (uint64_t j = i; j < rows.length; j++) {
            others *= j > i ? (float)x[index[j]] : 1;
            each = add_product(run, each, (float)operand(run, node, 0)[index[j]], others);
         }
         out[index[i]] = flushed(run, each);
      }
   }
   free(index);
   free(y);
}

static void log_sum_rows(run_t *run, const rkb_program_node_t *node, double *out) {
   rkb_rows_t rows =
      rkb_rows_of(rkb_program_shape(run->program, node->inputs[0]), (uint64_t)node->integers[0]);
   float *e = malloc((rows.length + 1) * sizeof *e);
   int64_t *index = malloc((rows.length + 1) * sizeof *index);
   assert(e && index);
   for (uint64_t row = 0; row < rows.count; row++) {
      float largest = -INFINITY;
      rkb_rows_index(&rows, row, 0, rows.length, index);
      for (uint64_t i = 0; i < rows.length; i++)
         largest = fmaxf(largest, (float)operand(run, node, 0)[index[i]]);
      for (uint64_t i = 0; i < rows.length; i++)
         e[i] = rough(run, expf((float)operand(run, node, 0)[index[i]] - largest));
      out[row] = flushed(run, largest + rough(run, logf(sum_of(run, e, NULL, rows.length))));
   }
   free(e);
   free(index);
}

static void softmax_rows(run_t *run, const rkb_program_node_t *node, double *out) {
   rkb_rows_t rows =
      rkb_rows_of(rkb_program_shape(run->program, node->inputs[0]), UINT64_C(1) << node->integers[0]);
   float *x = malloc((rows.length + 1) * sizeof *x), *e = malloc((rows.length + 1) * sizeof *e);
   int64_t *index = malloc((rows.length + 1) * sizeof *index);
   assert(x && e && index);
   for (uint64_t row = 0; row < rows.count; row++) {
      float largest = -INFINITY, size = 0;
      rkb_rows_index(&rows, row, 0, rows.length, index);
      for (uint64_t i = 0; i < rows.length; i++) {
         x[i] = (float)operand(run, node, 0)[index[i]];
         largest = fmaxf(largest, x[i]);
         size = fmaxf(size, isinf(x[i]) ? 0 : fabsf(x[i]));
      }
      if (run->mode->one_pass && size < 60)
         largest = 0;
      for (uint64_t i = 0; i < rows.length; i++)
         e[i] = run->mode->fma ? rough(run, exp2f((x[i] - largest) * 1.44269504f))
                               : rough(run, expf(x[i] - largest));
      float sum = sum_of(run, e, NULL, rows.length), logarithm = rough(run, logf(sum)), inverse = 1 / sum;
      bool share = strcmp(node->operation->name, "softmax") == 0;
      for (uint64_t i = 0; i < rows.length; i++)
         out[index[i]] = flushed(run, !share           ? x[i] - largest - logarithm
                                      : run->mode->fma ? e[i] * inverse
                                                       : e[i] / sum);
   }
   free(x);
   free(e);
   free(index);
}

/* Products */

static void matrix_product(run_t *run, const rkb_program_node_t *node, double *out) {
   const rkb_shape_t *sa = rkb_program_shape(run->program, node->inputs[0]),
                     *sb = rkb_program_shape(run->program, node->inputs[1]);
   const rkb_shape_t *so = rkb_program_shape(run->program, node->output);
   bool ta = node->integers[0], tb = node->integers[1];
   int64_t m = so->size[so->rank - 2], n = so->size[so->rank - 1], k = sa->size[sa->rank - (ta ? 2 : 1)];
   rkb_shape_t ba = *sa, bb = *sb, bo = *so;
   ba.rank -= 2, bb.rank -= 2, bo.rank -= 2;
   int64_t stride_a[RKB_MAX_RANK], stride_b[RKB_MAX_RANK], at[RKB_MAX_RANK];
   rkb_shape_broadcast_strides(&ba, &bo, stride_a);
   rkb_shape_broadcast_strides(&bb, &bo, stride_b);
   factors_t a = factors_new((uint64_t)(m * k)), b = factors_new((uint64_t)(n * k));
   for (uint64_t g = 0; g < rkb_shape_product(&bo, 0, bo.rank); g++) {
      int64_t ga = 0, gb = 0;
      rkb_shape_split(&bo, g, at);
      for (uint32_t d = 0; d < bo.rank; d++)
         ga += at[d] * stride_a[d], gb += at[d] * stride_b[d];
      const double *pa = operand(run, node, 0) + ga * m * k, *pb = operand(run, node, 1) + gb * n * k;
      for (int64_t i = 0; i < m; i++)
         for (int64_t l = 0; l < k; l++)
            set_factor(run, &a, (uint64_t)(i * k + l), pa[ta ? l * m + i : i * k + l]);
      for (int64_t j = 0; j < n; j++)
         for (int64_t l = 0; l < k; l++)
            set_factor(run, &b, (uint64_t)(j * k + l), pb[tb ? j * k + l : l * n + j]);
      for (int64_t i = 0; i < m; i++)
         for (int64_t j = 0; j < n; j++)
            out[((int64_t)g * m + i) * n + j] =
               flushed(run, dot(run, factors_from(&a, (uint64_t)(i * k)), factors_from(&b, (uint64_t)(j * k)),
                                (uint64_t)k));
   }
   free(a.high);
   free(b.high);
}

/* Every (x, weight, output) triple of a convolution adds x * w to the output: the terms of each of the three
 * results are gathered by walking all triples, which owes nothing to the evaluator's index maps.  They are the same in
 * every run of a case, so they are found once. */
typedef struct terms {
   uint32_t *left, *right; /* elements of the operands */
   uint64_t count, room;
} terms_t;

struct float_plan {
   const rkb_program_t *program;
   terms_t **terms; /* by node, then output element; NULL until a convolution asks */
};

float_plan_t *float_plan_new(const rkb_program_t *program) {
   float_plan_t *plan = calloc(1, sizeof *plan);
   assert(plan);
   plan->program = program;
   plan->terms = calloc(program->node_count + 1, sizeof *plan->terms);
   assert(plan->terms);
   return plan;
}

void float_plan_free(float_plan_t *plan) {
   for (uint32_t n = 0; n < plan->program->node_count; n++) {
      uint64_t outputs = plan->program->values[plan->program->nodes[n].output].elements;
      for (uint64_t i = 0; plan->terms[n] && i < outputs; i++) {
         free(plan->terms[n][i].left);
         free(plan->terms[n][i].right);
      }
      free(plan->terms[n]);
   }
   free(plan->terms);
   free(plan);
}

static void add_term(terms_t *t, uint64_t left, uint64_t right) {
   if (t->count == t->room) {
      t->room = t->room ? 2 * t->room : 16;
      t->left = realloc(t->left, t->room * sizeof *t->left);
      t->right = realloc(t->right, t->room * sizeof *t->right);
      assert(t->left && t->right);
   }
   t->left[t->count] = (uint32_t)left;
   t->right[t->count++] = (uint32_t)right;
}

/* at becomes the place after it, the last dim running fastest. */
static void next_place(const rkb_shape_t *shape, int64_t *at) {
   for (uint32_t d = shape->rank; d-- > 0;) {
      if (++at[d] < shape->size[d])
         return;
      at[d] = 0;
   }
}

static terms_t *find_terms(const rkb_program_t *program, const rkb_program_node_t *node) {
   const char *name = node->operation->name;
   bool input = IS("convolution_input"), weight = IS("convolution_weight");
   uint32_t vx = input ? node->output : node->inputs[0], vw = weight ? node->output : node->inputs[1];
   uint32_t vy = input ? node->inputs[0] : weight ? node->inputs[1] : node->output;
   const rkb_shape_t *x = rkb_program_shape(program, vx), *w = rkb_program_shape(program, vw),
                     *y = rkb_program_shape(program, vy);
   uint32_t spatial = (uint32_t)node->integers[0];
   int64_t groups = node->integers[1], at_y[RKB_MAX_RANK], at_w[RKB_MAX_RANK], at_x[RKB_MAX_RANK];
   uint64_t of_channel =
      program->values[vw].elements / (uint64_t)w->size[0]; /* weights that a channel of y sees */
   terms_t *terms = calloc(program->values[node->output].elements, sizeof *terms);
   assert(terms);
   for (uint64_t p = 0; p < program->values[vy].elements; p++) {
      rkb_shape_split(y, p, at_y);
      uint64_t first = (uint64_t)at_y[1] * of_channel;
      rkb_shape_split(w, first, at_w);
      for (uint64_t q = first; q < first + of_channel; q++, next_place(w, at_w)) {
         at_x[0] = at_y[0];
         at_x[1] = at_y[1] / (w->size[0] / groups) * w->size[1] + at_w[1];
         bool inside = true;
         for (uint32_t d = 0; d < spatial; d++) {
            const int64_t *of_dim = node->integers + 2 + 3 * d;
            at_x[2 + d] = at_y[2 + d] * of_dim[0] - of_dim[1] + at_w[2 + d] * of_dim[2];
            inside &= at_x[2 + d] >= 0 && at_x[2 + d] < x->size[2 + d];
         }
         if (!inside)
            continue;
         uint64_t r = rkb_shape_join(x, at_x), to = input ? r : weight ? q : p;
         add_term(&terms[to], input ? p : r, weight ? p : q);
      }
   }
   return terms;
}

static void convolve(run_t *run, const rkb_program_node_t *node, double *out) {
   uint64_t outputs = run->program->values[node->output].elements, longest = 0;
   terms_t **terms = &run->plan->terms[node - run->program->nodes];
   if (!*terms)
      *terms = find_terms(run->program, node);
   const double *left = operand(run, node, 0), *right = operand(run, node, 1);
   for (uint64_t i = 0; i < outputs; i++)
      longest = (*terms)[i].count > longest ? (*terms)[i].count : longest;
   factors_t a = factors_new(longest), b = factors_new(longest);
   for (uint64_t i = 0; i < outputs; i++) {
      const terms_t *t = &(*terms)[i];
      for (uint64_t j = 0; j < t->count; j++) {
         set_factor(run, &a, j, left[t->left[j]]);
         set_factor(run, &b, j, right[t->right[j]]);
      }
      out[i] = flushed(run, dot(run, a, b, t->count));
   }
   free(a.high);
   free(b.high);
}

/* Pools: windows found by walking every (output, kernel place). */

static void pool(run_t *run, const rkb_program_node_t *node, double *out) {
   const char *name = node->operation->name;
   bool backward = strstr(name, "gradient") != NULL, largest = strncmp(name, "max", 3) == 0;
   uint32_t vx = backward ? node->output : node->inputs[0], vy = backward ? node->inputs[0] : node->output;
   const double *xs = backward ? (largest ? operand(run, node, 1) : NULL) : operand(run, node, 0);
   const rkb_shape_t *x = rkb_program_shape(run->program, vx), *y = rkb_program_shape(run->program, vy);
   uint32_t spatial = (uint32_t)node->integers[0];
   uint64_t kernel = 1;
   for (uint32_t d = 0; d < spatial; d++)
      kernel *= (uint64_t)node->integers[3 + 4 * d];
   uint64_t *places = malloc(kernel * sizeof *places);
   assert(places);
   for (uint64_t i = 0; backward && i < run->program->values[vx].elements; i++)
      out[i] = 0;
   for (uint64_t p = 0; p < run->program->values[vy].elements; p++) {
      int64_t at[RKB_MAX_RANK], in[RKB_MAX_RANK];
      uint64_t found = 0, counted = 0;
      rkb_shape_split(y, p, at);
      in[0] = at[0], in[1] = at[1];
      for (uint64_t k = 0; k < kernel; k++) {
         uint64_t rest = k;
         bool inside = true, padded = true;
         for (uint32_t d = spatial; d-- > 0;) {
            const int64_t *of_dim = node->integers + 3 + 4 * d;
            in[2 + d] = at[2 + d] * of_dim[1] - of_dim[2] + (int64_t)(rest % (uint64_t)of_dim[0]) * of_dim[3];
            rest /= (uint64_t)of_dim[0];
            inside &= in[2 + d] >= 0 && in[2 + d] < x->size[2 + d];
            padded &= in[2 + d] < x->size[2 + d] + of_dim[2];
         }
         counted += padded;
         if (inside)
            places[found++] = rkb_shape_join(x, in);
      }
      float divisor = (float)(node->integers[2] ? counted : found), sum = 0;
      uint64_t best = 0;
      for (uint64_t k = 0; k < found; k++) {
         if (xs && xs[places[k]] > xs[places[best]])
            best = k;
         sum += xs ? (float)xs[places[k]] : 0;
      }
      float grad = backward ? (float)operand(run, node, 0)[p] : 0;
      if (!backward)
         out[p] = largest ? xs[places[best]] : (double)(sum / divisor);
      else if (largest)
         out[places[best]] = (float)out[places[best]] + grad;
      else
         for (uint64_t k = 0; k < found; k++)
            out[places[k]] = (float)out[places[k]] + grad / divisor;
   }
   free(places);
}

/* The program */

/* Moves and picks are exact: the evaluator's own index maps serve (tests of their values are elsewhere). */
static void moved(run_t *run, const rkb_program_node_t *node, double *out) {
   uint64_t count = run->program->values[node->output].elements;
   int64_t *index = malloc((count + 1) * sizeof *index);
   rkb_block_t block;
   assert(index && rkb_block_new(&block, count));
   for (uint64_t i = 0; i < count; i++)
      index[i] = (int64_t)i;
   int status = rkb_compute(&run->reader, node, count, index, &block);
   assert(status == RKB_OK);
   memcpy(out, block.value, count * sizeof *out);
   rkb_block_free(&block);
   free(index);
}

static void run_node(run_t *run, const rkb_program_node_t *node, double *out) {
   const char *name = node->operation->name;
   if (node->operation->depth) {
      run->product++;
      run->products =
         run->mode->only == 0 || run->mode->only == run->product ? run->mode->products : PRODUCTS_FULL;
   }
   if (node->operation->point)
      elementwise(run, node, out);
   else if (IS("sum") || IS("mean") || IS("variance") || IS("amax") || IS("amin"))
      reduce_rows(run, node, out);
   else if (IS("softmax") || IS("log_softmax"))
      softmax_rows(run, node, out);
   else if (strncmp(name, "cumulative_", 11) == 0)
      scan_rows(run, node, out);
   else if (IS("log_sum_exp"))
      log_sum_rows(run, node, out);
   else if (IS("matmul"))
      matrix_product(run, node, out);
   else if (strncmp(name, "convolution", 11) == 0)
      convolve(run, node, out);
   else if (strstr(name, "_pool"))
      pool(run, node, out);
   else
      moved(run, node, out);
}

void float_run(float_plan_t *plan, const rkb_inputs_t *inputs, const float_mode_t *mode, double **outputs) {
   const rkb_program_t *program = inputs->bound->program;
   run_t run = {.plan = plan,
                .program = program,
                .mode = mode,
                .noise = rkb_random_stream(inputs->seed, "noise", 0, 0)};
   run.reader = (rkb_reader_t){.program = program, .precision = &inputs->bound->precision};
   run.reader.stored = calloc(program->value_count + 1, sizeof *run.reader.stored);
   assert(run.reader.stored);
   for (uint32_t v = 0; v < program->value_count; v++) {
      const rkb_program_value_t *value = &program->values[v];
      if (value->node >= 0)
         continue;
      double *data = numbers(value->elements);
      int64_t *index = malloc((value->elements + 1) * sizeof *index);
      assert(index);
      for (uint64_t i = 0; i < value->elements; i++)
         index[i] = (int64_t)i;
      rkb_inputs_source(inputs, (uint32_t)value->tensor, value->elements, index, data);
      for (uint64_t i = 0; i < value->elements; i++)
         data[i] = flushed(&run, (float)data[i]);
      free(index);
      run.reader.stored[v].value = data;
   }
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      double *out = numbers(program->values[node->output].elements);
      run_node(&run, node, out);
      for (uint64_t j = 0; j < program->values[node->output].elements; j++) /* where it is stored narrower */
         out[j] = rkb_dtype_round(program->values[node->output].dtype, out[j]);
      run.reader.stored[node->output].value = out;
   }
   for (uint32_t t = 0; t < program->tensor_count; t++) {
      outputs[t] = NULL;
      if (program->outputs[t] == RKB_NO_VALUE)
         continue;
      uint64_t count = program->values[program->outputs[t]].elements;
      outputs[t] = numbers(count);
      memcpy(outputs[t], run.reader.stored[program->outputs[t]].value, count * sizeof(double));
   }
   for (uint32_t v = 0; v < program->value_count; v++)
      free(run.reader.stored[v].value);
   free(run.reader.stored);
}
