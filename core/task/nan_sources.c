/* Walks back from operations that choose an operand to the task's tensors.  Pure functions. */
#include "task/nan_sources.h"

#include <string.h>

#define MOST_STEPS 64u /* steps back from an operation that chooses */

const char *const rkb_nan_choosing[] = {"max_pool", "max_pool_gradient", "amax", "amin", "relu", "clamp", "maximum", "minimum",
                                         "where", "softmax", "log_softmax", "log_sum_exp", "greater_scalar", "greater_equal_scalar", "less_scalar",
                                         "less_equal_scalar", "equal_scalar", "greater", "greater_equal", "less", "less_equal", "equal", "step", "share", "inside", "ranked", "ranked_places", "argmax", "argmin", "search_sorted", NULL};
/* The operations among them that look at several elements of one operand. */
static const char *const reducing[] = {"max_pool", "max_pool_gradient", "amax", "amin", "softmax", "log_softmax", "log_sum_exp", "ranked", "ranked_places", "argmax", "argmin", NULL};
/* Operations that carry NaN on from place to place, and functions that kernels clamp.  One element of what they read is NaN, so that the places before and
 * behind it tell. */
#define OF_LAYER "recurrent_layer"
static const char *const carrying[] = {"cumulative_sum", "cumulative_product", "cumulative_product_gradient", "recurrence", OF_LAYER, "sigmoid", "tanh", NULL};
/* Gradients of convolutions: NaN among their factors reaches what reads it, whether something is chosen or not. */
#define OF_INPUT "convolution_input"
static const char *const gradients[] = {OF_INPUT, "convolution_weight", NULL};

/* Operations that turn NaN into NaN or into a don't-care element, operations that only move NaN, and
 * operations that turn NaN into the same number as PyTorch. */
static const char *const keeping[] = {
   "reshape", "expand",      "permute",    "slice",      "flip",  "cat",     "embed",       "detach",      "convert",    "allowance",
   "neg",     "abs",         "add",        "sub",        "mul",   "div",     "add_scalar",  "mul_scalar",  "div_scalar", "reverse_sub",
   "sqrt",    "reverse_div", "rsqrt",      "reciprocal", "exp",   "sin",     "cos",         "erf",         "tanh",       "sigmoid",
   "silu",    "gelu",        "gelu_tanh",  "elu",        "relu",  "clamp",   "maximum",     "minimum",     "softplus",   "leaky_relu",
   "amax",    "amin",        "max_pool",   "matmul",     "convolution",
   "max_pool_gradient", "average_pool", "average_pool_gradient", "convolution_input", "convolution_weight",
   "sum",     "mean",        "variance",   "softmax",    "log_softmax", "log_sum_exp", "log2_sum_exp2", "where", "step", "share", "inside",
   "sign",    "greater",     "greater_equal", "less",    "less_equal",  "equal",       "greater_scalar", "greater_equal_scalar", "less_scalar",
   "less_equal_scalar", "equal_scalar", "log", "arange", "rsqrt_slope", "sqrt_slope", "reciprocal_slope", "minus_sin", "erf_slope", "tanh_slope",
   "sigmoid_slope", "silu_slope", "gelu_slope", "gelu_tanh_slope", "ranked", "ranked_places", "argmax", "argmin", "search_sorted",
   "cumulative_sum", "cumulative_product", "cumulative_product_gradient", "recurrence", OF_LAYER, "gather", "scatter", "overwrite", NULL};

/* Hundreds of shapes are drawn for a candidate, and this is asked of every node: most names differ in their first letter. */
static bool is_one_of(const rkb_program_node_t *node, const char *const *names) {
   const char *own = node->operation->name;
   while (*names && (**names != *own || strcmp(*names, own) != 0))
      names++;
   return *names != NULL;
}

bool rkb_nan_is_kept(const rkb_program_t *program) {
   for (uint32_t i = 0; i < program->node_count; i++)
      if (!is_one_of(&program->nodes[i], keeping))
         return false;
   return true;
}

typedef struct walk {
   const rkb_bound_t *bound;
   bool (*may_change)(const rkb_bound_t *bound, uint32_t tensor);
   bool factors; /* continues with a product's left factor, otherwise with the added tensor */
   bool *seen, *marked;
   bool any;
} walk_t;

static void mark_from(walk_t *walk, uint32_t value, uint32_t steps) {
   const rkb_program_t *program = walk->bound->program;
   if (walk->seen[value] || steps == MOST_STEPS)
      return;
   walk->seen[value] = true;
   if (program->values[value].node < 0) {
      const int32_t tensor = program->values[value].tensor;
      const bool marks = tensor >= 0 && walk->may_change(walk->bound, (uint32_t)tensor);
      if (marks)
         walk->marked[tensor] = true;
      walk->any |= marks;
      return;
   }
   const rkb_program_node_t *node = &program->nodes[program->values[value].node];
   const uint32_t first = !node->operation->depth || walk->factors ? 0 : 2,
                  end = node->operation->depth && walk->factors ? 1 : node->input_count;
   for (uint32_t i = first; i < end; i++)
      mark_from(walk, node->inputs[i], steps + 1);
}

/* An addend has one value for a whole window, so an operation that looks at several elements also gets NaN
 * from a factor. */
static void mark_before(walk_t *walk, const rkb_program_node_t *node) {
   const bool several = is_one_of(node, reducing);
   walk->any = false;
   for (int factors = 0; factors < 2 && (!walk->any || several); factors++) {
      walk->factors = factors;
      memset(walk->seen, 0, walk->bound->program->value_count * sizeof *walk->seen);
      for (uint32_t i = 0; i < node->input_count; i++)
         mark_from(walk, node->inputs[i], 0);
   }
}

/* The gradient of an input gets NaN from the gradient that it reads alone, because a NaN in the weight would make a whole channel NaN. */
static void mark_factors(walk_t *walk, const rkb_program_node_t *node) {
   const uint32_t factors = strcmp(node->operation->name, OF_INPUT) == 0 ? 1 : 2;
   walk->any = false;
   walk->factors = true;
   memset(walk->seen, 0, walk->bound->program->value_count * sizeof *walk->seen);
   for (uint32_t i = 0; i < factors; i++)
      mark_from(walk, node->inputs[i], 0);
}

/* An operation that carries NaN on gets it from what it reads: a product from its left factor, and a recurrent layer from its inputs, since NaN in a weight or
 * a first state would leave no number. */
static void mark_carried(walk_t *walk, const rkb_program_node_t *node) {
   const uint32_t operands = strcmp(node->operation->name, OF_LAYER) == 0 ? 1 : node->input_count;
   walk->any = false;
   walk->factors = true;
   memset(walk->seen, 0, walk->bound->program->value_count * sizeof *walk->seen);
   for (uint32_t i = 0; i < operands; i++)
      mark_from(walk, node->inputs[i], 0);
}

bool rkb_nan_sources(const rkb_bound_t *bound, bool (*may_change)(const rkb_bound_t *bound, uint32_t tensor),
                     bool *marked) {
   const rkb_program_t *program = bound->program;
   walk_t walk = {.bound = bound,
                  .may_change = may_change,
                  .seen = rkb_arena_array(bound->arena, program->value_count + 1, sizeof *walk.seen),
                  .marked = marked};
   bool any = false;
   for (uint32_t i = 0; i < program->node_count; i++)
      if (is_one_of(&program->nodes[i], rkb_nan_choosing)) {
         mark_before(&walk, &program->nodes[i]);
         any |= walk.any;
      } else if (is_one_of(&program->nodes[i], gradients)) {
         mark_factors(&walk, &program->nodes[i]);
         any |= walk.any;
      } else if (is_one_of(&program->nodes[i], carrying)) {
         mark_carried(&walk, &program->nodes[i]);
         any |= walk.any;
      }
   return any;
}
