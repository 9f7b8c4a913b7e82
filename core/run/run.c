/* The public face of a run: opens it, runs the loop until it is over, and reports its result (run_state.h). */
#include "run/run_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "run/advance.h"
#include "run/interrupts.h"
#include "run/library_record.h"
#include "run/run_record.h"
#include "run/requests.h"
#include "pipeline/pipeline_subject.h"
#include "kernel/kernel.h"

static int keep_pipeline(const rkb_run_t *run, rkb_error_t *err) {
   char *path = rkb_run_path_pipeline(run->options.directory);
   const char *text = rkb_pipeline_text(run->pipeline);
   int status = rkb_file_write(path, text, strlen(text), err);
   free(path);
   return status;
}

/* Uses the secret that the options give, or draws a fresh one. */
static int choose_secret(rkb_run_t *run, rkb_error_t *err) {
   if (!run->options.secret)
      return rkb_secret_draw(&run->runtime.secret, err);
   run->runtime.secret = *run->options.secret;
   return RKB_OK;
}

/* A resumed run uses the secret that its archive holds.  If that is the one that was drawn now, nothing had been stored: what is sampled is not what the
 * earlier process would have sampled. */
static int archived_secret(rkb_run_t *run, rkb_error_t *err) {
   const rkb_secret_t drawn = run->runtime.secret;
   char *text = rkb_archive_get_fact(run->archive, "secret");
   int status =
      text ? rkb_secret_read(text, &run->runtime.secret, err)
           : rkb_fail(err, RKB_ERR_INVALID, "cannot resume: the run began without a secret, in an older rkb");
   free(text);
   if (status == RKB_OK && run->options.secret &&
       memcmp(run->options.secret->bytes, run->runtime.secret.bytes, sizeof run->runtime.secret.bytes) != 0)
      status = rkb_fail(err, RKB_ERR_INVALID,
                        "cannot resume: the run began with another secret; leave out --secret");
   if (status == RKB_OK && !run->options.secret &&
       memcmp(drawn.bytes, run->runtime.secret.bytes, sizeof drawn.bytes) == 0)
      rkb_log_printf(
         run->options.log, RKB_LOG_WARN, "engine",
         "nothing was stored before the run was cut: it begins anew, with a secret drawn now; to have the secret "
         "that it was given, give it again with --secret");
   return status;
}

/* Whether an entry of the pipeline comes from the object. */
static bool uses(const rkb_pipeline_t *pipeline, const rkb_registry_object_t *object) {
   bool any = false;
   for (uint32_t j = 0; j < pipeline->entry_count; j++) {
      const rkb_registry_object_t *from = NULL;
      const char *use = pipeline->entries[j].node.use;
      if (!rkb_registry_stage(pipeline->registry, use, &from))
         rkb_registry_strategy(pipeline->registry, use, &from);
      any |= from == object;
   }
   return any;
}

static int list_plugins(const rkb_pipeline_t *pipeline, rkb_run_plugin_t *plugins, uint32_t *used,
                        rkb_error_t *err) {
   for (uint32_t i = 0; i < rkb_registry_count(pipeline->registry); i++) {
      const rkb_registry_object_t *object = rkb_registry_at(pipeline->registry, i);
      if (!uses(pipeline, object))
         continue;
      const char *hash = rkb_registry_hash(pipeline->registry, object);
      if (!hash)
         return rkb_fail(err, RKB_ERR_UNAVAILABLE, "%.300s was loaded and cannot be read any more",
                         object->path);
      plugins[(*used)++] = (rkb_run_plugin_t){.name = object->plugin->name,
                                              .version = object->plugin->version,
                                              .path = object->path,
                                              .hash = hash};
   }
   return RKB_OK;
}

static int open_archive(rkb_run_t *run, rkb_error_t *err) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   uint32_t used = 0;
   char secret[RKB_HASH_TEXT];
   rkb_run_plugin_t *plugins = rkb_allocate(rkb_registry_count(pipeline->registry) + 1, sizeof *plugins);
   int status = list_plugins(pipeline, plugins, &used, err);
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
   identity.secret = secret;
   /* If a process was killed before it made the archive, there is nothing to resume, so the run begins anew. */
   char *path = rkb_run_path_archive(run->options.directory);
   bool there = rkb_path_exists(path);
   rkb_secret_write(&run->runtime.secret, secret);
   if (status == RKB_OK && run->options.resume && there)
      status = rkb_archive_resume(run->options.directory, &identity, &run->archive, err);
   else if (status == RKB_OK && there)
      status = rkb_fail(err, RKB_ERR_INVALID,
                        "%.300s holds a run already; give another directory, or continue it with --resume",
                        run->options.directory);
   else if (status == RKB_OK)
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
   rkb_compilers_config_t config = {.processes = run->runtime.worker_count,
                                    .cpu_limit_ns = run->pipeline->limit_compile_ns};
   return rkb_compilers_open(&config, &run->runtime.compilers, err);
}

/* Times of different devices cannot be compared: a run that measured on one does not go on with another. */
static int check_device(rkb_run_t *run, rkb_error_t *err) {
   const char *class = rkb_runtime_device_class(&run->runtime);
   if (!class || !run->archive)
      return RKB_OK;
   char *before = rkb_archive_get_fact(run->archive, "device");
   int status = RKB_OK;
   if (!before)
      status = rkb_archive_set_fact(run->archive, "device", class, err);
   else if (strcmp(before, class) != 0)
      status = rkb_fail(err, RKB_ERR_INVALID, "cannot resume: the run measured on a %.100s, and the GPUs here are a %.100s",
                        before, class);
   free(before);
   return status;
}

/* Marks the entries that the options leave out, and keeps their names with the run. */
static int skip_stages(rkb_run_t *run, rkb_error_t *err) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   rkb_text_t names;
   rkb_text_init(&names, 4096);
   int status = RKB_OK;
   for (const char *const *id = run->options.skip; status == RKB_OK && id && *id; id++) {
      const int32_t at = rkb_pipeline_find(pipeline, *id);
      if (at < 0 || !pipeline->entries[at].stage)
         status = rkb_fail(err, RKB_ERR_INVALID, "--skip-stage %.100s: %s", *id,
                           at < 0 ? "the pipeline has no stage of this name; rkb-run --dry-run lists them"
                                  : "a run cannot do without it");
      else
         run->runtime.skipped |= 1ull << at;
      rkb_text_format(&names, "%s%s", names.length ? " " : "", *id);
   }
   if (status == RKB_OK && run->runtime.skipped && run->archive)
      status = rkb_archive_set_fact(run->archive, "skipped_stages", rkb_text_get(&names), err);
   if (status == RKB_OK && run->runtime.skipped)
      rkb_log_printf(run->options.log, RKB_LOG_WARN, "engine", "left out by --skip-stage: %s", rkb_text_get(&names));
   rkb_text_free(&names);
   return status;
}

static int run_open(rkb_run_t *run, rkb_error_t *err) {
   rkb_numbered_open(&run->numbered);
   int status = rkb_runtime_open(&run->runtime, run->pipeline, run->options.log, run->options.jobs, err);
   if (status != RKB_OK)
      return status;
   rkb_run_advance_hooks(run);
   rkb_event_hooks(run);
   status = choose_secret(run, err);
   if (status == RKB_OK && run->options.directory) {
      status = open_archive(run, err);
      if (status == RKB_OK && run->options.resume)
         status = archived_secret(run, err);
      if (status == RKB_OK && run->options.resume)
         status = keep_pipeline(run, err); /* limits may differ from those of the earlier process */
      if (status == RKB_OK && run->options.resume)
         status = rkb_resume_load(run, err);
      if (status == RKB_OK && run->options.resume)
         rkb_run_times_load(run);
      run->runtime.archive = run->archive;
   }
   if (status == RKB_OK)
      status = rkb_library_record_open(run, err);
   if (status == RKB_OK)
      status = skip_stages(run, err);
   if (status == RKB_OK)
      status = rkb_strategy_record_open(run, err);
   if (status == RKB_OK)
      status = open_compilers(run, err);
   if (status == RKB_OK)
      status = rkb_runtime_start(&run->runtime, ~0ull, err);
   if (status == RKB_OK)
      status = check_device(run, err);
   if (status == RKB_OK)
      status = rkb_search_open(run, err);
   return status;
}

static void run_close(rkb_run_t *run) {
   rkb_search_close(run);
   rkb_strategy_record_close(run);
   rkb_resume_free(run);
   rkb_request_row_free(&run->row, run->pipeline);
   rkb_numbered_close(&run->numbered, run->pipeline);
   rkb_run_times_free(run);
   rkb_library_free(&run->library);
}

static void fill_outcome(const rkb_run_t *run, rkb_run_result_t *outcome) {
   const rkb_tally_t *tally = &run->tally;
   *outcome = (rkb_run_result_t){.ending = run->ending.kind,
                                 .best = tally->best,
                                 .has_objective = tally->best_has_objective,
                                 .objective = tally->best_objective,
                                 .first_objective = tally->first_objective,
                                 .least = tally->best_least,
                                 .verified_by_execution = run->pipeline->verified_by_execution,
                                 .candidates = run->numbered.count - run->numbered.duplicates,
                                 .duplicates = run->numbered.duplicates,
                                 .accepted = tally->by_standing[0],
                                 .suspect = tally->by_standing[1],
                                 .unknown = tally->by_standing[2] + tally->by_standing[3],
                                 .rejected = tally->by_standing[4],
                                 .told = tally->requests,
                                 .jobs = run->runtime.jobs_ended,
                                 .must_exit_hard = run->runtime.hung,
                                 .seconds = rkb_run_times_elapsed(run),
                                 .earlier_seconds = run->times.earlier_seconds};
   snprintf(outcome->reason, sizeof outcome->reason, "%s", run->ending.text);
}

static void wall_reached(void *argument) {
   rkb_run_t *run = argument;
   run->wall = NULL; /* the timer is gone once it has rung */
   rkb_run_cut(run, RKB_ENDED_WALL, "limits.wall reached");
}

static bool is_over(const rkb_run_t *run) {
   return run->ending.status || run->runtime.stopping ||
          (run->ending.asking_over && run->row.next_tell == run->row.count);
}

/* Runs from the first request to the last tell.  Returns the status of the failure that broke the run, or RKB_OK. */
static int work(rkb_run_t *run, rkb_error_t *err) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   rkb_log_printf(run->options.log, RKB_LOG_INFO, "engine", "run %s: pipeline %s (%s), seed %llu",
                  run->options.resume ? "goes on" : "begins", rkb_pipeline_name(pipeline),
                  rkb_pipeline_hash(pipeline), (unsigned long long)pipeline->seed);
   if (pipeline->limit_wall_ns)
      run->wall = rkb_timer_start(run->runtime.loop, pipeline->limit_wall_ns, wall_reached, run);
   rkb_requests_propose(run);
   rkb_run_advance(run);
   while (!is_over(run))
      rkb_loop_run(run->runtime.loop);
   rkb_run_times_store(run);
   rkb_record_ending(run);
   rkb_library_record_add(run);
   if (run->ending.status != RKB_OK)
      *err = run->ending.error;
   return run->ending.status;
}

static rkb_run_t *run_new(rkb_pipeline_t *pipeline, const rkb_run_options_t *options) {
   rkb_run_t *run = rkb_allocate(1, sizeof *run);
   run->pipeline = pipeline;
   run->options = *options;
   run->tally.first_objective = run->tally.best_least = NAN;
   rkb_run_times_begin(run);
   return run;
}

int rkb_run(rkb_pipeline_t *pipeline, const rkb_run_options_t *options, rkb_run_result_t *outcome,
            rkb_error_t *err) {
   memset(outcome, 0, sizeof *outcome);
   if (rkb_pipeline_is_sweep(pipeline))
      return rkb_fail(
         err, RKB_ERR_INVALID,
         "a pipeline with seeds, arms or a matrix is not one run; 'rkb-run --sweep' runs its %u combinations, 'rkb validate' lists them",
         pipeline->cell_count);
   if (options->interrupt_handle)
      *options->interrupt_handle = -1; /* until the run listens */
   rkb_interrupts_t *interrupts = NULL;
   rkb_run_t *run = run_new(pipeline, options);
   int status = run_open(run, err);
   if (status == RKB_OK)
      status = rkb_interrupts_open(run, &interrupts, err);
   const bool begun = status == RKB_OK;
   if (begun)
      status = work(run, err);
   fill_outcome(run, outcome);
   outcome->secret = run->runtime.secret;
   outcome->begun = begun;
   if (status == RKB_OK)
      rkb_log_printf(options->log, RKB_LOG_INFO, "engine", "run ended: %s; %llu candidates, best %lld",
                     outcome->reason, (unsigned long long)outcome->candidates, (long long)outcome->best);
   if (run->runtime.loop) {
      rkb_timer_stop(run->wall);
      rkb_interrupts_close(interrupts);
      rkb_runtime_close(&run->runtime);
   }
   outcome->must_exit_hard = run->runtime.hung;
   rkb_compilers_close(run->runtime.compilers);
   rkb_archive_close(run->archive);
   if (run->runtime.hung)
      return status; /* threads may still use all of it */
   rkb_interrupts_free(interrupts);
   run_close(run);
   free(run);
   return status;
}
