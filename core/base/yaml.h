/* A YAML document as a tree in which every node knows its place (built on libyaml's event API).  The parser refuses, each with its
 * place: more than 1 MiB, more than 131,072 values (keys included), nesting over 32, aliases and anchors, tags, duplicate
 * keys, keys that are no plain text, NUL bytes, invalid UTF-8, and a second document.  Parsing takes linear time.  The tree never
 * changes after parsing. */
#ifndef RKB_BASE_YAML_H
#define RKB_BASE_YAML_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/problems.h"

enum rkb_yaml_kind { RKB_YAML_SCALAR = 1, RKB_YAML_LIST, RKB_YAML_MAP };

typedef struct rkb_yaml {
   uint32_t kind;
   uint32_t count; /* children of a list or map */
   rkb_place_t place;
   const char *text; /* scalar: its text, NUL-terminated */
   size_t length;
   bool quoted;             /* scalar written in quotes or as a block: never a number, boolean or null */
   struct rkb_yaml **items; /* list: children; map: values */
   struct rkb_yaml **keys;  /* map: keys, scalars */
} rkb_yaml_t;

#define RKB_YAML_MAX_BYTES (1u << 20)
#define RKB_YAML_MAX_DEPTH 32
#define RKB_YAML_MAX_VALUES (1u << 17)

/* Parses bytes.  file is the name for messages (copied).  first_line and first_column (from 1) say where the bytes begin
 * in that file, for YAML inside a comment.  NULL when there is a problem (added to problems). */
rkb_yaml_t *rkb_yaml_parse(rkb_arena_t *arena, const char *file, const char *bytes, size_t length,
                           uint32_t first_line, uint32_t first_column, rkb_problems_t *problems);
rkb_yaml_t *rkb_yaml_load(rkb_arena_t *arena, const char *path, rkb_problems_t *problems);

/* The value under key, or NULL; a NULL map gives NULL. */
rkb_yaml_t *rkb_yaml_get(const rkb_yaml_t *map, const char *key);
/* True for NULL and for an unquoted scalar that is empty, "~" or "null". */
bool rkb_yaml_is_null(const rkb_yaml_t *node);

/* Each reads one type of scalar.  If the node is of another type, it adds a problem and returns false.  what names the value in
 * the message ("seed"). */
bool rkb_yaml_int(const rkb_yaml_t *node, const char *what, int64_t *value, rkb_problems_t *problems);
/* Accepts finite numbers only. */
bool rkb_yaml_real(const rkb_yaml_t *node, const char *what, double *value, rkb_problems_t *problems);
/* Accepts true and false only. */
bool rkb_yaml_bool(const rkb_yaml_t *node, const char *what, bool *value, rkb_problems_t *problems);
bool rkb_yaml_scalar(const rkb_yaml_t *node, const char *what, const char **text, rkb_problems_t *problems);
bool rkb_yaml_expect(const rkb_yaml_t *node, uint32_t kind, const char *what, rkb_problems_t *problems);

/* Adds a problem for every key of map that is not in known (NULL-terminated) and suggests the nearest known key. */
void rkb_yaml_only(const rkb_yaml_t *map, const char *what, const char *const *known,
                   rkb_problems_t *problems);

#endif
