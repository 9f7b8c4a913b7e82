/* Elementwise functions.  Constant tables. */
#include "reference/functions/functions.h"

#include <math.h>
#include "reference/dtype.h"
#include "reference/operations/convert.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"

static void build_unary(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_unary(call->program, call->function->operation, call->inputs[0]);
}

static void build_square(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_binary(call->program, "mul", call->inputs[0], call->inputs[0]);
}

/* Checks that the call has either a second input or the attribute `other`, and not both. */
static bool has_other(const rkb_call_t *call, bool *number) {
   *number = rkb_call_attribute(call, "other")->given;
   if (*number == (call->input_count == 1))
      return true;
   rkb_program_fail(call->program, "%s takes a second input or the attribute other, one of them",
                    call->function->name);
   return false;
}

static void build_binary(const rkb_call_t *call, uint32_t *outputs) {
   bool number;
   if (!has_other(call, &number))
      return;
   const char *name = call->function->operation;
   rkb_program_t *program = call->program;
   uint32_t x = call->inputs[0];
   if (!number) {
      outputs[0] = rkb_make_binary(program, name, x, call->inputs[1]);
      return;
   }
   double other = rkb_call_real(call, "other");
   switch (name[0]) {
   case 'a':
      outputs[0] = rkb_make_scalar(program, "add_scalar", x, other);
      break;
   case 's':
      outputs[0] = rkb_make_scalar(program, "add_scalar", x, -other);
      break;
   case 'd':
      outputs[0] = rkb_make_scalar(program, "div_scalar", x, other);
      break;
   default:
      outputs[0] = rkb_make_scalar(program, "mul_scalar", x, other);
   }
}

static void build_comparison(const rkb_call_t *call, uint32_t *outputs) {
   bool number;
   if (!has_other(call, &number))
      return;
   char name[32];
   snprintf(name, sizeof name, "%s%s", call->function->operation, number ? "_scalar" : "");
   outputs[0] = number ? rkb_make_scalar(call->program, name, call->inputs[0], rkb_call_real(call, "other"))
                       : rkb_make_binary(call->program, name, call->inputs[0], call->inputs[1]);
}

static void build_extreme(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_binary(call->program, call->function->operation, call->inputs[0], call->inputs[1]);
}

static void build_reverse(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_scalar(call->program, call->function->operation, call->inputs[0],
                                rkb_call_real(call, "other"));
}

static void build_pow(const rkb_call_t *call, uint32_t *outputs) {
   double exponent = rkb_call_real(call, "exponent");
   uint32_t x = call->inputs[0];
   if (exponent == 2)
      outputs[0] = rkb_make_binary(call->program, "mul", x, x);
   else if (exponent == 1)
      outputs[0] = x;
   else
      outputs[0] = rkb_make_scalar(call->program, "pow", x, exponent);
}

static void build_gelu(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_unary(
      call->program, rkb_call_word(call, "approximate", "tanh") ? "gelu_tanh" : "gelu", call->inputs[0]);
}

static void build_one_number(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_scalar(call->program, call->function->operation, call->inputs[0],
                                rkb_call_real(call, call->function->attributes[0].name));
}

static void build_clamp(const rkb_call_t *call, uint32_t *outputs) {
   const rkb_attribute_value_t *low = rkb_call_attribute(call, "min"),
                               *high = rkb_call_attribute(call, "max");
   uint32_t dtype = rkb_program_dtype(call->program, call->inputs[0]); /* limits take the type of x */
   outputs[0] = rkb_make_unary_with(call->program, "clamp", call->inputs[0],
                                    low->given ? rkb_dtype_round(dtype, low->real) : -INFINITY,
                                    high->given ? rkb_dtype_round(dtype, high->real) : INFINITY);
}

static void build_to(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t dtype = 0;
   rkb_dtype_parse(rkb_call_attribute(call, "dtype")->word, &dtype); /* one of the choices */
   outputs[0] = rkb_make_convert(call->program, call->inputs[0], dtype);
}

/* The bits of integers that are not negative.  A byte of packed int4 numbers holds two of them. */
static void build_bits(const rkb_call_t *call, uint32_t *outputs) {
   double other = rkb_call_real(call, "other");
   if (rkb_dtype_is_float(rkb_program_dtype(call->program, call->inputs[0])) || other < 0 ||
       other != trunc(other)) {
      rkb_program_fail(call->program, "%s takes integers", call->function->name);
      return;
   }
   outputs[0] = rkb_make_scalar(call->program, call->function->operation, call->inputs[0], other);
}

static void build_where(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = rkb_make_where(call->program, call->inputs[0], call->inputs[1], call->inputs[2]);
}

/* Puts value into x where the mask is not zero. */
static void build_masked_fill(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   double value = rkb_call_real(call, "value");
   rkb_shape_t one = {0};
   uint32_t constant = rkb_make_full(program, &one, value, rkb_program_dtype(program, call->inputs[0]));
   outputs[0] = rkb_make_where(program, call->inputs[1], constant, call->inputs[0]);
}

#define UNARY(label)                                                                                         \
   { label, "x", 1, 1, {{0}}, build_unary, label }
#define OTHER                                                                                                \
   {                                                                                                         \
      { "other", RKB_ATTRIBUTE_REAL, "", NULL }                                                              \
   }
#define BINARY(label)                                                                                        \
   { label, "a, [b]", 1, 2, OTHER, build_binary, label }
#define COMPARISON(label, operation)                                                                         \
   { label, "a, [b]", 1, 2, OTHER, build_comparison, operation }

const rkb_function_t rkb_functions_elementwise[] = {
   BINARY("add"),
   BINARY("sub"),
   BINARY("mul"),
   BINARY("div"),
   {"rsub", "x", 1, 1, {{"other", RKB_ATTRIBUTE_REAL, NULL, NULL}}, build_reverse, "reverse_sub"},
   {"rdiv", "x", 1, 1, {{"other", RKB_ATTRIBUTE_REAL, NULL, NULL}}, build_reverse, "reverse_div"},
   {"pow", "x", 1, 1, {{"exponent", RKB_ATTRIBUTE_REAL, NULL, NULL}}, build_pow, NULL},
   {"square", "x", 1, 1, {{0}}, build_square, NULL},
   {"maximum", "a, b", 2, 2, {{0}}, build_extreme, "maximum"},
   {"minimum", "a, b", 2, 2, {{0}}, build_extreme, "minimum"},
   COMPARISON("gt", "greater"),
   COMPARISON("ge", "greater_equal"),
   COMPARISON("lt", "less"),
   COMPARISON("le", "less_equal"),
   COMPARISON("eq", "equal"),
   {"where", "condition, a, b", 3, 3, {{0}}, build_where, NULL},
   UNARY("detach"),
   {"masked_fill", "x, mask", 2, 2, {{"value", RKB_ATTRIBUTE_REAL, NULL, NULL}}, build_masked_fill, NULL},
   {"clamp",
    "x",
    1,
    1,
    {{"min", RKB_ATTRIBUTE_REAL, "", NULL}, {"max", RKB_ATTRIBUTE_REAL, "", NULL}},
    build_clamp,
    NULL},
   {"to", "x", 1, 1, {{"dtype", RKB_ATTRIBUTE_WORD, NULL, RKB_DTYPE_WORDS}}, build_to, NULL},
   {"bitwise_and", "x", 1, 1, {{"other", RKB_ATTRIBUTE_REAL, NULL, NULL}}, build_bits, "bitwise_and"},
   {"bitwise_right_shift",
    "x",
    1,
    1,
    {{"other", RKB_ATTRIBUTE_REAL, NULL, NULL}},
    build_bits,
    "bitwise_right_shift"},
   {"hardtanh",
    "x",
    1,
    1,
    {{"min", RKB_ATTRIBUTE_REAL, "-1", NULL}, {"max", RKB_ATTRIBUTE_REAL, "1", NULL}},
    build_clamp,
    NULL},
   {"relu6",
    "x",
    1,
    1,
    {{"min", RKB_ATTRIBUTE_REAL, "0", NULL}, {"max", RKB_ATTRIBUTE_REAL, "6", NULL}},
    build_clamp,
    NULL},
   {"gelu", "x", 1, 1, {{"approximate", RKB_ATTRIBUTE_WORD, "none", "none tanh"}}, build_gelu, NULL},
   {"leaky_relu",
    "x",
    1,
    1,
    {{"negative_slope", RKB_ATTRIBUTE_REAL, "0.01", NULL}},
    build_one_number,
    "leaky_relu"},
   {"elu", "x", 1, 1, {{"alpha", RKB_ATTRIBUTE_REAL, "1", NULL}}, build_one_number, "elu"},
   UNARY("neg"),
   UNARY("abs"),
   UNARY("sign"),
   UNARY("relu"),
   UNARY("exp"),
   UNARY("log"),
   UNARY("sqrt"),
   UNARY("rsqrt"),
   UNARY("reciprocal"),
   UNARY("sin"),
   UNARY("cos"),
   UNARY("erf"),
   UNARY("tanh"),
   UNARY("sigmoid"),
   UNARY("silu"),
   UNARY("softplus"),
   {0},
};
