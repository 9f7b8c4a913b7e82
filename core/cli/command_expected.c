/* rkb expected: evaluates and stores the expected values that GPU stages need, in advance.  The main thread
 * runs the loop, catches signals and prints.  One task of the pool walks over the works, and free workers
 * help it. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/shared/pipeline_file.h"
#include "cli/shared/run_archive.h"
#include "system/loop.h"
#include "system/processors.h"
#include "task/expected/expected_store.h"
#include "task/expected/value_pool.h"

enum { MOST_WORKS = 1024, QUEUE_LIMIT = 1024, SIGNALS = 2 };

struct evaluation;

/* One task in one direction. */
typedef struct work {
   struct evaluation *evaluation;
   rkb_task_t *task;   /* owned */
   rkb_store_t *store; /* owned */
   uint64_t outputs, nanoseconds;
   _Atomic uint64_t evaluated, found; /* number of outputs */
   _Atomic uint64_t cut, empty;       /* outputs with fewer elements than wanted; outputs with none */
   _Atomic uint64_t unstored;         /* outputs that could not be written */
   _Atomic(const char *) case_name;   /* the case that is being evaluated */
   int status;
   rkb_error_t err;
} work_t;

typedef struct evaluation {
   rkb_value_pool_t settings;
   work_t *works; /* owned, count of them */
   uint32_t count;
   _Atomic uint32_t current; /* number of the work that is being evaluated */
   atomic_bool over;         /* no further evaluation begins */
   bool live, printed;       /* whether to redraw a line; whether a line is on the terminal */
   rkb_loop_t *loop;
   rkb_workers_t *workers;
   uv_signal_t signals[SIGNALS];
} evaluation_t;

static bool is_over(void *argument) {
   return atomic_load(&((work_t *)argument)->evaluation->over);
}

static void told(void *argument, const rkb_sample_t *sample, enum rkb_sample_source source) {
   work_t *work = argument;
   atomic_fetch_add(source == RKB_SAMPLE_FOUND ? &work->found : &work->evaluated, 1);
   if (source == RKB_SAMPLE_UNSTORED)
      atomic_fetch_add(&work->unstored, 1);
   if (sample->points.count == 0)
      atomic_fetch_add(&work->empty, 1);
   else if (sample->points.count < sample->wanted)
      atomic_fetch_add(&work->cut, 1);
}

static void began(void *argument, const rkb_case_t *the_case) {
   atomic_store(&((work_t *)argument)->case_name, the_case->name);
}

/* [loop] */
static void clear_line(evaluation_t *e) {
   if (e->printed)
      fprintf(stderr, "\r\033[K");
   e->printed = false;
}

/* [loop] */
static void draw_line(void *argument) {
   evaluation_t *e = argument;
   work_t *work = &e->works[atomic_load(&e->current)];
   const rkb_task_info_t *info = rkb_task_info(work->task);
   const char *case_name = atomic_load(&work->case_name);
   clear_line(e);
   fprintf(stderr, "%s %s: %llu of %llu outputs, at %s", info->name, info->direction,
           (unsigned long long)(work->evaluated + work->found), (unsigned long long)work->outputs,
           case_name ? case_name : "its beginning");
   fflush(stderr);
   e->printed = true;
}

/* Prints a work that has ended.  [loop] */
static void print_work(void *argument) {
   work_t *work = argument;
   const rkb_task_info_t *info = rkb_task_info(work->task);
   const uint64_t done = work->evaluated + work->found;
   char time[64];
   clear_line(work->evaluation);
   rkb_format_duration(work->nanoseconds, time, sizeof time);
   printf("%s %s: ", info->name, info->direction);
   if (done < work->outputs)
      printf("%llu of ", (unsigned long long)done);
   printf("%llu outputs, %llu evaluated and %llu found in the store, %s\n", (unsigned long long)work->outputs,
          (unsigned long long)work->evaluated, (unsigned long long)work->found, time);
   if (work->cut)
      printf("   %llu of them with fewer elements than wanted, because the budget was over\n",
             (unsigned long long)work->cut);
   if (work->empty)
      printf("   %llu of them without elements: they are too costly to evaluate at their shape\n",
             (unsigned long long)work->empty);
   fflush(stdout);
   if (work->unstored)
      fprintf(
         stderr,
         "%llu outputs could not be stored: the folder of the store cannot be written to, or the disk is full\n",
         (unsigned long long)work->unstored);
   if (work->status != RKB_OK && work->status != RKB_ERR_CANCELLED)
      rkb_say_error(&work->err);
}

/* [worker] */
static void evaluate_works(void *argument) {
   evaluation_t *e = argument;
   for (uint32_t i = 0; i < e->count && !atomic_load(&e->over); i++) {
      work_t *work = &e->works[i];
      rkb_value_pool_t pool = e->settings;
      const uint64_t begin = rkb_now_ns();
      pool.sampling.task = work->task;
      pool.sampling.store = work->store;
      pool.sampling.argument = work;
      atomic_store(&e->current, i);
      work->status = rkb_value_pool_evaluate(&pool, &work->err);
      work->nanoseconds = rkb_now_ns() - begin;
      rkb_loop_post(e->loop, print_work, work);
   }
   rkb_loop_stop(e->loop);
}

/* The values that are being evaluated are still stored.  [loop] */
static void signalled(uv_signal_t *signal, int number) {
   evaluation_t *e = signal->data;
   if (atomic_load(&e->over))
      _exit(128 + number);
   atomic_store(&e->over, true);
   clear_line(e);
   fprintf(stderr,
           "ends when the outputs that are being evaluated are stored; at once when interrupted again\n");
}

static void catch_signals(evaluation_t *e) {
   static const int numbers[SIGNALS] = {SIGINT, SIGTERM};
   for (int i = 0; i < SIGNALS; i++) {
      uv_signal_init(rkb_loop_uv(e->loop), &e->signals[i]);
      e->signals[i].data = e;
      uv_signal_start(&e->signals[i], signalled, numbers[i]);
   }
}

static int evaluate(evaluation_t *e, rkb_error_t *err) {
   const uint64_t redraw_ns = 200000000;
   const uint32_t cores = rkb_processors();
   rkb_timer_t *timer = NULL;
   int status = rkb_loop_new(&e->loop, err);
   if (status != RKB_OK)
      return status;
   status =
      rkb_workers_open(cores > RKB_WORKERS_MOST ? RKB_WORKERS_MOST : cores, QUEUE_LIMIT, &e->workers, err);
   if (status != RKB_OK)
      goto free_loop;
   e->settings.sampling.workers = e->workers;
   catch_signals(e);
   status = rkb_workers_submit(e->workers, evaluate_works, e, NULL);
   if (status == RKB_OK) {
      if (e->live)
         timer = rkb_timer_start_repeating(e->loop, redraw_ns, draw_line, e);
      rkb_loop_run(e->loop);
      rkb_timer_stop(timer);
      clear_line(e);
   } else {
      rkb_fail(err, status, "no worker takes the evaluation");
   }
   for (int i = 0; i < SIGNALS; i++)
      uv_close((uv_handle_t *)&e->signals[i], NULL);
   rkb_workers_close(e->workers);
free_loop:
   rkb_loop_free(e->loop);
   return status;
}

static int read_number(const rkb_arguments_t *arguments, const char *name, int64_t fallback, int64_t least,
                       int64_t most, int64_t *value) {
   const char *text = rkb_argument(arguments, name);
   *value = fallback;
   if (!text || (rkb_parse_int(text, value) && *value >= least && *value <= most))
      return RKB_EXIT_OK;
   fprintf(stderr, "--%s wants a number from %lld to %lld, not '%s'\n", name, (long long)least,
           (long long)most, text);
   return RKB_EXIT_USAGE;
}

/* Reads the settings.  Their bounds are those of the stages' options. */
static int read_settings(const rkb_arguments_t *arguments, rkb_value_pool_t *settings) {
   enum { MOST_FAMILIES = 64, LEAST_SEEDS = 2, MOST_SEEDS = 4096, LEAST_POINTS = 64, MOST_POINTS = 1 << 20 };
   const char *budget = rkb_argument(arguments, "budget");
   int64_t families = 0, bench_families = 0, seeds = 0, points = 0;
   int code = read_number(arguments, "families", RKB_EXPECTED_FAMILIES, 1, MOST_FAMILIES, &families);
   if (code == RKB_EXIT_OK)
      code = read_number(arguments, "bench-families", RKB_EXPECTED_BENCH_FAMILIES, 1, MOST_FAMILIES,
                         &bench_families);
   if (code == RKB_EXIT_OK)
      code = read_number(arguments, "pool", RKB_EXPECTED_POOL, LEAST_SEEDS, MOST_SEEDS, &seeds);
   if (code == RKB_EXIT_OK)
      code = read_number(arguments, "points", RKB_EXPECTED_POINTS, LEAST_POINTS, MOST_POINTS, &points);
   *settings = (rkb_value_pool_t){.sampling = {.points = (uint64_t)points, .is_over = is_over, .told = told},
                                  .families = (uint32_t)families,
                                  .bench_families = (uint32_t)bench_families,
                                  .seeds = (uint32_t)seeds,
                                  .began = began};
   if (code == RKB_EXIT_OK &&
       !rkb_parse_duration(budget ? budget : RKB_EXPECTED_BUDGET, &settings->sampling.budget_ns)) {
      fprintf(stderr, "--budget wants a duration such as 400ms or 1s, not '%s'\n", budget);
      code = RKB_EXIT_USAGE;
   }
   return code;
}

static bool add_work(evaluation_t *e, const char *directory, const char *direction,
                     rkb_problems_t *problems) {
   work_t *work = &e->works[e->count];
   if (e->count == MOST_WORKS) {
      rkb_problem(problems, (rkb_place_t){0}, "at most %d tasks and directions can be named", MOST_WORKS);
      return false;
   }
   work->evaluation = e;
   work->task = rkb_task_load(directory, direction, 0, problems);
   e->count += work->task != NULL;
   return work->task != NULL;
}

/* Adds the requested direction of a task, or all of its directions. */
static void add_task(evaluation_t *e, const char *directory, const char *asked, rkb_problems_t *problems) {
   if (!add_work(e, directory, asked, problems) || asked)
      return;
   const char *const *directions = rkb_task_directions(e->works[e->count - 1].task);
   for (int i = 1; directions[i]; i++)
      if (!add_work(e, directory, directions[i], problems))
         return;
}

static int load_works(const rkb_arguments_t *arguments, evaluation_t *e) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   for (int i = 0; rkb_positional(arguments, i); i++)
      add_task(e, rkb_positional(arguments, i), rkb_argument(arguments, "direction"), &problems);
   const bool wrong = problems.errors > 0;
   if (problems.count)
      rkb_say_problems(&problems);
   else
      rkb_problems_free(&problems);
   return wrong ? RKB_EXIT_USAGE : RKB_EXIT_OK;
}

static int open_stores(evaluation_t *e) {
   rkb_error_t err;
   int status = RKB_OK;
   for (uint32_t i = 0; i < e->count && status == RKB_OK; i++) {
      work_t *work = &e->works[i];
      rkb_value_pool_t pool = e->settings;
      pool.sampling.task = work->task;
      work->outputs = rkb_value_pool_outputs(&pool);
      status = rkb_store_open(rkb_task_values_identity(work->task), &work->store, &err);
   }
   if (status == RKB_OK)
      return RKB_EXIT_OK;
   rkb_say_error(&err);
   return RKB_EXIT_BROKEN;
}

static int exit_of(const evaluation_t *e) {
   for (uint32_t i = 0; i < e->count; i++)
      if (e->works[i].unstored || (e->works[i].status != RKB_OK && e->works[i].status != RKB_ERR_CANCELLED))
         return RKB_EXIT_BROKEN;
   if (!atomic_load(&e->over))
      return RKB_EXIT_OK;
   fprintf(stderr, "interrupted; the same command goes on with what is not stored yet\n");
   return RKB_EXIT_INTERRUPTED;
}

static int run(const rkb_arguments_t *arguments) {
   evaluation_t e = {.live = isatty(STDERR_FILENO)};
   rkb_error_t err = {0};
   int code = read_settings(arguments, &e.settings);
   if (code != RKB_EXIT_OK)
      return code;
   e.works = rkb_allocate(MOST_WORKS, sizeof *e.works);
   code = load_works(arguments, &e);
   if (code == RKB_EXIT_OK)
      code = open_stores(&e);
   if (code == RKB_EXIT_OK)
      code = evaluate(&e, &err) == RKB_OK ? exit_of(&e) : rkb_say_error(&err);
   for (uint32_t i = 0; i < e.count; i++) {
      rkb_store_close(e.works[i].store);
      rkb_task_free(e.works[i].task);
   }
   free(e.works);
   return code;
}

#define DEFAULT(number) " (default: " RKB_EXPECTED_TEXT(number) ")."

static const rkb_cli_option_t options[] = {
   {"direction", "D", "forward or backward (default: every direction that a task has).", false},
   {"families", "N", "Input families of each check case, at most" DEFAULT(RKB_EXPECTED_FAMILIES), false},
   {"bench-families", "N", "Input families of each bench case, at most" DEFAULT(RKB_EXPECTED_BENCH_FAMILIES),
    false},
   {"pool", "N", "Seeds of each case and family, at most" DEFAULT(RKB_EXPECTED_POOL), false},
   {"points", "N", "Elements of an output that is too large to evaluate whole" DEFAULT(RKB_EXPECTED_POINTS),
    false},
   {"budget", "DURATION",
    "Time to evaluate one output of a large shape; when it is over, the elements evaluated so far are "
    "stored (default: " RKB_EXPECTED_BUDGET ").",
    false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_expected = {
   .name = "expected",
   .arguments = "TASK...",
   .summary = "Evaluate and store what the GPU stages compare outputs with.",
   .details =
      "TASK is a task directory or the name of a shipped task.  The values are the reference's, with their error bounds, for\n"
      "every listed case, several input families and several seeds.  No kernel is run and no GPU is needed.  They are stored in\n"
      "$XDG_CACHE_HOME/rkb/expected (or ~/.cache/rkb/expected), where rkb.verifier.gpu and rkb.profiler.time look for them; what\n"
      "is there already is not evaluated again.  A stage finds them when families, pool and points are its own: the defaults are\n"
      "the defaults of the stages.  rkb bench does the same for the next rows while the GPU works on one row.\n\n"
      "After ^C it stores the outputs that are being evaluated and ends; the same command goes on with the rest.\n\n"
      "Exit: 0 all are stored, 2 a task that does not load, 3 a broken tool, 130 ended by ^C.\n",
   .options = options,
   .least = 1,
   .most = -1,
   .run = run,
};
