/* Runs a stage in the engine with a task's kernels, which shows what a sample cannot.  The run keeps no
 * archive.  Has the trial's process for itself, as long as it has one thread, since the engine forks. */
#include <rkb/items.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "run/run.h"
#include "tools/plugin_test/trial.h"

enum { CANDIDATES = 6, TEXT_ROOM = 64 << 10 };

typedef struct watch {
   const char *id; /* the id of the stage's entry */
   report_t *report;
   uint32_t jobs, accepted, suspect, unknown, rejected, untold; /* verdicts of the stage's jobs */
   uint32_t made;                                               /* candidates that the stage made */
   char trouble[400];                                          /* the last tool.* reason */
} watch_t;

static void count_standing(watch_t *watch, const rkb_event_t *event) {
   uint32_t *const counts[] = {&watch->accepted, &watch->suspect, &watch->unknown, &watch->rejected};
   static const char *const standings[] = {RKB_ACCEPT, RKB_SUSPECT, RKB_UNKNOWN, RKB_REJECT};
   watch->jobs++;
   for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
      if (strcmp(event->standing, standings[i]) == 0) {
         ++*counts[i];
         return;
      }
   watch->untold++;
}

static void observe(void *argument, const rkb_event_t *event) {
   watch_t *watch = argument;
   if (strcmp(event->entry, watch->id) != 0)
      return;
   if (event->kind == RKB_EVENT_CANDIDATE)
      watch->made++;
   if (event->kind != RKB_EVENT_STAGE_END)
      return;
   count_standing(watch, event);
   if (strncmp(event->reason, "tool.", 5) == 0)
      snprintf(watch->trouble, sizeof watch->trouble, "%s", event->reason);
   if (strcmp(event->reason, "tool.contract") == 0)
      report_broken(watch->report, "%s: it broke the contract on candidate %lld; the log above says how", watch->id, (long long)event->candidate);
}

static bool proposes(const rkb_stage_t *stage) {
   return stage->kind == RKB_TRANSLATOR || stage->kind == RKB_MUTATOR;
}

/* Writes the smallest pipeline in which the stage works on real kernels. */
static void write_pipeline(const rkb_stage_t *stage, const char *with, rkb_text_t *out) {
   const char *options = with ? with : "{}";
   rkb_text_format(out, "rkb: 1\nname: plugin-test\nseed: 1\ntarget: h200\nlimits: {candidates: %d}\npropose:\n", CANDIDATES);
   if (stage->kind == RKB_TRANSLATOR)
      rkb_text_format(out, "  - {id: tried, use: %s, with: %s}\n", stage->id, options);
   else
      rkb_text_add(out, "  - {use: rkb.translator.seed}\n");
   rkb_text_add(out, "screen:\n  - {id: plain, use: rkb.verifier.lint}\n");
   if (!proposes(stage))
      rkb_text_format(out, "  - {id: tried, use: %s, with: %s, needs: [plain], retries: 0}\n", stage->id, options);
   rkb_text_add(out, "  - {id: length, use: rkb.profiler.size}\nobjective: {minimise: [length.bytes]}\n");
   if (stage->kind == RKB_MUTATOR)
      rkb_text_format(out, "search:\n  use: rkb.strategy.islands\n  window: 1\n  operators:\n    - {id: tried, use: %s, with: %s}\n", stage->id, options);
}

static rkb_pipeline_t *open_pipeline(const char *text, const task_trial_t *task, report_t *report) {
   const char *const plugins[] = {task->plugin, NULL};
   char path[64];
   rkb_problems_t problems;
   rkb_pipeline_t *pipeline = NULL;
   FILE *file = tmpfile();
   if (!file || fputs(text, file) < 0 || fflush(file) != 0) {
      report_untried(report, "no file for the pipeline can be made");
   } else {
      snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
      rkb_problems_init(&problems);
      const rkb_pipeline_options_t options = {.path = path, .task = task->task, .direction = task->direction, .plugin_paths = plugins};
      pipeline = rkb_pipeline_open(&options, &problems);
      for (uint32_t i = 0; !pipeline && i < problems.count; i++)
         if (!problems.list[i].warning)
            report_untried(report, "--task %s: %s", task->task, problems.list[i].message);
      rkb_problems_free(&problems);
   }
   if (file)
      fclose(file);
   return pipeline;
}

static void tell(const watch_t *watch, const rkb_stage_t *stage, report_t *report) {
   if (proposes(stage) && watch->made)
      report_kept(report, "%s: it proposed %u candidates, all as rkb/items.h wants them", stage->id, watch->made);
   else if (proposes(stage))
      report_untried(report, "%s: it proposed nothing for this task", stage->id);
   else if (watch->jobs && watch->trouble[0])
      report_untried(report, "%s: of %u real candidates one at least ended in %s", stage->id, watch->jobs, watch->trouble);
   else if (watch->jobs && stage->kind == RKB_VERIFIER)
      report_kept(report, "%s: of %u real candidates it accepted %u, suspected %u, rejected %u and left %u unknown", stage->id, watch->jobs,
                  watch->accepted, watch->suspect, watch->rejected, watch->unknown);
   else if (watch->jobs)
      report_kept(report, "%s: it profiled %u real candidates, all as rkb/items.h wants it", stage->id, watch->jobs);
   else
      report_untried(report, "%s: no candidate of this task reached it", stage->id);
}

void task_trial(const rkb_stage_t *stage, const char *with, const task_trial_t *task, report_t *report) {
   watch_t watch = {.id = "tried", .report = report};
   rkb_text_t text;
   rkb_log_t *log = NULL;
   rkb_error_t err = {0};
   rkb_run_result_t outcome;
   rkb_text_init(&text, TEXT_ROOM);
   write_pipeline(stage, with, &text);
   rkb_pipeline_t *pipeline = open_pipeline(rkb_text_get(&text), task, report);
   rkb_text_free(&text);
   if (!pipeline)
      return;
   const rkb_run_options_t options = {
      .jobs = 2, .secret = &rkb_secret_published, .observe = observe, .argument = &watch};
   rkb_run_options_t with_log = options;
   int status = rkb_log_open(RKB_LOG_WARN, false, NULL, &log, &err);
   with_log.log = log;
   if (status == RKB_OK)
      status = rkb_run(pipeline, &with_log, &outcome, &err);
   if (status == RKB_ERR_CONTRACT)
      report_broken(report, "%s: %s", stage->id, err.message);
   else if (status != RKB_OK)
      report_untried(report, "%s: %s", stage->id, err.message);
   else if (!report->broken)
      tell(&watch, stage, report);
   fflush(NULL);
   if (status == RKB_OK && outcome.must_exit_hard)
      _exit(1);
   rkb_pipeline_free(pipeline);
   rkb_log_close(log);
}
