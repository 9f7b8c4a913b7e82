/* A run from its first request to its last tell (run_state.h), and the public face of it. */
#include "run/run_state.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rkb/items.h>
#include "base/file.h"
#include "base/random.h"
#include "pipeline/pipeline_subject.h"
#include "kernel/kernel.h"

void rkb_run_end(rkb_run_t *run, uint32_t ending, const char *fmt, ...) {
   va_list ap;
   if (run->ending)
      return;
   run->ending = ending;
   va_start(ap, fmt);
   vsnprintf(run->ending_text, sizeof run->ending_text, fmt, ap);
   va_end(ap);
}

void rkb_run_break(rkb_run_t *run, int status, const char *fmt, ...) {
   va_list ap;
   if (run->status)
      return;
   run->status = status;
   run->error.status = status;
   va_start(ap, fmt);
   vsnprintf(run->error.message, sizeof run->error.message, fmt, ap);
   va_end(ap);
   run->asking_over = true;
   rkb_core_cancel(&run->core);
   rkb_loop_stop(run->core.loop);
}

/* Ends early: the open group stays open, so that what is recorded is a prefix of the longer run. */
void rkb_run_cut(rkb_run_t *run, uint32_t ending, const char *text) {
   if (run->status || run->core.stopping)
      return;
   /* An ending that was near already (a limit, the strategy's) is not what ended it. */
   run->ending = 0;
   rkb_run_end(run, ending, "%s", text);
   run->asking_over = true;
   rkb_core_cancel(&run->core);
   rkb_loop_stop(run->core.loop);
}

static void section_over(void *owner, rkb_candidate_t *candidate, uint64_t entries) {
   rkb_run_t *run = owner;
   rkb_asked_t *asked = candidate->owner;
   if (run->status)
      return;
   rkb_event_candidate_end(run, candidate);
   if (entries == run->pipeline->screen) {
      /* What stays waits for its group with its build; the rest is let go. */
      if (!run->pipeline->promotes || !rkb_candidate_passed(candidate, entries))
         rkb_candidate_settle(candidate);
      if (--asked->open == 0)
         rkb_groups_screened(run, asked);
   } else {
      rkb_candidate_settle(candidate);
      rkb_groups_evaluated(run, candidate);
   }
   rkb_groups_builds(run);
   rkb_requests_number(run); /* there may be room for more now */
}

static void build_arrived(void *owner, rkb_candidate_t *candidate) {
   (void)candidate;
   rkb_groups_builds(owner);
}

static void wall_reached(void *argument) {
   rkb_run_t *run = argument;
   run->wall = NULL;
   rkb_run_cut(run, RKB_ENDED_WALL, "limits.wall reached");
}

/* Interrupts: a pipe, so that a signal handler may write to it. ------------------------------------------------------- */

typedef struct interrupts {
   rkb_run_t *run;
   int pipe[2];
   uv_poll_t poll;
   uv_signal_t signals[2];
   bool polling, signalling;
} interrupts_t;

void rkb_interrupt(int handle) {
   int saved = errno;
   ssize_t ignored = write(handle, "!", 1);
   (void)ignored;
   errno = saved;
}

static void interrupted(uv_poll_t *poll, int status, int events) {
   interrupts_t *interrupts = poll->data;
   char bytes[16];
   (void)status;
   (void)events;
   if (read(interrupts->pipe[0], bytes, sizeof bytes) > 0)
      rkb_run_cut(interrupts->run, RKB_ENDED_INTERRUPTED, "interrupted");
}

static void signalled(uv_signal_t *signal, int number) {
   interrupts_t *interrupts = signal->data;
   if (interrupts->run->core.stopping) {
      /* Asked twice: what is committed is safe, so leave. */
      _exit(128 + number);
   }
   const char *directory = interrupts->run->options.directory;
   rkb_log_printf(interrupts->run->options.log, RKB_LOG_WARN, "engine",
                  "interrupted; ending when what works now has ended, at once when interrupted again%s%s",
                  directory ? "; go on with: rkb-run --resume " : "", directory ? directory : "");
   rkb_run_cut(interrupts->run, RKB_ENDED_INTERRUPTED, "interrupted");
}

static int interrupts_open(interrupts_t *interrupts, rkb_run_t *run, rkb_error_t *err) {
   uv_loop_t *loop = rkb_loop_uv(run->core.loop);
   if (run->options.interrupt_handle) {
      if (pipe2(interrupts->pipe, O_CLOEXEC | O_NONBLOCK) != 0 ||
          uv_poll_init(loop, &interrupts->poll, interrupts->pipe[0]) != 0)
         return rkb_fail(err, RKB_ERR_IO, "no pipe for interrupts: %s", strerror(errno));
      interrupts->polling = true;
      interrupts->poll.data = interrupts;
      uv_poll_start(&interrupts->poll, UV_READABLE, interrupted);
      *run->options.interrupt_handle = interrupts->pipe[1];
   }
   if (run->options.catch_signals) {
      static const int numbers[] = {SIGINT, SIGTERM};
      interrupts->signalling = true;
      for (int i = 0; i < 2; i++) {
         uv_signal_init(loop, &interrupts->signals[i]);
         interrupts->signals[i].data = interrupts;
         uv_signal_start(&interrupts->signals[i], signalled, numbers[i]);
      }
   }
   return RKB_OK;
}

/* The handles' memory must outlive their close callbacks, which rkb_loop_free runs: the caller frees it after that. */
static void interrupts_close(interrupts_t *interrupts) {
   if (interrupts->run->options.interrupt_handle)
      *interrupts->run->options.interrupt_handle = -1;
   if (interrupts->polling)
      uv_close((uv_handle_t *)&interrupts->poll, NULL);
   for (int i = 0; interrupts->signalling && i < 2; i++)
      uv_close((uv_handle_t *)&interrupts->signals[i], NULL);
}

static void interrupts_free(interrupts_t *interrupts) {
   if (interrupts->pipe[0] >= 0)
      close(interrupts->pipe[0]);
   if (interrupts->pipe[1] >= 0)
      close(interrupts->pipe[1]);
}

/* Opening ---------------------------------------------------------------------------------------------------------------- */

static int keep_pipeline(const rkb_run_t *run, rkb_error_t *err) {
   char *path = rkb_run_path_pipeline(run->options.directory);
   const char *text = rkb_pipeline_text(run->pipeline);
   int status =
      path ? rkb_file_write(path, text, strlen(text), err) : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   free(path);
   return status;
}

static int open_archive(rkb_run_t *run, rkb_error_t *err) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   uint32_t count = rkb_registry_count(pipeline->registry), used = 0;
   rkb_run_plugin_t *plugins = calloc(count + 1, sizeof *plugins);
   if (!plugins)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t i = 0; i < count; i++) {
      const rkb_registry_object_t *object = rkb_registry_at(pipeline->registry, i);
      bool uses = false;
      for (uint32_t j = 0; j < pipeline->entry_count; j++) {
         const rkb_registry_object_t *from = NULL;
         const char *use = pipeline->entries[j].node.use;
         if (!rkb_registry_stage(pipeline->registry, use, &from))
            rkb_registry_strategy(pipeline->registry, use, &from);
         uses |= from == object;
      }
      if (uses)
         plugins[used++] = (rkb_run_plugin_t){.name = object->plugin->name,
                                              .version = object->plugin->version,
                                              .path = object->path,
                                              .hash = object->hash};
   }
   rkb_run_identity_t identity = {.name = pipeline->name,
                                  .pipeline_hash = pipeline->hash,
                                  .task = rkb_subject_task_name(pipeline),
                                  .task_hash = rkb_subject_task_hash(pipeline),
                                  .direction = rkb_subject_direction(pipeline),
                                  .target = pipeline->target ? pipeline->target : "",
                                  .objective = pipeline->objective ? pipeline->objective : "",
                                  .seed = pipeline->seed,
                                  .abi_major = RKB_ABI_MAJOR,
                                  .abi_minor = RKB_ABI_MINOR,
                                  .plugin_count = used,
                                  .plugins = plugins};
   /* Killed before there was an archive, a run begins at its beginning. */
   char *path = rkb_run_path_archive(run->options.directory);
   bool there = path && rkb_path_exists(path);
   int status;
   if (run->options.resume && there)
      status = rkb_archive_resume(run->options.directory, &identity, &run->archive, err);
   else if (there)
      status = rkb_fail(err, RKB_ERR_INVALID,
                        "%.300s holds a run already; give another directory, or continue it with --resume",
                        run->options.directory);
   else
      status = keep_pipeline(run, err);
   if (status == RKB_OK && !there)
      status = rkb_archive_create(run->options.directory, &identity, &run->archive, err);
   free(path);
   free(plugins);
   return status;
}

static int open_compilers(rkb_run_t *run, rkb_error_t *err) {
   if (run->pipeline->build < 0)
      return RKB_OK;
   rkb_compilers_config_t config = {.processes = run->core.worker_count,
                                    .cpu_limit_ns = run->pipeline->limit_compile_ns};
   return rkb_compilers_open(&config, &run->core.compilers, err);
}

static int open_strategy(rkb_run_t *run, rkb_error_t *err) {
   rkb_pipeline_t *pipeline = run->pipeline;
   if (pipeline->strategy < 0)
      return RKB_OK;
   const rkb_entry_t *entry = &pipeline->entries[pipeline->strategy];
   rkb_error_t own = {0};
   rkb_owner_init(&run->strategy_owner, &run->core, entry, NULL);
   run->setup = (rkb_setup_t){.size = sizeof run->setup,
                              .window = pipeline->window,
                              .operators = pipeline->operators,
                              .operator_count = pipeline->operator_count,
                              .objective = pipeline->objective ? pipeline->objective : ""};
   int status =
      entry->strategy->create(&run->strategy_owner.host, entry->config, &run->setup,
                              rkb_random_stream(pipeline->seed, entry->node.id, -1, 0), &run->strategy, &own);
   if (status == RKB_OK)
      return RKB_OK;
   return rkb_fail(err, status, "%.100s:%u:%u: %.60s could not be created: %.300s",
                   entry->node.place.file ? entry->node.place.file : "", entry->node.place.line,
                   entry->node.place.column, entry->node.id,
                   own.message[0] ? own.message : "it did not say why");
}

static int run_open(rkb_run_t *run, rkb_error_t *err) {
   run->by_tokens = rkb_identity_new();
   run->by_ptx = rkb_identity_new();
   if (!run->by_tokens || !run->by_ptx)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   int status = rkb_core_open(&run->core, run->pipeline, run->options.log, run->options.jobs, err);
   if (status != RKB_OK)
      return status;
   run->screening =
      (rkb_screening_t){.core = &run->core, .owner = run, .finished = section_over, .built = build_arrived};
   rkb_event_hooks(run);
   if (run->options.directory) {
      status = open_archive(run, err);
      if (status == RKB_OK && run->options.resume)
         status = keep_pipeline(run, err); /* limits may differ */
      if (status == RKB_OK && run->options.resume)
         status = rkb_resume_load(run, err);
      if (status == RKB_OK && run->options.resume)
         rkb_times_load(run);
      run->core.archive = run->archive;
   }
   if (status == RKB_OK)
      status = rkb_dialogue_open(run, err);
   if (status == RKB_OK)
      status = open_compilers(run, err);
   if (status == RKB_OK)
      status = rkb_core_start(&run->core, ~0ull, err);
   if (status == RKB_OK)
      status = open_strategy(run, err);
   return status;
}

static void run_close(rkb_run_t *run) {
   if (run->strategy)
      run->pipeline->entries[run->pipeline->strategy].strategy->destroy(run->strategy);
   rkb_dialogue_close(run);
   rkb_resume_free(run);
   for (uint32_t i = 0; i < run->asked_count; i++)
      rkb_requests_free(run, run->asked[i]);
   for (uint64_t i = 0; i < run->candidate_count; i++)
      rkb_candidate_free(run->pipeline, run->candidates[i]);
   free(run->asked);
   free(run->candidates);
   free(run->bests);
   rkb_identity_free(run->by_tokens);
   rkb_identity_free(run->by_ptx);
}

/* Why the last process ended, for the archive's readers: "found" is for the commands to say. */
static void record_ending(rkb_run_t *run) {
   static const char *const names[] = {"", "done", "limit", "stuck", "wall", "cost", "interrupted"};
   rkb_error_t err = {0};
   if (!run->archive)
      return;
   const char *name = run->status ? "broken" : names[run->ending];
   int status = rkb_archive_set_fact(run->archive, "ended", name, &err);
   if (status == RKB_OK)
      status = rkb_archive_set_fact(run->archive, "ended_because", run->status ? "" : run->ending_text, &err);
   if (status != RKB_OK && !run->status)
      rkb_run_break(run, err.status, "%s", err.message);
}

static void fill_outcome(const rkb_run_t *run, rkb_outcome_t *outcome) {
   *outcome = (rkb_outcome_t){.ending = run->ending,
                              .best = run->best,
                              .has_objective = run->best_has_objective,
                              .objective = run->best_objective,
                              .first_objective = run->first_objective,
                              .verified_by_execution = run->pipeline->verified_by_execution,
                              .candidates = run->candidate_count - run->duplicates,
                              .duplicates = run->duplicates,
                              .accepted = run->by_standing[0],
                              .suspect = run->by_standing[1],
                              .unknown = run->by_standing[2] + run->by_standing[3],
                              .rejected = run->by_standing[4],
                              .told = run->told,
                              .jobs = run->core.jobs_ended,
                              .must_exit_hard = run->core.hung,
                              .seconds = rkb_times_elapsed(run),
                              .earlier_seconds = run->earlier_seconds};
   snprintf(outcome->reason, sizeof outcome->reason, "%s", run->ending_text);
}

int rkb_run(rkb_pipeline_t *pipeline, const rkb_run_options_t *options, rkb_outcome_t *outcome,
            rkb_error_t *err) {
   memset(outcome, 0, sizeof *outcome);
   if (pipeline->matrix)
      return rkb_fail(
         err, RKB_ERR_INVALID,
         "a pipeline with a matrix is not one run; 'rkb validate' lists its %u combinations, --set makes one",
         pipeline->variant_count);
   rkb_run_t *run = calloc(1, sizeof *run);
   interrupts_t *interrupts = calloc(1, sizeof *interrupts);
   if (!run || !interrupts) {
      free(run);
      free(interrupts);
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   interrupts->run = run;
   interrupts->pipe[0] = interrupts->pipe[1] = -1;
   run->pipeline = pipeline;
   run->options = *options;
   run->started_ns = rkb_now_ns();
   run->first_objective = NAN;
   int status = run_open(run, err);
   if (status == RKB_OK)
      status = interrupts_open(interrupts, run, err);
   const bool begun = status == RKB_OK;
   if (begun) {
      rkb_log_printf(options->log, RKB_LOG_INFO, "engine", "run %s: pipeline %s (%s), seed %llu",
                     options->resume ? "goes on" : "begins", rkb_pipeline_name(pipeline),
                     rkb_pipeline_hash(pipeline), (unsigned long long)pipeline->seed);
      if (pipeline->limit_wall_ns)
         run->wall = rkb_timer_start(run->core.loop, pipeline->limit_wall_ns, wall_reached, run);
      if (rkb_requests_propose(run) != RKB_OK)
         rkb_run_break(run, RKB_ERR_NOMEM, "out of memory");
      if (!run->propose_count && !run->status) {
         rkb_requests_ask(run);
         rkb_groups_tell(run);
      }
      while (!run->status && !run->core.stopping && !(run->asking_over && run->next_tell == run->asked_count))
         rkb_loop_run(run->core.loop);
      rkb_times_store(run);
      record_ending(run);
      status = run->status;
      if (status != RKB_OK)
         *err = run->error;
   }
   fill_outcome(run, outcome);
   outcome->begun = begun;
   if (status == RKB_OK)
      rkb_log_printf(options->log, RKB_LOG_INFO, "engine", "run ended: %s; %llu candidates, best %lld",
                     outcome->reason, (unsigned long long)outcome->candidates, (long long)outcome->best);
   if (run->core.loop) {
      rkb_timer_stop(run->wall);
      interrupts_close(interrupts);
      rkb_core_close(&run->core);
   }
   outcome->must_exit_hard = run->core.hung;
   rkb_compilers_close(run->core.compilers);
   rkb_archive_close(run->archive);
   if (run->core.hung)
      return status; /* threads may still use all of it */
   interrupts_free(interrupts);
   free(interrupts);
   run_close(run);
   free(run);
   return status;
}
