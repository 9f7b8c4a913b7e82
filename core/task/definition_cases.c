/* Reads the cases of a task.yaml, which refer to its dims, attributes and init settings.  One thread. */
#include "task/definition_read.h"

#include <stdlib.h>
#include <string.h>

/* Reads a case's numbers by name.  Each key must be one of names; its value goes to that name's index. */
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
         rkb_read_float(node->items[i], node->keys[i]->text, &c->attributes[found], problems);
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
   c->dims = rkb_read_array(definition, definition->dim_count, sizeof *c->dims);
   c->attributes = rkb_read_array(definition, definition->attribute_count, sizeof *c->attributes);
   if (!rkb_yaml_expect(node, RKB_YAML_MAP, "a case", problems))
      return;
   rkb_yaml_only(node, "a case", known, problems);
   rkb_read_text(definition, node, "name", true, &text, problems);
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

void rkb_read_cases(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems) {
   static const char *const known[] = {"check", "bench", NULL};
   const rkb_yaml_t *node = rkb_yaml_get(root, "cases");
   if (!node) {
      rkb_problem(problems, root->place, "cases is missing");
      return;
   }
   if (!rkb_yaml_expect(node, RKB_YAML_MAP, "cases", problems))
      return;
   rkb_yaml_only(node, "cases", known, problems);
   definition->cases = rkb_read_array(definition, RKB_MAX_CASES, sizeof *definition->cases);
   for (uint32_t kind = RKB_CASE_CHECK; kind <= RKB_CASE_BENCH; kind++) {
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
