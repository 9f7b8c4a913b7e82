/* Helpers for reading all parts of a manifest: names, texts of expressions, lists of entries.  Owns nothing;
 * one thread per parse. */
#include "kernel/manifest_parser.h"

#include <string.h>

bool manifest_is_name(const char *name) {
   const char *c = name;
   if (!*name || (*name >= '0' && *name <= '9') || strlen(name) > 64)
      return false;
   for (; *c; c++)
      if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_'))
         return false;
   return true;
}

/* Words of the expression language and of manifests.  They may not be used as names. */
static bool is_reserved(const char *name) {
   static const char *const words[] = {"and",     "or",   "not",  "if",    "min", "max",
                                       "ceildiv", "null", "true", "false", NULL};
   for (uint32_t i = 0; words[i]; i++)
      if (strcmp(name, words[i]) == 0)
         return true;
   return false;
}

/* Where the text of a scalar begins: past its opening quote. */
rkb_place_t manifest_text_place(const rkb_yaml_t *node) {
   rkb_place_t place = node->place;
   if (node->quoted)
      place.column++;
   return place;
}

bool manifest_check_name(manifest_parser_t *parser, const rkb_yaml_t *key, const char *what) {
   if (!manifest_is_name(key->text)) {
      rkb_problem(parser->problems, key->place,
                  "'%.64s' cannot name a %s; use letters, digits and _, at most 64", key->text, what);
      return false;
   }
   if (is_reserved(key->text)) {
      rkb_problem(parser->problems, key->place, "'%s' is a word of expressions and cannot name a %s",
                  key->text, what);
      return false;
   }
   return true;
}

/* The text of a scalar that holds an expression; NULL, with a problem, when the node is a list or a mapping. */
const char *manifest_expression_text(manifest_parser_t *parser, const rkb_yaml_t *node, const char *what) {
   if (node->kind == RKB_YAML_LIST || node->kind == RKB_YAML_MAP) {
      rkb_problem(parser->problems, node->place, "%s is one string, not a YAML %s; write it as \"a, b\"",
                  what, node->kind == RKB_YAML_LIST ? "list" : "mapping");
      return NULL;
   }
   return rkb_yaml_is_null(node) ? "" : node->text;
}

/* Finds the value of key, and its text.  *node NULL: the key is absent.  False after a problem. */
static bool find_text(manifest_parser_t *parser, const rkb_yaml_t *map, const char *key,
                      const rkb_yaml_t **node, const char **text, const char **written) {
   *node = rkb_yaml_get(map, key);
   *text = *node ? manifest_expression_text(parser, *node, key) : "";
   *written = *text && **text ? rkb_arena_text(parser->arena, *text, strlen(*text)) : "";
   return *text != NULL;
}

bool manifest_expressions(manifest_parser_t *parser, const rkb_yaml_t *map, const char *key,
                          rkb_expression_t ***list, uint32_t *count, const char **written) {
   const rkb_yaml_t *node;
   const char *text;
   *list = NULL;
   *count = 0;
   if (!find_text(parser, map, key, &node, &text, written))
      return false;
   return !node || rkb_expression_list(parser->arena, text, strlen(text), manifest_text_place(node), list,
                                       count, parser->problems);
}

bool manifest_one_expression(manifest_parser_t *parser, const rkb_yaml_t *map, const char *key,
                             rkb_expression_t **value, const char **written) {
   const rkb_yaml_t *node;
   const char *text;
   *value = NULL;
   if (!find_text(parser, map, key, &node, &text, written))
      return false;
   if (node)
      *value =
         rkb_expression_parse(parser->arena, text, strlen(text), manifest_text_place(node), parser->problems);
   return !node || *value != NULL;
}

uint32_t manifest_entries(manifest_parser_t *parser, const rkb_yaml_t *node, uint32_t kind, const char *what,
                          uint32_t most) {
   if (!node || rkb_yaml_is_null(node) || !rkb_yaml_expect(node, kind, what, parser->problems))
      return 0;
   if (node->count > most) {
      rkb_problem(parser->problems, node->place, "%s has %u entries; at most %u are allowed", what,
                  node->count, most);
      return most;
   }
   return node->count;
}
