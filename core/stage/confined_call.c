/* The program's side of jobs in processes of their own (confined_call.h), on this machine and on screening workers.  Everything belongs
 * to one job and its thread.  Answers of a job's process are hostile input: this file checks lengths, types of items, texts and the
 * status; item_contract.c checks what the items mean; whoever reads a note checks the note. */
#include "stage/confined_call.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "kernel/build_record.h"
#include "kernel/kernel.h"
#include "stage/candidate.h"
#include "stage/confined/confined_fork.h"
#include "stage/extensions.h"
#include "stage/item_record.h"
#include "stage/screen/screen_workers.h"
#include "system/loop.h"

enum { MOST_LOST = 2 /* screening workers that one job may lose; after that it runs on this machine */ };
/* How long the first candidate has its second thread for itself.  Most first kernels have a verdict by then.  One whose verdict takes a minute, such as a block
 * that adds a thousand million numbers, must not keep others from being judged. */
#define RESERVED_NS (UINT64_C(6) * 1000000000)

/* One job ------------------------------------------------------------------------------------------------------------------ */

typedef struct call {
   rkb_runtime_t *runtime;
   rkb_instance_t *instance;
   rkb_job_t job;
   rkb_scope_t scope;
   const rkb_item_t *in;
   rkb_pipe_process_t *peer; /* the other end: the fork's channel, or a screening worker */
   bool (*over)(void *);
   void *argument; /* passed to `over` */
   bool reserved;  /* a thread of the pool, until that time of rkb_now_ns */
   uint64_t reserved_until;
} call_t;

static void release(call_t *call) {
   if (call->reserved)
      rkb_workers_release(call->runtime->workers);
   call->reserved = false;
}

/* Asked again and again while the job is served, so that a reserved thread is released in time. */
static bool nobody_waits(void *argument) {
   call_t *call = argument;
   if (call->reserved && rkb_now_ns() > call->reserved_until)
      release(call);
   return rkb_jobs_cancelled(call->runtime->jobs, call->job);
}

static bool send_frame(call_t *call, const rkb_text_t *payload) {
   return !payload->cut && confined_send(call->peer, payload->data, payload->length, call->over, call->argument);
}

static void put_build(const rkb_build_t *build, rkb_text_t *out) {
   record_put_u32(out, build != NULL);
   if (build)
      rkb_build_write(build, out);
}

static bool send_job(call_t *call) {
   rkb_text_t request;
   rkb_text_init(&request, CONFINED_MAX_REQUEST);
   record_put_u32(&request, CONFINED_JOB);
   record_put_u32(&request, call->scope.section);
   record_put_u64(&request, (uint64_t)call->scope.request);
   record_put_u32(&request, call->scope.child);
   record_put_text(&request, call->scope.candidate ? call->scope.candidate->hash : "");
   rkb_item_write(call->in, &request);
   put_build(call->scope.candidate ? call->scope.candidate->build : NULL, &request);
   const bool sent = send_frame(call, &request);
   rkb_text_free(&request);
   return sent;
}

/* Answers a stage's request for a build: only this process has compilers. */
static bool answer_build(call_t *call, uint32_t flags) {
   const rkb_host_t *host = &call->instance->owner.host;
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   rkb_build_t *build = NULL;
   rkb_text_t answer;
   const int status = RKB_KERNEL_API.build(
      host, call->job, call->in, flags & (RKB_BUILD_DEBUG | RKB_BUILD_BENCH), &build, &finding, &err);
   rkb_text_init(&answer, CONFINED_MAX_REQUEST);
   record_put_u32(&answer, CONFINED_BUILT);
   record_put_u32(&answer, (uint32_t)status);
   record_put_text(&answer, err.message);
   record_put_text(&answer, finding.reason);
   record_put_text(&answer, finding.message);
   record_put_u32(&answer, finding.line);
   record_put_u32(&answer, finding.column);
   put_build(build, &answer);
   const bool sent = send_frame(call, &answer);
   RKB_KERNEL_API.build_free(build);
   rkb_text_free(&answer);
   return sent;
}

/* Answers with a random stream of the job's candidate, so that the run's secret does not leave this process. */
static bool answer_stream(call_t *call, uint32_t child) {
   const rkb_random_t stream = RKB_RANDOM_API.for_job(&call->instance->owner.host, call->job, child);
   rkb_text_t answer;
   rkb_text_init(&answer, 64);
   record_put_u32(&answer, CONFINED_STREAMED);
   record_put_u32(&answer, stream.key[0]);
   record_put_u32(&answer, stream.key[1]);
   record_put_u32(&answer, stream.stream[0]);
   record_put_u32(&answer, stream.stream[1]);
   const bool sent = send_frame(call, &answer);
   rkb_text_free(&answer);
   return sent;
}

static bool is_status(uint32_t status) {
   return (int)status <= RKB_OK && (int)status >= RKB_ERR_LIMIT;
}

/* Takes the items and notes of the fork's answer.  False when the bytes are no answer. */
static bool read_answer(call_t *call, record_reader_t *in, int *status, rkb_error_t *err) {
   const rkb_host_t *host = &call->instance->owner.host;
   const uint32_t said = record_u32(in);
   char *message = record_text(in, sizeof err->message), *option = record_text(in, sizeof err->option);
   const uint32_t items = record_count(in, RKB_MAX_EMITTED, 4);
   for (uint32_t i = 0; i < items && !in->bad; i++) {
      rkb_item_t *item = rkb_item_read(in);
      if (item)
         rkb_jobs_emit(call->runtime->jobs, call->job, item);
   }
   const uint32_t notes = record_count(in, CONFINED_MAX_NOTES, 16);
   for (uint32_t i = 0; i < notes && !in->bad; i++) {
      size_t bytes;
      char *key = record_text(in, 64);
      const void *data = record_bytes(in, &bytes, CONFINED_MAX_NOTE);
      if (key && data)
         RKB_KERNEL_API.note_set(host, call->job, key, data, bytes);
      free(key);
   }
   const bool good = !in->bad && in->at == in->size && is_status(said) && message && option;
   if (good && (int)said != RKB_OK) {
      rkb_fail(err, (int)said, "%s", message);
      snprintf(err->option, sizeof err->option, "%s", option);
   }
   *status = good ? (int)said : RKB_ERR_INTERNAL;
   free(message);
   free(option);
   return good;
}

/* Serves the fork until its job is done.  If the channel breaks first, returns RKB_ERR_UNAVAILABLE and sets *broken. */
static int converse(call_t *call, bool *broken, rkb_error_t *err) {
   bool more = send_job(call), done = false;
   int status = RKB_OK;
   while (more && !done) {
      char *payload;
      record_reader_t said;
      more = confined_receive(call->peer, CONFINED_MAX_ANSWER, &payload, &said, call->over, call->argument);
      const uint32_t kind = more ? record_u32(&said) : 0;
      if (kind == CONFINED_BUILD)
         more = answer_build(call, record_u32(&said));
      else if (kind == CONFINED_STREAM)
         more = answer_stream(call, record_u32(&said));
      else if (more) {
         done = true;
         if ((kind != CONFINED_DONE && kind != CONFINED_FAILED) || !read_answer(call, &said, &status, err))
            status = rkb_fail(err, RKB_ERR_INTERNAL, "its process gave an answer that cannot be read");
      }
      free(payload);
   }
   *broken = !done;
   return done ? status : RKB_ERR_UNAVAILABLE;
}

/* The number of idle workers, plus this one. */
static uint32_t free_threads(const rkb_runtime_t *runtime) {
   const rkb_workers_state_t state = rkb_workers_state(runtime->workers);
   const uint32_t busy = state.running + state.reserved;
   return state.waiting || busy >= state.threads ? 1 : 1 + state.threads - busy;
}

/* A run has no kernel before its first candidate is judged, so this candidate gets a second thread, and what comes later waits for it a while. */
static bool is_first(const call_t *call) {
   return call->scope.candidate && call->scope.section == RKB_SECTION_PROPOSE && call->scope.request == 0 &&
          call->scope.child == 0;
}

static int run_here(call_t *call, rkb_error_t *err) {
   const bool screens = rkb_screen_any(call->runtime->screen);
   call->reserved = !screens && is_first(call) && rkb_workers_reserve(call->runtime->workers);
   call->reserved_until = rkb_now_ns() + RESERVED_NS;
   const uint32_t free_ones = screens ? 1 : free_threads(call->runtime),
                  threads = call->reserved && free_ones < 2 ? 2 : free_ones;
   const confined_start_t start =
      confined_fork_plan(call->runtime->confined, call->instance->owner.entry->index, threads);
   confined_fork_t fork = {.nobody_waits = nobody_waits, .argument = call};
   bool broken = false;
   int status = confined_fork_start(call->runtime->confined, &start, &fork, err);
   call->peer = &fork.channel;
   call->over = confined_fork_over;
   call->argument = &fork;
   if (status == RKB_OK)
      status = converse(call, &broken, err);
   if (broken)
      status = confined_fork_explain(&fork, err);
   confined_fork_leave(&fork);
   release(call);
   return status;
}

/* *lost becomes true when the worker was lost, so that the job must run again elsewhere. */
static int run_there(call_t *call, rkb_screen_slot_t *slot, bool *lost, rkb_error_t *err) {
   call->peer = rkb_screen_peer(slot);
   call->over = nobody_waits;
   call->argument = call;
   *lost = true;
   int status = rkb_screen_begin_job(slot, call->instance->owner.entry->index, nobody_waits, call, err);
   if (status == RKB_OK)
      status = converse(call, lost, err);
   if (*lost && nobody_waits(call)) {
      *lost = false; /* the worker still executes the cancelled job, so it is started anew */
      rkb_screen_drop(slot, NULL);
      return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
   }
   if (*lost)
      rkb_screen_drop(slot, "it ended, or did not keep the protocol, in the middle of a job");
   return status;
}

int rkb_confined_run(rkb_instance_t *instance, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   call_t call = {.runtime = instance->owner.runtime, .instance = instance, .job = job, .in = in};
   rkb_screen_workers_t *workers = call.runtime->screen;
   int status = RKB_OK;
   if (!rkb_jobs_scope(call.runtime->jobs, job, &call.scope))
      return rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
   bool lost = true;
   for (int tries = 0; lost; tries++) {
      rkb_screen_slot_t *slot;
      if (!rkb_screen_take(workers, tries == MOST_LOST, nobody_waits, &call, &slot))
         return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
      lost = false;
      status = slot ? run_there(&call, slot, &lost, err) : run_here(&call, err);
      rkb_screen_give(workers, slot);
   }
   return status;
}
