/* Reads reference.graph.yaml: nodes, checked against the known functions and names.  One thread.  Shapes are checked later, when
 * cases are bound (graph_build.c). */
#include "task/definition.h"

#include <string.h>
#include <strings.h>
#include "base/nearest_name.h"

#define MOST_NODES 4096u

static const char *keep(rkb_definition_t *definition, const char *text) {
   return rkb_arena_text(definition->arena, text, strlen(text));
}

/* Whether a value of this name exists before node number `before`. */
static bool is_known(const rkb_definition_t *definition, const char *name, uint32_t before) {
   uint32_t tensor = rkb_definition_tensor(definition, name);
   if (tensor != UINT32_MAX && definition->tensors[tensor].role != RKB_OUT)
      return true;
   for (uint32_t i = 0; i < before; i++)
      for (uint32_t j = 0; j < definition->nodes[i].output_count; j++)
         if (strcmp(definition->nodes[i].outputs[j].name, name) == 0)
            return true;
   return false;
}

static bool is_made_later(const rkb_yaml_t *nodes, uint32_t from, const char *name) {
   for (uint32_t i = from; i < nodes->count; i++) {
      const rkb_yaml_t *outputs =
         nodes->items[i]->kind == RKB_YAML_MAP ? rkb_yaml_get(nodes->items[i], "out") : NULL;
      for (uint32_t j = 0; outputs && outputs->kind == RKB_YAML_LIST && j < outputs->count; j++) {
         const rkb_yaml_t *made =
            outputs->items[j]->kind == RKB_YAML_MAP ? rkb_yaml_get(outputs->items[j], "name") : NULL;
         if (made && made->kind == RKB_YAML_SCALAR && strcmp(made->text, name) == 0)
            return true;
      }
   }
   return false;
}

static void read_inputs(rkb_definition_t *definition, rkb_graph_node_t *node, uint32_t number,
                        const rkb_yaml_t *nodes, const rkb_yaml_t *list, rkb_problems_t *problems) {
   if (!list || !rkb_yaml_expect(list, RKB_YAML_LIST, "in", problems))
      return;
   for (uint32_t i = 0; i < list->count; i++) {
      const char *name;
      if (!rkb_yaml_scalar(list->items[i], "an input", &name, problems))
         continue;
      if (i >= RKB_MAX_OPERANDS) {
         rkb_problem(problems, list->items[i]->place, "more than %d inputs", RKB_MAX_OPERANDS);
         return;
      }
      if (!is_known(definition, name, number)) {
         if (is_made_later(nodes, number, name))
            rkb_problem(problems, list->items[i]->place,
                        "%s is used before it is made: a cycle, or nodes out of order", name);
         else
            rkb_problem(problems, list->items[i]->place,
                        "there is no value %s: name an input tensor or an earlier node's out", name);
      }
      node->inputs[node->input_count++] = keep(definition, name);
   }
   const rkb_function_t *function = node->function;
   if (function && (list->count < function->least_inputs || list->count > function->most_inputs))
      rkb_problem(problems, list->place, "%s takes (%s), not %u inputs", function->name, function->inputs,
                  list->count);
}

static void read_word(rkb_definition_t *definition, const rkb_attribute_t *spec, const rkb_yaml_t *value,
                      rkb_graph_attribute_t *attribute, rkb_problems_t *problems) {
   const char *text;
   if (!rkb_yaml_scalar(value, spec->name, &text, problems))
      return;
   size_t length = strlen(text);
   for (const char *word = spec->choices; word; word = strchr(word, ' ')) {
      word += *word == ' ';
      if (length && strncmp(word, text, length) == 0 && (word[length] == ' ' || word[length] == '\0')) {
         attribute->word = keep(definition, text);
         return;
      }
   }
   rkb_problem(problems, value->place, "%s is one of: %s", spec->name, spec->choices);
}

static void read_attribute(rkb_definition_t *definition, const rkb_attribute_t *spec, const rkb_yaml_t *value,
                           rkb_graph_attribute_t *attribute, rkb_problems_t *problems) {
   attribute->given = true;
   if (spec->kind == RKB_ATTRIBUTE_WORD) {
      read_word(definition, spec, value, attribute, problems);
      return;
   }
   if (spec->kind == RKB_ATTRIBUTE_BOOL && value->kind == RKB_YAML_SCALAR &&
       (strcmp(value->text, "true") == 0 || strcmp(value->text, "false") == 0)) {
      attribute->word = keep(definition, value->text);
      return;
   }
   /* Refuse texts that are numbers to YAML and C but not to expressions; they would be read as names. */
   if (value->kind == RKB_YAML_SCALAR &&
       (strcasecmp(value->text, "nan") == 0 || strcasecmp(value->text, ".nan") == 0)) {
      rkb_problem(problems, value->place, "%s cannot be NaN", spec->name);
      return;
   }
   if (spec->kind == RKB_ATTRIBUTE_REAL && value->kind == RKB_YAML_SCALAR &&
       (strcmp(value->text, "inf") == 0 || strcmp(value->text, "-inf") == 0)) {
      attribute->word = keep(definition, value->text);
      return;
   }
   if (!rkb_definition_expressions(definition, value, spec->name, &attribute->parts, &attribute->part_count,
                                   problems))
      return;
   if (spec->kind != RKB_ATTRIBUTE_INTS && attribute->part_count != 1)
      rkb_problem(problems, value->place, "%s is one expression", spec->name);
   if (attribute->part_count > RKB_MAX_RANK)
      rkb_problem(problems, value->place, "%s lists more than %d", spec->name, RKB_MAX_RANK);
}

static void read_attributes(rkb_definition_t *definition, rkb_graph_node_t *node, const rkb_yaml_t *map,
                            rkb_problems_t *problems) {
   const rkb_function_t *function = node->function;
   if (map && !rkb_yaml_expect(map, RKB_YAML_MAP, "attr", problems))
      return;
   const char *known[RKB_MAX_FUNCTION_ATTRIBUTES + 1] = {0};
   for (uint32_t i = 0; i < RKB_MAX_FUNCTION_ATTRIBUTES && function->attributes[i].name; i++) {
      known[i] = function->attributes[i].name;
      const rkb_yaml_t *value = map ? rkb_yaml_get(map, known[i]) : NULL;
      if (value)
         read_attribute(definition, &function->attributes[i], value, &node->attributes[i], problems);
      else if (!function->attributes[i].fallback)
         rkb_problem(problems, node->place, "%s needs the attribute %s", function->name, known[i]);
   }
   if (map)
      rkb_yaml_only(map, function->name, known, problems);
}

static void read_outputs(rkb_definition_t *definition, rkb_graph_node_t *node, uint32_t number,
                         const rkb_yaml_t *list, rkb_problems_t *problems) {
   static const char *const known[] = {"name", "dtype", "shape", NULL};
   if (!list) {
      rkb_problem(problems, node->place, "a node needs out: [{name, dtype, shape}]");
      return;
   }
   if (!rkb_yaml_expect(list, RKB_YAML_LIST, "out", problems))
      return;
   if (list->count == 0 || list->count > RKB_MAX_FUNCTION_OUTPUTS) {
      rkb_problem(problems, list->place, "a node has 1 to %d outputs", RKB_MAX_FUNCTION_OUTPUTS);
      return;
   }
   for (uint32_t i = 0; i < list->count; i++) {
      const rkb_yaml_t *map = list->items[i];
      if (!rkb_yaml_expect(map, RKB_YAML_MAP, "an output", problems))
         continue;
      rkb_yaml_only(map, "an output", known, problems);
      rkb_graph_output_t *output = &node->outputs[node->output_count];
      const rkb_yaml_t *name = rkb_yaml_get(map, "name"), *dtype = rkb_yaml_get(map, "dtype"),
                       *shape = rkb_yaml_get(map, "shape");
      const char *text;
      output->place = map->place;
      if (!name || !dtype || !shape) {
         rkb_problem(problems, map->place, "an output needs a name, a dtype and a shape");
         continue;
      }
      if (!rkb_yaml_scalar(name, "name", &text, problems))
         continue;
      if (is_known(definition, text, number))
         rkb_problem(problems, name->place, "%s is there already", text);
      output->name = keep(definition, text);
      if (rkb_yaml_scalar(dtype, "dtype", &text, problems) && !rkb_dtype_parse(text, &output->dtype))
         rkb_problem(problems, dtype->place, "dtype %s is not known: write " RKB_DTYPE_NAMES, text);
      if (rkb_definition_expressions(definition, shape, "shape", &output->shape, &output->rank, problems) &&
          output->rank > RKB_MAX_RANK)
         rkb_problem(problems, shape->place, "at most %d dims are supported", RKB_MAX_RANK);
      output->shape_text = shape->kind == RKB_YAML_SCALAR ? keep(definition, shape->text) : "";
      node->output_count++;
   }
}

static void read_node(rkb_definition_t *definition, uint32_t number, const rkb_yaml_t *nodes,
                      rkb_problems_t *problems) {
   static const char *const known[] = {"id", "op", "in", "attr", "out", NULL};
   const rkb_yaml_t *map = nodes->items[number];
   rkb_graph_node_t *node = &definition->nodes[number];
   node->place = map->place;
   node->id = "";
   if (!rkb_yaml_expect(map, RKB_YAML_MAP, "a node", problems))
      return;
   rkb_yaml_only(map, "a node", known, problems);
   const rkb_yaml_t *op = rkb_yaml_get(map, "op"), *id = rkb_yaml_get(map, "id");
   const char *text;
   if (id && rkb_yaml_scalar(id, "id", &text, problems))
      node->id = keep(definition, text);
   if (!op) {
      rkb_problem(problems, map->place, "a node needs an op");
   } else if (rkb_yaml_scalar(op, "op", &text, problems)) {
      node->function = rkb_function_find(text);
      const char *near = node->function ? NULL : rkb_nearest(text, rkb_function_names());
      if (!node->function)
         rkb_problem(problems, op->place, "op %s is unsupported%s%s; docs/operations.md lists what there is",
                     text, near ? ": did you mean " : "", near ? near : "");
   }
   read_inputs(definition, node, number, nodes, rkb_yaml_get(map, "in"), problems);
   if (node->function)
      read_attributes(definition, node, rkb_yaml_get(map, "attr"), problems);
   read_outputs(definition, node, number, rkb_yaml_get(map, "out"), problems);
}

static void read_named(rkb_definition_t *definition, const rkb_yaml_t *node, const char *what,
                       rkb_named_value_t **list, uint32_t *count, rkb_problems_t *problems) {
   bool map = strcmp(what, "outputs") == 0;
   if (!node || !rkb_yaml_expect(node, map ? RKB_YAML_MAP : RKB_YAML_LIST, what, problems))
      return;
   *list = rkb_arena_array(definition->arena, node->count + 1, sizeof **list);
   for (uint32_t i = 0; i < node->count; i++) {
      const char *text;
      if (!rkb_yaml_scalar(node->items[i], what, &text, problems))
         continue;
      if (!is_known(definition, text, definition->node_count))
         rkb_problem(problems, node->items[i]->place, "there is no value %s", text);
      if (map) {
         uint32_t tensor = rkb_definition_tensor(definition, node->keys[i]->text);
         if (tensor == UINT32_MAX || definition->tensors[tensor].role == RKB_IN)
            rkb_problem(problems, node->keys[i]->place, "%s is not an output tensor", node->keys[i]->text);
      }
      (*list)[(*count)++] = (rkb_named_value_t){keep(definition, map ? node->keys[i]->text : text),
                                                keep(definition, text), node->items[i]->place};
   }
}

bool rkb_graph_read(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
   static const char *const known[] = {"rkb-graph", "nodes", "outputs", "guards", NULL};
   uint32_t before = problems->errors;
   if (!rkb_yaml_expect(root, RKB_YAML_MAP, "a graph file", problems))
      return false;
   rkb_yaml_only(root, "a graph file", known, problems);
   int64_t version = 0;
   const rkb_yaml_t *version_node = rkb_yaml_get(root, "rkb-graph"), *nodes = rkb_yaml_get(root, "nodes");
   if (!version_node)
      rkb_problem(problems, root->place, "rkb-graph is missing: begin the file with 'rkb-graph: 1'");
   else if (rkb_yaml_int(version_node, "rkb-graph", &version, problems) && version != 1)
      rkb_problem(problems, version_node->place, "rkb-graph %lld is not known: write 1", (long long)version);
   if (!nodes) {
      rkb_problem(problems, root->place, "nodes is missing");
      return false;
   }
   if (!rkb_yaml_expect(nodes, RKB_YAML_LIST, "nodes", problems))
      return false;
   if (nodes->count > MOST_NODES) {
      rkb_problem(problems, nodes->place, "more than %u nodes", MOST_NODES);
      return false;
   }
   definition->nodes = rkb_arena_array(definition->arena, nodes->count + 1, sizeof *definition->nodes);
   for (uint32_t i = 0; i < nodes->count; i++) {
      read_node(definition, i, nodes, problems);
      definition->node_count = i + 1;
   }
   read_named(definition, rkb_yaml_get(root, "outputs"), "outputs", &definition->outputs,
              &definition->output_count, problems);
   read_named(definition, rkb_yaml_get(root, "guards"), "guards", &definition->guards,
              &definition->guard_count, problems);
   for (uint32_t i = 0; i < definition->tensor_count; i++) {
      uint32_t role = definition->tensors[i].role; /* the name of an inout tensor means its old value */
      bool made = role == RKB_IN || (role == RKB_OUT && is_known(definition, definition->tensors[i].name,
                                                                 definition->node_count));
      for (uint32_t j = 0; j < definition->output_count; j++)
         made |= strcmp(definition->outputs[j].name, definition->tensors[i].name) == 0;
      if (!made)
         rkb_problem(problems, nodes->place, "no node makes the output %s", definition->tensors[i].name);
   }
   return problems->errors == before;
}
