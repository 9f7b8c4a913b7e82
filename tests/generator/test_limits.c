/* How large a graph may be: the operations that the generator reads, and the launches of a kernel.  Each case is a chain of equal nodes that is
 * written to a folder of its own.  Beside them: what is read again for each copy of a value has a launch of its own. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "generator/generator.h"

static const rkb_target_t target = {.multiprocessors = 132,
                                    .shared_bytes = 227 << 10,
                                    .bytes_a_second = 3.35e12,
                                    .cache_bytes = 50 << 20,
                                    .fused_a_second = 33e12};

static const struct {
   uint32_t nodes;
   const char *op, *start, *refusal; /* NULL: there is a text */
} chains[] = {
   {640, "neg", "apart", NULL},
   {641, "neg", "apart", "the graph takes more than 640 launches"},
   {2000, "hardswish", "apart", "more than 4096 operations"},
};

static const char task_text[] = "rkb-task: 1\n"
                                "name: chain\n"
                                "summary: A chain of nodes.\n"
                                "precision: fp32\n"
                                "directions: [forward]\n"
                                "dims:\n"
                                "  N: {range: 1..64}\n"
                                "tensors:\n"
                                "  n0: {role: in, dtype: float32, shape: \"N\", init: {kind: normal}}\n"
                                "  n%u: {role: out, dtype: float32, shape: \"N\"}\n"
                                "cases:\n"
                                "  check:\n"
                                "    - {name: one, dims: {N: 1}}\n"
                                "  bench:\n"
                                "    - {name: as_given, dims: {N: 64}}\n";

static const char stretched_task[] =
   "rkb-task: 1\n"
   "name: stretched\n"
   "summary: Each plane's largest element is added to all of them.\n"
   "precision: fp32\n"
   "directions: [forward]\n"
   "dims:\n"
   "  N: {range: 1..64}\n"
   "tensors:\n"
   "  x: {role: in, dtype: float32, shape: \"N, 1, 16, 16\", init: {kind: normal}}\n"
   "  y: {role: out, dtype: float32, shape: \"N, 1, 16, 16\"}\n"
   "cases:\n"
   "  check:\n"
   "    - {name: one, dims: {N: 1}}\n"
   "  bench:\n"
   "    - {name: as_given, dims: {N: 64}}\n";
static const char stretched_graph[] =
   "rkb-graph: 1\n"
   "nodes:\n"
   "  - {id: a, op: max_pool2d, in: [x], attr: {kernel_size: \"16\", stride: \"16\", padding: \"0\"}, "
   "out: [{name: largest, dtype: float32, shape: \"N, 1, 1, 1\"}]}\n"
   "  - {id: b, op: add, in: [x, largest], out: [{name: y, dtype: float32, shape: \"N, 1, 16, 16\"}]}\n";

static FILE *open_in(const char *folder, const char *name) {
   char path[256];
   snprintf(path, sizeof path, "%s/%s", folder, name);
   FILE *file = fopen(path, "w");
   assert_non_null(file);
   return file;
}

static void write_chain(const char *folder, const char *op, uint32_t nodes) {
   FILE *task = open_in(folder, "task.yaml"), *graph = open_in(folder, "reference.graph.yaml");
   fprintf(task, task_text, nodes);
   fprintf(graph, "rkb-graph: 1\nnodes:\n");
   for (uint32_t n = 0; n < nodes; n++)
      fprintf(graph, "  - {id: a%u, op: %s, in: [n%u], out: [{name: n%u, dtype: float32, shape: \"N\"}]}\n", n, op, n, n + 1);
   assert_int_equal(fclose(task) | fclose(graph), 0);
}

static void remove_chain(const char *folder) {
   char path[256];
   static const char *const names[] = {"task.yaml", "reference.graph.yaml"};
   for (uint32_t n = 0; n < 2; n++) {
      snprintf(path, sizeof path, "%s/%s", folder, names[n]);
      unlink(path);
   }
   rmdir(folder);
}

static int start_of(const char *folder, const char *start, char **text, rkb_error_t *err) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(folder, "forward", 0, &problems);
   if (!task)
      fail_msg("%s cannot be read", folder);
   rkb_problems_free(&problems);
   *text = NULL;
   const int status = rkb_generator_start(&(rkb_generator_t){task, target}, start, text, err);
   rkb_task_free(task);
   return status;
}

static void chains_up_to_the_limits_are_written(void **state) {
   (void)state;
   for (uint32_t n = 0; n < sizeof chains / sizeof *chains; n++) {
      char folder[] = "/tmp/rkb-chain-XXXXXX", *text;
      rkb_error_t err = {0};
      assert_non_null(mkdtemp(folder));
      write_chain(folder, chains[n].op, chains[n].nodes);
      const int status = start_of(folder, chains[n].start, &text, &err);
      remove_chain(folder);
      if (!chains[n].refusal && status != RKB_OK)
         fail_msg("%u nodes %s: %s", chains[n].nodes, chains[n].op, err.message);
      if (chains[n].refusal && (status == RKB_OK || !strstr(err.message, chains[n].refusal)))
         fail_msg("%u nodes %s: '%s' instead of '%s'", chains[n].nodes, chains[n].op, err.message, chains[n].refusal);
      free(text);
   }
}

/* A thread for each element of y would look for the largest element of its plane again: 256 times for each plane. */
static void a_pool_whose_value_is_stretched_has_its_own_launch(void **state) {
   (void)state;
   static const char *const starts[] = {"together", "suited"};
   char folder[] = "/tmp/rkb-stretched-XXXXXX", *texts[2];
   rkb_error_t err = {0};
   assert_non_null(mkdtemp(folder));
   FILE *task = open_in(folder, "task.yaml"), *graph = open_in(folder, "reference.graph.yaml");
   fputs(stretched_task, task);
   fputs(stretched_graph, graph);
   assert_int_equal(fclose(task) | fclose(graph), 0);
   for (uint32_t n = 0; n < 2; n++)
      (void)start_of(folder, starts[n], &texts[n], &err);
   remove_chain(folder);
   for (uint32_t n = 0; n < 2; n++) {
      if (!texts[n] || !strstr(texts[n], "kernel: largest_") || !strstr(texts[n], "kernel: y_"))
         fail_msg("%s: no launch of its own in '%.400s'", starts[n], texts[n] ? texts[n] : err.message);
      free(texts[n]);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(chains_up_to_the_limits_are_written),
                                      cmocka_unit_test(a_pool_whose_value_is_stretched_has_its_own_launch)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
