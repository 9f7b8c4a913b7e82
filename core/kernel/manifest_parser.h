/* Functions that all parts of the manifest reader share (manifest_entries.c), and the parts: manifest.c (the
 * document), manifest_maps.c (its tensor maps), manifest_launch.c (its launches) and manifest_arguments.c.
 * One thread per parse. */
#ifndef RKB_KERNEL_MANIFEST_PARSER_H
#define RKB_KERNEL_MANIFEST_PARSER_H

#include "base/yaml.h"
#include "kernel/manifest.h"

typedef struct manifest_parser {
   manifest_t *manifest;
   rkb_arena_t *arena;
   rkb_problems_t *problems;
   const char *path;
} manifest_parser_t;

/* manifest_entries.c: the place where the text of a scalar begins, after its opening quote. */
rkb_place_t manifest_text_place(const rkb_yaml_t *node);
bool manifest_check_name(manifest_parser_t *parser, const rkb_yaml_t *key, const char *what);
/* The text of a scalar that holds an expression; NULL, with a problem, for anything else. */
const char *manifest_expression_text(manifest_parser_t *parser, const rkb_yaml_t *node, const char *what);
/* Reads the value of key as a list of expressions (empty when absent) or as one (NULL when absent); written
 * is its text.  False after a problem. */
bool manifest_expressions(manifest_parser_t *parser, const rkb_yaml_t *map, const char *key,
                          rkb_expression_t ***list, uint32_t *count, const char **written);
bool manifest_one_expression(manifest_parser_t *parser, const rkb_yaml_t *map, const char *key,
                             rkb_expression_t **value, const char **written);
/* The number of children of a node of that kind, at most `most`; 0 when the node is absent, empty or of
 * another kind. */
uint32_t manifest_entries(manifest_parser_t *parser, const rkb_yaml_t *node, uint32_t kind, const char *what,
                          uint32_t most);

/* manifest_arguments.c */
void manifest_parse_arguments(manifest_parser_t *parser, const rkb_yaml_t *map, manifest_launch_t *launch,
                              rkb_launch_text_t *text);

/* manifest_maps.c; node NULL: there are none. */
void manifest_parse_maps(manifest_parser_t *parser, const rkb_yaml_t *node);
void manifest_parse_launches(manifest_parser_t *parser, const rkb_yaml_t *root);

#endif
