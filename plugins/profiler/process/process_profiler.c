/* rkb.profiler.process - a profiler that is a program of the user's own (docs/process-stages.md).
 *
 * Owns a conversation with the program; each of its processes belongs to the job that asks it.  Runs on
 * workers. */
#include "process_stage/stage_answer.h"
#include "process_stage/question.h"

static int process_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   return process_stage_create(host, config, "profiler", self, err);
}

static int use_answer(void *argument, const json_t *answer, rkb_error_t *err) {
   const process_job_t *work = argument;
   return answer_emit_measurements(work->host, work->job, answer, err);
}

static int process_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   stage_program_t *me = self;
   process_job_t work = {me->host, job, in};
   return stage_program_ask(me, job, question_of_candidate(me, job, in), "", use_answer, &work, err);
}

static const rkb_stage_t process = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.profiler.process",
   .summary = "Measures a candidate with a program of yours.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"value", NULL},
   RKB_OPTIONS(PROCESS_OPTIONS),
   .config_size = sizeof(process_config_t),
   .create = process_create,
   .run = process_run,
   .destroy = process_stage_destroy,
   .needs = (const char *const[]){RKB_EXT_CONVERSATION, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "process",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&process, NULL},
};
