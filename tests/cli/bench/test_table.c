/* The table of `rkb bench` from existing rows and baselines: which rows it shows, what it computes from them,
 * and which it leaves out. */
#include "check.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/bench/bench.h"

typedef struct place {
   char folder[64];
   rkb_bench_t bench;
   rkb_bench_work_t work;
   rkb_bench_kernels_t kernels;
} place_t;

static place_t *place_open(void) {
   place_t *p = calloc(1, sizeof *p);
   rkb_problems_t problems;
   rkb_error_t err;
   rkb_problems_init(&problems);
   strcpy(p->folder, "/tmp/rkb-bench-XXXXXX");
   assert_non_null(mkdtemp(p->folder));
   p->work.directory = strdup(RKB_SOURCE_DIR "/tasks/mnist_pool");
   p->work.task = rkb_task_load(p->work.directory, "forward", 0, &problems);
   assert_non_null(p->work.task);
   p->work.name = rkb_task_info(p->work.task)->name;
   p->work.direction = rkb_task_info(p->work.task)->direction;
   p->bench = (rkb_bench_t){
      .out = p->folder,
      .pipeline = strdup("remeasure.yaml"),
      .target = "h200",
      .least = {.name = "h200", .bytes_per_s = 4e12, .operations_per_s = 6e13, .launch_floor_s = 2e-6}};
   assert_int_equal(rkb_bench_kernels_find(&p->work, &p->kernels, &err), RKB_OK);
   const char *const parts[] = {"rows", "baselines"};
   for (size_t i = 0; i < 2; i++) {
      char *path = rkb_path_join(p->folder, parts[i]);
      assert_int_equal(rkb_make_directories(path, &err), RKB_OK);
      free(path);
   }
   return p;
}

static void place_close(place_t *p) {
   char command[128];
   snprintf(command, sizeof command, "rm -r %s", p->folder);
   assert_int_equal(system(command), 0);
   rkb_bench_kernels_free(&p->kernels);
   rkb_task_free(p->work.task);
   free(p->work.directory);
   free(p->bench.pipeline);
   free(p);
}

static void write_row(place_t *p, double us, double copy_us, double copy_anchor_us) {
   rkb_error_t err;
   json_t *row = json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:{s:s, s:s, s:s, s:{s:{s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:{s:f}}}}}",
      "task", p->work.name, "direction", p->work.direction, "task_hash", rkb_task_hash(p->work.task),
      "kernels_hash", p->kernels.hash, "date", "2026-01-01T00:00:00Z", "command", "rkb check it", "seconds",
      12.0, "measured", "kernel", p->kernels.list[0].path, "standing", "accept", "worker",
      "device=one\nfree_bytes=17\nlayers=all\n", "cases", "bench/published", "us", us, "low_us", us - 1,
      "high_us", us + 1, "floor_us", 1.5, "copy_anchor_us", copy_anchor_us, "chain_anchor_us", 7.0, "state",
      "clock_mhz=1\n", "copy", "us", copy_us);
   assert_non_null(row);
   assert_int_equal(rkb_bench_row_write(&p->bench, &p->work, row, &err), RKB_OK);
   json_decref(row);
}

static void write_record(place_t *p, const char *hash, double eager_us, double compile_us) {
   char path[256];
   json_t *record = json_pack(
      "{s:s, s:s, s:s, s:s, s:i, s:s, s:[{s:{s:f, s:f}}], s:{s:{s:f, s:f, s:f}, s:{s:f, s:f, s:f}, s:{s:s}}}",
      "hash", hash, "case", "bench/published", "torch", "2.0", "device", "one", "driver", 13000, "best",
      "compile", "parts", "anchors", "copy_us", 34.0, "chain_us", 7.0, "baselines", "eager", "us", eager_us,
      "low_us", eager_us - 2, "high_us", eager_us + 2, "compile", "us", compile_us, "low_us", compile_us - 2,
      "high_us", compile_us + 2, "max_autotune", "error", "no");
   assert_non_null(record);
   snprintf(path, sizeof path, "%s/baselines/mnist_pool.forward.published.json", p->folder);
   assert_int_equal(json_dump_file(record, path, 0), 0);
   json_decref(record);
}

/* The line of the published case. */
static json_t *line_of(place_t *p) {
   char path[128];
   rkb_error_t err;
   json_error_t where;
   size_t index;
   json_t *line, *found = NULL;
   assert_int_equal(rkb_bench_tables(&p->bench, &p->work, 1, &err), RKB_OK);
   snprintf(path, sizeof path, "%s/table.json", p->folder);
   json_t *lines = json_load_file(path, 0, &where);
   assert_non_null(lines);
   json_array_foreach(lines, index, line) if (strcmp(json_string_value(json_object_get(line, "case")),
                                                     "bench/published") == 0) found = json_incref(line);
   json_decref(lines);
   assert_non_null(found);
   return found;
}

static double number(const json_t *line, const char *key) {
   assert_true(json_is_number(json_object_get(line, key)));
   return json_number_value(json_object_get(line, key));
}

static char *markdown(place_t *p) {
   char path[128], *text = NULL;
   size_t length;
   rkb_error_t err;
   snprintf(path, sizeof path, "%s/table.md", p->folder);
   assert_int_equal(rkb_file_read(path, 1 << 20, &text, &length, &err), RKB_OK);
   return text;
}

static void the_speedup_is_against_the_fastest(void **state) {
   (void)state;
   place_t *p = place_open();
   write_row(p, 50, 40, 34);
   write_record(p, rkb_task_hash(p->work.task), 200, 100);
   json_t *line = line_of(p);
   assert_string_equal(json_string_value(json_object_get(line, "best")), "compile");
   assert_float_equal(number(line, "speedup"), 2, 1e-9);
   assert_float_equal(number(line, "speedup_low"), 98.0 / 51, 1e-9);
   assert_float_equal(number(line, "speedup_high"), 102.0 / 49, 1e-9);
   assert_float_equal(number(line, "share_of_copy"), 0.8, 1e-9);
   assert_false(json_is_true(json_object_get(line, "other_conditions")));
   char *text = markdown(p);
   assert_non_null(strstr(text, "| mnist_pool | forward | published |"));
   assert_non_null(strstr(text, " failed |"));
   assert_non_null(strstr(text, "rkb check it"));
   free(text);
   json_decref(line);
   place_close(p);
}

/* A variant that was faster with what torch.compile chose before: it counts, is marked, and has conditions of its own. */
static void another_tuning_is_marked(void **state) {
   (void)state;
   json_error_t where;
   char path[256];
   place_t *p = place_open();
   write_row(p, 50, 40, 34);
   write_record(p, rkb_task_hash(p->work.task), 200, 100);
   snprintf(path, sizeof path, "%s/baselines/mnist_pool.forward.published.json", p->folder);
   json_t *record = json_load_file(path, 0, &where);
   json_array_insert_new(
      json_object_get(record, "parts"), 0,
      json_pack("{s:s, s:{s:f, s:f}}", "tuning", "before", "anchors", "copy_us", 40.0, "chain_us", 7.0));
   json_object_set_new(json_object_get(json_object_get(record, "baselines"), "compile"), "tuning",
                       json_string("before"));
   assert_int_equal(json_dump_file(record, path, 0), 0);
   json_decref(record);
   json_t *line = line_of(p);
   assert_true(json_is_true(json_object_get(line, "other_conditions")));
   char *text = markdown(p);
   assert_non_null(strstr(text, "| 200.0 | | 100.0 ‡ |"));
   free(text);
   json_decref(line);
   place_close(p);
}

static void a_short_copy_gives_no_share(void **state) {
   (void)state;
   place_t *p = place_open();
   write_row(p, 6, 4, 34);
   json_t *line = line_of(p);
   assert_null(json_object_get(line, "share_of_copy"));
   assert_float_equal(number(line, "above_floor_us"), 4.5, 1e-9);
   json_decref(line);
   place_close(p);
}

static void without_a_baseline_nothing_is_claimed(void **state) {
   (void)state;
   place_t *p = place_open();
   write_row(p, 50, 40, 34);
   write_record(p, "another task's", 200, 100);
   json_t *line = line_of(p);
   assert_null(json_object_get(line, "speedup"));
   assert_null(json_object_get(line, "record"));
   json_decref(line);
   place_close(p);
}

static void other_conditions_are_marked(void **state) {
   (void)state;
   place_t *p = place_open();
   write_row(p, 50, 40, 36);
   write_record(p, rkb_task_hash(p->work.task), 200, 100);
   json_t *line = line_of(p);
   assert_true(json_is_true(json_object_get(line, "other_conditions")));
   char *text = markdown(p);
   assert_non_null(strstr(text, ") † |"));
   free(text);
   json_decref(line);
   place_close(p);
}

static void conditions_are_told_once(void **state) {
   (void)state;
   place_t *p = place_open();
   write_row(p, 8.0, 7.0, 34.0);
   json_decref(line_of(p));
   char *text = markdown(p);
   assert_non_null(strstr(text, "* device=one, layers=all\n"));
   assert_null(strstr(text, "free_bytes"));
   assert_non_null(strstr(text, "* 1 rows were checked and timed in 12 s\n"));
   free(text);
   place_close(p);
}

/* Whoever reads the row can see again what was wrong: case, family, seed, element. */
static void what_a_rejection_was_about_is_kept(void **state) {
   (void)state;
   place_t *p = place_open();
   rkb_error_t err;
   const rkb_verdict_record_t verdict = {
      .stage = "gpu",
      .standing = "reject",
      .reason = "numeric.mismatch",
      .message = "y[7] is 1 and should be 2",
      .evidence = "{\"case\":\"check/odd\",\"element\":7,\"family\":\"ties\",\"seed\":5,"
                  "\"worker\":\"device=one\\n\",\"ms\":{\"all\":3.5}}",
      .executes = true};
   json_t *measured = rkb_bench_measured(p->kernels.list[0].path, "reject", "numeric.mismatch", "{}");
   rkb_bench_add_verdict(measured, &verdict);
   json_t *row = rkb_bench_row_new(&p->bench, &p->work, &p->kernels, 0, 0, 1.0, measured, json_array());
   assert_int_equal(rkb_bench_row_write(&p->bench, &p->work, row, &err), RKB_OK);
   json_decref(row);
   json_t *line = line_of(p);
   const json_t *evidence = json_object_get(line, "evidence");
   assert_string_equal(json_string_value(json_object_get(evidence, "case")), "check/odd");
   assert_string_equal(json_string_value(json_object_get(evidence, "family")), "ties");
   assert_int_equal(json_integer_value(json_object_get(evidence, "element")), 7);
   char *text = markdown(p);
   assert_non_null(
      strstr(text, "numeric.mismatch: y[7] is 1 and should be 2; evidence `{\"case\":\"check/odd\""));
   free(text);
   json_decref(line);
   place_close(p);
}

static void put_kernel(const char *folder, const char *direction_folder, const char *name, const char *text) {
   char path[512];
   rkb_error_t err;
   snprintf(path, sizeof path, "%s/%s", folder, direction_folder);
   assert_int_equal(rkb_make_directories(path, &err), RKB_OK);
   snprintf(path, sizeof path, "%s/%s/%s", folder, direction_folder, name);
   assert_int_equal(rkb_file_write(path, text, strlen(text), &err), RKB_OK);
}

/* A kernel that a search found earlier does not hide a seed that was added later, and a file that occurs
 * twice is tried once. */
static void kernels_are_the_best_and_the_seeds(void **state) {
   (void)state;
   char folder[] = "/tmp/rkb-kernels-XXXXXX", before[RKB_HASH_TEXT], command[128];
   assert_non_null(mkdtemp(folder));
   rkb_bench_work_t work = {.directory = folder, .name = "t", .direction = "forward"};
   rkb_bench_kernels_t kernels;
   rkb_error_t err;
   put_kernel(folder, "seeds/forward", "a.cu", "one");
   put_kernel(folder, "seeds/forward", "b.cu", "two");
   put_kernel(folder, "best/forward", "best.cu", "two");
   assert_int_equal(rkb_bench_kernels_find(&work, &kernels, &err), RKB_OK);
   assert_int_equal(kernels.count, 2);
   assert_non_null(strstr(kernels.list[0].path, "best/forward/best.cu"));
   assert_non_null(strstr(kernels.list[1].path, "seeds/forward/a.cu"));
   memcpy(before, kernels.hash, sizeof before);
   rkb_bench_kernels_free(&kernels);
   put_kernel(folder, "seeds/forward", "c.cu", "three");
   assert_int_equal(rkb_bench_kernels_find(&work, &kernels, &err), RKB_OK);
   assert_int_equal(kernels.count, 3);
   assert_string_not_equal(kernels.hash, before);
   rkb_bench_kernels_free(&kernels);
   snprintf(command, sizeof command, "rm -r %s", folder);
   assert_int_equal(system(command), 0);
}

static void a_row_of_other_kernels_is_not_shown(void **state) {
   (void)state;
   place_t *p = place_open();
   write_row(p, 50, 40, 34);
   strcpy(p->kernels.hash, "other");
   write_row(p, 50, 40, 34);
   json_t *line = line_of(p);
   assert_null(json_object_get(line, "ours"));
   char *text = markdown(p);
   assert_non_null(strstr(text, "not measured"));
   free(text);
   json_decref(line);
   place_close(p);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_speedup_is_against_the_fastest),
      cmocka_unit_test(another_tuning_is_marked),
      cmocka_unit_test(a_short_copy_gives_no_share),
      cmocka_unit_test(without_a_baseline_nothing_is_claimed),
      cmocka_unit_test(other_conditions_are_marked),
      cmocka_unit_test(conditions_are_told_once),
      cmocka_unit_test(what_a_rejection_was_about_is_kept),
      cmocka_unit_test(kernels_are_the_best_and_the_seeds),
      cmocka_unit_test(a_row_of_other_kernels_is_not_shown),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
