/* Finds the products of a graph and adds the families that probe their factors (probe_families.h). */
#include "task/probe_families.h"

#include <math.h>
#include <string.h>

/* at most this many factors of products have probes of their own; more would make more families than a
 * verdict can run */
#define MOST_PROBED 12u

/* Whether probes may choose the tensor as a factor: free tensors, and tensors of ones.  All ones is only one of several inits and
 * would let a lower precision pass, so probes draw such a tensor themselves. */
static bool is_probed(const rkb_bound_t *bound, uint32_t tensor) {
   return rkb_family_is_free(bound, tensor) ||
          (bound->recipes[tensor].kind == RKB_INIT_ONES && bound->view.tensors[tensor].role != RKB_OUT &&
           rkb_dtype_is_float(bound->view.tensors[tensor].dtype));
}

uint32_t rkb_tensor_behind(const rkb_program_t *program, uint32_t value) {
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
            (product_t){rkb_tensor_behind(program, node->inputs[0]),
                        rkb_tensor_behind(program, node->inputs[1]), node->operation->depth(program, node)};
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

bool rkb_probe_families_add(rkb_bound_t *bound) {
   const rkb_program_t *program = bound->program;
   bool thin[3 * RKB_MAX_TENSORS];
   bool *behind = rkb_arena_array(bound->arena, program->value_count + 1, sizeof *behind);
   products_t products;
   find_products(bound, &products);
   bool exact_graph =
      bound->precision.product == 0 && !stores_narrow(program) && is_exact_graph(program, behind);
   for (uint32_t i = 0; i < bound->view.tensor_count;
        i++) /* a factor that keeps its own numbers is not whole */
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
         rkb_family_entry_t *entry = rkb_family_add(bound, name, false, exact, true);
         if (!entry)
            return bound->families->count == bound->families->room;
         for (uint32_t j = 0; j < bound->view.tensor_count; j++) {
            double own = (double)(thin[j] ? factor_depth(&products, j) : 1);
            bool factor = factor_depth(&products, j) > 0;
            if (!(factor ? is_probed : rkb_family_is_free)(bound, j))
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

/* Whether a value is moved from a tensor by a gather that takes more elements than the tensor has. */
static bool is_repeated(const rkb_program_t *program, uint32_t value) {
   while (program->values[value].node >= 0) {
      const rkb_program_node_t *node = &program->nodes[program->values[value].node];
      if (!node->operation->moves)
         return false;
      if (strcmp(node->operation->name, "gather") == 0 &&
          program->values[value].elements > program->values[node->inputs[0]].elements)
         return true;
      value = node->inputs[0];
   }
   return false;
}

/* Whether a product has a factor with repeated rows, and the other factor is computed from such a product: where the rows are equal, so are the
 * other factor's elements and their roundings. */
static bool meets_itself(rkb_bound_t *bound) {
   const rkb_program_t *program = bound->program;
   bool *behind = rkb_arena_array(bound->arena, program->value_count + 1, sizeof *behind);
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      bool repeated = false;
      for (uint32_t j = 0; j < node->input_count; j++) {
         behind[node->output] |= behind[node->inputs[j]];
         repeated |= node->operation->depth && j < 2 && is_repeated(program, node->inputs[j]);
      }
      if (repeated && behind[node->output])
         return true;
      behind[node->output] |= repeated;
   }
   return false;
}

bool rkb_product_roundings_agree(rkb_bound_t *bound) {
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
   return (ones && computed) || meets_itself(bound);
}
