/* Builds the graph of one case: attributes become numbers, each function adds its operations, and each node's declared shape is
 * compared with the computed shape.  One thread. */
#include "task/bound_case.h"

#include <math.h>
#include <string.h>
#include "reference/dtype.h"
#include "reference/operations/convert.h"

static bool attribute_part(rkb_bound_t *bound, const rkb_expression_t *part, rkb_value_t *value,
                           rkb_problems_t *problems) {
   char message[256];
   if (rkb_expression_evaluate(part, rkb_bound_lookup, bound, value, message, sizeof message) ==
       RKB_FAULT_NONE)
      return true;
   rkb_problem(problems, rkb_expression_place(part), "in case %s: %s", bound->view.name, message);
   return false;
}

/* Whole numbers, as most defaults of attributes are: `0`, `-1`, `1, 1`.  A case is made for each of hundreds of drawn shapes, and to read a default as an
 * expression took longer than to add the node.  False, and nothing is said, where the text has something else. */
static bool whole_numbers(const char *text, rkb_attribute_value_t *out) {
   rkb_attribute_value_t found = *out;
   while (found.integer_count < RKB_MAX_RANK) {
      const bool negative = *text == '-';
      text += negative;
      if (text[0] < '0' || text[0] > '9' || (text[1] != '\0' && text[1] != ','))
         return false;
      const int64_t digit = *text++ - '0';
      found.integers[found.integer_count++] = negative ? -digit : digit;
      found.real = (double)(negative ? -digit : digit);
      if (*text == '\0') {
         *out = found;
         return true;
      }
      text += text[1] == ' ' ? 2 : 1;
   }
   return false;
}

/* The default of an attribute, from the function's table. */
static bool fallback_value(rkb_bound_t *bound, const rkb_attribute_t *spec, rkb_attribute_value_t *out,
                           rkb_problems_t *problems) {
   if (!spec->fallback || !*spec->fallback)
      return true;
   if (spec->kind == RKB_ATTRIBUTE_WORD) {
      out->word = spec->fallback;
      return true;
   }
   if (spec->kind == RKB_ATTRIBUTE_BOOL) {
      out->integers[0] = strcmp(spec->fallback, "true") == 0;
      return true;
   }
   if (whole_numbers(spec->fallback, out)) {
      out->given = true;
      return true;
   }
   rkb_expression_t **parts;
   uint32_t count;
   if (!rkb_expression_list(bound->arena, spec->fallback, strlen(spec->fallback), (rkb_place_t){0}, &parts,
                            &count, problems))
      return false;
   for (uint32_t i = 0; i < count && i < RKB_MAX_RANK; i++) {
      rkb_value_t value;
      if (!attribute_part(bound, parts[i], &value, problems))
         return false;
      out->integers[out->integer_count++] = value.integer;
      out->real = value.is_real ? value.real : (double)value.integer;
   }
   out->given = spec->kind != RKB_ATTRIBUTE_INTS || count > 0;
   return true;
}

static bool attribute_value(rkb_bound_t *bound, const rkb_attribute_t *spec,
                            const rkb_graph_attribute_t *attribute, const rkb_graph_node_t *node,
                            rkb_attribute_value_t *out, rkb_problems_t *problems) {
   *out = (rkb_attribute_value_t){0};
   if (!attribute->given)
      return fallback_value(bound, spec, out, problems);
   out->given = true;
   if (attribute->word) {
      out->word = attribute->word;
      out->integers[0] = strcmp(attribute->word, "true") == 0;
      out->real = *attribute->word == '-' ? -INFINITY : INFINITY;
      return true;
   }
   for (uint32_t i = 0; i < attribute->part_count; i++) {
      rkb_value_t value;
      if (!attribute_part(bound, attribute->parts[i], &value, problems))
         return false;
      if (spec->kind == RKB_ATTRIBUTE_REAL) {
         out->real = value.is_real ? value.real : (double)value.integer;
         if (isnan(out->real)) {
            rkb_problem(problems, node->place, "in case %s: %s of %s is NaN", bound->view.name, spec->name,
                        node->id);
            return false;
         }
         continue;
      }
      if (value.is_real) {
         rkb_problem(problems, rkb_expression_place(attribute->parts[i]), "in case %s: %s must be an integer",
                     bound->view.name, spec->name);
         return false;
      }
      out->integers[out->integer_count++] = value.integer;
   }
   return true;
}

static bool check_output(rkb_bound_t *bound, const rkb_graph_output_t *output, const rkb_graph_node_t *node,
                         uint32_t value, rkb_problems_t *problems) {
   rkb_shape_t declared = {.rank = output->rank};
   for (uint32_t i = 0; i < output->rank; i++) {
      rkb_value_t size;
      if (!attribute_part(bound, output->shape[i], &size, problems))
         return false;
      if (size.is_real || size.integer < 1) {
         rkb_problem(problems, rkb_expression_place(output->shape[i]),
                     "in case %s: a size must be an integer of at least 1", bound->view.name);
         return false;
      }
      declared.size[i] = size.integer;
   }
   const rkb_shape_t *inferred = rkb_program_shape(bound->program, value);
   if (rkb_shape_equal(&declared, inferred))
      return true;
   char left[96], right[96];
   rkb_shape_text(&declared, left, sizeof left);
   rkb_shape_text(inferred, right, sizeof right);
   rkb_problem(problems, output->place, "in case %s: %s is declared %s, but %s gives %s", bound->view.name,
               output->name, left, node->function->name, right);
   return false;
}

/* Gives an output of a node its name and the type in which the graph stores it.  before: how many values there were. */
static bool name_output(rkb_bound_t *bound, const rkb_graph_output_t *output, const rkb_graph_node_t *node,
                        uint32_t value, uint32_t before, uint32_t computed, rkb_problems_t *problems) {
   rkb_program_value_t *made = &bound->program->values[value];
   if (value < before) { /* returned unchanged: it keeps its name and dtype */
      if (made->dtype == output->dtype || made->node < 0)
         return true;
      rkb_problem(problems, output->place, "%s is declared %s, but %s returns its input, which is %s",
                  output->name, rkb_dtype_name(output->dtype), node->function->name,
                  rkb_dtype_name(made->dtype));
      return false;
   }
   const rkb_program_node_t *maker = &bound->program->nodes[made->node];
   const bool eighth = rkb_dtype_bytes(output->dtype) == 1 && output->dtype != RKB_U8;
   if (output->dtype != computed && maker->operation->converts) {
      rkb_problem(problems, output->place, "%s is declared %s, but the node converts to %s", output->name,
                  rkb_dtype_name(output->dtype), rkb_dtype_name(computed));
      return false;
   }
   /* PyTorch computes in no 8-bit float type, and kernels do not either. */
   if (eighth && (output->dtype != computed || !(maker->operation->moves || maker->operation->converts))) {
      rkb_problem(problems, output->place, "%s is declared %s, but %s does not convert: write a node `to`",
                  output->name, rkb_dtype_name(output->dtype), node->function->name);
      return false;
   }
   if (!rkb_dtype_is_float(computed) && rkb_dtype_is_float(output->dtype) && maker->operation->moves) {
      rkb_problem(problems, output->place, "%s is declared %s, but %s of %s gives %s: write a node `to`",
                  output->name, rkb_dtype_name(output->dtype), node->function->name, rkb_dtype_name(computed),
                  rkb_dtype_name(computed));
      return false;
   }
   made->name = output->name;
   made->dtype = output->dtype;
   return true;
}

uint32_t rkb_graph_value(const rkb_graph_scope_t *scope, const char *name) {
   const uint32_t place = rkb_name_table_find(&scope->names, name);
   return place == UINT32_MAX ? RKB_NO_VALUE : scope->values[place];
}

static void define(rkb_graph_scope_t *scope, const char *name, uint32_t value) {
   scope->values[scope->names.count] = value;
   rkb_name_table_add(&scope->names, name);
}

static bool build_node(rkb_bound_t *bound, const rkb_graph_node_t *node, rkb_graph_scope_t *scope,
                       rkb_problems_t *problems) {
   rkb_program_t *program = bound->program;
   rkb_call_t call = {.program = program,
                      .function = node->function,
                      .input_count = node->input_count,
                      .output_count = node->output_count};
   for (uint32_t i = 0; i < RKB_MAX_FUNCTION_ATTRIBUTES && node->function->attributes[i].name; i++)
      if (!attribute_value(bound, &node->function->attributes[i], &node->attributes[i], node, &call.values[i],
                           problems))
         return false;
   for (uint32_t i = 0; i < node->input_count; i++)
      call.inputs[i] = rkb_graph_value(scope, node->inputs[i]);
   uint32_t outputs[RKB_MAX_FUNCTION_OUTPUTS], computed[RKB_MAX_FUNCTION_OUTPUTS];
   const uint32_t before = program->value_count;
   for (uint32_t i = 0; i < RKB_MAX_FUNCTION_OUTPUTS; i++)
      outputs[i] = RKB_NO_VALUE;
   node->function->build(&call, outputs);
   if (program->failed) {
      rkb_problem(problems, node->place, "in case %s: %s", bound->view.name, program->error);
      return false;
   }
   for (uint32_t i = 0; i < node->output_count; i++)
      computed[i] = rkb_program_dtype(program, outputs[i]);
   rkb_program_widen(program, before);
   for (uint32_t i = 0; i < node->output_count; i++) {
      if (outputs[i] == RKB_NO_VALUE) {
         rkb_problem(problems, node->outputs[i].place, "%s has no output number %u", node->function->name, i);
         return false;
      }
      if (!check_output(bound, &node->outputs[i], node, outputs[i], problems))
         return false;
      if (!name_output(bound, &node->outputs[i], node, outputs[i], before, computed[i], problems))
         return false;
      define(scope, node->outputs[i].name, outputs[i]);
   }
   return true;
}

bool rkb_graph_build(rkb_bound_t *bound, rkb_graph_scope_t *scope, rkb_problems_t *problems) {
   const rkb_definition_t *definition = bound->definition;
   rkb_program_t *program = bound->program;
   uint32_t most = bound->view.tensor_count + definition->node_count * RKB_MAX_FUNCTION_OUTPUTS + 1;
   rkb_name_table_make(&scope->names, bound->arena, most);
   scope->values = rkb_arena_array(bound->arena, most, sizeof *scope->values);
   for (uint32_t i = 0; i < definition->tensor_count; i++) {
      const rkb_tensor_definition_t *tensor = &definition->tensors[i];
      for (uint32_t j = 0; tensor->role != RKB_OUT && j < bound->view.tensor_count; j++) {
         const rkb_tensor_t *view = &bound->view.tensors[j];
         if (bound->origins[j] != tensor || view->role == RKB_OUT || strcmp(view->name, tensor->name) != 0)
            continue; /* pointers first: a network has hundreds of tensors, and a candidate hundreds of shapes */
         rkb_shape_t shape = {.rank = view->rank};
         memcpy(shape.size, view->shape, sizeof shape.size);
         define(scope, tensor->name, rkb_program_input(program, view->name, view->dtype, &shape, j));
      }
   }
   for (uint32_t i = 0; i < definition->node_count; i++)
      if (!build_node(bound, &definition->nodes[i], scope, problems))
         return false;
   program->guards = rkb_arena_array(bound->arena, definition->guard_count + 1, sizeof *program->guards);
   for (uint32_t i = 0; i < definition->guard_count; i++)
      program->guards[program->guard_count++] = rkb_graph_value(scope, definition->guards[i].name);
   return !program->failed;
}
