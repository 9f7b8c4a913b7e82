/* Reads the elements of which every section of task.yaml consists: names, numbers, expressions, and tensors
 * given by name.  Also allocates arrays and copies texts in the definition's arena.  Reports mistakes at
 * their places.  One thread. */
#include "task/definition_read.h"

#include <math.h>
#include <string.h>

void *rkb_read_array(rkb_definition_t *definition, uint32_t count, size_t size) {
   return rkb_arena_array(definition->arena, count + 1, size);
}

const char *rkb_read_kept(rkb_definition_t *definition, const char *text) {
   return rkb_arena_text(definition->arena, text, strlen(text));
}

bool rkb_read_is_name(const char *name) {
   if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || *name == '_'))
      return false;
   for (; *name; name++)
      if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
            (*name >= '0' && *name <= '9') || *name == '_'))
         return false;
   return true;
}

const char *rkb_read_name(rkb_definition_t *definition, const rkb_yaml_t *key, const char *what,
                          rkb_problems_t *problems) {
   if (!rkb_read_is_name(key->text))
      rkb_problem(problems, key->place,
                  "%s is not a name for %s: use letters, digits and _, not beginning with a digit", key->text,
                  what);
   return rkb_read_kept(definition, key->text);
}

bool rkb_read_text(rkb_definition_t *definition, const rkb_yaml_t *map, const char *key, bool required,
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
   *out = rkb_read_kept(definition, text);
   return true;
}

/* Rounds to float32, because that is what a kernel receives. */
bool rkb_read_float(const rkb_yaml_t *node, const char *what, double *value, rkb_problems_t *problems) {
   if (!rkb_yaml_real(node, what, value, problems))
      return false;
   *value = (double)(float)*value;
   if (isfinite(*value))
      return true;
   rkb_problem(problems, node->place, "%s does not fit into float32", what);
   return false;
}

uint32_t rkb_definition_tensor(const rkb_definition_t *definition, const char *name) {
   for (uint32_t i = 0; i < definition->tensor_count; i++)
      if (strcmp(definition->tensors[i].name, name) == 0)
         return i;
   return UINT32_MAX;
}

static rkb_place_t text_place(const rkb_yaml_t *node) {
   rkb_place_t place = node->place;
   place.column += node->quoted;
   return place;
}

rkb_expression_t *rkb_definition_expression(rkb_definition_t *definition, const rkb_yaml_t *node,
                                            const char *what, rkb_problems_t *problems) {
   const char *text;
   if (!rkb_yaml_scalar(node, what, &text, problems))
      return NULL;
   return rkb_expression_parse(definition->arena, text, strlen(text), text_place(node), problems);
}

bool rkb_definition_expressions(rkb_definition_t *definition, const rkb_yaml_t *node, const char *what,
                                rkb_expression_t ***list, uint32_t *count, rkb_problems_t *problems) {
   const char *text;
   if (!rkb_yaml_scalar(node, what, &text, problems))
      return false;
   return rkb_expression_list(definition->arena, text, strlen(text), text_place(node), list, count, problems);
}
