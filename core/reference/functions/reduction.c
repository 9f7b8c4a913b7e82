/* Functions over some dims, and along one.  Constant tables. */
#include "reference/functions/functions.h"

#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"
#include "reference/operations/pool.h"
#include "reference/operations/rank.h"
#include "reference/operations/recurrence.h"
#include "reference/operations/reduce.h"
#include "reference/operations/scan.h"
#include "reference/operations/sorted_search.h"

static void build_reduce(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_reduce(call->program, call->function->operation, call->inputs[0],
                                rkb_call_dims(call, "dim", call->inputs[0]), rkb_call_true(call, "keepdim"));
}

static uint32_t variance(const rkb_call_t *call) {
   return rkb_make_variance(call->program, call->inputs[0], rkb_call_dims(call, "dim", call->inputs[0]),
                            rkb_call_true(call, "keepdim"), rkb_call_true(call, "unbiased"));
}

static void build_variance(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = variance(call);
}

static void build_deviation(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_unary(call->program, "sqrt", variance(call));
}

static void build_norm(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t square = rkb_make_binary(program, "mul", call->inputs[0], call->inputs[0]);
   uint32_t sum = rkb_make_reduce(program, "sum", square, rkb_call_dims(call, "dim", call->inputs[0]),
                                  rkb_call_true(call, "keepdim"));
   outputs[0] = rkb_make_unary(program, "sqrt", sum);
}

static void build_softmax(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t dim = rkb_call_dim(call, "dim", call->inputs[0]);
   outputs[0] = rkb_make_softmax(call->program, call->function->operation, call->inputs[0], dim);
}

/* As torch.max(x, dim).  The gradient goes to the first of equal elements, as in a pool, so this is built as a pool. */
static void build_max(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   bool smallest = call->function->operation[1] == 'i';
   uint32_t x = call->inputs[0], dim = rkb_call_dim(call, "dim", x), order[RKB_MAX_RANK];
   rkb_shape_t shape = *rkb_program_shape(program, x), out = {0};
   if (program->failed)
      return;
   int64_t length = shape.size[dim];
   for (uint32_t d = 0; d < shape.rank; d++) {
      order[d] = d == shape.rank - 1 ? dim : d < dim ? d : d + 1;
      if (d != dim || rkb_call_true(call, "keepdim"))
         out.size[out.rank++] = d == dim ? 1 : shape.size[d];
   }
   rkb_shape_t rows = {.rank = 3,
                       .size = {(int64_t)rkb_shape_product(&shape, 0, shape.rank) / length, 1, length}};
   rkb_pool_t pool = {.window = {.spatial = 1, .groups = 1, .stride = {length}, .dilation = {1}},
                      .kernel = {length}};
   uint32_t flat = rkb_make_reshape(program, rkb_make_permute(program, x, order), &rows);
   uint32_t largest =
      rkb_make_max_pool(program, smallest ? rkb_make_unary(program, "neg", flat) : flat, &pool);
   outputs[0] = rkb_make_reshape(program, smallest ? rkb_make_unary(program, "neg", largest) : largest, &out);
}

/* argmax over all dims returns an index into the flattened tensor. */
static void build_place(const rkb_call_t *call, uint32_t *outputs) {
   uint64_t mask = rkb_call_dims(call, "dim", call->inputs[0]);
   const rkb_attribute_value_t *given = rkb_call_attribute(call, "dim");
   if (given->given && given->integer_count > 1) {
      rkb_program_fail(call->program, "%s takes one dim, or none for all", call->function->name);
      return;
   }
   outputs[0] = rkb_make_reduce(call->program, call->function->operation, call->inputs[0], mask,
                                rkb_call_true(call, "keepdim"));
}

static void build_log_sum_exp(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] =
      rkb_make_log_sum_exp(call->program, call->inputs[0], rkb_call_dim(call, "dim", call->inputs[0]),
                           rkb_call_true(call, "keepdim"));
}

static void build_scan(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_scan(call->program, call->function->operation, call->inputs[0],
                              rkb_call_dim(call, "dim", call->inputs[0]));
}

/* The product is the last element of the running products. */
static void build_product(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t dim = rkb_call_dim(call, "dim", call->inputs[0]);
   rkb_shape_t shape = *rkb_program_shape(program, call->inputs[0]), out = {0};
   if (program->failed)
      return;
   for (uint32_t d = 0; d < shape.rank; d++)
      if (d != dim || rkb_call_true(call, "keepdim"))
         out.size[out.rank++] = d == dim ? 1 : shape.size[d];
   uint32_t running = rkb_make_scan(program, "cumulative_product", call->inputs[0], dim);
   outputs[0] =
      rkb_make_reshape(program, rkb_make_slice(program, running, dim, shape.size[dim] - 1, 1, 1), &out);
}

/* Gives the values and, if the node lists a second output, their places. */
static void ranked(const rkb_call_t *call, int64_t count, bool descending, bool stable, uint32_t *outputs) {
   uint32_t x = call->inputs[0], dim = rkb_call_dim(call, "dim", x);
   outputs[0] = rkb_make_ranked(call->program, x, dim, count, descending, stable);
   if (call->output_count > 1)
      outputs[1] = rkb_make_ranked_places(call->program, x, dim, count, descending, stable);
}

static void build_top(const rkb_call_t *call, uint32_t *outputs) {
   ranked(call, rkb_call_int(call, "k"), rkb_call_true(call, "largest"), false, outputs);
}

static void build_sort(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t x = call->inputs[0], dim = rkb_call_dim(call, "dim", x);
   const rkb_shape_t *shape = rkb_program_shape(call->program, x);
   ranked(call, dim < shape->rank ? shape->size[dim] : 0, rkb_call_true(call, "descending"),
          rkb_call_true(call, "stable"), outputs);
}

static void build_search(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_search(call->program, call->inputs[0], call->inputs[1], rkb_call_true(call, "right"));
}

static void build_recurrence(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_recurrence(call->program, call->inputs[0], call->inputs[1],
                                    rkb_call_dim(call, "dim", call->inputs[1]));
}

#define ALONG                                                                                                \
   {"dim", RKB_ATTRIBUTE_INT, NULL, NULL}, {                                                                 \
      "keepdim", RKB_ATTRIBUTE_BOOL, "false", NULL                                                           \
   }
#define OVER                                                                                                 \
   {"dim", RKB_ATTRIBUTE_INTS, "", NULL}, {                                                                  \
      "keepdim", RKB_ATTRIBUTE_BOOL, "false", NULL                                                           \
   }
#define REDUCE(label)                                                                                        \
   { label, "x", 1, 1, {OVER}, build_reduce, label }

const rkb_function_t rkb_functions_reduction[] = {
   REDUCE("sum"),
   REDUCE("mean"),
   REDUCE("amax"),
   REDUCE("amin"),
   {"max",
    "x",
    1,
    1,
    {{"dim", RKB_ATTRIBUTE_INT, NULL, NULL}, {"keepdim", RKB_ATTRIBUTE_BOOL, "false", NULL}},
    build_max,
    "max"},
   {"min",
    "x",
    1,
    1,
    {{"dim", RKB_ATTRIBUTE_INT, NULL, NULL}, {"keepdim", RKB_ATTRIBUTE_BOOL, "false", NULL}},
    build_max,
    "min"},
   {"var", "x", 1, 1, {OVER, {"unbiased", RKB_ATTRIBUTE_BOOL, "true", NULL}}, build_variance, NULL},
   {"std", "x", 1, 1, {OVER, {"unbiased", RKB_ATTRIBUTE_BOOL, "true", NULL}}, build_deviation, NULL},
   {"norm", "x", 1, 1, {OVER}, build_norm, NULL},
   {"argmax", "x", 1, 1, {OVER}, build_place, "argmax"},
   {"argmin", "x", 1, 1, {OVER}, build_place, "argmin"},
   {"prod", "x", 1, 1, {ALONG}, build_product, NULL},
   {"logsumexp", "x", 1, 1, {ALONG}, build_log_sum_exp, NULL},
   {"topk",
    "x",
    1,
    1,
    {{"k", RKB_ATTRIBUTE_INT, NULL, NULL},
     {"dim", RKB_ATTRIBUTE_INT, "-1", NULL},
     {"largest", RKB_ATTRIBUTE_BOOL, "true", NULL}},
    build_top,
    NULL},
   {"sort",
    "x",
    1,
    1,
    {{"dim", RKB_ATTRIBUTE_INT, "-1", NULL},
     {"descending", RKB_ATTRIBUTE_BOOL, "false", NULL},
     {"stable", RKB_ATTRIBUTE_BOOL, "false", NULL}},
    build_sort,
    NULL},
   {"cumsum", "x", 1, 1, {{"dim", RKB_ATTRIBUTE_INT, NULL, NULL}}, build_scan, "cumulative_sum"},
   {"cumprod", "x", 1, 1, {{"dim", RKB_ATTRIBUTE_INT, NULL, NULL}}, build_scan, "cumulative_product"},
   {"linear_scan", "factor, addend", 2, 2, {{"dim", RKB_ATTRIBUTE_INT, NULL, NULL}}, build_recurrence, NULL},
   {"searchsorted",
    "sorted, values",
    2,
    2,
    {{"right", RKB_ATTRIBUTE_BOOL, "false", NULL}},
    build_search,
    NULL},
   {"softmax", "x", 1, 1, {{"dim", RKB_ATTRIBUTE_INT, NULL, NULL}}, build_softmax, "softmax"},
   {"log_softmax", "x", 1, 1, {{"dim", RKB_ATTRIBUTE_INT, NULL, NULL}}, build_softmax, "log_softmax"},
   {0},
};
