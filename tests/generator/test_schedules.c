/* Schedules of every task.  Each start gives a text that carries its schedule; changes are legal and say what
 * they did; the same seed gives the same text.  A task that not_written.txt lists is refused with its
 * message.  Nothing is compiled here; tests/generator/accepted.sh executes kernels. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "check.h"
#include "generator/search/schedule_changes.h"
#include "generator/generator.h"
#include "generator/kernel/kernel_text.h"
#include "generator/decisions/schedule_block.h"
#include "generator/start/start_schedules.h"

static const rkb_target_t target = {.multiprocessors = 132,
                                    .shared_bytes = 227 << 10,
                                    .tensor = {0, 2361, 2361, 393, 4723, 4723, 787},
                                    .warpgroup = {0, 3748, 3748, 624, 7496, 7496}}; /* an H200 */

static rkb_task_t *load(const char *directory, const char *direction) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(directory, direction, 0, &problems);
   rkb_problems_free(&problems);
   return task;
}

/* Whether not_written.txt has this line, or (message NULL) a line of this task and direction. */
static bool is_listed(const char *task, const char *direction, const char *message) {
   char line[600], wanted[600];
   bool found = false;
   const int length = snprintf(wanted, sizeof wanted, "%s %s %s%s", task, direction, message ? message : "",
                               message ? "\n" : "");
   FILE *list = fopen(REFUSALS, "r");
   assert_non_null(list);
   while (!found && fgets(line, sizeof line, list))
      found = strncmp(line, wanted, (size_t)length) == 0;
   assert_int_equal(fclose(list), 0);
   return found;
}

/* False: the task is refused, as it should be. */
static bool open_graph(const rkb_task_t *task, rkb_graph_t **graph) {
   const char *name = rkb_task_info(task)->name, *direction = rkb_task_info(task)->direction;
   rkb_error_t err = {0};
   *graph = NULL;
   if (rkb_graph_open(task, graph, &err) != RKB_OK) {
      if (!is_listed(name, direction, err.message))
         fail_msg("%s %s: %s", name, direction, err.message);
      return false;
   }
   if (!is_listed(name, direction, NULL))
      return true;
   char *text = NULL;
   rkb_graph_close(*graph);
   if (rkb_generator_start(&(rkb_generator_t){task, target}, "suited", &text, &err) == RKB_OK)
      fail_msg("%s %s is written: not_written.txt says that it is not", name, direction);
   if (!is_listed(name, direction, err.message))
      fail_msg("%s %s: %s", name, direction, err.message);
   return false;
}

/* Calls check for each shipped task, each task of this area, and each of their directions; apart: for every second task alone, or fewer. */
static void each_task(void (*check)(const rkb_task_t *task), size_t apart) {
   glob_t found = {0};
   assert_int_equal(glob(TASKS "/*/task.yaml", 0, NULL, &found), 0);
   assert_int_equal(glob(OWN_TASKS "/*/task.yaml", GLOB_APPEND, NULL, &found), 0);
   assert_true(found.gl_pathc > 20);
   for (size_t i = 0; i < found.gl_pathc; i += apart) {
      char *directory = found.gl_pathv[i];
      *strrchr(directory, '/') = '\0';
      rkb_task_t *first = load(directory, NULL);
      assert_non_null(first);
      for (const char *const *direction = rkb_task_directions(first); *direction; direction++) {
         rkb_task_t *task = load(directory, *direction);
         assert_non_null(task);
         check(task);
         rkb_task_free(task);
      }
      rkb_task_free(first);
   }
   globfree(&found);
}

/* The schedule in a text gives the same text again. */
static void check_text_on(rkb_graph_t *graph, int64_t shared_bytes, const char *text) {
   rkb_schedule_t *schedule = calloc(1, sizeof *schedule);
   rkb_error_t err = {0};
   char *again = NULL;
   assert_int_equal(rkb_schedule_parse(graph, text, schedule, &err), RKB_OK);
   assert_int_equal(rkb_kernel_write(graph, schedule, shared_bytes, &again, &err), RKB_OK);
   assert_string_equal(again, text);
   free(again);
   free(schedule);
}

/* What a reader would stumble over: a pragma that has lost its loop, a condition that always holds. */
static void check_reads_well(const char *text) {
   assert_null(strstr(text, "if (true)"));
   for (const char *at = strstr(text, "#pragma unroll"); at; at = strstr(at + 1, "#pragma unroll")) {
      const char *next = strchr(at, '\n');
      assert_non_null(next);
      next += strspn(next, " \n");
      if (strncmp(next, "for (", 5) != 0)
         fail_msg("'#pragma unroll' before '%.60s'", next);
   }
}

static void check_text(rkb_graph_t *graph, const char *text) {
   check_reads_well(text);
   check_text_on(graph, target.shared_bytes, text);
}

static void check_starts(const rkb_task_t *task) {
   rkb_graph_t *graph = NULL;
   rkb_error_t err = {0};
   if (!open_graph(task, &graph))
      return;
   for (uint32_t start = 0; start < RKB_STARTS; start++) {
      const rkb_generator_t generator = {task, target};
      char *text = NULL, *again = NULL;
      const int status = rkb_generator_start(&generator, rkb_start_name(start), &text, &err);
      if (status == RKB_ERR_LIMIT && start == RKB_START_APART && strstr(err.message, "bytes of memory"))
         continue; /* a value that is never written otherwise */
      if (status != RKB_OK)
         fail_msg("%s %s, %s: %s", graph->task, graph->direction, rkb_start_name(start), err.message);
      assert_int_equal(rkb_generator_start(&generator, rkb_start_name(start), &again, &err), RKB_OK);
      if (start == RKB_START_FUSED && !text) { /* as suited */
         assert_null(again);
         continue;
      }
      assert_string_equal(text, again);
      check_text(graph, text);
      free(text);
      free(again);
   }
   rkb_graph_close(graph);
}

static void test_starts(void **state) {
   (void)state;
   each_task(check_starts, rkb_long_tests() ? 1 : 4);
}

static void check_changes(const rkb_task_t *task) {
   const rkb_generator_t generator = {task, target};
   rkb_graph_t *graph = NULL;
   rkb_error_t err = {0};
   char *text = NULL, note[400];
   if (!open_graph(task, &graph))
      return;
   assert_int_equal(rkb_generator_start(&generator, "suited", &text, &err), RKB_OK);
   for (uint32_t step = 0; step < 4; step++) {
      rkb_random_t one = rkb_random_stream(7, "change", step, 0), two = one;
      char *changed = NULL, *again = NULL;
      assert_int_equal(
         rkb_generator_change(&generator, &one, text, step % 5, &changed, note, sizeof note, &err), RKB_OK);
      assert_int_equal(
         rkb_generator_change(&generator, &two, text, step % 5, &again, note, sizeof note, &err), RKB_OK);
      if (!changed)
         continue;
      assert_string_equal(changed, again);
      assert_string_not_equal(changed, text);
      assert_true(note[0] != '\0');
      check_text(graph, changed);
      free(again);
      free(text);
      text = changed;
   }
   free(text);
   rkb_graph_close(graph);
}

static void test_changes(void **state) {
   (void)state;
   each_task(check_changes, rkb_long_tests() ? 1 : 9);
}

/* Loops out of which a load moves, and products whose places all exist. */
static void test_reads_well(void **state) {
   static const char *const names[] = {TASKS "/mnist_conv_relu_pool", TASKS "/mnist_pool",
                                       TASKS "/mnist_linear"};
   (void)state;
   for (int i = 0; i < 3; i++) {
      rkb_task_t *task = load(names[i], "forward");
      const rkb_generator_t generator = {task, target};
      rkb_error_t err = {0};
      char *text = NULL;
      assert_int_equal(rkb_generator_start(&generator, "suited", &text, &err), RKB_OK);
      check_reads_well(text);
      free(text);
      rkb_task_free(task);
   }
}

/* A kernel that was edited has no schedule any more, whatever its manifest says. */
static void test_edited(void **state) {
   (void)state;
   rkb_task_t *task = load(TASKS "/softmax", "forward");
   const rkb_generator_t generator = {task, target};
   rkb_random_t stream = rkb_random_stream(7, "edited", 0, 0);
   rkb_error_t err = {0};
   char *text = NULL, *changed = NULL, note[400];
   assert_int_equal(rkb_generator_start(&generator, "together", &text, &err), RKB_OK);
   char *edited = rkb_format("%s\n/* by hand */\n", text);
   assert_int_equal(rkb_generator_change(&generator, &stream, edited, 0, &changed, note, sizeof note, &err),
                    RKB_OK);
   assert_null(changed);
   assert_non_null(strstr(note, "it was edited"));
   char *without = rkb_format("%s", "/* rkb-kernel: 1\ntask: softmax\n*/\n");
   assert_int_equal(rkb_generator_change(&generator, &stream, without, 0, &changed, note, sizeof note, &err),
                    RKB_OK);
   assert_null(changed);
   free(without);
   free(edited);
   free(text);
   rkb_task_free(task);
}

/* The drawn cases of w4a16_gemm have sums of up to 2,048 terms, and its domain has longer ones.  So the share
 * of a part must not come from the drawn cases. */
static void test_share(void **state) {
   (void)state;
   rkb_task_t *task = load(TASKS "/w4a16_gemm", "forward");
   rkb_generator_t generator = {task, target};
   memset(generator.target.warpgroup, 0, sizeof generator.target.warpgroup); /* its product, the last launch, is of warps then */
   rkb_schedule_t *schedule = calloc(1, sizeof *schedule);
   rkb_graph_t *graph = NULL;
   rkb_error_t err = {0};
   char *text = NULL, *split = NULL;
   assert_int_equal(rkb_generator_start(&generator, "suited", &text, &err), RKB_OK);
   assert_int_equal(rkb_graph_open(task, &graph, &err), RKB_OK);
   assert_int_equal(rkb_schedule_parse(graph, text, schedule, &err), RKB_OK);
   schedule->launches[schedule->count - 1].decisions[RKB_SPLIT] = 128;
   schedule->launches[schedule->count - 1].decisions[RKB_TILE_K] = 16;
   assert_int_not_equal(rkb_kernel_write(graph, schedule, target.shared_bytes, &split, &err), RKB_OK);
   assert_non_null(strstr(err.message, "the same share in every case"));
   rkb_graph_close(graph);
   free(schedule);
   free(text);
   rkb_task_free(task);
}

static bool stores(const rkb_graph_t *graph, const rkb_schedule_t *schedule, const char *name) {
   for (uint32_t l = 0; l < schedule->count; l++)
      for (uint32_t r = 0; r < schedule->launches[l].root_count; r++)
         if (strcmp(graph->nodes[schedule->launches[l].roots[r]].name, name) == 0)
            return true;
   return false;
}

/* A launch that reads both factors anyway sums the product of shares and their gradients, so the product is
 * not stored.  Factors of matrix products are stored. */
static void test_gradients(void **state) {
   (void)state;
   rkb_task_t *task = load(TASKS "/attention", "backward");
   rkb_schedule_t *schedule = calloc(1, sizeof *schedule);
   rkb_target_t fast = target;
   rkb_graph_t *graph = NULL;
   rkb_error_t err = {0};
   assert_int_equal(rkb_graph_open(task, &graph, &err), RKB_OK);
   rkb_schedule_start(graph, &target, RKB_START_SUITED, schedule);
   assert_true(stores(graph, schedule, "mul")); /* no bandwidth is known */
   fast.bytes_a_second = 4e12;
   rkb_schedule_start(graph, &fast, RKB_START_SUITED, schedule);
   assert_false(stores(graph, schedule, "mul"));
   assert_true(stores(graph, schedule, "share"));
   assert_true(stores(graph, schedule, "mul_scalar"));
   /* A product of few terms waits for its own stores, unless other blocks, or copies for the next tile, run meanwhile. */
   assert_int_equal(schedule->launches[0].decisions[RKB_COPY], RKB_COPY_TENSOR);
   assert_int_equal(schedule->launches[0].decisions[RKB_PERSISTENT], 1);
   rkb_graph_close(graph);
   free(schedule);
   rkb_task_free(task);
}

/* Elements of `far` are found without a number that counts the elements of all rows, because that number
 * would pass 2^31 where no tensor has so many elements. */
static void test_reshape(void **state) {
   (void)state;
   rkb_task_t *task = load(OWN_TASKS "/far", "forward");
   const rkb_generator_t generator = {task, target};
   rkb_error_t err = {0};
   char *text = NULL;
   assert_int_equal(rkb_generator_start(&generator, "suited", &text, &err), RKB_OK);
   assert_non_null(strstr(text, "__global__"));
   assert_null(strstr(strstr(text, "__global__"), " % "));
   free(text);
   rkb_task_free(task);
}

/* A step is legal, not the parent, and not known; calls with other slots take other steps. */
static bool is_text(void *context, const char *text) {
   return context && strcmp(context, text) == 0;
}

static void test_steps(void **state) {
   (void)state;
   rkb_task_t *task = load(TASKS "/softmax", "forward");
   const rkb_generator_t generator = {task, target};
   rkb_error_t err = {0};
   char *text = NULL, *steps[3], note[200];
   assert_int_equal(rkb_generator_start(&generator, "suited", &text, &err), RKB_OK);
   assert_int_equal(rkb_generator_step(&generator, text, 0, 0, 2, is_text, NULL, &steps[0], note, sizeof note, &err), RKB_OK);
   assert_int_equal(rkb_generator_step(&generator, text, 0, 1, 2, is_text, NULL, &steps[1], note, sizeof note, &err), RKB_OK);
   assert_int_equal(rkb_generator_step(&generator, text, 0, 0, 2, is_text, steps[0], &steps[2], note, sizeof note, &err), RKB_OK);
   for (uint32_t i = 0; i < 3; i++) {
      assert_non_null(steps[i]);
      assert_string_not_equal(steps[i], text);
      for (uint32_t j = 0; j < i; j++)
         assert_string_not_equal(steps[i], steps[j]);
   }
   for (uint32_t i = 0; i < 3; i++)
      free(steps[i]);
   free(text);
   rkb_task_free(task);
}

/* A change, from the launches as the graph has them, leads to what only starts would have joined otherwise. */
static void check_join(const char *directory, const char *direction, const char *wanted) {
   rkb_task_t *task = load(directory, direction);
   rkb_schedule_t *start = calloc(1, sizeof *start), *schedule = calloc(1, sizeof *schedule);
   rkb_graph_t *graph = NULL;
   rkb_error_t err = {0};
   bool found = false;
   assert_non_null(task);
   assert_int_equal(rkb_graph_open(task, &graph, &err), RKB_OK);
   rkb_schedule_start(graph, &target, RKB_START_TOGETHER, start);
   for (uint32_t draw = 0; draw < 300 && !found; draw++) {
      rkb_random_t stream = rkb_random_stream(3, "join", draw, 0);
      char note[400], *text = NULL;
      *schedule = *start;
      if (!rkb_schedule_change(graph, &target, &stream, RKB_FOCUS_NONE, schedule, note, sizeof note) || schedule->count >= start->count)
         continue;
      assert_int_equal(rkb_kernel_write(graph, schedule, target.shared_bytes, &text, &err), RKB_OK);
      found = strstr(text, wanted) != NULL;
      free(text);
   }
   if (!found)
      fail_msg("%s %s: no change leads to %s", directory, direction, wanted);
   free(start);
   free(schedule);
   rkb_graph_close(graph);
   rkb_task_free(task);
}

static void test_joins(void **state) {
   (void)state;
   check_join(TASKS "/mnist_conv_relu_pool", "forward", "window: 1, channels: 2");
   check_join(TASKS "/groupnorm", "backward", "segments: 1");
   check_join(TASKS "/llama_rmsnorm", "backward", "stretches: 264");
}

/* Changes of a product lead to fp16x3 where the precision class allows it, although the parent copies by tensor maps. */
static bool leads_to_halves(const char *directory) {
   rkb_task_t *task = load(directory, "forward");
   rkb_schedule_t *start = calloc(1, sizeof *start), *schedule = calloc(1, sizeof *schedule);
   rkb_graph_t *graph = NULL;
   rkb_error_t err = {0};
   bool found = false;
   assert_int_equal(rkb_graph_open(task, &graph, &err), RKB_OK);
   rkb_schedule_start(graph, &target, RKB_START_SUITED, start);
   assert_int_equal(start->launches[0].decisions[RKB_COPY], RKB_COPY_TENSOR);
   for (uint32_t draw = 0; draw < 600 && !found; draw++) {
      rkb_random_t stream = rkb_random_stream(4, "halves", draw, 0);
      char note[400];
      *schedule = *start;
      found = rkb_schedule_change(graph, &target, &stream, RKB_FOCUS_NONE, schedule, note, sizeof note) &&
              schedule->launches[0].mapping == RKB_MAP_TENSOR &&
              schedule->launches[0].decisions[RKB_TENSOR] == RKB_TENSOR_PATH_FP16X3;
   }
   assert_true(!found || schedule->launches[0].decisions[RKB_COPY] == RKB_COPY_ASYNC);
   free(start);
   free(schedule);
   rkb_graph_close(graph);
   rkb_task_free(task);
   return found;
}

static void test_halves(void **state) {
   (void)state;
   assert_true(leads_to_halves(TASKS "/unet_linear"));
   assert_false(leads_to_halves(TASKS "/bf16_gemm"));
}

/* The gradient of resnet_block's weights has sums of 1,605,632 terms.  No drawn schedule gives so many terms
 * to few blocks of ordinary threads. */
static void test_long_sums(void **state) {
   (void)state;
   const double terms = 32 * 224 * 224;
   rkb_task_t *task = load(TASKS "/resnet_block", "backward");
   rkb_graph_t *graph = NULL;
   rkb_error_t err = {0};
   rkb_schedule_t *schedule = calloc(1, sizeof *schedule);
   uint32_t tiles = 0;
   assert_int_equal(rkb_graph_open(task, &graph, &err), RKB_OK);
   for (int64_t n = 0; n < 60; n++) {
      rkb_random_t stream = rkb_random_stream(1, "draw", n, 0);
      rkb_schedule_draw(graph, &target, &stream, schedule);
      for (uint32_t l = 0; l < schedule->count; l++) {
         const rkb_launch_t *launch = &schedule->launches[l];
         const int64_t *d = launch->decisions;
         if (launch->mapping != RKB_MAP_TILE || graph->nodes[launch->anchors[0]].kind != RKB_NODE_CONVOLUTION_WEIGHT)
            continue;
         tiles++;
         assert_true(terms / (double)d[RKB_SPLIT] * (double)(d[RKB_TILE_M] * d[RKB_TILE_N]) <= 0x1p28);
      }
   }
   assert_true(tiles > 10);
   free(schedule);
   rkb_graph_close(graph);
   rkb_task_free(task);
}

/* Tiles that suit a product cannot be written for a device with little shared memory.  Every start then gives
 * way to a schedule that can. */
static void test_little_memory(void **state) {
   (void)state;
   static const struct {
      const char *directory, *direction;
   } cases[] = {{TASKS "/mnist_linear", "backward"},
                {TASKS "/bf16_swiglu_ffw", "forward"},
                {TASKS "/attention", "forward"},
                {OWN_TASKS "/halves", "forward"}};
   for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
      for (uint32_t start = 0; start < RKB_STARTS; start++) {
         rkb_task_t *task = load(cases[i].directory, cases[i].direction);
         rkb_generator_t generator = {task, target};
         rkb_graph_t *graph = NULL;
         rkb_error_t err = {0};
         char *text = NULL;
         generator.target.shared_bytes = 1 << 10;
         assert_int_equal(rkb_graph_open(task, &graph, &err), RKB_OK);
         if (rkb_generator_start(&generator, rkb_start_name(start), &text, &err) != RKB_OK)
            fail_msg("%s %s, %s: %s", cases[i].directory, cases[i].direction, rkb_start_name(start),
                     err.message);
         if (start != RKB_START_FUSED || text)
            check_text_on(graph, generator.target.shared_bytes, text);
         free(text);
         rkb_graph_close(graph);
         rkb_task_free(task);
      }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reshape), cmocka_unit_test(test_little_memory), cmocka_unit_test(test_steps),
      cmocka_unit_test(test_starts),  cmocka_unit_test(test_changes),       cmocka_unit_test(test_reads_well),
      cmocka_unit_test(test_edited),  cmocka_unit_test(test_share),         cmocka_unit_test(test_gradients),
      cmocka_unit_test(test_joins),   cmocka_unit_test(test_long_sums),
      cmocka_unit_test(test_halves)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
