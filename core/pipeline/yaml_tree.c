/* Copying, changing and merging YAML trees (yaml_tree.h); yaml_tree_path.c addresses them, yaml_tree_write.c prints them. */
#include "pipeline/yaml_tree.h"

#include <string.h>

static rkb_yaml_t *node_new(rkb_arena_t *arena, uint32_t kind, rkb_place_t place) {
   rkb_yaml_t *node = rkb_arena_alloc(arena, sizeof *node);
   node->kind = kind;
   node->place = place;
   return node;
}

rkb_yaml_t *rkb_tree_scalar(rkb_arena_t *arena, const char *text, bool quoted, rkb_place_t place) {
   rkb_yaml_t *node = node_new(arena, RKB_YAML_SCALAR, place);
   size_t length = strlen(text);
   char *copy = rkb_arena_text(arena, text, length);
   node->text = copy;
   node->length = length;
   node->quoted = quoted;
   return node;
}

rkb_yaml_t *rkb_tree_map(rkb_arena_t *arena, rkb_place_t place) {
   return node_new(arena, RKB_YAML_MAP, place);
}

rkb_yaml_t *rkb_tree_copy(rkb_arena_t *arena, const rkb_yaml_t *node) {
   rkb_yaml_t *copy = rkb_arena_alloc(arena, sizeof *copy);
   *copy = *node;
   if (node->kind == RKB_YAML_SCALAR || !node->count)
      return copy;
   copy->items = rkb_arena_array(arena, node->count, sizeof *copy->items);
   copy->keys = node->kind == RKB_YAML_MAP ? rkb_arena_array(arena, node->count, sizeof *copy->keys) : NULL;
   for (uint32_t i = 0; i < node->count; i++) {
      copy->items[i] = rkb_tree_copy(arena, node->items[i]);
      if (copy->keys)
         copy->keys[i] = node->keys[i]; /* keys are never edited */
   }
   return copy;
}

static int64_t key_index(const rkb_yaml_t *map, const char *key) {
   for (uint32_t i = 0; i < map->count; i++)
      if (strcmp(map->keys[i]->text, key) == 0)
         return i;
   return -1;
}

/* Makes room for one more child at index `at`.  Allocates the arrays anew each time, because edits are few.  If a file makes many edits of a long list,
 * the arena's limit ends them. */
static bool widen(rkb_arena_t *arena, rkb_yaml_t *node, uint32_t at) {
   rkb_yaml_t **items = rkb_arena_try(arena, node->count + 1, sizeof *items);
   rkb_yaml_t **keys =
      node->kind == RKB_YAML_MAP ? rkb_arena_try(arena, node->count + 1, sizeof *keys) : NULL;
   if (!items || (node->kind == RKB_YAML_MAP && !keys))
      return false;
   for (uint32_t i = 0; i < node->count; i++) {
      uint32_t to = i < at ? i : i + 1;
      items[to] = node->items[i];
      if (keys)
         keys[to] = node->keys[i];
   }
   node->items = items;
   node->keys = keys;
   node->count++;
   return true;
}

static void narrow(rkb_yaml_t *node, uint32_t at) {
   for (uint32_t i = at; i + 1 < node->count; i++) {
      node->items[i] = node->items[i + 1];
      if (node->keys)
         node->keys[i] = node->keys[i + 1];
   }
   node->count--;
}

bool rkb_tree_put(rkb_arena_t *arena, rkb_yaml_t *map, const char *key, rkb_yaml_t *value) {
   int64_t at = key_index(map, key);
   if (at >= 0) {
      map->items[at] = value;
      return true;
   }
   rkb_yaml_t *key_node = rkb_tree_scalar(arena, key, false, value->place);
   if (!widen(arena, map, map->count))
      return false;
   map->items[map->count - 1] = value;
   map->keys[map->count - 1] = key_node;
   return true;
}

bool rkb_tree_remove_key(rkb_yaml_t *map, const char *key) {
   int64_t at = key_index(map, key);
   if (at >= 0)
      narrow(map, (uint32_t)at);
   return at >= 0;
}

bool rkb_tree_insert(rkb_arena_t *arena, rkb_yaml_t *list, uint32_t at, rkb_yaml_t *value) {
   if (!widen(arena, list, at))
      return false;
   list->items[at] = value;
   return true;
}

void rkb_tree_remove_item(rkb_yaml_t *list, uint32_t at) {
   narrow(list, at);
}

rkb_yaml_t *rkb_tree_merge(rkb_arena_t *arena, const rkb_yaml_t *parent, const rkb_yaml_t *child) {
   if (parent->kind != RKB_YAML_MAP || child->kind != RKB_YAML_MAP)
      return rkb_tree_copy(arena, child);
   rkb_yaml_t *merged = rkb_tree_copy(arena, parent);
   merged->place = child->place;
   for (uint32_t i = 0; i < child->count; i++) {
      int64_t at = key_index(merged, child->keys[i]->text);
      rkb_yaml_t *value = at >= 0 ? rkb_tree_merge(arena, merged->items[at], child->items[i])
                                  : rkb_tree_copy(arena, child->items[i]);
      if (!value || !rkb_tree_put(arena, merged, child->keys[i]->text, value))
         return NULL;
      merged->keys[at >= 0 ? (uint32_t)at : merged->count - 1] = child->keys[i];
   }
   return merged;
}
