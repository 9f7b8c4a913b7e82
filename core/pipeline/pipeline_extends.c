/* Makes one pipeline from several files: takes the parent, merges the child's mappings over it, then applies the child's remove, insert
 * and set in this order, so that set can address inserted entries. */
#include "pipeline/pipeline_parts.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/shipped_files.h"

#define MAX_DEPTH 8

typedef struct chain {
   char *paths[MAX_DEPTH + 1];
   uint32_t count;
} chain_t;

static rkb_yaml_t *load(rkb_arena_t *arena, const char *path, chain_t *chain, rkb_problems_t *problems);

static bool find_in_lists(rkb_arena_t *arena, rkb_yaml_t *root, const char *id, rkb_yaml_t **list,
                          uint32_t *at) {
   static const char *const sections[] = {"propose", "screen", "evaluate", NULL};
   for (const char *const *section = sections; *section; section++) {
      rkb_yaml_t *entries = rkb_yaml_get(root, *section);
      int64_t found =
         entries && entries->kind == RKB_YAML_LIST ? rkb_tree_find_entry(arena, entries, id) : -1;
      if (found >= 0) {
         *list = entries;
         *at = (uint32_t)found;
         return true;
      }
   }
   rkb_yaml_t *operators = rkb_yaml_get(rkb_yaml_get(root, "search"), "operators");
   int64_t found =
      operators && operators->kind == RKB_YAML_LIST ? rkb_tree_find_entry(arena, operators, id) : -1;
   *list = operators;
   *at = found >= 0 ? (uint32_t)found : 0;
   return found >= 0;
}

static void apply_remove(rkb_arena_t *arena, rkb_yaml_t *root, const rkb_yaml_t *ids,
                         rkb_problems_t *problems) {
   if (rkb_yaml_is_null(ids) || !rkb_yaml_expect(ids, RKB_YAML_LIST, "remove", problems))
      return;
   for (uint32_t i = 0; i < ids->count; i++) {
      const char *id;
      rkb_yaml_t *list;
      uint32_t at;
      if (!rkb_yaml_scalar(ids->items[i], "remove", &id, problems))
         continue;
      if (find_in_lists(arena, root, id, &list, &at))
         rkb_tree_remove_item(list, at);
      else
         rkb_problem(problems, ids->items[i]->place, "remove: there is no entry '%s'; write an entry's id",
                     id);
   }
}

/* Applies one insert: {after: ID, stage: {...}}, {before: ID, stage: {...}}, or {into: SECTION, stage: {...}}, which appends to a list. */
static void apply_insert(rkb_arena_t *arena, rkb_yaml_t *root, const rkb_yaml_t *edit,
                         rkb_problems_t *problems) {
   if (!rkb_yaml_expect(edit, RKB_YAML_MAP, "insert", problems))
      return;
   rkb_pipeline_keys_only(edit, "insert", RKB_KEYS_INSERT, problems);
   const rkb_yaml_t *after = rkb_yaml_get(edit, "after"), *before = rkb_yaml_get(edit, "before");
   const rkb_yaml_t *into = rkb_yaml_get(edit, "into"), *stage = rkb_yaml_get(edit, "stage");
   const rkb_yaml_t *where = after ? after : before ? before : into;
   const char *name;
   if (!where || !stage || (after != NULL) + (before != NULL) + (into != NULL) != 1) {
      rkb_problem(problems, edit->place,
                  "insert: write {after: ID, stage: {use: ...}}, or before: or into: SECTION");
      return;
   }
   if (!rkb_yaml_scalar(where, "insert", &name, problems))
      return;
   rkb_yaml_t *list = NULL;
   uint32_t at = 0;
   if (into) {
      bool operators = strcmp(name, "operators") == 0;
      list = rkb_yaml_get(operators ? rkb_yaml_get(root, "search") : root, name);
      if (!operators && strcmp(name, "propose") != 0 && strcmp(name, "screen") != 0 &&
          strcmp(name, "evaluate") != 0)
         list = NULL;
      if (!list || list->kind != RKB_YAML_LIST) {
         rkb_problem(problems, where->place,
                     "insert: there is no list '%s'; into: takes propose, screen, evaluate or operators",
                     name);
         return;
      }
      at = list->count;
   } else if (!find_in_lists(arena, root, name, &list, &at)) {
      rkb_problem(problems, where->place, "insert: there is no entry '%s'; write an entry's id", name);
      return;
   } else if (after) {
      at++;
   }
   rkb_yaml_t *copy = rkb_tree_copy(arena, stage);
   rkb_tree_insert(arena, list, at, copy); /* fails past the arena's limit, which rkb_pipeline_open reports */
}

static void apply_edits(rkb_arena_t *arena, rkb_yaml_t *root, const rkb_yaml_t *child,
                        rkb_problems_t *problems) {
   const rkb_yaml_t *insert = rkb_yaml_get(child, "insert"), *set = rkb_yaml_get(child, "set");
   apply_remove(arena, root, rkb_yaml_get(child, "remove"), problems);
   if (!rkb_yaml_is_null(insert) && rkb_yaml_expect(insert, RKB_YAML_LIST, "insert", problems))
      for (uint32_t i = 0; i < insert->count; i++)
         apply_insert(arena, root, insert->items[i], problems);
   if (!rkb_yaml_is_null(set) && rkb_yaml_expect(set, RKB_YAML_MAP, "set", problems))
      for (uint32_t i = 0; i < set->count; i++)
         rkb_tree_set(arena, root, set->keys[i]->text, set->items[i], set->keys[i]->place, problems);
}

static rkb_yaml_t *load_parent(rkb_arena_t *arena, const rkb_yaml_t *extends, const char *path,
                               chain_t *chain, rkb_problems_t *problems) {
   const char *name;
   if (!rkb_yaml_scalar(extends, "extends", &name, problems))
      return NULL;
   char *directory = rkb_path_directory(path);
   char *joined = rkb_path_join(directory, name);
   rkb_yaml_t *parent = NULL;
   uint32_t said = problems->count;
   if (!rkb_path_exists(joined)) {
      char *shipped = rkb_find_shipped("pipelines", name);
      if (shipped) {
         free(joined);
         joined = shipped;
      }
   }
   if (!rkb_path_exists(joined)) {
      char *hint = rkb_shipped_hint("pipelines", joined);
      rkb_problem(problems, extends->place,
                  "extends: there is no file %s, and no shipped pipeline of that name%s", joined, hint);
      free(hint);
   } else if (chain->count > MAX_DEPTH) {
      rkb_problem(problems, extends->place, "extends goes deeper than %d files", MAX_DEPTH);
   } else {
      char *real = realpath(joined, NULL);
      bool cycle = false;
      for (uint32_t i = 0; real && i < chain->count; i++)
         cycle |= strcmp(chain->paths[i], real) == 0;
      if (cycle) {
         rkb_text_t names;
         rkb_text_init(&names, 4096);
         for (uint32_t i = 0; i < chain->count; i++)
            rkb_text_format(&names, "%s, which extends ", strrchr(chain->paths[i], '/') + 1);
         rkb_text_add(&names, strrchr(real, '/') + 1);
         rkb_problem(problems, extends->place, "extends runs in a circle: %s", rkb_text_get(&names));
         rkb_text_free(&names);
      } else if (real) {
         parent = load(arena, joined, chain, problems);
         rkb_problems_place(problems, said, extends->place); /* a directory, or a file that cannot be read */
      }
      free(real);
   }
   free(joined);
   free(directory);
   return parent;
}

static rkb_yaml_t *load(rkb_arena_t *arena, const char *path, chain_t *chain, rkb_problems_t *problems) {
   rkb_yaml_t *merged = NULL;
   rkb_yaml_t *child = rkb_yaml_load(arena, path, problems);
   char *real = realpath(path, NULL);
   if (child && !real)
      real = rkb_duplicate(path); /* an open file without a name */
   if (!child || !rkb_yaml_expect(child, RKB_YAML_MAP, "a pipeline", problems))
      goto done;
   chain->paths[chain->count++] = real;
   const rkb_yaml_t *extends = rkb_yaml_get(child, "extends");
   if (rkb_yaml_is_null(extends)) {
      merged = rkb_tree_copy(arena, child);
   } else {
      rkb_yaml_t *parent = load_parent(arena, extends, path, chain, problems);
      if (parent) {
         rkb_tree_remove_key(parent, "name"); /* a child without a name is named after its own file */
         merged = rkb_tree_merge(arena, parent, child);
      }
   }
   chain->count--;
   if (merged) {
      static const char *const edits[] = {"extends", "set", "remove", "insert", NULL};
      for (const char *const *edit = edits; *edit; edit++)
         rkb_tree_remove_key(merged, *edit);
      apply_edits(arena, merged, child, problems);
   }
done:
   free(real);
   return merged;
}

rkb_yaml_t *rkb_pipeline_merge(rkb_arena_t *arena, const char *path, rkb_problems_t *problems) {
   chain_t chain = {0};
   return load(arena, path, &chain, problems);
}

bool rkb_pipeline_override(rkb_arena_t *arena, rkb_yaml_t *root, const char *assignment,
                           rkb_problems_t *problems) {
   rkb_place_t place = {.file = "--set", .line = 1, .column = 1};
   const char *equals = strchr(assignment, '=');
   if (!equals || equals == assignment) {
      rkb_problem(problems, place, "'%s' is not an assignment; write path=value, as in limits.candidates=50",
                  assignment);
      return false;
   }
   if (!equals[1]) {
      place.column = (uint32_t)(equals - assignment) + 2;
      rkb_problem(problems, place, "'%s' gives no value; write one, or null for the default", assignment);
      return false;
   }
   char *path = rkb_arena_text(arena, assignment, (size_t)(equals - assignment));
   rkb_yaml_t *value = rkb_yaml_parse(arena, "--set", equals + 1, strlen(equals + 1), 1,
                                      (uint32_t)(equals - assignment) + 2, problems);
   return value && rkb_tree_set(arena, root, path, value, place, problems);
}
