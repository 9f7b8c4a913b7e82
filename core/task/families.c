/* Chooses the families of a case, and what each family draws for each tensor (docs/numerics.md, 'Input families' and 'Probes').
 * One thread, while the case is bound. */
#include "task/families.h"
#include "task/nan_sources.h"
#include "task/probe_families.h"

#include <math.h>
#include <string.h>
#include "base/name_table.h"

#define MOST_FAMILIES 48u

static bool is_float(const rkb_tensor_t *tensor) {
   return rkb_dtype_is_float(tensor->dtype);
}

static bool is_positive(const rkb_bound_t *bound, uint32_t tensor) {
   const rkb_recipe_t *recipe = &bound->recipes[tensor];
   return bound->view.tensors[tensor].role != RKB_OUT && is_float(&bound->view.tensors[tensor]) &&
          (recipe->kind == RKB_INIT_POSITIVE || (recipe->kind == RKB_INIT_UNIFORM && recipe->first >= 0));
}

/* The scale of a family of large, tiny or subnormal numbers for a tensor: 2^power in the range of a float32, less in a type whose
 * range is smaller. */
static double scale_of(const rkb_tensor_t *tensor, int power) {
   const rkb_narrow_t *type = rkb_dtype_narrow(tensor->dtype);
   if (!type || type->largest > 0x1p126)
      return ldexp(1, power);
   const int least_normal = type->least_exponent + type->bits - 1, most = ilogb(type->largest);
   return ldexp(1, power > 0 ? most / 2 : power < -126 ? least_normal - 1 : least_normal / 2);
}

/* Adds a family that draws free tensors in one way and, where it makes sense, positive tensors too. */
static rkb_family_entry_t *add_plain(rkb_bound_t *bound, const char *name, bool stat, uint32_t kind,
                                     double first, bool positive_too) {
   rkb_family_entry_t *entry = rkb_family_add(bound, name, stat, false, false);
   for (uint32_t i = 0; entry && i < bound->view.tensor_count; i++)
      if (rkb_family_is_free(bound, i) || (positive_too && is_positive(bound, i)))
         entry->draws[i] = (rkb_draw_t){kind, first};
   return entry;
}

/* Adds a plain family that scales by about 2^power; NULL: there are too many. */
static rkb_family_entry_t *add_scaled(rkb_bound_t *bound, const char *name, uint32_t kind, int power,
                                      bool positive_too) {
   rkb_family_entry_t *entry = add_plain(bound, name, false, kind, 0, positive_too);
   for (uint32_t i = 0; entry && i < bound->view.tensor_count; i++)
      if (entry->draws[i].kind == kind)
         entry->draws[i].first = scale_of(&bound->view.tensors[i], power);
   return entry;
}

static bool has_operation(const rkb_program_t *program, const char *name) {
   for (uint32_t i = 0; i < program->node_count; i++)
      if (rkb_same_name(program->nodes[i].operation->name, name))
         return true;
   return false;
}

/* A guarded value is the sum of a computed value and a small number (eps).  Walks back from the computed value to a tensor.  *power: the power of the
 * tensor's size with which the computed value grows.  A square or a variance doubles it, and a root halves it. */
static bool trace_guard(const rkb_program_t *program, uint32_t value, uint32_t *tensor, double *power,
                        double *eps) {
   *power = 1;
   *eps = 0;
   for (int steps = 0; steps < 64; steps++) {
      if (program->values[value].node < 0) {
         *tensor = (uint32_t)program->values[value].tensor;
         return *eps > 0;
      }
      const rkb_program_node_t *node = &program->nodes[program->values[value].node];
      const char *name = node->operation->name;
      if (node->input_count == 0)
         return false;
      if (rkb_same_name(name, "add_scalar") && *eps == 0)
         *eps = node->reals[0];
      else if (rkb_same_name(name, "variance") ||
               (rkb_same_name(name, "mul") && node->inputs[0] == node->inputs[1]))
         *power *= 2;
      else if (rkb_same_name(name, "sqrt"))
         *power /= 2;
      value = node->inputs[0];
   }
   return false;
}

/* Adds the family `guarded`, with a draw for each guarded value: those that the graph names, and the operand of each rsqrt, because norms guard it. */
static bool add_guarded(rkb_bound_t *bound) {
   const rkb_program_t *program = bound->program;
   rkb_family_entry_t *entry = NULL;
   uint32_t count = program->guard_count;
   for (uint32_t i = 0; i < count + program->node_count; i++) {
      uint32_t tensor, guard;
      double power, eps;
      if (i < count) {
         guard = program->guards[i];
      } else {
         const rkb_program_node_t *node = &program->nodes[i - count];
         if (!rkb_same_name(node->operation->name, "rsqrt"))
            continue;
         guard = node->inputs[0];
      }
      if (guard == RKB_NO_VALUE || !trace_guard(program, guard, &tensor, &power, &eps))
         continue;
      if (!rkb_family_is_free(bound, tensor) && !is_positive(bound, tensor))
         continue;
      if (!entry)
         entry = rkb_family_add(bound, "guarded", false, false, false);
      if (!entry)
         return false;
      const rkb_recipe_t *recipe = &bound->recipes[tensor];
      double usual = recipe->kind == RKB_INIT_NORMAL ? fmax(fabs(recipe->second), fabs(recipe->first))
                     : recipe->kind == RKB_INIT_UNIFORM
                        ? 0.5 * fmax(fabs(recipe->first), fabs(recipe->second))
                        : 1;
      entry->draws[tensor] = (rkb_draw_t){RKB_DRAW_LEVEL, pow(eps, 1 / power) / (usual > 0 ? usual : 1)};
   }
   return true;
}

static bool is_one_of(const char *name, const char *const *names) {
   while (*names && !rkb_same_name(*names, name))
      names++;
   return *names != NULL;
}

static const char *const largest[] = {"max_pool", "amax", NULL};
static const char *const smallest[] = {"amin", NULL};
static const char *const softmaxes[] = {"softmax", "log_softmax", "log_sum_exp", NULL};

/* The largest size of numbers that family `below` draws for tensors of float16, whose largest number is 65,504. */
#define LARGE_HALF 0x1p15

/* Returns the operand from whose elements a node chooses.  It is the second operand for the gradient of a pool, whose first operand is the given gradient.
 * For a search it is the operand that is searched for, because a row with NaN is not sorted. */
static uint32_t chosen_from(const rkb_program_node_t *node) {
   static const char *const second[] = {"max_pool_gradient", "search_sorted", NULL};
   return node->inputs[is_one_of(node->operation->name, second) ? 1 : 0];
}

/* Draws the tensors from which nodes with these names choose.  Operations between tensor and node may only move elements. */
static bool draw_operands(rkb_bound_t *bound, rkb_family_entry_t **entry, const char *family,
                          const char *const *names, uint32_t kind, double first) {
   for (uint32_t i = 0; i < bound->program->node_count; i++) {
      const rkb_program_node_t *node = &bound->program->nodes[i];
      const uint32_t tensor = is_one_of(node->operation->name, names)
                                 ? rkb_tensor_behind(bound->program, chosen_from(node))
                                 : UINT32_MAX;
      if (tensor == UINT32_MAX || !rkb_family_is_free(bound, tensor))
         continue;
      if (!*entry)
         *entry = rkb_family_add(bound, family, false, false, false);
      if (!*entry)
         return false;
      const bool half = bound->view.tensors[tensor].dtype == RKB_F16;
      (*entry)->draws[tensor] =
         (rkb_draw_t){kind, half ? copysign(fmin(fabs(first), LARGE_HALF), first) : first};
   }
   return true;
}

/* Kernels start a search for the largest at a number that stands for minus infinity: -1e8 in a softmax, -1e30 in a pool.  These numbers are lower.  For a
 * softmax they must not be so low that rounding hides the differences between elements. */
#define BELOW_SOFTMAX -0x1.8p27
#define BELOW_EXTREME -0x1p120

/* The input of a softmax, seen through masks, scales and conversions. */
static uint32_t behind_scores(const rkb_program_t *program, uint32_t value, double *scale) {
   *scale = 1;
   while (program->values[value].node >= 0) {
      const rkb_program_node_t *node = &program->nodes[program->values[value].node];
      const char *name = node->operation->name;
      if (rkb_same_name(name, "mul_scalar"))
         *scale *= node->reals[0];
      else if (!node->operation->moves && !node->operation->converts && !rkb_same_name(name, "triangle") &&
               !rkb_same_name(name, "where"))
         return value;
      value =
         node->inputs[rkb_same_name(name, "where") ? 2 : 0]; /* masked_fill: where the mask does not hold */
   }
   return value;
}

/* Draws a factor of scores: all of its numbers near `first`. */
static void draw_factor(rkb_bound_t *bound, rkb_family_entry_t *entry, uint32_t tensor, double first) {
   const bool half = bound->view.tensors[tensor].dtype == RKB_F16;
   entry->draws[tensor] =
      (rkb_draw_t){RKB_DRAW_BELOW, half ? copysign(fmin(fabs(first), LARGE_HALF), first) : first};
}

/* Draws the operands of scores that are computed: a tensor, or both factors of a product, one positive and one negative. */
static bool draw_scores(rkb_bound_t *bound, rkb_family_entry_t **entry) {
   const rkb_program_t *program = bound->program;
   for (uint32_t i = 0; i < program->node_count; i++) {
      double scale;
      if (!is_one_of(program->nodes[i].operation->name, softmaxes) ||
          rkb_tensor_behind(program, program->nodes[i].inputs[0]) != UINT32_MAX)
         continue;
      const uint32_t scores = behind_scores(program, program->nodes[i].inputs[0], &scale);
      const int64_t number = program->values[scores].node;
      const rkb_program_node_t *product = number >= 0 ? &program->nodes[number] : NULL;
      if (scale == 0 || (product && !product->operation->depth))
         continue;
      const uint32_t left = product ? rkb_tensor_behind(program, product->inputs[0])
                                    : (uint32_t)program->values[scores].tensor,
                     right = product ? rkb_tensor_behind(program, product->inputs[1]) : left;
      if (left == UINT32_MAX || right == UINT32_MAX || (product && left == right) ||
          !rkb_family_is_free(bound, left) || !rkb_family_is_free(bound, right))
         continue;
      if (!*entry)
         *entry = rkb_family_add(bound, "below", false, false, false);
      if (!*entry)
         return false;
      if (!product) {
         draw_factor(bound, *entry, left, BELOW_SOFTMAX / scale);
         continue;
      }
      const double size =
         sqrt(-BELOW_SOFTMAX / fabs(scale) / (double)product->operation->depth(program, product));
      draw_factor(bound, *entry, left, size);
      draw_factor(bound, *entry, right, -copysign(size, scale));
   }
   return true;
}

/* Adds a family that puts numbers of the kernel's text into every tensor that is drawn and not computed. */
static bool add_planted(rkb_bound_t *bound) {
   rkb_family_entry_t *entry = add_plain(bound, "planted", false, RKB_DRAW_PLANTED, 0, true);
   for (uint32_t i = 0; entry && i < bound->view.tensor_count; i++)
      if (bound->view.tensors[i].role != RKB_OUT && bound->recipes[i].kind == RKB_INIT_INTEGERS)
         entry->draws[i].kind = RKB_DRAW_PLANTED;
   return entry != NULL;
}

/* Whether all that is computed from a tensor is computed from softmaxes along its last dim.  Then the reference's results are finite if some of a row's elements
 * are minus infinity, and not all. */
static bool only_softmax_reads(const rkb_program_t *program, uint32_t tensor) {
   bool any = false, only = true;
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      for (uint32_t n = 0; n < node->input_count; n++) {
         const rkb_program_value_t *value = &program->values[node->inputs[n]];
         if (value->node >= 0 || (uint32_t)value->tensor != tensor)
            continue;
         const bool softmax =
            rkb_same_name(node->operation->name, "softmax") &&
            node->integers[0] + 1 == (int64_t)rkb_program_shape(program, node->inputs[n])->rank;
         any |= softmax;
         only &= softmax;
      }
   }
   return any && only;
}

/* Larger scores, some of them masked: minus infinity is what masks put where nothing may be seen. */
static bool add_strong(rkb_bound_t *bound) {
   if (!has_operation(bound->program, "softmax"))
      return true;
   rkb_family_entry_t *entry = add_plain(bound, "strong", false, RKB_DRAW_STRONG, 6, false);
   for (uint32_t i = 0; entry && i < bound->view.tensor_count; i++)
      if (entry->draws[i].kind == RKB_DRAW_STRONG && bound->recipes[i].masked &&
          only_softmax_reads(bound->program, i))
         entry->draws[i].kind = RKB_DRAW_MASKED;
   return entry != NULL;
}

static bool add_below(rkb_bound_t *bound) {
   rkb_family_entry_t *entry = NULL;
   return draw_operands(bound, &entry, "below", softmaxes, RKB_DRAW_BELOW, BELOW_SOFTMAX) &&
          draw_scores(bound, &entry) &&
          draw_operands(bound, &entry, "below", largest, RKB_DRAW_BELOW, BELOW_EXTREME) &&
          draw_operands(bound, &entry, "below", smallest, RKB_DRAW_BELOW, -BELOW_EXTREME);
}

/* Puts NaN into compared tensors, if the reference defines for each output whether it is NaN. */
static bool add_not_a_number(rkb_bound_t *bound) {
   if (!rkb_nan_is_kept(bound->program))
      return true;
   rkb_family_entry_t *entry = NULL;
   bool *marked = rkb_arena_array(bound->arena, bound->view.tensor_count + 1, sizeof *marked);
   if (!draw_operands(bound, &entry, "not_a_number", rkb_nan_choosing, RKB_DRAW_NAN, 0))
      return false;
   const bool any = rkb_nan_sources(bound, rkb_family_is_free, marked);
   if (any && !entry)
      entry = rkb_family_add(bound, "not_a_number", false, false, false);
   if (any && !entry)
      return false;
   for (uint32_t i = 0; i < bound->view.tensor_count && entry; i++)
      if (marked[i] && entry->draws[i].kind == RKB_DRAW_RECIPE)
         entry->draws[i].kind = RKB_DRAW_ONE_NAN;
   if (entry)
      entry->has_nan = true;
   return true;
}

/* The tensor whose rows a softmax reads, if it computes nothing of them before; UINT32_MAX: there is none. */
static uint32_t rows_of_softmax(const rkb_program_t *program, const rkb_program_node_t *node) {
   double scale;
   if (!is_one_of(node->operation->name, softmaxes))
      return UINT32_MAX;
   const uint32_t scores = behind_scores(program, node->inputs[0], &scale);
   return program->values[scores].node < 0 && scale > 0 ? (uint32_t)program->values[scores].tensor
                                                        : UINT32_MAX;
}

/* Large numbers.  A softmax is the same whatever is subtracted from its row, until exp overflows.  So a search for a row's largest element that leaves elements
 * out shows on large numbers alone, and only if the largest element is one of those.  Therefore rows that a softmax reads have their largest element where
 * loops begin and end. */
static bool add_large(rkb_bound_t *bound) {
   rkb_family_entry_t *entry = add_scaled(bound, "large", RKB_DRAW_SCALED, 20, true);
   for (uint32_t i = 0; entry && i < bound->program->node_count; i++) {
      const uint32_t tensor = rows_of_softmax(bound->program, &bound->program->nodes[i]);
      if (tensor == UINT32_MAX || !rkb_family_is_free(bound, tensor))
         continue;
      entry->draws[tensor].kind = RKB_DRAW_PEAKS;
      entry->view.name = "peaks";
   }
   return entry != NULL;
}

/* Tiny numbers.  What is added to a product of tiny factors is as small as the product.  Else the product would be within the addend's
 * rounding, and any product would do. */
static bool add_tiny(rkb_bound_t *bound) {
   rkb_family_entry_t *entry = add_scaled(bound, "tiny", RKB_DRAW_TINY, -RKB_TINY_POWER, true);
   for (uint32_t i = 0; entry && i < bound->program->node_count; i++) {
      const rkb_program_node_t *node = &bound->program->nodes[i];
      if (!node->operation->depth || node->input_count < 3)
         continue;
      double scale = 1;
      for (uint32_t f = 0; f < 2; f++) {
         const uint32_t factor = rkb_tensor_behind(bound->program, node->inputs[f]);
         const bool drawn = factor != UINT32_MAX && entry->draws[factor].kind == RKB_DRAW_TINY;
         scale *= drawn ? entry->draws[factor].first : 1;
      }
      const uint32_t addend = rkb_tensor_behind(bound->program, node->inputs[2]);
      const rkb_narrow_t *type =
         addend == UINT32_MAX ? NULL : rkb_dtype_narrow(bound->view.tensors[addend].dtype);
      if (addend != UINT32_MAX && rkb_family_is_free(bound, addend) && (!type || type->largest > 0x1p126) &&
          scale < entry->draws[addend].first)
         entry->draws[addend].first = scale;
   }
   return entry != NULL;
}

bool rkb_families_build(rkb_bound_t *bound) {
   bound->families = rkb_arena_alloc(bound->arena, sizeof *bound->families);
   bound->families->room = MOST_FAMILIES;
   bound->families->entries = rkb_arena_array(bound->arena, MOST_FAMILIES, sizeof *bound->families->entries);
   if (!rkb_family_add(bound, "normal", !rkb_product_roundings_agree(bound), false, true))
      return false;
   /* these bounds hold only on random data */
   if (bound->precision.passes > 0)
      return true;
   if (rkb_program_needs_random_data(bound->program))
      return add_not_a_number(bound);
   if (!rkb_probe_families_add(bound))
      return false;
   if (!add_plain(bound, "shifted", false, RKB_DRAW_SHIFTED, 8, false) || !add_guarded(bound) ||
       !add_plain(bound, "ties", false, RKB_DRAW_TIES, 0, true) ||
       !add_plain(bound, "constant", false, RKB_DRAW_CONSTANT, 0, true) ||
       !add_plain(bound, "one_hot", false, RKB_DRAW_ONE_HOT, 0, false) ||
       !add_plain(bound, "mixed", false, RKB_DRAW_MIXED, 0, true))
      return false;
   if (!add_strong(bound))
      return false;
   rkb_family_entry_t *far = add_plain(bound, "shifted_far", false, RKB_DRAW_SHIFTED, 300, false);
   if (far)
      far->reports_only = true;
   return add_large(bound) && add_tiny(bound) &&
          add_scaled(bound, "denormal", RKB_DRAW_SUBNORMAL, -130, false) && add_below(bound) &&
          add_not_a_number(bound) && add_planted(bound);
}
