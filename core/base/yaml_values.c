/* Reads typed values from a parsed YAML tree and reports each value of the wrong type.  Any thread. */
#include "base/yaml.h"

#include <string.h>

#include "base/nearest_name.h"
#include "base/units.h"

#define SHOWN 60 /* bytes of a value that a message quotes */

rkb_yaml_t *rkb_yaml_get(const rkb_yaml_t *map, const char *key) {
   if (!map || map->kind != RKB_YAML_MAP)
      return NULL;
   size_t length = strlen(key);
   for (uint32_t i = 0; i < map->count; i++) {
      if (map->keys[i]->length == length && memcmp(map->keys[i]->text, key, length) == 0)
         return map->items[i];
   }
   return NULL;
}

bool rkb_yaml_is_null(const rkb_yaml_t *node) {
   if (!node)
      return true;
   if (node->kind != RKB_YAML_SCALAR || node->quoted)
      return false;
   return node->length == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0;
}

static rkb_place_t place_of(const rkb_yaml_t *node) {
   return node ? node->place : (rkb_place_t){0};
}

/* Describes the value for a message that ends "but this is ...". */
static const char *describe(const rkb_yaml_t *node) {
   if (rkb_yaml_is_null(node))
      return "there is nothing";
   if (node->kind == RKB_YAML_LIST)
      return "this is a list";
   if (node->kind == RKB_YAML_MAP)
      return "this is a map";
   return node->quoted ? "this is a text in quotes" : "this is a text";
}

static bool refuse(const rkb_yaml_t *node, const char *what, const char *expected, rkb_problems_t *problems) {
   if (node && node->kind == RKB_YAML_SCALAR && !rkb_yaml_is_null(node))
      rkb_problem(problems, place_of(node), "%s should be %s, but %s: '%.*s'", what, expected, describe(node),
                  SHOWN, node->text);
   else
      rkb_problem(problems, place_of(node), "%s should be %s, but %s", what, expected, describe(node));
   return false;
}

static bool is_plain(const rkb_yaml_t *node) {
   return node && node->kind == RKB_YAML_SCALAR && !node->quoted;
}

bool rkb_yaml_int(const rkb_yaml_t *node, const char *what, int64_t *value, rkb_problems_t *problems) {
   if (is_plain(node) && rkb_parse_int(node->text, value))
      return true;
   return refuse(node, what, "a 64-bit integer such as 42 or 0x2a", problems);
}

bool rkb_yaml_real(const rkb_yaml_t *node, const char *what, double *value, rkb_problems_t *problems) {
   if (is_plain(node) && rkb_parse_real(node->text, value))
      return true;
   return refuse(node, what, "a finite number such as 0.5 or 1e-6", problems);
}

bool rkb_yaml_bool(const rkb_yaml_t *node, const char *what, bool *value, rkb_problems_t *problems) {
   if (is_plain(node) && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)) {
      *value = node->text[0] == 't';
      return true;
   }
   return refuse(node, what, "true or false", problems);
}

bool rkb_yaml_scalar(const rkb_yaml_t *node, const char *what, const char **text, rkb_problems_t *problems) {
   if (node && node->kind == RKB_YAML_SCALAR && !rkb_yaml_is_null(node)) {
      *text = node->text;
      return true;
   }
   return refuse(node, what, "a text", problems);
}

bool rkb_yaml_expect(const rkb_yaml_t *node, uint32_t kind, const char *what, rkb_problems_t *problems) {
   if (node && node->kind == kind)
      return true;
   const char *expected = kind == RKB_YAML_LIST  ? "a list ('- item' lines, or [a, b])"
                          : kind == RKB_YAML_MAP ? "a map ('name: value' lines, or {name: value})"
                                                 : "a single value";
   return refuse(node, what, expected, problems);
}

static bool is_known(const char *key, const char *const *known) {
   while (*known && strcmp(*known, key) != 0)
      known++;
   return *known != NULL;
}

void rkb_yaml_only(const rkb_yaml_t *map, const char *what, const char *const *known,
                   rkb_problems_t *problems) {
   if (!map || map->kind != RKB_YAML_MAP)
      return;
   for (uint32_t i = 0; i < map->count; i++) {
      const rkb_yaml_t *key = map->keys[i];
      if (is_known(key->text, known))
         continue;
      /* Searches for a near name only if the problem will be shown. */
      const char *near = problems->count < RKB_PROBLEMS_KEPT ? rkb_nearest(key->text, known) : NULL;
      if (near)
         rkb_problem(problems, key->place, "%s has no key '%.*s'; did you mean '%s'?", what, SHOWN, key->text,
                     near);
      else
         rkb_problem(problems, key->place, "%s has no key '%.*s'", what, SHOWN, key->text);
   }
}
