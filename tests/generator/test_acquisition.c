/* rkb_generator_acquire, where every decision may be changed, on times from a formula.  From a few kernels it
 * finds the decisions that the formula favours; from fewer it knows nothing; for the same seed it repeats
 * itself; and it writes nothing that was tried already. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/generator.h"
#include "generator/search/neighbours.h"
#include "generator/graph/schedule.h"
#include "generator/decisions/schedule_block.h"

enum { TRIED = 24, ASKED = 16 };

static const rkb_target_t target = {.multiprocessors = 132, .shared_bytes = 227 << 10};

typedef struct landscape {
   rkb_task_t *task;
   rkb_graph_t *graph;
   rkb_generator_t generator;
   rkb_schedule_t *schedule; /* room for one */
   char *texts[TRIED];
   rkb_schedule_tried_t tried[TRIED];
} landscape_t;

/* Blocks of 512 threads and accesses of 4 elements are best; nothing else counts. */
static double made_up_time(const landscape_t *own, const char *text) {
   rkb_error_t err = {0};
   assert_int_equal(rkb_schedule_parse(own->graph, text, own->schedule, &err), RKB_OK);
   const int64_t *d = own->schedule->launches[0].decisions;
   return 10 *
          (1 + 0.4 * fabs(log2((double)d[RKB_THREADS] / 512)) + 0.3 * fabs(log2((double)d[RKB_VECTOR] / 4)));
}

static void open_landscape(landscape_t *own) {
   rkb_problems_t problems;
   rkb_error_t err = {0};
   char note[400];
   rkb_problems_init(&problems);
   own->task = rkb_task_load(TASKS "/softmax", "forward", 0, &problems);
   rkb_problems_free(&problems);
   assert_non_null(own->task);
   assert_int_equal(rkb_graph_open(own->task, &own->graph, &err), RKB_OK);
   own->generator = (rkb_generator_t){own->task, target};
   own->schedule = calloc(1, sizeof *own->schedule);
   assert_non_null(own->schedule);
   assert_int_equal(rkb_generator_start(&own->generator, "together", &own->texts[0], &err), RKB_OK);
   for (uint32_t i = 1; i < TRIED; i++) {
      rkb_random_t stream = rkb_random_stream(11, "tried", i, 0);
      assert_int_equal(rkb_generator_change(&own->generator, &stream, own->texts[i / 2], 0, &own->texts[i],
                                            note, sizeof note, &err),
                       RKB_OK);
      assert_non_null(own->texts[i]);
   }
   for (uint32_t i = 0; i < TRIED; i++)
      own->tried[i] = (rkb_schedule_tried_t){i + 1, own->texts[i], made_up_time(own, own->texts[i])};
}

static void close_landscape(landscape_t *own) {
   for (uint32_t i = 0; i < TRIED; i++)
      free(own->texts[i]);
   free(own->schedule);
   rkb_graph_close(own->graph);
   rkb_task_free(own->task);
}

static char *ask(const landscape_t *own, uint32_t count, uint32_t slot, int64_t *base) {
   rkb_random_t stream = rkb_random_stream(5, "ask", slot, 0);
   rkb_error_t err = {0};
   char note[400], *text = NULL;
   *base = 0;
   assert_int_equal(rkb_generator_acquire(&own->generator, &stream, own->texts[0], 0, slot, own->tried, count,
                                          &text, base, note, sizeof note, &err),
                    RKB_OK);
   assert_true(!text || strstr(note, "guessed"));
   return text;
}

static void test_finds(void **state) {
   (void)state;
   landscape_t own = {0};
   open_landscape(&own);
   double tried = 0, asked = 0, best = INFINITY;
   for (uint32_t i = 0; i < TRIED; i++)
      tried += own.tried[i].microseconds / TRIED;
   for (uint32_t slot = 0; slot < ASKED; slot++) {
      int64_t base = 0, again_base = 0;
      char *text = ask(&own, TRIED, slot, &base), *again = ask(&own, TRIED, slot, &again_base);
      assert_non_null(text);
      assert_string_equal(text, again);
      assert_int_equal(base, again_base);
      assert_in_range(base, 0, TRIED);
      for (uint32_t i = 0; i < TRIED; i++)
         assert_string_not_equal(text, own.texts[i]);
      asked += made_up_time(&own, text) / ASKED;
      best = fmin(best, made_up_time(&own, text));
      free(text);
      free(again);
   }
   print_message("mean of the tried %.2f, of the asked %.2f, best of the asked %.2f\n", tried, asked, best);
   assert_true(asked < 0.85 * tried);
   assert_true(best < 10.01);
   close_landscape(&own);
}

/* Five accepted kernels say too little, and what was not accepted counts for nothing. */
static void test_knows_too_little(void **state) {
   (void)state;
   landscape_t own = {0};
   int64_t base = 0;
   open_landscape(&own);
   assert_null(ask(&own, 5, 0, &base));
   for (uint32_t i = 5; i < TRIED; i++)
      own.tried[i].microseconds = INFINITY;
   assert_null(ask(&own, TRIED, 0, &base));
   close_landscape(&own);
}

static void test_changes_all(void **state) {
   (void)state;
   for (uint32_t focus = RKB_FOCUS_NONE; focus <= RKB_FOCUS_LATENCY; focus++)
      for (uint32_t d = 0; d < RKB_DECISIONS; d++)
         if (!(rkb_decision_weight(d, focus) > 0))
            fail_msg("%s has no weight in focus %u", rkb_decision_name(d), focus);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_changes_all), cmocka_unit_test(test_finds),
                                      cmocka_unit_test(test_knows_too_little)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
