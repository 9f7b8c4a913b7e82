/* Reads the tensors of a task.yaml: roles, shapes, how they are drawn, which are saved and which have gradients.  One thread. */
#include "task/definition_read.h"

#include <stdlib.h>
#include <string.h>
#include "base/nearest_name.h"

#define DEFAULT_ALIGNMENT 256 /* bytes */

static const char *const role_names[] = {"", "in", "out", "inout"};

typedef struct init_spec {
   const char *kind;
   uint32_t number;
   const char *first, *second;
   bool required;
} init_spec_t;

static const init_spec_t init_specs[] = {
   {"normal", RKB_INIT_NORMAL, "mean", "std", false},
   {"uniform", RKB_INIT_UNIFORM, "low", "high", false},
   {"kaiming", RKB_INIT_KAIMING, "fan_in", NULL, true},
   {"kaiming_normal", RKB_INIT_KAIMING_NORMAL, "fan_in", NULL, true},
   {"xavier", RKB_INIT_XAVIER, "fan_in", "fan_out", true},
   {"ones", RKB_INIT_ONES, NULL, NULL, false},
   {"zeros", RKB_INIT_ZEROS, NULL, NULL, false},
   {"constant", RKB_INIT_CONSTANT, "value", NULL, true},
   {"positive", RKB_INIT_POSITIVE, "mean", "std", false},
   {"integers", RKB_INIT_INTEGERS, "low", "high", true},
};
#define INIT_KINDS (sizeof init_specs / sizeof init_specs[0])

static void read_init(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_init_t *init,
                      rkb_problems_t *problems) {
   const char *kind;
   if (!rkb_yaml_expect(node, RKB_YAML_MAP, "an init", problems))
      return;
   const rkb_yaml_t *kind_node = rkb_yaml_get(node, "kind");
   if (!kind_node) {
      rkb_problem(problems, node->place, "an init needs a kind, as {kind: normal}");
      return;
   }
   if (!rkb_yaml_scalar(kind_node, "kind", &kind, problems))
      return;
   const init_spec_t *spec = NULL;
   const char *names[INIT_KINDS + 1] = {0};
   for (size_t i = 0; i < INIT_KINDS; i++) {
      names[i] = init_specs[i].kind;
      if (strcmp(names[i], kind) == 0)
         spec = &init_specs[i];
   }
   if (!spec) {
      const char *near = rkb_nearest(kind, names);
      rkb_problem(problems, kind_node->place, "init kind %s is not known%s%s", kind,
                  near ? ": did you mean " : "; docs/task-format.md lists them", near ? near : "");
      return;
   }
   const char *known[] = {"kind", spec->first, spec->second, NULL};
   if (!spec->first)
      known[1] = NULL;
   rkb_yaml_only(node, "this init", known, problems);
   init->kind = spec->number;
   const char *parameters[2] = {spec->first, spec->second};
   rkb_expression_t **values[2] = {&init->first, &init->second};
   for (int i = 0; i < 2 && parameters[i]; i++) {
      const rkb_yaml_t *value = rkb_yaml_get(node, parameters[i]);
      if (value)
         *values[i] = rkb_definition_expression(definition, value, parameters[i], problems);
      else if (spec->required)
         rkb_problem(problems, node->place, "init %s needs %s", kind, parameters[i]);
   }
}

static void read_structure(rkb_tensor_definition_t *tensor, const rkb_yaml_t *node,
                           rkb_problems_t *problems) {
   const char *text;
   if (!node || !rkb_yaml_scalar(node, "structure", &text, problems))
      return;
   tensor->structure_place = node->place;
   if (!rkb_structure_parse(text, &tensor->structure))
      rkb_problem(problems, node->place, "structure %s is not known: write " RKB_STRUCTURE_NAMES, text);
   else if (tensor->role == RKB_OUT || !rkb_dtype_is_float(tensor->dtype))
      rkb_problem(problems, node->place, "%s is no float input: only those have a structure", tensor->name);
   else if (tensor->rank < 2)
      rkb_problem(problems, node->place, "a structure is one of matrices: %s needs two dims or more",
                  tensor->name);
}

/* Types that have infinities, and inputs of which some are negative. */
static void read_masked(rkb_tensor_definition_t *tensor, const rkb_yaml_t *node, rkb_problems_t *problems) {
   if (!node || !rkb_yaml_bool(node, "masked", &tensor->masked, problems) || !tensor->masked)
      return;
   tensor->masked_place = node->place;
   if (tensor->role != RKB_IN ||
       (tensor->dtype != RKB_F32 && tensor->dtype != RKB_F16 && tensor->dtype != RKB_BF16) ||
       tensor->structure)
      rkb_problem(problems, node->place,
                  "%s is no input of float32, float16 or bfloat16 without a structure: only those are masked",
                  tensor->name);
}

static void read_tensor(rkb_definition_t *definition, rkb_tensor_definition_t *tensor, const rkb_yaml_t *node,
                        rkb_problems_t *problems) {
   static const char *const known[] = {"role",  "dtype",     "shape",  "init",
                                       "align", "structure", "masked", NULL};
   if (!rkb_yaml_expect(node, RKB_YAML_MAP, "a tensor", problems))
      return;
   rkb_yaml_only(node, "a tensor", known, problems);
   const rkb_yaml_t *role = rkb_yaml_get(node, "role"), *dtype = rkb_yaml_get(node, "dtype"),
                    *shape = rkb_yaml_get(node, "shape");
   const rkb_yaml_t *init = rkb_yaml_get(node, "init"), *align = rkb_yaml_get(node, "align");
   if (!role || !dtype || !shape) {
      rkb_problem(problems, node->place, "tensor %s needs %s", tensor->name,
                  !role    ? "a role: in, out or inout"
                  : !dtype ? "a dtype, as float32"
                           : "a shape, as \"B, D\"");
      return;
   }
   const char *text;
   for (uint32_t i = RKB_IN; rkb_yaml_scalar(role, "role", &text, problems) && i <= RKB_INOUT; i++)
      if (strcmp(text, role_names[i]) == 0)
         tensor->role = i;
   if (!tensor->role)
      rkb_problem(problems, role->place, "a role is in, out or inout");
   if (rkb_yaml_scalar(dtype, "dtype", &text, problems) && !rkb_dtype_parse(text, &tensor->dtype))
      rkb_problem(problems, dtype->place, "dtype %s is not known: write " RKB_DTYPE_NAMES, text);
   if (shape->kind == RKB_YAML_SCALAR)
      tensor->shape_text = rkb_read_kept(definition, shape->text);
   if (rkb_definition_expressions(definition, shape, "shape", &tensor->shape, &tensor->rank, problems) &&
       tensor->rank > RKB_MAX_RANK)
      rkb_problem(problems, shape->place, "tensor %s has %u dims, at most %d are supported", tensor->name,
                  tensor->rank, RKB_MAX_RANK);
   if (init)
      read_init(definition, init, &tensor->init, problems);
   else if (tensor->role != RKB_OUT)
      rkb_problem(problems, node->place, "tensor %s is read and needs an init, as {kind: normal}",
                  tensor->name);
   int64_t bytes = DEFAULT_ALIGNMENT;
   if (align && rkb_yaml_int(align, "align", &bytes, problems) &&
       (bytes < 1 || bytes > 65536 || (bytes & (bytes - 1)) != 0))
      rkb_problem(problems, align->place, "align is a power of two from 1 to 65536, in bytes");
   tensor->alignment = (uint32_t)bytes;
   read_structure(tensor, rkb_yaml_get(node, "structure"), problems);
   read_masked(tensor, rkb_yaml_get(node, "masked"), problems);
}

void rkb_read_tensors(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
   const rkb_yaml_t *node = rkb_yaml_get(root, "tensors");
   if (!node) {
      rkb_problem(problems, root->place, "tensors is missing");
      return;
   }
   if (!rkb_yaml_expect(node, RKB_YAML_MAP, "tensors", problems))
      return;
   if (node->count > RKB_MAX_TENSORS) {
      rkb_problem(problems, node->place, "more than %u tensors", RKB_MAX_TENSORS);
      return;
   }
   definition->tensors = rkb_read_array(definition, node->count, sizeof *definition->tensors);
   definition->wants_grad = rkb_read_array(definition, node->count, sizeof *definition->wants_grad);
   for (uint32_t i = 0; i < node->count; i++) {
      rkb_tensor_definition_t *tensor = &definition->tensors[definition->tensor_count++];
      tensor->name = rkb_read_name(definition, node->keys[i], "a tensor", problems);
      tensor->place = node->keys[i]->place;
      read_tensor(definition, tensor, node->items[i], problems);
   }
}

/* The index of the tensor that a file names; adds a problem when there is none. */
static uint32_t named_tensor(const rkb_definition_t *definition, const rkb_yaml_t *node, const char *name,
                             rkb_problems_t *problems) {
   uint32_t tensor = rkb_definition_tensor(definition, name);
   if (tensor != UINT32_MAX)
      return tensor;
   const char *names[RKB_MAX_TENSORS + 1] = {0};
   for (uint32_t i = 0; i < definition->tensor_count; i++)
      names[i] = definition->tensors[i].name;
   const char *near = rkb_nearest(name, names);
   rkb_problem(problems, node->place, "there is no tensor %s%s%s", name, near ? ": did you mean " : "",
               near ? near : "");
   return UINT32_MAX;
}

void rkb_read_settings(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   if (!node || !rkb_yaml_expect(node, RKB_YAML_MAP, "inits", problems))
      return;
   definition->settings = rkb_read_array(definition, node->count, sizeof *definition->settings);
   for (uint32_t i = 0; i < node->count; i++) {
      rkb_init_setting_t *setting = &definition->settings[definition->setting_count++];
      const rkb_yaml_t *map = node->items[i];
      setting->name = rkb_read_kept(definition, node->keys[i]->text);
      setting->inits = rkb_read_array(definition, definition->tensor_count, sizeof *setting->inits);
      if (!rkb_yaml_expect(map, RKB_YAML_MAP, "an init setting", problems))
         continue;
      for (uint32_t j = 0; j < map->count; j++) {
         uint32_t tensor = named_tensor(definition, map->keys[j], map->keys[j]->text, problems);
         if (tensor != UINT32_MAX)
            read_init(definition, map->items[j], &setting->inits[tensor], problems);
      }
   }
}

/* Stores only the names.  rkb_definition_find_saves resolves them once the graph is read. */
void rkb_read_saves(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   if (!node || !rkb_yaml_expect(node, RKB_YAML_LIST, "saves", problems))
      return;
   if (node->count > RKB_MAX_TENSORS) {
      rkb_problem(problems, node->place, "more than %u saves", RKB_MAX_TENSORS);
      return;
   }
   definition->saves = rkb_read_array(definition, node->count, sizeof *definition->saves);
   for (uint32_t i = 0; i < node->count; i++) {
      rkb_tensor_definition_t *save = &definition->saves[definition->save_count++];
      save->name = rkb_read_name(definition, node->items[i], "a saved value", problems);
      save->place = node->items[i]->place;
   }
}

static bool find_save(const rkb_definition_t *definition, rkb_tensor_definition_t *save) {
   uint32_t tensor = rkb_definition_tensor(definition, save->name);
   rkb_place_t place = save->place;
   if (tensor != UINT32_MAX) {
      *save = definition->tensors[tensor];
      save->place = place;
      return save->role == RKB_OUT;
   }
   for (uint32_t i = 0; i < definition->node_count; i++)
      for (uint32_t j = 0; j < definition->nodes[i].output_count; j++) {
         const rkb_graph_output_t *output = &definition->nodes[i].outputs[j];
         if (!output->name || strcmp(output->name, save->name) != 0)
            continue;
         save->dtype = output->dtype;
         save->shape = output->shape;
         save->rank = output->rank;
         save->shape_text = output->shape_text;
         save->alignment = DEFAULT_ALIGNMENT;
         return true;
      }
   return false;
}

void rkb_definition_find_saves(rkb_definition_t *definition, rkb_problems_t *problems) {
   for (uint32_t i = 0; i < definition->save_count; i++) {
      rkb_tensor_definition_t *save = &definition->saves[i];
      const char *name = save->name;
      bool again = false;
      for (uint32_t j = 0; name && j < i; j++)
         again |= definition->saves[j].name && strcmp(definition->saves[j].name, name) == 0;
      if (again)
         rkb_problem(problems, save->place, "%s is saved twice", name);
      else if (name && !find_save(definition, save))
         rkb_problem(
            problems, save->place,
            "%s is neither an output nor a value of the graph; a backward candidate gets all inputs anyway",
            name);
   }
}

/* Adds a problem if a node that is no softmax reads the masked tensor. */
static void check_mask(const rkb_definition_t *definition, const rkb_tensor_definition_t *tensor,
                       rkb_problems_t *problems) {
   for (uint32_t i = 0; i < definition->node_count; i++) {
      const rkb_graph_node_t *node = &definition->nodes[i];
      for (uint32_t j = 0; j < node->input_count; j++)
         if (strcmp(node->inputs[j], tensor->name) == 0 && strcmp(node->function->name, "softmax") != 0)
            rkb_problem(
               problems, tensor->masked_place,
               "%s is masked, and %s reads it: what follows from minus infinity is defined for softmax alone",
               tensor->name, node->function->name);
   }
}

void rkb_definition_check_masks(const rkb_definition_t *definition, rkb_problems_t *problems) {
   for (uint32_t i = 0; i < definition->tensor_count; i++)
      if (definition->tensors[i].masked)
         check_mask(definition, &definition->tensors[i], problems);
}

void rkb_read_wants_grad(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
   const rkb_yaml_t *node = rkb_yaml_get(root, "wants_grad");
   bool backward = false;
   for (uint32_t i = 0; definition->directions[i]; i++)
      backward |= strcmp(definition->directions[i], "backward") == 0;
   if (!node && backward)
      rkb_problem(problems, root->place,
                  "a backward direction needs wants_grad: the inputs whose gradients a candidate writes");
   if (!node || !rkb_yaml_expect(node, RKB_YAML_LIST, "wants_grad", problems))
      return;
   for (uint32_t i = 0; i < node->count; i++) {
      const char *text;
      if (!rkb_yaml_scalar(node->items[i], "an input", &text, problems))
         continue;
      uint32_t tensor = named_tensor(definition, node->items[i], text, problems);
      if (tensor == UINT32_MAX)
         continue;
      if (definition->tensors[tensor].role == RKB_OUT ||
          !rkb_dtype_is_float(definition->tensors[tensor].dtype))
         rkb_problem(problems, node->items[i]->place, "%s has no gradient: it is not a float input", text);
      else
         definition->wants_grad[tensor] = true;
   }
}
