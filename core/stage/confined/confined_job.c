/* One job in a fork of its own (confined_job.h).  Everything made here goes with the process, so nothing is freed.  One thread, and those of
 * confined_share.c. */
#include "stage/confined/confined_job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kernel/build_record.h"
#include "kernel/kernel.h"
#include "stage/candidate.h"
#include "stage/confined/confined.h"
#include "stage/confined/confined_protocol.h"
#include "stage/item.h"
#include "stage/item_record.h"

static void nobody(void *argument) {
   (void)argument;
}

void confined_job_open(rkb_runtime_t *runtime) {
   runtime->jobs = rkb_jobs_new(nobody, NULL);
}

void confined_job_warm(rkb_runtime_t *runtime, uint32_t entry) {
   rkb_instance_t *instance;
   rkb_error_t ignored; /* the program has made one too, and says what is wrong with it */
   if (!runtime->current[entry] && runtime->pipeline->entries[entry].stage)
      rkb_instance_new(runtime, &runtime->pipeline->entries[entry], &instance, &ignored);
}

/* Frames --------------------------------------------------------------------------------------------------------------- */

static bool send_frame(int channel, const rkb_text_t *payload) {
   unsigned char header[WIRE_HEADER_BYTES];
   record_header(header, payload->length);
   return !payload->cut && record_write_all(channel, header, sizeof header) &&
          record_write_all(channel, payload->data, payload->length);
}

static bool receive_frame(int channel, record_reader_t *in) {
   unsigned char header[WIRE_HEADER_BYTES];
   uint64_t length;
   if (!record_read_all(channel, header, sizeof header) || !record_header_length(header, CONFINED_MAX_REQUEST, &length))
      return false;
   void *payload = malloc(length + 1);
   *in = (record_reader_t){.data = payload, .size = length};
   return payload && record_read_all(channel, payload, length);
}

static struct rkb_build *read_build(record_reader_t *in) {
   return record_u32(in) ? rkb_build_read(in) : NULL;
}

/* Asks the program for something by a number; false when it gives something else. */
static bool ask(rkb_confined_job_t *own, uint32_t question, uint32_t number, uint32_t answer, record_reader_t *in) {
   rkb_text_t asked;
   rkb_text_init(&asked, 64);
   record_put_u32(&asked, question);
   record_put_u32(&asked, number);
   pthread_mutex_lock(&own->asking);
   const bool answered = send_frame(own->channel, &asked) && receive_frame(own->channel, in) && record_u32(in) == answer;
   pthread_mutex_unlock(&own->asking);
   rkb_text_free(&asked);
   return answered;
}

rkb_random_t rkb_confined_stream(rkb_confined_job_t *own, uint32_t child) {
   record_reader_t in;
   rkb_random_t stream = {.position = 0};
   if (!ask(own, CONFINED_STREAM, child, CONFINED_STREAMED, &in))
      _exit(1); /* the program is gone, or of another mind: nothing that follows would be worth anything */
   for (int i = 0; i < 2; i++)
      stream.key[i] = record_u32(&in);
   for (int i = 0; i < 2; i++)
      stream.stream[i] = record_u32(&in);
   if (in.bad)
      _exit(1);
   return stream;
}

int rkb_confined_build(rkb_confined_job_t *own, uint32_t flags, rkb_build_t **build, rkb_finding_t *finding,
                       rkb_error_t *err) {
   record_reader_t in;
   *build = NULL;
   if (!ask(own, CONFINED_BUILD, flags, CONFINED_BUILT, &in))
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the program gives no build");
   const int status = (int)record_u32(&in);
   const char *message = record_text(&in, sizeof err->message), *reason = record_text(&in, sizeof finding->reason),
              *found = record_text(&in, sizeof finding->message);
   *finding = (rkb_finding_t){.line = record_u32(&in), .column = record_u32(&in)};
   *build = read_build(&in);
   if (in.bad)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the program's build cannot be read");
   snprintf(finding->reason, sizeof finding->reason, "%s", reason);
   snprintf(finding->message, sizeof finding->message, "%s", found);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "%s", message);
}

/* The job ------------------------------------------------------------------------------------------------------------------ */

static bool read_candidate(rkb_runtime_t *runtime, record_reader_t *in, rkb_candidate_t **out) {
   const uint32_t kind = record_u32(in), section = record_u32(in);
   const int64_t request = (int64_t)record_u64(in);
   const uint32_t child = record_u32(in);
   const char *hash = record_text(in, RKB_HASH_TEXT);
   rkb_item_t *item = rkb_item_read(in);
   if (!item || !hash || kind != CONFINED_JOB || !rkb_item_text(item, "source"))
      return false;
   rkb_candidate_t *candidate = *out = rkb_candidate_new(runtime->pipeline, item);
   snprintf(candidate->hash, sizeof candidate->hash, "%s", hash);
   candidate->item = item;
   candidate->section = section;
   candidate->request = request;
   candidate->child = child;
   candidate->build = read_build(in);
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

bool confined_job_serve(rkb_runtime_t *runtime, uint32_t entry, uint32_t threads, int channel) {
   rkb_confined_job_t own = {.channel = channel, .threads = threads, .asking = PTHREAD_MUTEX_INITIALIZER};
   rkb_instance_t *instance = runtime->current[entry];
   rkb_candidate_t *candidate = NULL;
   rkb_text_t answer;
   record_reader_t in;
   rkb_error_t err = {0};
   if (!instance || !receive_frame(channel, &in) || !read_candidate(runtime, &in, &candidate))
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
   return send_frame(channel, &answer);
}
