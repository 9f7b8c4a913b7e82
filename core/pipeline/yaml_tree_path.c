/* Paths into a pipeline: "screen.machine.with.trials" names a key by its name and a list's entry by its id. */
#include "pipeline/yaml_tree.h"

#include <string.h>
#include "base/nearest_name.h"

#define MAX_STEPS 16
#define MAX_NAMES 256

const char *rkb_tree_entry_id(rkb_arena_t *arena, const rkb_yaml_t *entry) {
   if (!entry || entry->kind != RKB_YAML_MAP)
      return NULL;
   const rkb_yaml_t *id = rkb_yaml_get(entry, "id");
   if (id && id->kind == RKB_YAML_SCALAR)
      return id->text;
   const rkb_yaml_t *use = rkb_yaml_get(entry, "use");
   if (!use || use->kind != RKB_YAML_SCALAR)
      return NULL;
   const char *dot = strrchr(use->text, '.');
   const char *word = dot ? dot + 1 : use->text;
   return rkb_arena_text(arena, word, strlen(word));
}

int64_t rkb_tree_find_entry(rkb_arena_t *arena, const rkb_yaml_t *list, const char *id) {
   for (uint32_t i = 0; i < list->count; i++) {
      const char *own = rkb_tree_entry_id(arena, list->items[i]);
      if (own && strcmp(own, id) == 0)
         return i;
   }
   return -1;
}

/* The name nearest to step among a node's keys or its entries' ids, or NULL. */
static const char *nearest_child(rkb_arena_t *arena, const rkb_yaml_t *node, const char *step) {
   const char *names[MAX_NAMES + 1];
   uint32_t count = 0;
   for (uint32_t i = 0; i < node->count && count < MAX_NAMES; i++) {
      const char *name =
         node->kind == RKB_YAML_MAP ? node->keys[i]->text : rkb_tree_entry_id(arena, node->items[i]);
      if (name)
         names[count++] = name;
   }
   names[count] = NULL;
   return rkb_nearest(step, names);
}

static bool nowhere(rkb_arena_t *arena, const rkb_yaml_t *node, const char *path, const char *step,
                    rkb_place_t place, rkb_problems_t *problems) {
   const char *near = node->kind == RKB_YAML_SCALAR ? NULL : nearest_child(arena, node, step);
   if (node->kind == RKB_YAML_SCALAR)
      rkb_problem(problems, place, "the path '%s' goes on at '%s', below a single value", path, step);
   else
      rkb_problem(problems, place, "the path '%s' names no entry '%s'%s%s%s", path, step,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "; write the entry's id");
   return false;
}

/* Puts value at the step below node: the key of a mapping, or in place of the list entry with that id. */
static bool put_at(rkb_arena_t *arena, rkb_yaml_t *node, const char *path, const char *step,
                   rkb_yaml_t *value, rkb_place_t place, rkb_problems_t *problems) {
   if (node->kind == RKB_YAML_MAP)
      return rkb_tree_put(arena, node, step, value);
   int64_t at = node->kind == RKB_YAML_LIST ? rkb_tree_find_entry(arena, node, step) : -1;
   if (at < 0)
      return nowhere(arena, node, path, step, place, problems);
   node->items[at] = value;
   return true;
}

bool rkb_tree_set(rkb_arena_t *arena, rkb_yaml_t *root, const char *path, const rkb_yaml_t *value,
                  rkb_place_t place, rkb_problems_t *problems) {
   char *rest = rkb_arena_text(arena, path, strlen(path));
   rkb_yaml_t *copy = rkb_tree_copy(arena, value);
   rkb_yaml_t *node = root;
   uint32_t steps = 0;
   while (true) {
      char *step = strsep(&rest, ".");
      if (!*step || ++steps > MAX_STEPS) {
         rkb_problem(problems, place,
                     "'%s' is not a path; write names with dots between them, as in limits.candidates", path);
         return false;
      }
      if (!rest)
         return put_at(arena, node, path, step, copy, place, problems);
      rkb_yaml_t *next = NULL;
      if (node->kind == RKB_YAML_MAP) {
         next = rkb_yaml_get(node, step);
         if (rkb_yaml_is_null(next)) {
            next = rkb_tree_map(arena, place);
            if (!rkb_tree_put(arena, node, step, next))
               return false;
         }
      } else if (node->kind == RKB_YAML_LIST) {
         int64_t at = rkb_tree_find_entry(arena, node, step);
         next = at >= 0 ? node->items[at] : NULL;
      }
      if (!next)
         return nowhere(arena, node, path, step, place, problems);
      node = next;
   }
}
