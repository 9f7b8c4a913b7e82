/* Editing YAML trees: a pipeline is read, merged with what it extends and edited by path before it is checked.  Trees lie in an arena.  Every node keeps
 * its place in a file, so that messages point to the right file. Functions that change or merge a tree return NULL or false past the arena's limit.  One
 * thread at a time. */
#ifndef RKB_PIPELINE_YAML_TREE_H
#define RKB_PIPELINE_YAML_TREE_H

#include "base/yaml.h"

rkb_yaml_t *rkb_tree_copy(rkb_arena_t *arena, const rkb_yaml_t *node);
rkb_yaml_t *rkb_tree_scalar(rkb_arena_t *arena, const char *text, bool quoted, rkb_place_t place);
rkb_yaml_t *rkb_tree_map(rkb_arena_t *arena, rkb_place_t place);
/* Sets key in map to value (not copied). */
bool rkb_tree_put(rkb_arena_t *arena, rkb_yaml_t *map, const char *key, rkb_yaml_t *value);
bool rkb_tree_remove_key(rkb_yaml_t *map, const char *key); /* false when there was none */
bool rkb_tree_insert(rkb_arena_t *arena, rkb_yaml_t *list, uint32_t at, rkb_yaml_t *value);
void rkb_tree_remove_item(rkb_yaml_t *list, uint32_t at);
/* Merges child over parent: mappings are merged, everything else is replaced.  Does not change either tree. */
rkb_yaml_t *rkb_tree_merge(rkb_arena_t *arena, const rkb_yaml_t *parent, const rkb_yaml_t *child);
/* Canonical YAML: keys in their order, texts quoted where they need it, two spaces a level. */
void rkb_tree_write(const rkb_yaml_t *node, rkb_text_t *out);

/* An entry's id: "id:", or the last word of "use:"; NULL when it has neither.  In the arena. */
const char *rkb_tree_entry_id(rkb_arena_t *arena, const rkb_yaml_t *entry);
/* Index of the entry with this id in a list of entries, or -1. */
int64_t rkb_tree_find_entry(rkb_arena_t *arena, const rkb_yaml_t *list, const char *id);
/* Puts a copy of value at a dotted path ("screen.machine.with.trials") of mapping keys and entry ids.  Makes missing mappings at the end
 * of the path.  Adds a problem at place when the path does not exist. */
bool rkb_tree_set(rkb_arena_t *arena, rkb_yaml_t *root, const char *path, const rkb_yaml_t *value,
                  rkb_place_t place, rkb_problems_t *problems);

#endif
