/* Reads a task's two files into a definition.  Owns the arena; one thread. */
#include "task/definition.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/shipped_files.h"

#define MOST_FILE_BYTES (1u << 20)

/* Reads one of the two files.  Its path lies in the arena; the caller frees its bytes. */
static char *read_file(rkb_definition_t *definition, const char *name, const char **path, size_t *length,
                       rkb_problems_t *problems) {
   char *joined = rkb_path_join(definition->directory, name), *data = NULL;
   rkb_error_t err = {0};
   *path = rkb_arena_text(definition->arena, joined, strlen(joined));
   free(joined);
   if (rkb_file_read(*path, MOST_FILE_BYTES, &data, length, &err) != RKB_OK)
      rkb_problem(problems, (rkb_place_t){*path, 0, 0}, "%s", err.message);
   return data;
}

static void load_reference(rkb_definition_t *definition) {
   char *path = rkb_path_join(definition->directory, "reference.py"), *data = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   definition->reference = "";
   if (rkb_path_exists(path) && rkb_file_read(path, MOST_FILE_BYTES, &data, &length, &err) == RKB_OK)
      definition->reference = rkb_arena_text(definition->arena, data, length);
   free(data);
   free(path);
}

/* Whether a tensor or a value of the graph has one of the types: bits numbered by enum rkb_dtype. */
static bool has_type(const rkb_definition_t *definition, uint32_t types) {
   for (uint32_t i = 0; i < definition->tensor_count; i++)
      if (types >> definition->tensors[i].dtype & 1)
         return true;
   for (uint32_t i = 0; i < definition->node_count; i++)
      for (uint32_t j = 0; j < definition->nodes[i].output_count; j++)
         if (types >> definition->nodes[i].outputs[j].dtype & 1)
            return true;
   return false;
}

/* A class of 8-bit numbers belongs to tasks that have such numbers: as tensors, or made in the graph by a model that quantises
 * inside.  In any other task it would compare kernels with a speed that no honest one has. */
static void check_precision(const rkb_definition_t *definition, rkb_problems_t *problems) {
   const bool integers = strcmp(definition->precision, "int8") == 0;
   const uint32_t wanted = integers ? 1u << RKB_I8 | 1u << RKB_U8 : 1u << RKB_E4M3 | 1u << RKB_E5M2;
   if ((!integers && strcmp(definition->precision, "fp8") != 0) || has_type(definition, wanted))
      return;
   rkb_problem(
      problems, definition->precision_place,
      "precision %s, but no tensor and no value of the graph is %s: write %s, or convert in the graph (node `to`)",
      definition->precision, integers ? "int8 or uint8" : "an 8-bit float",
      has_type(definition, 1u << RKB_BF16)  ? "bf16"
      : has_type(definition, 1u << RKB_F16) ? "fp16"
                                            : "fp32");
}

static void parse(rkb_definition_t *definition, const rkb_task_texts_t *texts, rkb_problems_t *problems) {
   rkb_hasher_t *hasher = rkb_hasher_new();
   if (!hasher)
      return;
   rkb_hasher_add(hasher, texts->task, texts->task_length);
   rkb_hasher_add(hasher, texts->graph, texts->graph_length);
   rkb_hasher_finish(hasher, definition->hash);
   const rkb_yaml_t *task =
      rkb_yaml_parse(definition->arena, texts->task_path, texts->task, texts->task_length, 1, 1, problems);
   const rkb_yaml_t *graph =
      rkb_yaml_parse(definition->arena, texts->graph_path, texts->graph, texts->graph_length, 1, 1, problems);
   if (task && rkb_definition_read(definition, task, problems) && graph) {
      if (rkb_graph_read(definition, graph, problems)) {
         rkb_definition_find_saves(definition, problems);
         rkb_definition_check_masks(definition, problems);
         check_precision(definition, problems);
      }
   }
}

static rkb_definition_t *definition_new(const char *directory) {
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_definition_t *definition = rkb_arena_alloc(arena, sizeof *definition);
   definition->arena = arena;
   definition->directory = rkb_arena_text(arena, directory, strlen(directory));
   definition->reference = "";
   return definition;
}

/* Returns the definition, or frees it and returns NULL when there were problems. */
static rkb_definition_t *without_problems(rkb_definition_t *definition, uint32_t before,
                                          const rkb_problems_t *problems) {
   if (problems->errors == before)
      return definition;
   rkb_definition_free(definition);
   return NULL;
}

rkb_definition_t *rkb_definition_parse(const rkb_task_texts_t *texts, rkb_problems_t *problems) {
   rkb_definition_t *definition = definition_new("");
   uint32_t before = problems->errors;
   if (!definition)
      return NULL;
   parse(definition, texts, problems);
   return without_problems(definition, before, problems);
}

static void say_absent(const char *directory, rkb_problems_t *problems) {
   static const char file[] = "/task.yaml";
   struct stat about;
   size_t length = strlen(directory), suffix = strlen(file);
   bool is_file = stat(directory, &about) == 0 && !S_ISDIR(about.st_mode);
   char *near = NULL;
   if (is_file && length > suffix && strcmp(directory + length - suffix, file) == 0)
      near = rkb_duplicate_part(directory, length - suffix);
   else if (!is_file)
      near = rkb_shipped_nearest("tasks", directory);
   rkb_problem(problems, (rkb_place_t){0}, "%s holds no task: %s; %s%s%s", directory,
               is_file ? "it is a file, and a task is a directory" : "there is no task.yaml in it",
               near ? "did you mean '" : "give a task's directory or a name that 'rkb tasks' lists",
               near ? near : "", near ? "'?" : "");
   free(near);
}

/* A wrong path is the usual mistake: report it in one sentence, not once for each missing file. */
static bool holds_task(const char *directory, rkb_problems_t *problems) {
   char *path = rkb_path_join(directory, "task.yaml");
   bool holds = rkb_path_exists(path);
   if (!holds && errno == EACCES)
      rkb_problem(problems, (rkb_place_t){0}, "cannot look into %s: %s", directory, strerror(errno));
   else if (!holds)
      say_absent(directory, problems);
   free(path);
   return holds;
}

rkb_definition_t *rkb_definition_load(const char *named, rkb_problems_t *problems) {
   char *directory = rkb_find_named("tasks", named);
   if (!holds_task(directory, problems)) {
      free(directory);
      return NULL;
   }
   char *absolute = realpath(directory, NULL);
   rkb_definition_t *definition = definition_new(absolute ? absolute : directory);
   uint32_t before = problems->errors;
   free(absolute);
   free(directory);
   rkb_task_texts_t texts = {0};
   char *task = read_file(definition, "task.yaml", &texts.task_path, &texts.task_length, problems);
   char *graph =
      read_file(definition, "reference.graph.yaml", &texts.graph_path, &texts.graph_length, problems);
   texts.task = task;
   texts.graph = graph;
   if (task && graph)
      parse(definition, &texts, problems);
   free(task);
   free(graph);
   load_reference(definition);
   return without_problems(definition, before, problems);
}

void rkb_definition_free(rkb_definition_t *definition) {
   if (definition)
      rkb_arena_free(definition->arena);
}
