/* rkb-bench-dispatch: the time to give a worker a task that does nothing, and to report its end to the loop.
 *
 * 256 tasks are in flight, as in a run: the end of each is posted to the loop, which submits the next one.
 * The program also hands the same number of items through the loop's queue alone, in the same process, and
 * prints both rates and their ratio.
 *
 *    rkb-bench-dispatch [jobs]            (bind it to one core with taskset to measure a core) */
#include <stdio.h>
#include <stdlib.h>
#include "base/usage.h"

#include "system/loop.h"
#include "system/workers.h"

#define IN_FLIGHT 256

typedef struct bench {
   rkb_loop_t *loop;
   rkb_workers_t *workers;
   uint64_t to_start, to_end;
   void (*start)(struct bench *bench);
} bench_t;

static void ended(void *argument) {
   bench_t *bench = argument;
   if (bench->to_start)
      bench->start(bench);
   if (--bench->to_end == 0)
      rkb_loop_stop(bench->loop);
}

static void post_end(void *argument) {
   bench_t *bench = argument;
   if (rkb_loop_post(bench->loop, ended, bench) != RKB_OK)
      abort();
}

static void start_on_worker(bench_t *bench) {
   bench->to_start--;
   if (rkb_workers_submit(bench->workers, post_end, bench, NULL) != RKB_OK)
      abort();
}

static void start_on_loop(bench_t *bench) {
   bench->to_start--;
   post_end(bench);
}

static double rate(bench_t *bench, uint64_t jobs, void (*start)(bench_t *bench)) {
   bench->to_start = bench->to_end = jobs;
   bench->start = start;
   uint64_t began = rkb_now_ns();
   for (int i = 0; i < IN_FLIGHT && bench->to_start; i++)
      start(bench);
   rkb_loop_run(bench->loop);
   return (double)jobs / ((double)(rkb_now_ns() - began) / 1e9);
}

int main(int argc, char **argv) {
   const int over = rkb_usage(argc, argv, 1,
                              "usage: rkb-bench-dispatch [JOBS]\n"
                              "Prints how many tasks a second one worker takes and hands back, and the ratio to bare hand-overs "
                              "through the loop's queue.\nJOBS: 2000000 unless given.\n");
   if (over >= 0)
      return over;
   rkb_error_t err;
   uint64_t jobs = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
   bench_t bench = {0};
   if (jobs == 0 || rkb_loop_new(&bench.loop, &err) != RKB_OK ||
       rkb_workers_open(1, IN_FLIGHT, &bench.workers, &err) != RKB_OK) {
      fprintf(stderr, "rkb-bench-dispatch: %s\n", jobs ? err.message : "the number of jobs must not be 0");
      return 2;
   }
   double posts = rate(&bench, jobs, start_on_loop);
   double round_trips = rate(&bench, jobs, start_on_worker);
   printf("through a worker and back: %.0f jobs/s\nthrough the loop's queue:  %.0f posts/s\nratio: %.2f\n",
          round_trips, posts, round_trips / posts);
   rkb_workers_close(bench.workers);
   rkb_loop_free(bench.loop);
   return 0;
}
