/* Uses one stage as the engine would: creates it twice, runs it once, stops and destroys it.  Has the trial's
 * process for itself. */
#include <rkb/items.h>
#include <string.h>
#include "tools/plugin_test/trial_host.h"
#include "tools/plugin_test/trial.h"
#include "plugin/registry.h"
#include "stage/instance.h"
#include "stage/item.h"

enum { SUBMIT_MS = 5000, STOP_MS = 5000, INSTANCES = 2 };

static const char sample_source[] =
   "/* rkb-kernel: 1\n"
   "task: sample\ndirection: forward\ntune:\n  BLOCK: {default: 128, choices: [64, 128]}\n"
   "launches:\n  - kernel: copy\n    grid: ceildiv(N, BLOCK)\n    block: BLOCK\n"
   "    args: x, y, N\n*/\n"
   "__global__ void copy(const float *x, float *y, int N) {\n"
   "   int i = blockIdx.x * BLOCK + threadIdx.x;\n   if (i < N)\n      y[i] = x[i];\n}\n";

typedef struct subject {
   const rkb_stage_t *stage;
   test_host_t hosts[INSTANCES];
   void *selves[INSTANCES];
   trial_config_t config;
   report_t *report;
} subject_t;

static bool has_completed(const test_host_t *host) {
   return host->completions > 0;
}

static bool has_stopped(const test_host_t *host) {
   return host->stopped;
}

static rkb_item_t *sample_candidate(void) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_CANDIDATE);
   if (item) {
      rkb_item_set_int(item, "number", 1);
      rkb_item_set_text(item, "source", sample_source);
      rkb_item_set_json(item, "tune", "{\"BLOCK\":128}");
      rkb_item_set_text(item, "operator", "sample");
      rkb_item_set_text(item, "standing", "none");
   }
   return item;
}

static rkb_item_t *sample_request(void) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_REQUEST), *parent = sample_candidate();
   if (item && parent) {
      rkb_item_set_int(item, "number", 0);
      rkb_item_set_text(item, "section", "search");
      rkb_item_set_text(item, "operator", "sample");
      rkb_item_set_text(item, "objective", "model.predicted_us");
      rkb_item_add_reference(item, "parent", parent);
   }
   rkb_item_unref(parent);
   return item;
}

static bool make(subject_t *subject, int which) {
   const rkb_stage_t *stage = subject->stage;
   rkb_error_t err = {.message = ""};
   void *untouched = &subject->selves;
   int status;
   subject->selves[which] = untouched;
   subject->hosts[which].creating = true;
   status = stage->create(&subject->hosts[which].host, subject->config.bytes, &subject->selves[which], &err);
   subject->hosts[which].creating = false;
   if (status == RKB_OK)
      return true;
   if (status > 0 || !err.message[0] || memchr(err.message, '\0', sizeof err.message) == NULL)
      report_broken(subject->report, "%s: create returned %d and no sentence in err", stage->id, status);
   else if (subject->selves[which] != untouched)
      report_broken(subject->report, "%s: create failed and still wrote *self", stage->id);
   else
      report_untried(subject->report, "%s: create refused here: %s", stage->id, err.message);
   return false;
}

/* The engine's own check of what a job emitted, on the one job that was run. */
static void check_emitted(subject_t *subject, rkb_item_t *in) {
   static rkb_entry_t entry;
   test_host_t *host = &subject->hosts[0];
   rkb_instance_t instance = {.owner = {.entry = &entry}, .stage = subject->stage};
   rkb_work_t work = {.in = in};
   rkb_ended_t ended = {.items = host->emitted, .item_count = host->emitted_count};
   entry.node.use = subject->stage->id;
   for (uint32_t i = 0; i < host->emitted_count; i++) {
      bool declared = false;
      for (const char *const *type = subject->stage->emits; *type; type++)
         declared |= strcmp(*type, rkb_item_type(host->emitted[i])) == 0;
      if (!declared) {
         report_broken(subject->report, "%s: it emitted '%s', which its descriptor does not list in emits",
                       subject->stage->id, rkb_item_type(host->emitted[i]));
         return;
      }
   }
   rkb_contract_check(&instance, &work, &ended);
   if (ended.status != RKB_OK)
      report_broken(subject->report, "%s", ended.error.message);
   else
      report_kept(subject->report, "%s: one job gave %u items, all as rkb/items.h wants them",
                  subject->stage->id, host->emitted_count);
}

static void judge_job(subject_t *subject, int status, const rkb_error_t *err, rkb_item_t *in) {
   const char *id = subject->stage->id;
   test_host_t *host = &subject->hosts[0];
   if (host->wrong_job > 0)
      report_broken(subject->report, "%s: it used a job handle that it was not given", id);
   else if (host->completions > (host->asynchronous.submit ? 1 : 0))
      report_broken(subject->report, "%s: it completed its job %d times", id, host->completions);
   else if (status != RKB_OK && !err->message[0])
      report_broken(subject->report, "%s: a job ended with status %d and no sentence in err", id, status);
   else if (status != RKB_OK)
      report_untried(subject->report, "%s: the sample job was refused: %s", id, err->message);
   else
      check_emitted(subject, in);
}

static void run_job(subject_t *subject) {
   const rkb_stage_t *stage = subject->stage;
   test_host_t *host = &subject->hosts[0];
   rkb_error_t err = {.message = ""};
   bool takes_candidates = stage->kind == RKB_VERIFIER || stage->kind == RKB_PROFILER;
   rkb_item_t *in = takes_candidates ? sample_candidate() : sample_request();
   int status = RKB_OK;
   if (host->asynchronous.start)
      status = host->asynchronous.start(subject->selves[0], &err);
   if (status != RKB_OK) {
      report_untried(subject->report, "%s: start refused here: %s", stage->id, err.message);
      rkb_item_unref(in);
      return;
   }
   bool later = host->asynchronous.submit != NULL;
   status = later ? host->asynchronous.submit(subject->selves[0], HOST_JOB, in, &err)
                  : stage->run(subject->selves[0], HOST_JOB, in, &err);
   if (later && status == RKB_OK) {
      if (!test_host_wait(host, has_completed, SUBMIT_MS)) {
         report_broken(subject->report, "%s: it accepted a job and did not complete it within %d s",
                       stage->id, SUBMIT_MS / 1000);
         rkb_item_unref(in);
         return;
      }
      status = host->status;
      err = host->error;
   }
   judge_job(subject, status, &err, in);
   rkb_item_unref(in);
}

static void end(subject_t *subject, int which) {
   const rkb_stage_t *stage = subject->stage;
   test_host_t *host = &subject->hosts[which];
   if (host->asynchronous.stop) {
      host->asynchronous.stop(subject->selves[which]);
      if (!test_host_wait(host, has_stopped, STOP_MS))
         report_broken(subject->report, "%s: stop was not followed by stage_stopped within %d s", stage->id,
                       STOP_MS / 1000);
   }
   stage->destroy(subject->selves[which]);
   if (host->items_alive != 0)
      report_broken(subject->report, "%s: it kept %lld items that it should have released or emitted",
                    stage->id, (long long)host->items_alive);
}

void stage_trial(const rkb_stage_t *stage, const char *with, report_t *report) {
   subject_t subject = {.stage = stage, .report = report};
   int made = 0, broken = report->broken;
   trial_offsets(stage->id, stage->options, stage->option_count, report);
   if (!trial_config_make(stage->id, stage->options, stage->option_count, stage->config_size, with,
                          &subject.config, report))
      return;
   /* Runs two instances at a time, to show that they share nothing. */
   for (int i = 0; i < INSTANCES; i++)
      test_host_init(&subject.hosts[i], i == 0 ? "first" : "second");
   bool offered = test_host_offers(&subject.hosts[0], stage->id, RKB_NEEDS(stage), report);
   while (offered && made < INSTANCES && make(&subject, made))
      made++;
   if (made == INSTANCES)
      run_job(&subject);
   for (int i = made - 1; i >= 0; i--)
      end(&subject, i);
   if (!trial_config_intact(&subject.config))
      report_broken(report, "%s: it wrote past the end of its config struct", stage->id);
   else if (made == INSTANCES && report->broken == broken)
      report_kept(report, "%s: two instances were made and destroyed", stage->id);
   for (int i = 0; i < INSTANCES; i++)
      test_host_free(&subject.hosts[i]);
   trial_config_free(&subject.config);
}
