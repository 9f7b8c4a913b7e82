/* Chooses the families of a case, and what each family draws for each tensor (docs/numerics.md, 'Input families' and 'Probes').
 * One thread, while the case is bound. */
#include "task/families.h"
#include "task/nan_sources.h"

#include <math.h>
#include <string.h>

#define MOST_FAMILIES 48u
/* at most this many factors of products have probes of their own; more would make more families than a
 * verdict can run */
#define MOST_PROBED 12u

static bool is_float(const rkb_tensor_t *tensor) {
   return rkb_dtype_is_float(tensor->dtype);
}

/* Whether the recipe asks for no particular sign or value. */
static bool is_free(const rkb_bound_t *bound, uint32_t tensor) {
   const rkb_recipe_t *recipe = &bound->recipes[tensor];
   if (bound->view.tensors[tensor].role == RKB_OUT || !is_float(&bound->view.tensors[tensor]))
      return false;
   return recipe->kind == RKB_INIT_NORMAL || recipe->kind == RKB_INIT_KAIMING ||
          recipe->kind == RKB_INIT_KAIMING_NORMAL || recipe->kind == RKB_INIT_XAVIER ||
          (recipe->kind == RKB_INIT_UNIFORM && recipe->first < 0);
}

/* Whether probes may choose the tensor as a factor: free tensors, and tensors of ones.  All ones is only one of several inits and
 * would let a lower precision pass, so probes draw such a tensor themselves. */
static bool is_probed(const rkb_bound_t *bound, uint32_t tensor) {
   return is_free(bound, tensor) ||
          (bound->recipes[tensor].kind == RKB_INIT_ONES && bound->view.tensors[tensor].role != RKB_OUT &&
           is_float(&bound->view.tensors[tensor]));
}

static bool is_positive(const rkb_bound_t *bound, uint32_t tensor) {
   const rkb_recipe_t *recipe = &bound->recipes[tensor];
   return bound->view.tensors[tensor].role != RKB_OUT && is_float(&bound->view.tensors[tensor]) &&
          (recipe->kind == RKB_INIT_POSITIVE || (recipe->kind == RKB_INIT_UNIFORM && recipe->first >= 0));
}

static rkb_family_entry_t *add(rkb_bound_t *bound, const char *name, bool stat, bool exact, bool decides) {
   rkb_family_list_t *list = bound->families;
   if (list->count == list->room)
      return NULL;
   rkb_draw_t *draws = rkb_arena_array(bound->arena, bound->view.tensor_count + 1, sizeof *draws);
   const char *kept = rkb_arena_text(bound->arena, name, strlen(name));
   rkb_family_entry_t *entry = &list->entries[list->count++];
   *entry = (rkb_family_entry_t){.view = {kept, stat, exact, decides}, .draws = draws};
   return entry;
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
   rkb_family_entry_t *entry = add(bound, name, stat, false, false);
   for (uint32_t i = 0; entry && i < bound->view.tensor_count; i++)
      if (is_free(bound, i) || (positive_too && is_positive(bound, i)))
         entry->draws[i] = (rkb_draw_t){kind, first};
   return entry;
}

/* Adds a plain family that scales by about 2^power. */
static bool add_scaled(rkb_bound_t *bound, const char *name, uint32_t kind, int power, bool positive_too) {
   rkb_family_entry_t *entry = add_plain(bound, name, false, kind, 0, positive_too);
   for (uint32_t i = 0; entry && i < bound->view.tensor_count; i++)
      if (entry->draws[i].kind == kind)
         entry->draws[i].first = scale_of(&bound->view.tensors[i], power);
   return entry;
}

/* The task tensor that a value is, seen through operations that only move elements; UINT32_MAX when the value is computed. */
static uint32_t tensor_behind(const rkb_program_t *program, uint32_t value) {
   while (program->values[value].node >= 0) {
      const rkb_program_node_t *node = &program->nodes[program->values[value].node];
      if (!node->operation->moves)
         return UINT32_MAX;
      value = node->inputs[0];
   }
   return (uint32_t)program->values[value].tensor;
}

/* Whether some intermediate is stored narrower than the arithmetic.  Then even integers of an exact graph are rounded. */
static bool stores_narrow(const rkb_program_t *program) {
   for (uint32_t i = 0; i < program->node_count; i++) {
      uint32_t dtype = program->values[program->nodes[i].output].dtype;
      bool leaves = false;
      for (uint32_t j = 0; j < program->tensor_count; j++)
         leaves |= program->outputs[j] == program->nodes[i].output;
      if (!leaves && rkb_dtype_narrow(dtype))
         return true;
   }
   return false;
}

/* Whether the graph maps integers to integers exactly in fp32: only exact operations, and no sum of products after another. */
static bool is_exact_graph(const rkb_program_t *program, bool *behind) {
   for (uint32_t i = 0; i < program->value_count; i++)
      behind[i] = false;
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      if (!node->operation->exact)
         return false;
      bool product = node->operation->depth || strcmp(node->operation->name, "mul") == 0;
      for (uint32_t j = 0; j < node->input_count; j++) {
         bool step =
            program->values[node->inputs[j]].node >= 0 &&
            strcmp(program->nodes[program->values[node->inputs[j]].node].operation->name, "step") == 0;
         const bool factor = product && j < 2 && !(node->operation->depth == NULL && j == 1);
         if (factor && behind[node->inputs[j]] && !step)
            return false;
         behind[node->output] |= behind[node->inputs[j]];
      }
      behind[node->output] |= product;
   }
   return true;
}

/* A matrix product or convolution, given by the task tensors that are its factors (UINT32_MAX: a computed factor). */
typedef struct product {
   uint32_t left, right;
   uint64_t depth;
} product_t;

typedef struct products {
   product_t *list;
   uint32_t count;
} products_t;

static void find_products(rkb_bound_t *bound, products_t *products) {
   const rkb_program_t *program = bound->program;
   *products =
      (products_t){rkb_arena_array(bound->arena, program->node_count + 1, sizeof *products->list), 0};
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      if (node->operation->depth)
         products->list[products->count++] =
            (product_t){tensor_behind(program, node->inputs[0]), tensor_behind(program, node->inputs[1]),
                        node->operation->depth(program, node)};
   }
}

/* The depth of the deepest product in which a tensor is a factor; 0 when there is none. */
static uint64_t factor_depth(const products_t *products, uint32_t tensor) {
   uint64_t deepest = 0;
   for (uint32_t i = 0; i < products->count; i++) {
      const product_t *product = &products->list[i];
      if ((product->left == tensor || product->right == tensor) && product->depth > deepest)
         deepest = product->depth;
   }
   return deepest;
}

static bool meet_in_a_product(const products_t *products, uint32_t a, uint32_t b) {
   for (uint32_t i = 0; i < products->count; i++) {
      const product_t *product = &products->list[i];
      if ((product->left == a && product->right == b) || (product->left == b && product->right == a))
         return true;
   }
   return false;
}

/* Chooses further thin factors besides the chosen one.  No two thin factors may meet in a product. */
static void choose_thin(const rkb_bound_t *bound, const products_t *products, uint32_t chosen, bool *thin) {
   for (uint32_t i = 0; i < bound->view.tensor_count; i++)
      thin[i] = i == chosen;
   for (uint32_t i = 0; i < bound->view.tensor_count; i++) {
      bool fits = !thin[i] && is_probed(bound, i) && factor_depth(products, i) > 0;
      for (uint32_t j = 0; fits && j < bound->view.tensor_count; j++)
         fits = !thin[j] || !meet_in_a_product(products, i, j);
      thin[i] |= fits;
   }
}

/* Adds two probes for each factor of a matrix product or convolution: exact sums of integers, where the graph keeps them exact, and
 * full mantissas against a few powers of two. */
static bool add_probes(rkb_bound_t *bound) {
   const rkb_program_t *program = bound->program;
   bool thin[3 * RKB_MAX_TENSORS];
   bool *behind = rkb_arena_array(bound->arena, program->value_count + 1, sizeof *behind);
   products_t products;
   find_products(bound, &products);
   bool exact_graph =
      bound->precision.product == 0 && !stores_narrow(program) && is_exact_graph(program, behind);
   for (uint32_t i = 0; i < bound->view.tensor_count; i++) /* a factor that keeps its own numbers is not whole */
      exact_graph &= factor_depth(&products, i) == 0 || is_probed(bound, i);
   uint32_t factors = 0, seen = 0;
   for (uint32_t i = 0; i < bound->view.tensor_count; i++)
      factors += is_probed(bound, i) && factor_depth(&products, i) > 0;
   for (uint32_t i = 0; i < bound->view.tensor_count; i++) {
      uint64_t depth = is_probed(bound, i) ? factor_depth(&products, i) : 0;
      if (depth == 0)
         continue;
      /* If there are many factors, evenly spread ones get probes; the others are thin beside them
       * (choose_thin). */
      uint32_t turn = seen++;
      if (factors > MOST_PROBED && turn * MOST_PROBED / factors == (turn + 1) * MOST_PROBED / factors)
         continue;
      char name[160];
      choose_thin(bound, &products, i, thin);
      for (int exact = exact_graph; exact >= 0; exact--) {
         snprintf(name, sizeof name, "%s/%s", exact ? "probe_exact" : "probe_sparse",
                  bound->view.tensors[i].name);
         rkb_family_entry_t *entry = add(bound, name, false, exact, true);
         if (!entry)
            return bound->families->count == bound->families->room;
         for (uint32_t j = 0; j < bound->view.tensor_count; j++) {
            double own = (double)(thin[j] ? factor_depth(&products, j) : 1);
            bool factor = factor_depth(&products, j) > 0;
            if (!(factor ? is_probed : is_free)(bound, j))
               continue;
            if (exact) /* at most about 1,000 terms of 13 bits, so the sum stays below 2^24 */
               entry->draws[j] = !factor   ? (rkb_draw_t){RKB_DRAW_SMALL, 0}
                                 : thin[j] ? (rkb_draw_t){RKB_DRAW_SIGNS, fmin(0.7, 1000 / own)}
                                           : (rkb_draw_t){RKB_DRAW_ODD, 0};
            else if (factor)
               entry->draws[j] = thin[j] ? (rkb_draw_t){RKB_DRAW_SPARSE, fmin(1, 2.5 / own)}
                                         : (rkb_draw_t){RKB_DRAW_MANTISSA, 0};
         }
      }
   }
   return true;
}

static bool has_operation(const rkb_program_t *program, const char *name) {
   for (uint32_t i = 0; i < program->node_count; i++)
      if (strcmp(program->nodes[i].operation->name, name) == 0)
         return true;
   return false;
}

/* A guarded value is a sum of a computed value and a small number (eps).  Walks back from the computed value to a tensor, and finds
 * with which power of the tensor's size it grows: 2 through a square or a variance, halved by a root. */
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
      if (strcmp(name, "add_scalar") == 0 && *eps == 0)
         *eps = node->reals[0];
      else if (strcmp(name, "variance") == 0 ||
               (strcmp(name, "mul") == 0 && node->inputs[0] == node->inputs[1]))
         *power *= 2;
      else if (strcmp(name, "sqrt") == 0)
         *power /= 2;
      value = node->inputs[0];
   }
   return false;
}

/* Adds a family for each guard: those the graph names, and the operand of every rsqrt, which every norm guards. */
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
         if (strcmp(node->operation->name, "rsqrt") != 0)
            continue;
         guard = node->inputs[0];
      }
      if (guard == RKB_NO_VALUE || !trace_guard(program, guard, &tensor, &power, &eps))
         continue;
      if (!is_free(bound, tensor) && !is_positive(bound, tensor))
         continue;
      if (!entry)
         entry = add(bound, "guarded", false, false, false);
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

/* Whether some product has a factor of ones only.  Then the values in its rows are equal to the last bit, and
 * so are their roundings.  A later sum adds these roundings up instead of averaging them out, and the
 * statistical bound relies on averaging. */
static bool roundings_agree(rkb_bound_t *bound) {
   products_t products;
   find_products(bound, &products);
   bool ones = false, computed = false;
   for (uint32_t i = 0; i < products.count; i++) {
      const uint32_t factors[] = {products.list[i].left, products.list[i].right};
      for (int f = 0; f < 2; f++) {
         computed |= factors[f] == UINT32_MAX;
         ones |= factors[f] != UINT32_MAX && bound->recipes[factors[f]].kind == RKB_INIT_ONES;
      }
   }
   return ones && computed;
}

static bool is_one_of(const char *name, const char *const *names) {
   while (*names && strcmp(*names, name) != 0)
      names++;
   return *names != NULL;
}

static const char *const largest[] = {"max_pool", "amax", NULL};
static const char *const smallest[] = {"amin", NULL};
static const char *const softmaxes[] = {"softmax", "log_softmax", "log_sum_exp", NULL};

#define LARGE_HALF 0x1p15

/* The operand among whose elements a node chooses: the gradient of a pool has it behind the gradient that it hands back. */
static uint32_t chosen_from(const rkb_program_node_t *node) {
   return node->inputs[strcmp(node->operation->name, "max_pool_gradient") == 0 ? 1 : 0];
}

/* Draws each tensor that a node of these names chooses from, seen through operations that only move elements, in one way. */
static bool draw_operands(rkb_bound_t *bound, rkb_family_entry_t **entry, const char *family,
                          const char *const *names, uint32_t kind, double first) {
   for (uint32_t i = 0; i < bound->program->node_count; i++) {
      const rkb_program_node_t *node = &bound->program->nodes[i];
      const uint32_t tensor = is_one_of(node->operation->name, names)
                                 ? tensor_behind(bound->program, chosen_from(node))
                                 : UINT32_MAX;
      if (tensor == UINT32_MAX || !is_free(bound, tensor))
         continue;
      if (!*entry)
         *entry = add(bound, family, false, false, false);
      if (!*entry)
         return false;
      const bool half = bound->view.tensors[tensor].dtype == RKB_F16;
      (*entry)->draws[tensor] =
         (rkb_draw_t){kind, half ? copysign(fmin(fabs(first), LARGE_HALF), first) : first};
   }
   return true;
}

/* Numbers beyond the start values that stand for an infinity: -1e8 in a softmax, where differences must still tell, and -1e30 in a pool. */
#define BELOW_SOFTMAX -0x1.8p27
#define BELOW_EXTREME -0x1p120

static bool add_below(rkb_bound_t *bound) {
   rkb_family_entry_t *entry = NULL;
   return draw_operands(bound, &entry, "below", softmaxes, RKB_DRAW_BELOW, BELOW_SOFTMAX) &&
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
   const bool any = rkb_nan_sources(bound, is_free, marked);
   if (any && !entry)
      entry = add(bound, "not_a_number", false, false, false);
   if (any && !entry)
      return false;
   for (uint32_t i = 0; i < bound->view.tensor_count && entry; i++)
      if (marked[i] && entry->draws[i].kind == RKB_DRAW_RECIPE)
         entry->draws[i].kind = RKB_DRAW_ONE_NAN;
   if (entry)
      entry->has_nan = true;
   return true;
}

bool rkb_families_build(rkb_bound_t *bound) {
   bound->families = rkb_arena_alloc(bound->arena, sizeof *bound->families);
   bound->families->room = MOST_FAMILIES;
   bound->families->entries = rkb_arena_array(bound->arena, MOST_FAMILIES, sizeof *bound->families->entries);
   if (!add(bound, "normal", !roundings_agree(bound), false, true))
      return false;
   /* these bounds hold only on random data */
   if (bound->precision.passes > 0 || rkb_program_needs_random_data(bound->program))
      return true;
   if (!add_probes(bound))
      return false;
   if (!add_plain(bound, "shifted", false, RKB_DRAW_SHIFTED, 8, false) || !add_guarded(bound) ||
       !add_plain(bound, "ties", false, RKB_DRAW_TIES, 0, true) ||
       !add_plain(bound, "constant", false, RKB_DRAW_CONSTANT, 0, true) ||
       !add_plain(bound, "one_hot", false, RKB_DRAW_ONE_HOT, 0, false) ||
       !add_plain(bound, "mixed", false, RKB_DRAW_MIXED, 0, true))
      return false;
   if (has_operation(bound->program, "softmax") &&
       !add_plain(bound, "strong", false, RKB_DRAW_STRONG, 6, false))
      return false;
   rkb_family_entry_t *far = add_plain(bound, "shifted_far", false, RKB_DRAW_SHIFTED, 300, false);
   if (far)
      far->reports_only = true;
   return add_scaled(bound, "large", RKB_DRAW_SCALED, 20, true) &&
          add_scaled(bound, "tiny", RKB_DRAW_SCALED, -40, true) &&
          add_scaled(bound, "denormal", RKB_DRAW_SUBNORMAL, -130, false) && add_below(bound) &&
          add_not_a_number(bound);
}
