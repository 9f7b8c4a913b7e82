/* Binds a case: expressions become numbers, and the graph becomes a program.  Owns one arena per case; one thread. */
#include "task/bound_case.h"

#include <math.h>
#include <string.h>
#include "reference/rewrites/fused_addends.h"
#include "reference/rewrites/given_values.h"
#include "reference/rewrites/gradient.h"
#include "reference/least_work.h"

/* Units of arithmetic of each class (docs/numerics.md). */
rkb_precision_t rkb_precision_of(const char *name) {
   rkb_precision_t precision = {.unit = 0x1p-24,
                                .approximate = 1,
                                .product = 0,
                                .eighth = 0x1p-24,
                                .tiny = 0x1p-126,
                                .largest = 0x1p127};
   if (strcmp(name, "fp32-fast") == 0)
      precision.approximate = 8;
   else if (strcmp(name, "tf32") == 0 || strcmp(name, "fp16") == 0)
      precision.product = 0x1p-11;
   else if (strcmp(name, "bf16") == 0 || strcmp(name, "fp8") == 0)
      precision.product = 0x1p-8;
   if (strcmp(name, "fp8") == 0) /* terms and partial sums are cut to 13 bits below the largest */
      precision.eighth = 0x1p-13;
   return precision;
}

static bool evaluate(rkb_bound_t *bound, const rkb_expression_t *expression, rkb_value_t *value,
                     rkb_problems_t *problems) {
   char message[256];
   if (rkb_expression_evaluate(expression, rkb_bound_lookup, bound, value, message, sizeof message) ==
       RKB_FAULT_NONE)
      return true;
   rkb_problem(problems, rkb_expression_place(expression), "in case %s: %s", bound->view.name, message);
   return false;
}

static bool evaluate_lets(rkb_bound_t *bound, rkb_problems_t *problems) {
   const rkb_definition_t *definition = bound->definition;
   for (uint32_t i = 0; i < definition->let_count; i++) {
      rkb_value_t value;
      if (!definition->lets[i].value || !evaluate(bound, definition->lets[i].value, &value, problems))
         return false;
      bound->let_is_real[i] = value.is_real;
      bound->let_values[i] = value.integer;
      bound->let_reals[i] = value.real;
      bound->lets_known = i + 1;
   }
   return true;
}

/* The first require: condition that the shape does not satisfy, as it is written; NULL: it satisfies all. */
static const char *unsatisfied(rkb_bound_t *bound) {
   for (uint32_t i = 0; i < bound->definition->require_count; i++) {
      rkb_value_t value;
      char message[256];
      if (rkb_expression_evaluate(bound->definition->require[i], rkb_bound_lookup, bound, &value, message,
                                  sizeof message) != RKB_FAULT_NONE ||
          (value.is_real ? value.real == 0 : value.integer == 0))
         return rkb_expression_text(bound->definition->require[i]);
   }
   return NULL;
}

static bool bind_shape(rkb_bound_t *bound, const rkb_tensor_definition_t *tensor, rkb_shape_t *shape,
                       rkb_problems_t *problems) {
   *shape = (rkb_shape_t){.rank = tensor->rank};
   for (uint32_t i = 0; i < tensor->rank; i++) {
      rkb_value_t value;
      if (!evaluate(bound, tensor->shape[i], &value, problems))
         return false;
      if (value.is_real || value.integer < 1) {
         rkb_problem(problems, rkb_expression_place(tensor->shape[i]),
                     "in case %s: a size must be an integer of at least 1", bound->view.name);
         return false;
      }
      shape->size[i] = value.integer;
   }
   return true;
}

static double parameter(rkb_bound_t *bound, const rkb_expression_t *expression, double fallback,
                        rkb_problems_t *problems) {
   rkb_value_t value;
   if (!expression)
      return fallback;
   if (!evaluate(bound, expression, &value, problems))
      return fallback;
   return value.is_real ? value.real : (double)value.integer;
}

static void bind_recipe(rkb_bound_t *bound, const rkb_init_t *init, rkb_recipe_t *recipe,
                        rkb_problems_t *problems) {
   /* Defaults of the parameters: mean 0, std 1; low -1, high 1; |normal| with std 1. */
   double first = init->kind == RKB_INIT_UNIFORM ? -1 : 0, second = 1;
   *recipe = (rkb_recipe_t){init->kind, parameter(bound, init->first, first, problems),
                            parameter(bound, init->second, second, problems), RKB_STRUCTURE_NONE, false};
   const bool fans = init->kind == RKB_INIT_KAIMING || init->kind == RKB_INIT_KAIMING_NORMAL ||
                     init->kind == RKB_INIT_XAVIER;
   if (fans && init->first && !(recipe->first > 0)) /* numbers are divided by it */
      rkb_problem(problems, rkb_expression_place(init->first), "in case %s: fan_in must be above 0",
                  bound->view.name);
   if (init->kind == RKB_INIT_XAVIER && init->second && !(recipe->second > 0))
      rkb_problem(problems, rkb_expression_place(init->second), "in case %s: fan_out must be above 0",
                  bound->view.name);
}

/* Hundreds of shapes are drawn for a candidate, and each has all names of its tensors. */
static const char *join_name(rkb_arena_t *arena, const char *prefix, const char *name) {
   const size_t before = strlen(prefix), own = strlen(name);
   char *joined = rkb_arena_alloc(arena, before + own + 1);
   memcpy(joined, prefix, before);
   memcpy(joined + before, name, own);
   return joined;
}

/* Adds one tensor of the direction, with the layout of a task tensor. */
static bool add_tensor(rkb_bound_t *bound, rkb_tensor_t *list, uint32_t index,
                       const rkb_tensor_definition_t *from, const char *prefix, uint32_t role,
                       rkb_problems_t *problems) {
   rkb_shape_t shape;
   if (!bind_shape(bound, from, &shape, problems))
      return false;
   rkb_tensor_t *tensor = &list[index];
   bound->origins[index] = from;
   *tensor =
      (rkb_tensor_t){.role = role, .dtype = from->dtype, .rank = shape.rank, .alignment = from->alignment};
   tensor->name = join_name(bound->arena, prefix, from->name);
   memcpy(tensor->shape, shape.size, sizeof tensor->shape);
   if (!rkb_shape_elements(&shape, &tensor->elements)) {
      rkb_problem(problems, from->place, "in case %s: %s is too large", bound->view.name, from->name);
      return false;
   }
   tensor->bytes = tensor->elements * rkb_dtype_bytes(from->dtype);
   return true;
}

/* The recipe of a task tensor that is read.  A gradient has its tensor's shape and no structure. */
static void bind_input(rkb_bound_t *bound, const rkb_tensor_t *list, uint32_t index, uint32_t origin,
                       const rkb_init_setting_t *setting, rkb_problems_t *problems) {
   const rkb_tensor_definition_t *from = &bound->definition->tensors[origin];
   const rkb_init_t *init = setting && setting->inits[origin].kind ? &setting->inits[origin] : &from->init;
   const int64_t *shape = list[index].shape;
   bind_recipe(bound, init, &bound->recipes[index], problems);
   bound->recipes[index].structure = from->structure;
   bound->recipes[index].masked = from->masked;
   if (from->structure == RKB_STRUCTURE_SYMMETRIC && shape[from->rank - 2] != shape[from->rank - 1])
      rkb_problem(problems, from->structure_place,
                  "in case %s: %s is %lld by %lld, and a symmetric matrix is square", bound->view.name,
                  from->name, (long long)shape[from->rank - 2], (long long)shape[from->rank - 1]);
}

static bool add_forward(rkb_bound_t *bound, rkb_tensor_t *list, const rkb_init_setting_t *setting,
                        rkb_problems_t *problems) {
   const rkb_definition_t *definition = bound->definition;
   for (uint32_t i = 0; i < definition->tensor_count; i++) {
      const rkb_tensor_definition_t *tensor = &definition->tensors[i];
      if (!add_tensor(bound, list, i, tensor, "", tensor->role, problems))
         return false;
      if (tensor->role != RKB_OUT)
         bind_input(bound, list, i, i, setting, problems);
   }
   bound->view.tensor_count = definition->tensor_count;
   return true;
}

/* Adds grad_<output> for each float output, then the forward inputs, then grad_<input> for each wanted gradient. */
static bool add_backward(rkb_bound_t *bound, rkb_tensor_t *list, const rkb_init_setting_t *setting,
                         rkb_problems_t *problems) {
   const rkb_definition_t *definition = bound->definition;
   uint32_t count = 0;
   for (uint32_t i = 0; i < definition->tensor_count; i++) {
      const rkb_tensor_definition_t *tensor = &definition->tensors[i];
      if (tensor->role == RKB_IN || !rkb_dtype_is_float(tensor->dtype))
         continue;
      if (!add_tensor(bound, list, count, tensor, "grad_", RKB_IN, problems))
         return false;
      /* The gradient of a scalar output (a loss) is drawn around 1, so that it is not always 1. */
      bound->recipes[count++] =
         (rkb_recipe_t){RKB_INIT_NORMAL, tensor->rank == 0 ? 1 : 0, tensor->rank == 0 ? 0.5 : 1, 0, false};
   }
   for (uint32_t i = 0; i < definition->tensor_count; i++) {
      const rkb_tensor_definition_t *tensor = &definition->tensors[i];
      if (tensor->role == RKB_OUT)
         continue;
      if (!add_tensor(bound, list, count, tensor, "", RKB_IN, problems))
         return false;
      bind_input(bound, list, count++, i, setting, problems);
   }
   for (uint32_t i = 0; i < definition->save_count; i++)
      if (!add_tensor(bound, list, count++, &definition->saves[i], "", RKB_IN, problems))
         return false;
   for (uint32_t i = 0; i < definition->tensor_count; i++)
      if (definition->wants_grad[i] &&
          !add_tensor(bound, list, count++, &definition->tensors[i], "grad_", RKB_OUT, problems))
         return false;
   bound->view.tensor_count = count;
   return true;
}

static void bind_names(rkb_bound_t *bound, const int64_t *dims, const double *attributes) {
   const rkb_definition_t *definition = bound->definition;
   rkb_named_int_t *named = rkb_arena_array(bound->arena, definition->dim_count + 1, sizeof *named);
   rkb_named_real_t *reals = rkb_arena_array(bound->arena, definition->attribute_count + 1, sizeof *reals);
   bound->let_values = rkb_arena_array(bound->arena, definition->let_count + 1, sizeof *bound->let_values);
   bound->let_reals = rkb_arena_array(bound->arena, definition->let_count + 1, sizeof *bound->let_reals);
   bound->let_is_real = rkb_arena_array(bound->arena, definition->let_count + 1, sizeof *bound->let_is_real);
   uint32_t most = 3 * definition->tensor_count + definition->save_count + 1;
   bound->origins = rkb_arena_array(bound->arena, most, sizeof *bound->origins);
   bound->recipes = rkb_arena_array(bound->arena, most, sizeof *bound->recipes);
   for (uint32_t i = 0; i < definition->dim_count; i++)
      named[i] = (rkb_named_int_t){definition->dims[i].name, dims[i]};
   for (uint32_t i = 0; i < definition->attribute_count; i++)
      reals[i] = (rkb_named_real_t){definition->attributes[i].name, attributes[i]};
   bound->view.dims = named;
   bound->view.dim_count = definition->dim_count;
   bound->view.attributes = reals;
   bound->view.attribute_count = definition->attribute_count;
}

static uint32_t case_tensor(const rkb_bound_t *bound, const char *prefix, const char *name, bool output) {
   size_t length = strlen(prefix);
   for (uint32_t i = 0; i < bound->view.tensor_count; i++) {
      const rkb_tensor_t *tensor = &bound->view.tensors[i];
      bool written = tensor->role != RKB_IN;
      if ((written == output || tensor->role == RKB_INOUT) && strncmp(tensor->name, prefix, length) == 0 &&
          strcmp(tensor->name + length, name) == 0)
         return i;
   }
   return UINT32_MAX;
}

/* The graph's name for a task output. */
static const char *graph_name(const rkb_definition_t *definition, const char *name) {
   for (uint32_t i = 0; i < definition->output_count; i++)
      if (strcmp(definition->outputs[i].name, name) == 0)
         return definition->outputs[i].value;
   return name;
}

/* Adds the inputs in the case's order, then the graph, then the outputs or their gradients. */
static bool build_program(rkb_bound_t *bound, rkb_problems_t *problems) {
   const rkb_definition_t *definition = bound->definition;
   rkb_graph_scope_t scope = {0};
   uint32_t values[RKB_MAX_TENSORS], seeds[RKB_MAX_TENSORS], inputs[RKB_MAX_TENSORS],
      gradients[RKB_MAX_TENSORS], targets[RKB_MAX_TENSORS];
   uint32_t seed_count = 0, wanted = 0;
   if (!rkb_graph_build(bound, &scope, problems))
      return false;
   rkb_program_t *program = bound->program;
   for (uint32_t i = 0; i < definition->tensor_count; i++) {
      const rkb_tensor_definition_t *tensor = &definition->tensors[i];
      if (tensor->role == RKB_IN)
         continue;
      const char *name = graph_name(definition, tensor->name);
      uint32_t value = rkb_graph_value(&scope, name);
      rkb_shape_t shape;
      if (!bind_shape(bound, tensor, &shape, problems))
         return false;
      if (!rkb_shape_equal(&shape, rkb_program_shape(program, value)) ||
          tensor->dtype != rkb_program_dtype(program, value)) {
         rkb_problem(problems, tensor->place,
                     "in case %s: the graph's %s has another shape or dtype than tensor %s", bound->view.name,
                     name, tensor->name);
         return false;
      }
      if (!bound->backward) {
         program->outputs[case_tensor(bound, "", tensor->name, true)] = value;
      } else if (rkb_dtype_is_float(tensor->dtype)) {
         uint32_t seed_tensor = case_tensor(bound, "grad_", tensor->name, false);
         values[seed_count] = value;
         seeds[seed_count++] = rkb_program_input(program, bound->view.tensors[seed_tensor].name,
                                                 tensor->dtype, &shape, seed_tensor);
      }
   }
   if (!bound->backward)
      return !program->failed;
   for (uint32_t i = 0; i < definition->tensor_count; i++)
      if (definition->wants_grad[i]) {
         targets[wanted] = case_tensor(bound, "grad_", definition->tensors[i].name, true);
         inputs[wanted++] = rkb_graph_value(&scope, definition->tensors[i].name);
      }
   for (uint32_t i = 0; i < definition->save_count; i++) {
      uint32_t tensor = case_tensor(bound, "", definition->saves[i].name, false);
      program->outputs[tensor] = rkb_graph_value(&scope, graph_name(definition, definition->saves[i].name));
   }
   rkb_gradient_build(program, values, seeds, seed_count, inputs, gradients, wanted);
   for (uint32_t i = 0; i < wanted; i++)
      program->outputs[targets[i]] = gradients[i];
   return !program->failed;
}

rkb_bound_t *rkb_bound_begin(const rkb_definition_t *definition, bool backward, bool whole_layers,
                             const char *name, uint32_t kind, const int64_t *dims, const double *attributes,
                             const rkb_init_setting_t *setting, uint64_t budget, rkb_place_t place,
                             rkb_problems_t *problems) {
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_bound_t *bound = rkb_arena_alloc(arena, sizeof *bound);
   uint32_t before = problems->errors;
   rkb_tensor_t *tensors =
      rkb_arena_array(arena, 3 * definition->tensor_count + definition->save_count + 1, sizeof *tensors);
   bound->arena = arena;
   bound->definition = definition;
   bound->backward = backward;
   bound->budget = budget;
   bound->view.name = rkb_arena_text(arena, name, strlen(name));
   bound->view.kind = kind;
   bound->view.tensors = tensors;
   bound->precision = rkb_precision_of(definition->precision);
   bind_names(bound, dims, attributes);
   if (!evaluate_lets(bound, problems))
      goto failed;
   const char *condition = unsatisfied(bound);
   if (condition) {
      rkb_problem(
         problems, place,
         "case %s does not satisfy '%s', a condition under require:; give it other dims, or change the condition",
         name, condition);
      goto failed;
   }
   if (!(backward ? add_backward : add_forward)(bound, tensors, setting, problems))
      goto failed;
   bound->program = rkb_program_new(arena, bound->view.tensor_count);
   bound->program->whole_layers = whole_layers;
   bool built = build_program(bound, problems);
   if (bound->program->failed && problems->errors == before)
      rkb_problem(problems, place, "in case %s: %s", name, bound->program->error);
   if (!built || problems->errors != before)
      goto failed;
   rkb_program_join_addends(bound->program);
   rkb_program_prune(bound->program);
   bound->steps = rkb_program_with_row_sums(bound->program, arena);
   return bound;
failed:
   rkb_arena_free(arena);
   return NULL;
}

/* With this many products one after another, two norms counted as one, bounds come from several evaluations with random errors. */
#define DEEP_PRODUCTS 9u
#define DEEP_PASSES 6u

bool rkb_bound_complete(rkb_bound_t *bound) {
   if (rkb_program_depth(bound->program) >= DEEP_PRODUCTS * RKB_PRODUCT_DEPTH)
      bound->precision.passes = DEEP_PASSES;
   rkb_least_operations(bound->program, &bound->view.operations);
   bound->view.bytes = rkb_bound_least_bytes(bound);
   bound->view.sequential = rkb_program_sequential(bound->program);
   return rkb_families_build(bound);
}

rkb_bound_t *rkb_bound_new(const rkb_definition_t *definition, bool backward, const char *name, uint32_t kind,
                           const int64_t *dims, const double *attributes, const rkb_init_setting_t *setting,
                           uint64_t budget, rkb_place_t place, rkb_problems_t *problems) {
   rkb_bound_t *bound = rkb_bound_begin(definition, backward, false, name, kind, dims, attributes, setting,
                                        budget, place, problems);
   if (!bound || rkb_bound_complete(bound))
      return bound;
   rkb_problem(problems, place, "case %s needs more families of inputs than there may be", name);
   rkb_bound_free(bound);
   return NULL;
}

void rkb_bound_free(rkb_bound_t *bound) {
   if (!bound)
      return;
   rkb_drawn_lists_free(&bound->pools);
   rkb_arena_free(bound->arena);
}
