/* Reads task.yaml section by section: heading, dims, conditions, attributes, tolerance.  Reports every mistake, each at its place.
 * One thread. */
#include "task/definition_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"

#define LONGEST_NAME 64

static bool read_heading(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
   static const char *const known[] = {"rkb-task",   "name",  "summary",    "source",  "precision",
                                       "directions", "dims",  "let",        "require", "attributes",
                                       "tensors",    "inits", "wants_grad", "saves",   "cases",
                                       "tolerance",  NULL};
   static const char *const classes[] = {"fp32", "fp32-fast", "tf32", "bf16", "fp16", "fp8", "int8", NULL};
   if (!rkb_yaml_expect(root, RKB_YAML_MAP, "a task file", problems))
      return false;
   rkb_yaml_only(root, "a task file", known, problems);
   int64_t version = 0;
   const rkb_yaml_t *version_node = rkb_yaml_get(root, "rkb-task");
   if (!version_node)
      rkb_problem(problems, root->place, "rkb-task is missing: begin the file with 'rkb-task: 1'");
   else if (rkb_yaml_int(version_node, "rkb-task", &version, problems) && version != 1)
      rkb_problem(problems, version_node->place, "rkb-task %lld is not known: write 1", (long long)version);
   /* A kernel's manifest names its task, and takes no other names. */
   if (rkb_read_text(definition, root, "name", true, &definition->name, problems) &&
       (!rkb_read_is_name(definition->name) || strlen(definition->name) > LONGEST_NAME))
      rkb_problem(
         problems, rkb_yaml_get(root, "name")->place,
         "%.64s is not a name for a task: use letters, digits and _, at most %d, not beginning with a digit",
         definition->name, LONGEST_NAME);
   rkb_read_text(definition, root, "summary", false, &definition->summary, problems);
   rkb_read_text(definition, root, "source", false, &definition->source, problems);
   rkb_read_text(definition, root, "precision", false, &definition->precision, problems);
   if (!definition->precision || !*definition->precision)
      definition->precision = "fp32";
   else
      definition->precision_place = rkb_yaml_get(root, "precision")->place;
   bool found = false;
   for (uint32_t i = 0; classes[i]; i++)
      found |= strcmp(classes[i], definition->precision) == 0;
   if (!found)
      rkb_problem(problems, definition->precision_place,
                  "precision %s is not known: write fp32, fp32-fast, tf32, bf16, fp16, fp8 or int8",
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
         dim->domain = rkb_read_kept(definition, text);
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
   dim->choices = rkb_read_array(definition, choices->count, sizeof *dim->choices);
   rkb_text_t domain;
   rkb_text_init(&domain, 4096);
   for (uint32_t i = 0; i < choices->count; i++)
      if (rkb_yaml_int(choices->items[i], "a choice", &dim->choices[dim->choice_count], problems)) {
         rkb_text_format(&domain, "%s%lld", i ? "|" : "", (long long)dim->choices[dim->choice_count]);
         dim->choice_count++;
      }
   dim->domain = rkb_read_kept(definition, rkb_text_get(&domain));
   rkb_text_free(&domain);
}

static void read_dims(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   if (!node || !rkb_yaml_expect(node, RKB_YAML_MAP, "dims", problems))
      return;
   if (node->count > RKB_MAX_DIMS) {
      rkb_problem(problems, node->place, "more than %u dims", RKB_MAX_DIMS);
      return;
   }
   definition->dims = rkb_read_array(definition, node->count, sizeof *definition->dims);
   for (uint32_t i = 0; i < node->count; i++) {
      rkb_dim_t *dim = &definition->dims[definition->dim_count++];
      dim->name = rkb_read_name(definition, node->keys[i], "a dim", problems);
      dim->place = node->keys[i]->place;
      read_dim(definition, dim, node->items[i], problems);
   }
}

static void read_lets(rkb_definition_t *definition, const rkb_yaml_t *lets, const rkb_yaml_t *require,
                      rkb_problems_t *problems) {
   if (lets && rkb_yaml_expect(lets, RKB_YAML_MAP, "let", problems)) {
      definition->lets = rkb_read_array(definition, lets->count, sizeof *definition->lets);
      for (uint32_t i = 0; i < lets->count; i++) {
         rkb_let_t *let = &definition->lets[definition->let_count++];
         let->name = rkb_read_name(definition, lets->keys[i], "a let", problems);
         let->value = rkb_definition_expression(definition, lets->items[i], "a let", problems);
      }
   }
   if (require && rkb_yaml_expect(require, RKB_YAML_LIST, "require", problems)) {
      definition->require = rkb_read_array(definition, require->count, sizeof *definition->require);
      for (uint32_t i = 0; i < require->count; i++) {
         rkb_expression_t *condition =
            rkb_definition_expression(definition, require->items[i], "a condition", problems);
         if (condition)
            definition->require[definition->require_count++] = condition;
      }
   }
}

static void read_attributes(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems) {
   static const char *const known[] = {"default", "choices", NULL};
   if (!node || !rkb_yaml_expect(node, RKB_YAML_MAP, "attributes", problems))
      return;
   definition->attributes = rkb_read_array(definition, node->count, sizeof *definition->attributes);
   for (uint32_t i = 0; i < node->count; i++) {
      rkb_task_attribute_t *attribute = &definition->attributes[definition->attribute_count++];
      const rkb_yaml_t *map = node->items[i];
      attribute->name = rkb_read_name(definition, node->keys[i], "an attribute", problems);
      if (!rkb_yaml_expect(map, RKB_YAML_MAP, "an attribute", problems))
         continue;
      rkb_yaml_only(map, "an attribute", known, problems);
      const rkb_yaml_t *fallback = rkb_yaml_get(map, "default"), *choices = rkb_yaml_get(map, "choices");
      if (!fallback)
         rkb_problem(problems, map->place, "attribute %s has no default", attribute->name);
      else
         rkb_read_float(fallback, "default", &attribute->fallback, problems);
      if (!choices || !rkb_yaml_expect(choices, RKB_YAML_LIST, "choices", problems))
         continue;
      attribute->choices = rkb_read_array(definition, choices->count, sizeof *attribute->choices);
      for (uint32_t j = 0; j < choices->count; j++)
         attribute->choice_count += rkb_read_float(choices->items[j], "a choice",
                                                   &attribute->choices[attribute->choice_count], problems);
   }
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
   rkb_read_tensors(definition, root, problems);
   rkb_read_settings(definition, rkb_yaml_get(root, "inits"), problems);
   rkb_read_wants_grad(definition, root, problems);
   rkb_read_saves(definition, rkb_yaml_get(root, "saves"), problems);
   read_tolerance(definition, rkb_yaml_get(root, "tolerance"), problems);
   if (problems->errors == before) /* cases refer to all of the sections above */
      rkb_read_cases(definition, root, problems);
   return problems->errors == before;
}
