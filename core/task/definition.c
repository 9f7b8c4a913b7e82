/* Reading a task's two files into a definition.  Owns the arena; one thread. */
#include "task/definition.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/hash.h"

#define MOST_FILE_BYTES (1u << 20)

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

/* Reads one of the two files and parses it.  The bytes' hash goes into the task's. */
static rkb_yaml_t *load(rkb_definition_t *definition, const char *name, rkb_hasher_t *hasher,
                        rkb_problems_t *problems) {
   char *path = rkb_path_join(definition->directory, name), *data = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   rkb_yaml_t *root = NULL;
   if (!path)
      return NULL;
   const char *kept = rkb_arena_text(definition->arena, path, strlen(path));
   free(path);
   if (!kept)
      return NULL;
   if (rkb_file_read(kept, MOST_FILE_BYTES, &data, &length, &err) != RKB_OK) {
      rkb_problem(problems, (rkb_place_t){kept, 0, 0}, "%s", err.message);
      return NULL;
   }
   rkb_hasher_add(hasher, data, length);
   root = rkb_yaml_parse(definition->arena, kept, data, length, 1, 1, problems);
   free(data);
   return root;
}

static void load_reference(rkb_definition_t *definition) {
   char *path = rkb_path_join(definition->directory, "reference.py"), *data = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   definition->reference = "";
   if (path && rkb_path_exists(path) &&
       rkb_file_read(path, MOST_FILE_BYTES, &data, &length, &err) == RKB_OK) {
      const char *text = rkb_arena_text(definition->arena, data, length);
      definition->reference = text ? text : "";
   }
   free(data);
   free(path);
}

rkb_definition_t *rkb_definition_load(const char *directory, rkb_problems_t *problems) {
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_definition_t *definition = arena ? rkb_arena_alloc(arena, sizeof *definition) : NULL;
   rkb_hasher_t *hasher = rkb_hasher_new();
   char *absolute = realpath(directory, NULL);
   uint32_t before = problems->errors;
   if (!definition || !hasher) {
      rkb_problem(problems, (rkb_place_t){0}, "out of memory");
      goto out;
   }
   definition->arena = arena;
   definition->directory = rkb_arena_format(arena, "%s", absolute ? absolute : directory);
   if (!definition->directory)
      goto out;
   rkb_yaml_t *task = load(definition, "task.yaml", hasher, problems);
   rkb_yaml_t *graph = load(definition, "reference.graph.yaml", hasher, problems);
   if (task && rkb_definition_read(definition, task, problems) && graph)
      rkb_graph_read(definition, graph, problems);
   load_reference(definition);
   rkb_hasher_finish(hasher, definition->hash);
   hasher = NULL;
out:
   free(absolute);
   if (hasher) {
      char unused[RKB_HASH_TEXT];
      rkb_hasher_finish(hasher, unused);
   }
   if (definition && problems->errors == before)
      return definition;
   rkb_arena_free(arena);
   return NULL;
}

void rkb_definition_free(rkb_definition_t *definition) {
   if (definition)
      rkb_arena_free(definition->arena);
}
