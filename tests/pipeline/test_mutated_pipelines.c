/* Every shipped pipeline, wrong in one place after the other: a key misspelled, dropped or written twice, a value of another
 * kind, the file cut short.  Whatever is wrong, each error names file, line and column.  The mutations are the same in every run. */
#include "run/run_harness.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/yaml.h"
#include "check.h"

#define PIPELINES RKB_SOURCE_DIR "/pipelines"

/* What replaces a value, one at a time. */
static const char *const values[] = {"",
                                     "~",
                                     "[]",
                                     "{}",
                                     "[x, y]",
                                     "[[1], {a: 2}]",
                                     "{x: 1}",
                                     "true",
                                     "0",
                                     "-1",
                                     "1.5",
                                     "99999999999999999999",
                                     "1e999",
                                     "nonsense",
                                     "a b",
                                     "''",
                                     "../nowhere",
                                     "nothing.yaml",
                                     "/proc",
                                     "<",
                                     "x: y: z",
                                     "&anchor x",
                                     "*anchor",
                                     "!tag x",
                                     "\"without an end",
                                     "\"\\x01\"",
                                     "\xff",
                                     "%",
                                     "{",
                                     "]"};

/* Only one node in so many gets the values.  All values in every node would take four times as long, and one
 * reader serves many nodes of many files. */
#define TURNS 5
#define APART 6 /* edits without RKB_LONG */

typedef struct trial {
   const char *name; /* of the shipped file */
   char *path;       /* where the wrong one is written */
   char *text;       /* the right one */
   size_t length;
   uint32_t tried, refused, without_place;
   uint32_t nodes, made; /* nodes met and edits made so far */
} trial_t;

/* An error has its place in a file.  Warnings may be about a plugin, which has no lines. */
static void look_for_places(trial_t *trial, const rkb_problems_t *problems, const char *what) {
   for (uint32_t i = 0; i < problems->count; i++) {
      const rkb_problem_t *problem = &problems->list[i];
      if (problem->warning || (problem->file[0] && problem->line && problem->column))
         continue;
      trial->without_place++;
      print_message("%s, %s: no place: %s:%u:%u: %s\n", trial->name, what, problem->file, problem->line,
                    problem->column, problem->message);
   }
}

static void try_text(trial_t *trial, const rkb_text_t *text, const char *what) {
   const rkb_pipeline_options_t options = {.path = trial->path};
   rkb_problems_t problems;
   rkb_error_t err = {0};
   assert_int_equal(rkb_file_write(trial->path, rkb_text_get(text), text->length, &err), RKB_OK);
   rkb_problems_init(&problems);
   rkb_pipeline_t *pipeline = rkb_pipeline_open(&options, &problems);
   trial->tried++;
   trial->refused += pipeline == NULL;
   if ((pipeline == NULL) != (problems.errors > 0))
      fail_msg("%s, %s: %s with %u errors", trial->name, what, pipeline ? "opened" : "refused",
               problems.errors);
   look_for_places(trial, &problems, what);
   rkb_pipeline_free(pipeline);
   rkb_problems_free(&problems);
}

/* The text with [begin, end) replaced; without RKB_LONG, a sixth of them.  They are mixed: most nodes have six values, so that every sixth edit
 * would be of the same few values. */
static void try_edit(trial_t *trial, size_t begin, size_t end, const char *replacement, const char *what) {
   rkb_text_t text;
   if ((trial->made++ * 2654435761u >> 16) % APART != 0 && !rkb_long_tests())
      return;
   char title[200];
   rkb_text_init(&text, RKB_YAML_MAX_BYTES);
   rkb_text_append(&text, trial->text, begin);
   rkb_text_add(&text, replacement);
   rkb_text_append(&text, trial->text + end, trial->length - end);
   snprintf(title, sizeof title, "byte %zu: %s '%s' for '%.*s'", begin, what, replacement,
            (int)(end - begin < 40 ? end - begin : 40), trial->text + begin);
   try_text(trial, &text, title);
   rkb_text_free(&text);
}

static size_t offset_of(const trial_t *trial, rkb_place_t place) {
   size_t at = 0;
   for (uint32_t line = 1; line < place.line; line++)
      at += strcspn(trial->text + at, "\n") + 1;
   return at + place.column - 1;
}

/* Where the value that begins at an offset ends: a scalar as long as its text, a list or map at its bracket or, written over
 * several lines, at the first line that is indented less than it. */
static size_t end_of(const trial_t *trial, const rkb_yaml_t *node) {
   size_t begin = offset_of(trial, node->place), at = begin;
   const char *text = trial->text;
   if (node->kind == RKB_YAML_SCALAR)
      return begin + node->length + (node->quoted ? 2 : 0);
   if (text[begin] == '[' || text[begin] == '{') {
      int depth = 0;
      do {
         depth += text[at] == '[' || text[at] == '{';
         depth -= text[at] == ']' || text[at] == '}';
         at++;
      } while (depth > 0 && at < trial->length);
      return at;
   }
   for (;;) {
      at += strcspn(text + at, "\n");
      if (at >= trial->length || at + 1 + strspn(text + at + 1, " ") < at + node->place.column ||
          text[at + 1 + strspn(text + at + 1, " ")] == '\n')
         return at;
      at++;
   }
}

static void misspell(trial_t *trial, const rkb_yaml_t *map) {
   for (uint32_t i = 0; i < map->count; i++) {
      size_t key = offset_of(trial, map->keys[i]->place), end = end_of(trial, map->items[i]);
      size_t colon = key + map->keys[i]->length;
      char again[200];
      try_edit(trial, colon, colon, "x", "misspelled with");
      try_edit(trial, key, colon, "[a, b]", "a key");
      try_edit(trial, colon, colon + 1, "", "no colon");
      try_edit(trial, key, end, "", "dropped");
      snprintf(again, sizeof again, "%.*s: 1\n%*s", (int)(colon - key), trial->text + key,
               (int)map->keys[i]->place.column - 1, "");
      bool in_braces = trial->text[key - (key > 0)] == '{' || trial->text[key - (key > 0)] == ' ';
      try_edit(trial, key, key, again, "twice");
      if (in_braces && end < trial->length && strchr(",}", trial->text[end])) {
         snprintf(again, sizeof again, ", %.*s: 1", (int)(colon - key), trial->text + key);
         try_edit(trial, end, end, again, "twice");
      }
   }
}

static void mutate(trial_t *trial, const rkb_yaml_t *node) {
   size_t begin = offset_of(trial, node->place), end = end_of(trial, node);
   for (size_t i = trial->nodes++ % TURNS; i < sizeof values / sizeof values[0]; i += TURNS)
      try_edit(trial, begin, end, values[i], "the value");
   if (node->kind == RKB_YAML_MAP)
      misspell(trial, node);
   for (uint32_t i = 0; node->kind != RKB_YAML_SCALAR && i < node->count; i++)
      mutate(trial, node->items[i]);
}

/* The file ends after each of its lines. */
static void cut_short(trial_t *trial) {
   for (size_t at = 0; at < trial->length; at += strcspn(trial->text + at, "\n") + 1)
      try_edit(trial, at, trial->length, "", "cut");
}

/* The shipped file with a task, for those that leave it to the command line. */
static rkb_yaml_t *load(trial_t *trial, rkb_arena_t *arena) {
   char *shipped = rkb_path_join(PIPELINES, trial->name), *text = NULL;
   rkb_problems_t problems;
   rkb_error_t err = {0};
   rkb_problems_init(&problems);
   assert_int_equal(rkb_file_read(shipped, 1 << 20, &text, &trial->length, &err), RKB_OK);
   rkb_yaml_t *root = rkb_yaml_load(arena, shipped, &problems);
   assert_non_null(root);
   if (asprintf(&trial->text, "%s%s", text, rkb_yaml_get(root, "task") ? "" : "task: ../tasks/softmax\n") < 0)
      fail();
   trial->length = strlen(trial->text);
   root = rkb_yaml_parse(arena, shipped, trial->text, trial->length, 1, 1, &problems);
   assert_non_null(root);
   rkb_problems_free(&problems);
   free(text);
   free(shipped);
   return root;
}

static int is_pipeline(const struct dirent *entry) {
   size_t length = strlen(entry->d_name);
   return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

/* Beside the shipped files, so that relative paths in it mean what they mean there. */
static char *place_beside_shipped(const char *scratch) {
   char command[1000];
   snprintf(command, sizeof command,
            "ln -s '%s/tasks' '%s/tasks' && mkdir '%s/pipelines' && ln -s '%s'/* '%s/pipelines/'",
            RKB_SOURCE_DIR, scratch, scratch, PIPELINES, scratch);
   assert_int_equal(system(command), 0);
   return rkb_path_join(scratch, "pipelines/mutated.yaml");
}

static void test_every_error_has_its_place(void **state) {
   struct dirent **entries = NULL;
   char *scratch = scratch_make(), *path = place_beside_shipped(scratch);
   int count = scandir(PIPELINES, &entries, is_pipeline, alphasort);
   uint32_t without_place = 0;
   (void)state;
   assert_true(count > 5);
   for (int i = 0; i < count; i++) {
      trial_t trial = {.name = entries[i]->d_name, .path = path};
      rkb_arena_t *arena = rkb_arena_new(0);
      const rkb_yaml_t *root = load(&trial, arena);
      mutate(&trial, root);
      cut_short(&trial);
      print_message("%s: %u mutations, %u refused, %u errors without a place\n", trial.name, trial.tried,
                    trial.refused, trial.without_place);
      assert_true(trial.refused * 2 > trial.tried);
      without_place += trial.without_place;
      rkb_arena_free(arena);
      free(trial.text);
      free(entries[i]);
   }
   free(entries);
   free(path);
   scratch_remove(scratch);
   assert_int_equal(without_place, 0);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_error_has_its_place)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
