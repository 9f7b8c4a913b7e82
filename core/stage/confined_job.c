/* Executes one job in a fork of the server (confined_job.h).  The process ends after the job, so nothing is freed.  One thread,
 * plus those of confined_threads.c. */
#include "stage/confined_job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kernel/build_record.h"
#include "kernel/kernel.h"
#include "stage/candidate.h"
#include "stage/confined/confined_protocol.h"
#include "stage/confined/confined_question.h"
#include "stage/instance.h"
#include "stage/item.h"
#include "stage/item_record.h"

static void nobody(void *argument) {
   (void)argument;
}

static void open_jobs(void *argument) {
   rkb_runtime_t *runtime = argument;
   runtime->jobs = rkb_jobs_new(nobody, NULL);
}

/* Makes the entry's instance if there is none. */
static void warm(void *argument, uint32_t entry) {
   rkb_runtime_t *runtime = argument;
   rkb_instance_t *instance;
   rkb_error_t ignored; /* the program creates one too and reports the error */
   if (!runtime->current[entry] && runtime->pipeline->entries[entry].stage)
      rkb_instance_new(runtime, &runtime->pipeline->entries[entry], &instance, &ignored);
}

static bool read_candidate(rkb_runtime_t *runtime, record_reader_t *in, rkb_candidate_t **out) {
   const uint32_t kind = record_u32(in), section = record_u32(in);
   const int64_t request = (int64_t)record_u64(in);
   const uint32_t child = record_u32(in);
   const char *hash = record_text(in, RKB_HASH_TEXT);
   rkb_item_t *item = rkb_item_read(in);
   if (!item || !hash || kind != CONFINED_JOB || !rkb_item_text(item, "source"))
      return false;
   rkb_candidate_t *candidate = *out = rkb_candidate_new(runtime->pipeline, runtime->sources, item);
   snprintf(candidate->hash, sizeof candidate->hash, "%s", hash);
   candidate->item = item;
   candidate->section = section;
   candidate->request = request;
   candidate->child = child;
   candidate->build = confined_build_read(in);
   candidate->plans = candidate->build ? rkb_plan_cache_new() : NULL;
   return !in->bad;
}

static void write_answer(const rkb_ended_t *ended, const rkb_candidate_t *candidate, rkb_text_t *out) {
   uint32_t notes = 0;
   for (const rkb_note_t *note = candidate->notes; note; note = note->next)
      notes++;
   record_put_u32(out, CONFINED_DONE);
   record_put_u32(out, (uint32_t)ended->status);
   record_put_text(out, ended->error.message);
   record_put_text(out, ended->error.option);
   record_put_u32(out, ended->item_count);
   for (uint32_t i = 0; i < ended->item_count; i++)
      rkb_item_write(ended->items[i], out);
   record_put_u32(out, notes);
   for (const rkb_note_t *note = candidate->notes; note; note = note->next) {
      record_put_text(out, note->key);
      record_put_bytes(out, note->data, note->bytes);
   }
}

static bool serve(void *argument, uint32_t entry, uint32_t threads, int channel) {
   rkb_runtime_t *runtime = argument;
   rkb_confined_job_t own = {.channel = channel, .threads = threads, .asking = PTHREAD_MUTEX_INITIALIZER};
   rkb_instance_t *instance = runtime->current[entry];
   rkb_candidate_t *candidate = NULL;
   rkb_text_t answer;
   record_reader_t in;
   rkb_error_t err = {0};
   if (!instance || !confined_frame_receive(channel, &in) || !read_candidate(runtime, &in, &candidate))
      return false;
   runtime->confined_job = &own;
   const rkb_scope_t scope = {.section = candidate->section,
                              .request = candidate->request,
                              .child = candidate->child,
                              .candidate = candidate};
   const rkb_job_t job = rkb_jobs_open(runtime->jobs, NULL, instance, &scope, 0);
   rkb_jobs_start(runtime->jobs, job);
   const int status = instance->stage->run(instance->self, job, candidate->made, &err);
   rkb_jobs_complete(runtime->jobs, job, instance, status, &err);
   rkb_text_init(&answer, CONFINED_MAX_ANSWER);
   write_answer(rkb_jobs_take(runtime->jobs), candidate, &answer);
   return confined_frame_send(channel, &answer);
}

rkb_confined_work_t rkb_confined_work_of(rkb_runtime_t *runtime) {
   return (rkb_confined_work_t){.open = open_jobs, .warm = warm, .serve = serve, .argument = runtime};
}
