/* Runs jobs as elements of Slurm's array jobs (slurm_executor.h).  It calls one Slurm command at a time: squeue, which shows the state of every job, then
 * sbatch for the jobs that shall start and are not in the queue.  Loop thread only. */
#include "executor/slurm_executor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/memory.h"
#include "executor/slurm_jobs.h"
#include "system/process.h"

#define SECOND_NS UINT64_C(1000000000)
#define CALL_NS (120 * SECOND_NS)
#define SHORTEST_WAIT_NS SECOND_NS
#define LONGEST_WAIT_NS (15 * SECOND_NS)
#define SILENCE_NS                                                                                           \
   (1800 * SECOND_NS) /* how long the controller may be silent before this process gives up; its restart takes minutes at most */

enum {
   MAX_SCRIPT = 1 << 20,
   MAX_OUTPUT = 16 << 20, /* room for several times 10,000 rows of 240 bytes */
   MAX_NAMES = 4096,
   MAX_USER_OPTIONS = 64,
   MAX_REFUSALS = 3,  /* most refusals of sbatch in a row, while squeue answers */
   MAX_REMOVED = 100, /* most elements in one call of scancel */
   MAX_ID = 40
};

typedef struct slurm_executor {
   rkb_executor_t base;
   const rkb_executor_options_t *options;
   rkb_slurm_jobs_t jobs;
   rkb_process_t *call;
   rkb_timer_t *timer;
   uint64_t wait_ns, silent_since_ns; /* silent_since_ns: when the controller stopped answering; 0: it answers */
   uint32_t chunk;                    /* the chunk for which sbatch is being called */
   uint32_t cancelled;                /* while ending: how many calls of scancel were made */
   uint32_t refusals;
   bool ending, killing, closed, silence_told;
} slurm_executor_t;

static slurm_executor_t *of(rkb_executor_t *executor) {
   return (slurm_executor_t *)executor;
}

static const rkb_executor_events_t *events_of(const slurm_executor_t *executor) {
   return &executor->options->events;
}

static uint32_t chunk_count(const slurm_executor_t *executor) {
   return (executor->options->count + RKB_SLURM_CHUNK - 1) / RKB_SLURM_CHUNK;
}

static void look(void *argument);
static void submit_next(slurm_executor_t *executor);
static void proceed(slurm_executor_t *executor);

static void look_after(slurm_executor_t *executor, uint64_t ns) {
   if (executor->closed || executor->timer || executor->call)
      return;
   executor->timer = rkb_timer_start(executor->options->loop, ns, look, executor);
}

/* Sets the time of the next squeue: soon if jobs changed lately, later if not, because squeue takes the controller's time. */
static void look_later(slurm_executor_t *executor) {
   executor->wait_ns =
      executor->jobs.changed || executor->wait_ns == 0 ? SHORTEST_WAIT_NS : executor->wait_ns * 3 / 2;
   if (executor->wait_ns > LONGEST_WAIT_NS)
      executor->wait_ns = LONGEST_WAIT_NS;
   executor->jobs.changed = false;
   look_after(executor, executor->wait_ns);
}

static int call(slurm_executor_t *executor, const char *const *words, const char *input,
                void (*done)(void *argument, int status, const rkb_process_result_t *result),
                rkb_error_t *err) {
   const rkb_process_spec_t spec = {.size = sizeof spec,
                                    .arguments = words,
                                    .environment = (const char *const *)environ,
                                    .input = input,
                                    .input_bytes = input ? strlen(input) : 0,
                                    .output_limit = MAX_OUTPUT,
                                    .deadline_ns = CALL_NS};
   return rkb_process_start(executor->options->loop, &spec, done, executor, &executor->call, err);
}

static void break_off(slurm_executor_t *executor, const char *what, const char *said) {
   rkb_error_t err;
   rkb_fail(&err, RKB_ERR_UNAVAILABLE, "%s: %.600s", what, said);
   executor->closed = true;
   events_of(executor)->broken(events_of(executor)->argument, &err);
}

/* Calls ------------------------------------------------------------------------------------------------------------ */

static void controller_silent(slurm_executor_t *executor, const char *said) {
   const uint64_t now = rkb_now_ns();
   char text[500];
   if (executor->silent_since_ns == 0)
      executor->silent_since_ns = now;
   if (now - executor->silent_since_ns > SILENCE_NS) {
      break_off(executor, "Slurm's controller has not answered for half an hour; the jobs stay in its queue",
                said);
      return;
   }
   if (!executor->silence_told) {
      snprintf(text, sizeof text,
               "Slurm's controller does not answer (%.300s); its jobs go on, and this waits", said);
      events_of(executor)->trouble(events_of(executor)->argument, text);
   }
   executor->silence_told = true;
   look_later(executor);
}

static const char *said_by(const rkb_process_result_t *result) {
   return !result             ? "it could not be called"
          : result->timed_out ? "no answer within two minutes"
          : result->errors[0] ? result->errors
                              : "no reason given";
}

static void on_queue(void *argument, int status, const rkb_process_result_t *result) {
   slurm_executor_t *executor = argument;
   executor->call = NULL;
   if (executor->closed)
      return;
   if (status != RKB_OK || result->timed_out || result->signal || result->exit_code != 0) {
      controller_silent(executor, said_by(result));
      return;
   }
   if (executor->silence_told)
      events_of(executor)->trouble(events_of(executor)->argument, "Slurm's controller answers again");
   executor->silence_told = false;
   executor->silent_since_ns = 0;
   rkb_slurm_jobs_follow(&executor->jobs, result->output);
   executor->chunk = 0;
   proceed(executor);
}

static void look(void *argument) {
   slurm_executor_t *executor = argument;
   rkb_text_t names;
   rkb_error_t err;
   executor->timer = NULL;
   if (executor->closed)
      return;
   rkb_text_init(&names, MAX_NAMES);
   for (uint32_t chunk = 0; chunk < chunk_count(executor); chunk++)
      rkb_text_format(&names, "%s%s-%u", chunk ? "," : "", executor->jobs.name, chunk);
   const char *const words[] = {"squeue", "--noheader",         "--array", "--me",           "--states=all",
                                "--name", rkb_text_get(&names), "-O",      rkb_slurm_format, NULL};
   if (call(executor, words, NULL, on_queue, &err) != RKB_OK)
      break_off(executor, "squeue cannot be called; --on slurm wants Slurm's commands on the PATH",
                err.message);
   rkb_text_free(&names);
}

static void on_submitted(void *argument, int status, const rkb_process_result_t *result) {
   slurm_executor_t *executor = argument;
   char *end;
   executor->call = NULL;
   if (executor->closed)
      return;
   const uint64_t array =
      status == RKB_OK && result->exit_code == 0 && !result->signal ? strtoull(result->output, &end, 10) : 0;
   if (array == 0) { /* the next squeue shows whether Slurm accepted the array in spite of the error */
      if (++executor->refusals >= MAX_REFUSALS)
         break_off(executor, "sbatch does not take the jobs", said_by(result));
      else
         look_later(executor);
      return;
   }
   executor->refusals = 0;
   rkb_slurm_jobs_handed(&executor->jobs, executor->chunk, array);
   executor->chunk++;
   proceed(executor);
}

/* Returns the name of a log.  Doubles percent signs, because one begins a replacement in such a name (sbatch(1), "filename pattern"). */
static char *log_pattern(const slurm_executor_t *executor) {
   rkb_text_t text;
   rkb_text_init(&text, MAX_SCRIPT);
   for (const char *at = executor->options->directory; *at; at++)
      rkb_text_add(&text, *at == '%' ? "%%" : (char[]){*at, '\0'});
   rkb_text_format(&text, "/jobs/%u-%%a.log", executor->chunk);
   return rkb_text_take(&text);
}

static int submit(slurm_executor_t *executor, const char *elements, rkb_error_t *err) {
   const rkb_executor_options_t *options = executor->options;
   const char *words[16 + MAX_USER_OPTIONS];
   char *name = rkb_format("--job-name=%s-%u", executor->jobs.name, executor->chunk),
        *pattern = log_pattern(executor);
   char *array = options->at_once ? rkb_format("--array=%s%%%u", elements, options->at_once)
                                  : rkb_format("--array=%s", elements);
   char *output = rkb_format("--output=%s", pattern),
        *cores = rkb_format("--cpus-per-task=%u", options->cores);
   uint32_t count = 0;
   rkb_text_t script;
   rkb_text_init(&script, MAX_SCRIPT);
   rkb_slurm_script(&script, options->command, options->numbered, executor->chunk * RKB_SLURM_CHUNK + 1);
   const char *const fixed[] = {"sbatch", "--parsable",         name,        array,
                                output,   "--open-mode=append", "--requeue", "--ntasks=1"};
   for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
      words[count++] = fixed[i];
   if (options->cores)
      words[count++] = cores;
   for (uint32_t i = 0; options->slurm_options && options->slurm_options[i] && i < MAX_USER_OPTIONS; i++)
      words[count++] = options->slurm_options[i]; /* after our own options, so that the user's options win */
   words[count] = NULL;
   int status = call(executor, words, rkb_text_get(&script), on_submitted, err);
   rkb_text_free(&script);
   free(cores);
   free(output);
   free(array);
   free(pattern);
   free(name);
   return status;
}

/* Passes on the jobs of the next chunk that are wanted; after the last chunk, waits until the queue is read again. */
static void submit_next(slurm_executor_t *executor) {
   const uint32_t count = executor->options->count;
   rkb_text_t elements;
   rkb_error_t err;
   rkb_text_init(&elements, MAX_SCRIPT);
   for (; executor->chunk * RKB_SLURM_CHUNK < count; executor->chunk++) {
      bool wanted[RKB_SLURM_CHUNK] = {false};
      for (uint32_t i = 0; i < RKB_SLURM_CHUNK && executor->chunk * RKB_SLURM_CHUNK + i < count; i++)
         wanted[i] = executor->jobs.list[executor->chunk * RKB_SLURM_CHUNK + i].phase == RKB_SLURM_WANTED;
      rkb_slurm_elements(&elements, wanted, RKB_SLURM_CHUNK);
      if (elements.length == 0)
         continue;
      if (submit(executor, rkb_text_get(&elements), &err) != RKB_OK)
         break_off(executor, "sbatch cannot be called; --on slurm wants Slurm's commands on the PATH",
                   err.message);
      rkb_text_free(&elements);
      return;
   }
   rkb_text_free(&elements);
   if (!rkb_slurm_jobs_any(&executor->jobs, RKB_SLURM_WANTED))
      events_of(executor)->queued(events_of(executor)->argument);
   look_later(executor);
}

/* Ending ------------------------------------------------------------------------------------------------------------ */

/* Returns how many calls of scancel are needed.  For each array, one call removes the waiting jobs from the queue, and the next one sends a signal to the
 * running jobs.  If jobs are killed, one call for each array removes all of its jobs. */
static uint32_t cancel_count(const slurm_executor_t *executor) {
   return executor->killing ? chunk_count(executor) : 2 * chunk_count(executor);
}

static void on_cancelled(void *argument, int status, const rkb_process_result_t *result) {
   slurm_executor_t *executor = argument;
   executor->call = NULL;
   if (executor->closed)
      return;
   const bool done = status == RKB_OK && result->exit_code == 0 && !result->signal;
   if (done || ++executor->refusals >= MAX_REFUSALS) {
      executor->refusals = 0;
      executor->cancelled++;
      proceed(executor);
   } else {
      controller_silent(executor, said_by(result));
   }
}

static void cancel_next(slurm_executor_t *executor) {
   const uint32_t step = executor->cancelled;
   char *name = rkb_format("--name=%s-%u", executor->jobs.name, executor->killing ? step : step / 2);
   rkb_error_t err;
   const char *const waiting[] = {"scancel", "--quiet", "--state=PENDING", name, NULL};
   const char *const told[] = {"scancel", "--quiet", "--state=RUNNING", "--signal=TERM", name, NULL};
   const char *const removed[] = {"scancel", "--quiet", name, NULL};
   if (call(executor,
            executor->killing ? removed
            : step % 2        ? told
                              : waiting,
            NULL, on_cancelled, &err) != RKB_OK)
      break_off(executor, "scancel cannot be called", err.message);
   free(name);
}

static void on_removed(void *argument, int status, const rkb_process_result_t *result) {
   slurm_executor_t *executor = argument;
   (void)status;
   (void)result; /* if an element stays in the queue, Slurm holds it, and it does no harm */
   executor->call = NULL;
   proceed(executor);
}

/* Removes elements from the queue that Slurm cannot launch.  False: there are none. */
static bool remove_stuck(slurm_executor_t *executor) {
   char ids[MAX_REMOVED][MAX_ID];
   const char *words[MAX_REMOVED + 3] = {"scancel", "--quiet"};
   uint32_t count = 0;
   rkb_error_t err;
   for (uint32_t i = 0; i < executor->options->count && count < MAX_REMOVED; i++)
      if (executor->jobs.list[i].stuck) {
         executor->jobs.list[i].stuck = false;
         snprintf(ids[count], MAX_ID, "%llu_%u", (unsigned long long)executor->jobs.list[i].removed,
                  i % RKB_SLURM_CHUNK);
         words[2 + count] = ids[count];
         count++;
      }
   if (count > 0 && call(executor, words, NULL, on_removed, &err) != RKB_OK)
      break_off(executor, "scancel cannot be called", err.message);
   return count > 0;
}

/* Chooses the next call after a call has ended. */
static void proceed(slurm_executor_t *executor) {
   if (executor->call || executor->closed)
      return;
   rkb_timer_stop(executor->timer);
   executor->timer = NULL;
   if (executor->ending && executor->cancelled < cancel_count(executor)) {
      cancel_next(executor);
   } else if (remove_stuck(executor)) {
      return;
   } else if (executor->killing) {
      rkb_slurm_jobs_remove(&executor->jobs, 0, "killed");
   } else if (executor->ending) {
      executor->jobs.changed = true; /* the jobs are ending now */
      look_later(executor);
   } else {
      submit_next(executor);
   }
}

static void end(rkb_executor_t *base) {
   slurm_executor_t *executor = of(base);
   executor->ending = true;
   executor->cancelled = 0;
   rkb_slurm_jobs_remove(&executor->jobs, RKB_SLURM_WANTED, "not begun");
   proceed(executor);
}

static void kill_jobs(rkb_executor_t *base) {
   of(base)->killing = true;
   end(base);
}

/* The table --------------------------------------------------------------------------------------------------------- */

/* Slurm keeps the queue, so there is always room. */
static bool has_room(rkb_executor_t *base) {
   return !of(base)->ending && !of(base)->closed;
}

static int start(rkb_executor_t *base, uint32_t job, rkb_error_t *err) {
   (void)err;
   of(base)->jobs.list[job].phase = RKB_SLURM_WANTED;
   of(base)->jobs.list[job].told_held = false;
   return RKB_OK;
}

/* Reads the queue before sbatch is called, because jobs of an earlier process may be in it. */
static void flush(rkb_executor_t *base) {
   slurm_executor_t *executor = of(base);
   if (!rkb_slurm_jobs_any(&executor->jobs, RKB_SLURM_WANTED) || executor->call)
      return;
   rkb_timer_stop(executor->timer);
   executor->timer = NULL;
   executor->jobs.changed = true;
   look_after(executor, executor->wait_ns ? SHORTEST_WAIT_NS : 0);
}

static void close_executor(rkb_executor_t *base) {
   slurm_executor_t *executor = of(base);
   executor->closed = true;
   rkb_timer_stop(executor->timer);
   executor->timer = NULL;
   if (executor->call)
      rkb_process_cancel(executor->call);
   while (executor->call)
      uv_run(rkb_loop_uv(executor->options->loop), UV_RUN_ONCE);
}

static void free_executor(rkb_executor_t *base) {
   rkb_slurm_jobs_release(&of(base)->jobs);
   free(base);
}

const rkb_executor_operations_t rkb_slurm_executor = {.name = "slurm",
                                                      .queues = true,
                                                      .has_room = has_room,
                                                      .start = start,
                                                      .flush = flush,
                                                      .end = end,
                                                      .kill = kill_jobs,
                                                      .close = close_executor,
                                                      .free = free_executor};

rkb_executor_t *rkb_slurm_executor_new(const rkb_executor_options_t *options) {
   slurm_executor_t *executor = rkb_allocate(1, sizeof *executor);
   char *logs = rkb_path_join(options->directory, "jobs");
   rkb_error_t err;
   executor->base.operations = &rkb_slurm_executor;
   executor->options = options;
   rkb_slurm_jobs_init(&executor->jobs, options);
   if (rkb_make_directories(logs, &err) != RKB_OK)
      break_off(executor, "the jobs' logs", err.message);
   free(logs);
   return &executor->base;
}
