/* task.yaml, section by section.  Everything wrong is reported, each at its place.  One thread. */
#include "task/definition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/nearest.h"
#include "base/units.h"

#define DEFAULT_ALIGNMENT 256 /* bytes */

static const char *const role_names[] = {"", "in", "out", "inout"};

static void *array(rkb_definition_t *definition, uint32_t count, size_t size, rkb_problems_t *problems) {
   void *memory = rkb_arena_array(definition->arena, count + 1, size);
   if (!memory)
      rkb_problem(problems, (rkb_place_t){0}, "out of memory");
   return memory;
}

static const char *keep(rkb_definition_t *definition, const char *text) {
   return rkb_arena_text(definition->arena, text, strlen(text));
}

/* A name that expressions can mention. */
static bool name_is_good(const char *name) {
   if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || *name == '_'))
      return false;
   for (; *name; name++)
      if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
            (*name >= '0' && *name <= '9') || *name == '_'))
         return false;
   return true;
}

static const char *read_name(rkb_definition_t *definition, const rkb_yaml_t *key, const char *what,
                             rkb_problems_t *problems) {
   if (!name_is_good(key->text))
      rkb_problem(problems, key->place,
                  "%s is no name for %s: use letters, digits and _, not beginning with a digit", key->text,
                  what);
   return keep(definition, key->text);
}

static bool read_text(rkb_definition_t *definition, const rkb_yaml_t *map, const char *key, bool required,
                      const char **out, rkb_problems_t *problems) {
   const rkb_yaml_t *node = rkb_yaml_get(map, key);
   *out = "";
   if (!node && !required)
      return true;
   if (!node) {
      rkb_problem(problems, map->place, "%s is missing", key);
      return false;
   }
   const char *text;
   if (!rkb_yaml_scalar(node, key, &text, problems))
      return false;
   *out = keep(definition, text);
   return *out != NULL;
}

static bool read_heading(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
   static const char *const known[] = {"rkb-task",   "name",  "summary",    "source",  "precision",
                                       "directions", "dims",  "let",        "require", "attributes",
                                       "tensors",    "inits", "wants_grad", "saves",   "cases",
                                       "tolerance",  NULL};
   static const char *const classes[] = {"fp32", "fp32-fast", "tf32", "bf16", "fp16", NULL};
   if (!rkb_yaml_expect(root, RKB_YAML_MAP, "a task file", problems))
      return false;
   rkb_yaml_only(root, "a task file", known, problems);
   int64_t version = 0;
   const rkb_yaml_t *version_node = rkb_yaml_get(root, "rkb-task");
   if (!version_node)
      rkb_problem(problems, root->place, "rkb-task is missing: begin the file with 'rkb-task: 1'");
   else if (rkb_yaml_int(version_node, "rkb-task", &version, problems) && version != 1)
      rkb_problem(problems, version_node->place, "rkb-task %lld is not known: write 1", (long long)version);
   read_text(definition, root, "name", true, &definition->name, problems);
   read_text(definition, root, "summary", false, &definition->summary, problems);
   read_text(definition, root, "source", false, &definition->source, problems);
   read_text(definition, root, "precision", false, &definition->precision, problems);
   if (!definition->precision || !*definition->precision)
      definition->precision = "fp32";
   bool found = false;
   for (uint32_t i = 0; classes[i]; i++)
      found |= strcmp(classes[i], definition->precision) == 0;
   if (!found)
      rkb_problem(problems, rkb_yaml_get(root, "precision")->place,
                  "precision %s is not known: write fp32, fp32-fast, tf32, bf16 or fp16",
                  definition->precision);
   return true;
}

static void read_directions(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   uint32_t count = 0;
   if (!node) {
      definition->directions[0] = "forward";
      return;
   }
   if (!rkb_yaml_expect(node, RKB_YAML_LIST, "directions", problems))
      return;
   for (uint32_t i = 0; i < node->count; i++) {
      const char *text;
      if (!rkb_yaml_scalar(node->items[i], "a direction", &text, problems))
         continue;
      const char *known = strcmp(text, "forward") == 0    ? "forward"
                          : strcmp(text, "backward") == 0 ? "backward"
                                                          : NULL;
      if (!known || (count && definition->directions[0] == known))
         rkb_problem(problems, node->items[i]->place, "a direction is forward or backward, each once");
      else if (count < 2)
         definition->directions[count++] = known;
   }
   if (count == 0)
      rkb_problem(problems, node->place, "directions lists none: write [forward] or [forward, backward]");
}

static bool read_range(rkb_definition_t *definition, rkb_dim_t *dim, const rkb_yaml_t *node,
                       rkb_problems_t *problems) {
   const char *text;
   if (!rkb_yaml_scalar(node, "range", &text, problems))
      return false;
   const char *dots = strstr(text, "..");
   char low[32];
   if (dots && (size_t)(dots - text) < sizeof low) {
      memcpy(low, text, (size_t)(dots - text));
      low[dots - text] = '\0';
      if (rkb_parse_int(low, &dim->low) && rkb_parse_int(dots + 2, &dim->high) && dim->low <= dim->high) {
         dim->domain = keep(definition, text);
         return true;
      }
   }
   rkb_problem(problems, node->place, "a range is written low..high, with low at most high, as 1..64");
   return false;
}

static void read_dim(rkb_definition_t *definition, rkb_dim_t *dim, const rkb_yaml_t *node,
                     rkb_problems_t *problems) {
   static const char *const known[] = {"range", "choices", "multiple_of", NULL};
   dim->multiple_of = 1;
   dim->domain = "";
   if (!rkb_yaml_expect(node, RKB_YAML_MAP, "a dim", problems))
      return;
   rkb_yaml_only(node, "a dim", known, problems);
   const rkb_yaml_t *range = rkb_yaml_get(node, "range"), *choices = rkb_yaml_get(node, "choices"),
                    *multiple = rkb_yaml_get(node, "multiple_of");
   if ((range != NULL) == (choices != NULL)) {
      rkb_problem(problems, node->place, "dim %s needs a range or choices, one of them", dim->name);
      return;
   }
   if (multiple && rkb_yaml_int(multiple, "multiple_of", &dim->multiple_of, problems) && dim->multiple_of < 1)
      rkb_problem(problems, multiple->place, "multiple_of must be at least 1");
   if (range) {
      read_range(definition, dim, range, problems);
      return;
   }
   if (!rkb_yaml_expect(choices, RKB_YAML_LIST, "choices", problems))
      return;
   if (choices->count == 0)
      rkb_problem(problems, choices->place, "dim %s has no choices", dim->name);
   dim->choices = array(definition, choices->count, sizeof *dim->choices, problems);
   rkb_text_t domain;
   rkb_text_init(&domain, 4096);
   for (uint32_t i = 0; dim->choices && i < choices->count; i++)
      if (rkb_yaml_int(choices->items[i], "a choice", &dim->choices[dim->choice_count], problems)) {
         rkb_text_format(&domain, "%s%lld", i ? "|" : "", (long long)dim->choices[dim->choice_count]);
         dim->choice_count++;
      }
   dim->domain = keep(definition, rkb_text_get(&domain));
   rkb_text_free(&domain);
}

static void read_dims(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   if (!node || !rkb_yaml_expect(node, RKB_YAML_MAP, "dims", problems))
      return;
   if (node->count > RKB_MAX_DIMS) {
      rkb_problem(problems, node->place, "more than %u dims", RKB_MAX_DIMS);
      return;
   }
   definition->dims = array(definition, node->count, sizeof *definition->dims, problems);
   for (uint32_t i = 0; definition->dims && i < node->count; i++) {
      rkb_dim_t *dim = &definition->dims[definition->dim_count++];
      dim->name = read_name(definition, node->keys[i], "a dim", problems);
      dim->place = node->keys[i]->place;
      read_dim(definition, dim, node->items[i], problems);
   }
}

static void read_lets(rkb_definition_t *definition, const rkb_yaml_t *lets, const rkb_yaml_t *require,
                      rkb_problems_t *problems) {
   if (lets && rkb_yaml_expect(lets, RKB_YAML_MAP, "let", problems)) {
      definition->lets = array(definition, lets->count, sizeof *definition->lets, problems);
      for (uint32_t i = 0; definition->lets && i < lets->count; i++) {
         rkb_let_t *let = &definition->lets[definition->let_count++];
         let->name = read_name(definition, lets->keys[i], "a let", problems);
         let->value = rkb_definition_expression(definition, lets->items[i], "a let", problems);
      }
   }
   if (require && rkb_yaml_expect(require, RKB_YAML_LIST, "require", problems)) {
      definition->require = array(definition, require->count, sizeof *definition->require, problems);
      for (uint32_t i = 0; definition->require && i < require->count; i++) {
         rkb_expression_t *condition =
            rkb_definition_expression(definition, require->items[i], "a condition", problems);
         if (condition)
            definition->require[definition->require_count++] = condition;
      }
   }
}

/* Float attributes are what a kernel receives: rounded to float32. */
static bool read_float(const rkb_yaml_t *node, const char *what, double *value, rkb_problems_t *problems) {
   if (!rkb_yaml_real(node, what, value, problems))
      return false;
   *value = (double)(float)*value;
   if (isfinite(*value))
      return true;
   rkb_problem(problems, node->place, "%s does not fit into float32", what);
   return false;
}

static void read_attributes(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   static const char *const known[] = {"default", "choices", NULL};
   if (!node || !rkb_yaml_expect(node, RKB_YAML_MAP, "attributes", problems))
      return;
   definition->attributes = array(definition, node->count, sizeof *definition->attributes, problems);
   for (uint32_t i = 0; definition->attributes && i < node->count; i++) {
      rkb_task_attribute_t *attribute = &definition->attributes[definition->attribute_count++];
      const rkb_yaml_t *map = node->items[i];
      attribute->name = read_name(definition, node->keys[i], "an attribute", problems);
      if (!rkb_yaml_expect(map, RKB_YAML_MAP, "an attribute", problems))
         continue;
      rkb_yaml_only(map, "an attribute", known, problems);
      const rkb_yaml_t *fallback = rkb_yaml_get(map, "default"), *choices = rkb_yaml_get(map, "choices");
      if (!fallback)
         rkb_problem(problems, map->place, "attribute %s has no default", attribute->name);
      else
         read_float(fallback, "default", &attribute->fallback, problems);
      if (!choices || !rkb_yaml_expect(choices, RKB_YAML_LIST, "choices", problems))
         continue;
      attribute->choices = array(definition, choices->count, sizeof *attribute->choices, problems);
      for (uint32_t j = 0; attribute->choices && j < choices->count; j++)
         attribute->choice_count +=
            read_float(choices->items[j], "a choice", &attribute->choices[attribute->choice_count], problems);
   }
}

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

static void read_tensor(rkb_definition_t *definition, rkb_tensor_definition_t *tensor, const rkb_yaml_t *node,
                        rkb_problems_t *problems) {
   static const char *const known[] = {"role", "dtype", "shape", "init", "align", NULL};
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
      rkb_problem(problems, dtype->place,
                  "dtype %s is not known: write float32, float64, float16, bfloat16, int32, int64 or uint8",
                  text);
   if (shape->kind == RKB_YAML_SCALAR)
      tensor->shape_text = keep(definition, shape->text);
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
}

static void read_tensors(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
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
   definition->tensors = array(definition, node->count, sizeof *definition->tensors, problems);
   definition->wants_grad = array(definition, node->count, sizeof *definition->wants_grad, problems);
   for (uint32_t i = 0; definition->tensors && i < node->count; i++) {
      rkb_tensor_definition_t *tensor = &definition->tensors[definition->tensor_count++];
      tensor->name = read_name(definition, node->keys[i], "a tensor", problems);
      tensor->place = node->keys[i]->place;
      read_tensor(definition, tensor, node->items[i], problems);
   }
}

/* Index of a tensor a file names, with a problem when there is none. */
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

static void read_settings(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   if (!node || !rkb_yaml_expect(node, RKB_YAML_MAP, "inits", problems))
      return;
   definition->settings = array(definition, node->count, sizeof *definition->settings, problems);
   for (uint32_t i = 0; definition->settings && i < node->count; i++) {
      rkb_init_setting_t *setting = &definition->settings[definition->setting_count++];
      const rkb_yaml_t *map = node->items[i];
      setting->name = keep(definition, node->keys[i]->text);
      setting->inits = array(definition, definition->tensor_count, sizeof *setting->inits, problems);
      if (!setting->inits || !rkb_yaml_expect(map, RKB_YAML_MAP, "an init setting", problems))
         continue;
      for (uint32_t j = 0; j < map->count; j++) {
         uint32_t tensor = named_tensor(definition, map->keys[j], map->keys[j]->text, problems);
         if (tensor != UINT32_MAX)
            read_init(definition, map->items[j], &setting->inits[tensor], problems);
      }
   }
}

/* Names alone: what they stand for is known once the graph is read (rkb_definition_find_saves). */
static void read_saves(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   if (!node || !rkb_yaml_expect(node, RKB_YAML_LIST, "saves", problems))
      return;
   if (node->count > RKB_MAX_TENSORS) {
      rkb_problem(problems, node->place, "more than %u saves", RKB_MAX_TENSORS);
      return;
   }
   definition->saves = array(definition, node->count, sizeof *definition->saves, problems);
   for (uint32_t i = 0; definition->saves && i < node->count; i++) {
      rkb_tensor_definition_t *save = &definition->saves[definition->save_count++];
      save->name = read_name(definition, node->items[i], "a saved value", problems);
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
         rkb_problem(problems, save->place,
                     "there is no output and no value of the graph %s to save; inputs are there anyway",
                     name);
   }
}

static void read_wants_grad(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
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
      if (definition->tensors[tensor].role == RKB_OUT || definition->tensors[tensor].dtype > RKB_F64)
         rkb_problem(problems, node->items[i]->place, "%s has no gradient: it is no float input", text);
      else
         definition->wants_grad[tensor] = true;
   }
}

/* Numbers of a case by name: one of names, each into its place. */
static void read_case_dims(rkb_definition_t *definition, rkb_case_definition_t *c, const rkb_yaml_t *node,
                           rkb_problems_t *problems) {
   bool given[RKB_MAX_DIMS] = {0};
   if (node && rkb_yaml_expect(node, RKB_YAML_MAP, "dims", problems)) {
      for (uint32_t i = 0; i < node->count; i++) {
         uint32_t found = UINT32_MAX;
         for (uint32_t j = 0; j < definition->dim_count; j++)
            if (strcmp(definition->dims[j].name, node->keys[i]->text) == 0)
               found = j;
         if (found == UINT32_MAX)
            rkb_problem(problems, node->keys[i]->place, "there is no dim %s", node->keys[i]->text);
         else
            given[found] = rkb_yaml_int(node->items[i], node->keys[i]->text, &c->dims[found], problems);
      }
   }
   for (uint32_t j = 0; j < definition->dim_count; j++) {
      const rkb_dim_t *dim = &definition->dims[j];
      if (!given[j]) {
         rkb_problem(problems, c->place, "case %s does not say what dim %s is", c->name, dim->name);
         continue;
      }
      bool inside = !dim->choices && c->dims[j] >= dim->low && c->dims[j] <= dim->high &&
                    c->dims[j] % dim->multiple_of == 0;
      for (uint32_t k = 0; k < dim->choice_count; k++)
         inside |= dim->choices[k] == c->dims[j];
      if (!inside)
         rkb_problem(problems, c->place, "case %s: %s = %lld is outside its domain %s", c->name, dim->name,
                     (long long)c->dims[j], dim->domain);
   }
}

static void read_case_attributes(rkb_definition_t *definition, rkb_case_definition_t *c,
                                 const rkb_yaml_t *node, rkb_problems_t *problems) {
   for (uint32_t j = 0; j < definition->attribute_count; j++)
      c->attributes[j] = definition->attributes[j].fallback;
   if (!node || !rkb_yaml_expect(node, RKB_YAML_MAP, "attributes", problems))
      return;
   for (uint32_t i = 0; i < node->count; i++) {
      uint32_t found = UINT32_MAX;
      for (uint32_t j = 0; j < definition->attribute_count; j++)
         if (strcmp(definition->attributes[j].name, node->keys[i]->text) == 0)
            found = j;
      if (found == UINT32_MAX)
         rkb_problem(problems, node->keys[i]->place, "there is no attribute %s", node->keys[i]->text);
      else
         read_float(node->items[i], node->keys[i]->text, &c->attributes[found], problems);
   }
}

static void read_case(rkb_definition_t *definition, rkb_case_definition_t *c, uint32_t kind,
                      const rkb_yaml_t *node, rkb_problems_t *problems) {
   static const char *const known[] = {"name", "dims", "attributes", "init", "directions", NULL};
   const char *text = "";
   c->kind = kind;
   c->place = node->place;
   c->forward = c->backward = true;
   c->name = "";
   c->dims = array(definition, definition->dim_count, sizeof *c->dims, problems);
   c->attributes = array(definition, definition->attribute_count, sizeof *c->attributes, problems);
   if (!c->dims || !c->attributes || !rkb_yaml_expect(node, RKB_YAML_MAP, "a case", problems))
      return;
   rkb_yaml_only(node, "a case", known, problems);
   read_text(definition, node, "name", true, &text, problems);
   c->name = rkb_arena_format(definition->arena, "%s/%s", kind == RKB_CASE_CHECK ? "check" : "bench", text);
   read_case_dims(definition, c, rkb_yaml_get(node, "dims"), problems);
   read_case_attributes(definition, c, rkb_yaml_get(node, "attributes"), problems);
   const rkb_yaml_t *init = rkb_yaml_get(node, "init"), *directions = rkb_yaml_get(node, "directions");
   if (init && rkb_yaml_scalar(init, "init", &text, problems)) {
      for (uint32_t i = 0; i < definition->setting_count; i++)
         if (strcmp(definition->settings[i].name, text) == 0)
            c->setting = &definition->settings[i];
      if (!c->setting)
         rkb_problem(problems, init->place, "there is no init setting %s under inits", text);
   }
   if (directions && rkb_yaml_expect(directions, RKB_YAML_LIST, "directions", problems)) {
      c->forward = c->backward = false;
      for (uint32_t i = 0; i < directions->count; i++)
         if (rkb_yaml_scalar(directions->items[i], "a direction", &text, problems)) {
            c->forward |= strcmp(text, "forward") == 0;
            c->backward |= strcmp(text, "backward") == 0;
         }
   }
}

static void read_cases(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
   static const char *const known[] = {"check", "bench", NULL};
   const rkb_yaml_t *node = rkb_yaml_get(root, "cases");
   if (!node) {
      rkb_problem(problems, root->place, "cases is missing");
      return;
   }
   if (!rkb_yaml_expect(node, RKB_YAML_MAP, "cases", problems))
      return;
   rkb_yaml_only(node, "cases", known, problems);
   definition->cases = array(definition, RKB_MAX_CASES, sizeof *definition->cases, problems);
   for (uint32_t kind = RKB_CASE_CHECK; definition->cases && kind <= RKB_CASE_BENCH; kind++) {
      const rkb_yaml_t *list = rkb_yaml_get(node, known[kind - 1]);
      if (!list || !rkb_yaml_expect(list, RKB_YAML_LIST, known[kind - 1], problems))
         continue;
      for (uint32_t i = 0; i < list->count; i++) {
         if (definition->case_count == RKB_MAX_CASES) {
            rkb_problem(problems, list->items[i]->place, "more than %u cases", RKB_MAX_CASES);
            return;
         }
         read_case(definition, &definition->cases[definition->case_count++], kind, list->items[i], problems);
      }
   }
   if (definition->case_count == 0)
      rkb_problem(problems, node->place, "there are no cases");
}

static void read_tolerance(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   static const char *const known[] = {"rtol", "atol", NULL};
   if (!node || !rkb_yaml_expect(node, RKB_YAML_MAP, "tolerance", problems))
      return;
   rkb_yaml_only(node, "tolerance", known, problems);
   const rkb_yaml_t *relative = rkb_yaml_get(node, "rtol"), *absolute = rkb_yaml_get(node, "atol");
   if (relative)
      rkb_yaml_real(relative, "rtol", &definition->relative_tolerance, problems);
   if (absolute)
      rkb_yaml_real(absolute, "atol", &definition->absolute_tolerance, problems);
   if (definition->relative_tolerance < 0 || definition->absolute_tolerance < 0)
      rkb_problem(problems, node->place, "a tolerance is not negative");
   definition->has_tolerance = true;
}

bool rkb_definition_read(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   if (!read_heading(definition, root, problems))
      return false;
   read_directions(definition, rkb_yaml_get(root, "directions"), problems);
   read_dims(definition, rkb_yaml_get(root, "dims"), problems);
   read_lets(definition, rkb_yaml_get(root, "let"), rkb_yaml_get(root, "require"), problems);
   read_attributes(definition, rkb_yaml_get(root, "attributes"), problems);
   read_tensors(definition, root, problems);
   read_settings(definition, rkb_yaml_get(root, "inits"), problems);
   read_wants_grad(definition, root, problems);
   read_saves(definition, rkb_yaml_get(root, "saves"), problems);
   read_tolerance(definition, rkb_yaml_get(root, "tolerance"), problems);
   if (problems->errors == before) /* cases refer to all of the above */
      read_cases(definition, root, problems);
   return problems->errors == before;
}
