/* rkb_task_import as the command calls it: a Python process, the loader, and a directory that is whole or not
 * there. */
#include "check.h"
#include "base/file.h"
#include "base/text.h"
#include "task/import.h"
#include "task/task.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES RKB_SOURCE_DIR "/tests/tools/import/samples/"

typedef struct place {
   char folder[256];
   char target[300];
   rkb_text_t report;
   rkb_error_t err;
} place_t;

static int make_place(void **state) {
   place_t *place = calloc(1, sizeof *place);
   if (place == NULL)
      return -1;
   snprintf(place->folder, sizeof place->folder, RKB_BINARY_DIR "/import-test-XXXXXX");
   if (mkdtemp(place->folder) == NULL)
      return -1;
   snprintf(place->target, sizeof place->target, "%s/imported", place->folder);
   rkb_text_init(&place->report, 1 << 16);
   *state = place;
   return 0;
}

static int count_entries(const char *folder) {
   DIR *stream = opendir(folder);
   int count = 0;
   for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
      count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
   if (stream)
      closedir(stream);
   return count;
}

static int remove_place(void **state) {
   place_t *place = *state;
   static const char *const names[] = {"imported/task.yaml", "imported/reference.graph.yaml",
                                       "imported/reference.py", NULL};
   for (int i = 0; names[i]; i++) {
      char path[400];
      snprintf(path, sizeof path, "%s/%s", place->folder, names[i]);
      unlink(path);
   }
   rmdir(place->target);
   int left = rmdir(place->folder); /* fails when anything else was left behind */
   rkb_text_free(&place->report);
   free(place);
   return left;
}

static int import_sample(place_t *place, const char *sample, const char *const *dims, const char *python) {
   char file[512];
   snprintf(file, sizeof file, SAMPLES "%s", sample);
   rkb_import_t import = {.file = file, .directory = place->target, .dims = dims, .python = python};
   return rkb_task_import(&import, &place->report, &place->err);
}

static void a_file_becomes_a_task_that_loads(void **state) {
   place_t *place = *state;
   const char *dims[] = {"B=x:0", "D=x:2", "D=weight:0", NULL};
   assert_int_equal(import_sample(place, "rms_norm.py", dims, RKB_PYTHON), RKB_OK);
   assert_int_equal(count_entries(place->folder), 1);
   assert_int_equal(count_entries(place->target), 3);
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   for (int i = 0; i < 2; i++) {
      rkb_task_t *task = rkb_task_load(place->target, i ? "backward" : "forward", 0, &problems);
      assert_non_null(task);
      assert_string_equal(rkb_task_info(task)->name, "imported");
      assert_int_equal(rkb_task_dim_count(task), 2);
      assert_non_null(rkb_task_case(task, RKB_CASE_CHECK, 2));
      rkb_task_free(task);
   }
   rkb_problems_free(&problems);
}

static void what_is_not_covered_is_named_and_leaves_nothing(void **state) {
   place_t *place = *state;
   assert_int_equal(import_sample(place, "refused_distance.py", NULL, RKB_PYTHON), RKB_ERR_INVALID);
   assert_non_null(
      strstr(rkb_text_get(&place->report), "refused_distance.py:14: pairwise_distance is not covered"));
   assert_int_equal(count_entries(place->folder), 0);
}

static void an_existing_directory_is_left_alone(void **state) {
   place_t *place = *state;
   rkb_error_t err;
   assert_int_equal(rkb_make_directories(place->target, &err), RKB_OK);
   assert_int_equal(import_sample(place, "rms_norm.py", NULL, RKB_PYTHON), RKB_ERR_INVALID);
   assert_non_null(strstr(place->err.message, "exists already"));
   assert_int_equal(count_entries(place->target), 0);
}

static void a_folder_above_is_made(void **state) {
   place_t *place = *state;
   char own[sizeof place->target], above[300];
   snprintf(own, sizeof own, "%s", place->target);
   snprintf(above, sizeof above, "%s/tasks", place->folder);
   snprintf(place->target, sizeof place->target, "%s/tasks/imported", place->folder);
   assert_int_equal(import_sample(place, "refused_distance.py", NULL, RKB_PYTHON), RKB_ERR_INVALID);
   assert_int_equal(count_entries(place->folder), 0);
   assert_int_equal(import_sample(place, "rms_norm.py", NULL, RKB_PYTHON), RKB_OK);
   assert_int_equal(rename(place->target, own), 0);
   assert_int_equal(rmdir(above), 0);
   memcpy(place->target, own, sizeof own);
}

/* Kernels name their task, and a manifest takes no hyphen. */
static void a_folder_may_have_a_name_that_no_task_has(void **state) {
   place_t *place = *state;
   char own[sizeof place->target];
   snprintf(own, sizeof own, "%s", place->target);
   snprintf(place->target, sizeof place->target, "%s/2-imported.task", place->folder);
   assert_int_equal(import_sample(place, "rms_norm.py", NULL, RKB_PYTHON), RKB_OK);
   assert_non_null(strstr(rkb_text_get(&place->report),
                          "the task's name is _2_imported_task: a task's name has "
                          "letters, digits and _, at most 64"));
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(place->target, "forward", 0, &problems);
   assert_non_null(task);
   assert_string_equal(rkb_task_info(task)->name, "_2_imported_task");
   rkb_task_free(task);
   rkb_problems_free(&problems);
   assert_int_equal(rename(place->target, own), 0);
   memcpy(place->target, own, sizeof own);
}

static void a_missing_python_is_a_missing_tool(void **state) {
   place_t *place = *state;
   assert_int_equal(import_sample(place, "rms_norm.py", NULL, "/nowhere/python3"), RKB_ERR_UNAVAILABLE);
   assert_int_equal(count_entries(place->folder), 0);
}

static void a_python_without_torch_is_a_missing_tool(void **state) {
   place_t *place = *state;
   assert_int_equal(import_sample(place, "rms_norm.py", NULL, "/bin/false"), RKB_ERR_UNAVAILABLE);
   assert_int_equal(count_entries(place->folder), 0);
}

static void a_missing_file_is_named(void **state) {
   place_t *place = *state;
   assert_int_equal(import_sample(place, "no_such_file.py", NULL, RKB_PYTHON), RKB_ERR_INVALID);
   assert_non_null(
      strstr(rkb_text_get(&place->report), "no_such_file.py: it does not load: FileNotFoundError"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_place, remove_place)

int main(void) {
   const struct CMUnitTest tests[] = {
      TEST(a_file_becomes_a_task_that_loads),          TEST(what_is_not_covered_is_named_and_leaves_nothing),
      TEST(an_existing_directory_is_left_alone),       TEST(a_folder_above_is_made),
      TEST(a_folder_may_have_a_name_that_no_task_has), TEST(a_missing_python_is_a_missing_tool),
      TEST(a_python_without_torch_is_a_missing_tool),  TEST(a_missing_file_is_named),
   };
   return RUN_TESTS(tests);
}
