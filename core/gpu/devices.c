/* Sessions: a job's requests to the worker that it holds.  device_pool.c owns the workers.  Any thread; a
 * session belongs to the thread that began it. */
#include "gpu/session.h"
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "kernel/kernel.h"
#include "system/loop.h"

int rkb_session_begin(rkb_devices_t *devices, uint64_t deadline_ns, bool (*cancelled)(void *), void *argument,
                      rkb_session_t **out, rkb_error_t *err) {
   const rkb_patience_t patience = {deadline_ns, cancelled, argument};
   rkb_pooled_device_t *device = NULL;
   int status = rkb_device_take(devices, &patience, &device, err);
   if (status != RKB_OK)
      return status;
   rkb_session_t *session = rkb_allocate(1, sizeof *session);
   *session = (rkb_session_t){.devices = devices,
                              .device = device,
                              .worker = &device->worker,
                              .cancelled = cancelled,
                              .argument = argument};
   *out = session;
   return RKB_OK;
}

/* Clears the worker, so that the next session finds no data of this one. */
void rkb_session_end(rkb_session_t *session) {
   rkb_error_t ignored;
   if (!session)
      return;
   session->cancelled = NULL;
   if (session->tool)
      rkb_session_end_tool(session);
   else if (session->observed || (rkb_device_worker_alive(session->worker) &&
                                  rkb_session_drop(session, RKB_DROP_ALL, 0, &ignored) != RKB_OK))
      rkb_device_worker_stop(session->worker);
   rkb_device_give(session->devices, session->device);
   free(session);
}

int rkb_session_begin_under(rkb_devices_t *devices, const char *const *words, uint64_t deadline_ns, bool (*cancelled)(void *),
                            void *argument, rkb_session_t **out, rkb_error_t *err) {
   rkb_session_t *session = NULL;
   int status = rkb_session_begin(devices, deadline_ns, cancelled, argument, &session, err);
   if (status != RKB_OK)
      return status;
   status = rkb_session_start_tool(session, words, deadline_ns, err);
   if (status != RKB_OK)
      rkb_session_end(session);
   else
      *out = session;
   return status;
}

const char *rkb_session_describe(const rkb_session_t *session) {
   return session->worker->greeting;
}

int rkb_session_ask(rkb_session_t *s, uint32_t type, const rkb_piece_t *pieces, uint32_t count, void *answer,
               size_t bytes, size_t *length, uint64_t wait_ns, int *refusal, rkb_error_t *err) {
   rkb_patience_t patience = {rkb_now_ns() + wait_ns, s->cancelled, s->argument};
   int status = rkb_device_worker_ask(s->worker, type, pieces, count, answer, bytes, length,
                                      &patience, refusal, err);
   /* Most errors of the driver persist in the context, so later results from it cannot be trusted.  A worker
    * under a tool is not stopped, because the tool still has to report. */
   if (status == RKB_OK && *refusal == RKB_WORKER_DRIVER && !s->tool)
      rkb_device_worker_stop(s->worker);
   return status;
}

/* A worker may be on another machine, or a kernel may have damaged it, so its answers are checked for plausibility. */
int rkb_session_disbelieve(rkb_session_t *s, const char *what, rkb_error_t *err) {
   rkb_device_worker_stop(s->worker);
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the GPU worker claims %s, which cannot be; it was stopped",
                   what);
}

/* Turns a refusal that is not about the candidate into a status. */
int rkb_session_refused(int refusal, rkb_error_t *err) {
   err->status = refusal == RKB_WORKER_NO_MEMORY     ? RKB_ERR_LIMIT
                 : refusal == RKB_WORKER_BAD_REQUEST ? RKB_ERR_INTERNAL
                                                     : RKB_ERR_UNAVAILABLE;
   return err->status;
}

/* Turns a refusal of the candidate's machine code or plan into a finding, with this reason. */
static int found(int refusal, const char *reason, rkb_finding_t *finding, rkb_error_t *err) {
   if (refusal != RKB_WORKER_BAD_MODULE)
      return rkb_session_refused(refusal, err);
   *finding = (rkb_finding_t){.reason = ""};
   snprintf(finding->reason, sizeof finding->reason, "%s", reason);
   snprintf(finding->message, sizeof finding->message, "%s", err->message);
   return RKB_OK;
}

int rkb_session_state(rkb_session_t *s, char *out, size_t size, rkb_error_t *err) {
   size_t length = 0;
   int refusal, status = rkb_session_ask(s, RKB_WORKER_STATE, NULL, 0, out, size - 1, &length, RKB_REQUEST_NS, &refusal, err);
   out[length] = '\0';
   rkb_worker_text_plain(out, length, true);
   return status == RKB_OK && refusal ? rkb_session_refused(refusal, err) : status;
}

int rkb_session_module(rkb_session_t *s, uint32_t module, const void *cubin, size_t bytes,
                       rkb_finding_t *finding, rkb_error_t *err) {
   rkb_worker_module_t head = {.module = module};
   rkb_piece_t pieces[] = {{&head, sizeof head}, {cubin, bytes}};
   int refusal, status = rkb_session_ask(s, RKB_WORKER_MODULE, pieces, 2, NULL, 0, NULL, RKB_REQUEST_NS, &refusal, err);
   return status == RKB_OK && refusal ? found(refusal, "build.error", finding, err) : status;
}

int rkb_session_stage(rkb_session_t *s, uint32_t set, uint32_t tensor, uint64_t total, uint64_t offset,
                      const void *data, size_t count, rkb_error_t *err) {
   int refusal = 0, status = RKB_OK;
   size_t done = 0;
   do {
      size_t now = count - done < RKB_WORKER_MAX_BODY ? count - done : RKB_WORKER_MAX_BODY;
      rkb_worker_stage_t head = {set, tensor, total, offset + done};
      rkb_piece_t pieces[] = {{&head, sizeof head}, {(const char *)data + done, now}};
      status = rkb_session_ask(s, RKB_WORKER_STAGE, pieces, 2, NULL, 0, NULL, RKB_REQUEST_NS, &refusal, err);
      done += now;
   } while (done < count && status == RKB_OK && !refusal);
   return status == RKB_OK && refusal ? rkb_session_refused(refusal, err) : status;
}

int rkb_session_instance(rkb_session_t *s, uint32_t instance, uint32_t module, uint32_t placement,
                         const rkb_plan_t *plan, rkb_finding_t *finding, rkb_error_t *err) {
   rkb_worker_instance_t head = {.instance = instance, .module = module, .placement = placement};
   void *bytes = NULL;
   size_t length = 0;
   int refusal = 0, status = rkb_plan_write(plan, &bytes, &length, err);
   if (status != RKB_OK)
      return status;
   rkb_piece_t pieces[] = {{&head, sizeof head}, {bytes, length}};
   status = rkb_session_ask(s, RKB_WORKER_INSTANCE, pieces, 2, NULL, 0, NULL, RKB_REQUEST_NS, &refusal, err);
   free(bytes);
   if (instance < RKB_WORKER_MAX_INSTANCES) {
      s->buffers[instance] = plan->buffer_count;
      s->launches[instance] = plan->launch_count;
   }
   /* The cause that prevents a driver's cooperative launch need not be the candidate's fault. */
   bool cooperative = false;
   for (uint32_t i = 0; i < plan->launch_count; i++)
      cooperative |= plan->launches[i].cooperative;
   return status == RKB_OK && refusal ? found(refusal, cooperative ? "unsupported.cooperative" : "build.error", finding, err) : status;
}

/* The names of the faults that a kernel can cause (CUDA driver API, CUresult); others are reported by number. */
static const char *fault_name(int32_t code) {
   switch (code) {
   case 0:
      return "";
   case 700:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
   case 701:
      return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
   case 714:
      return "CUDA_ERROR_HARDWARE_STACK_ERROR";
   case 715:
      return "CUDA_ERROR_ILLEGAL_INSTRUCTION";
   case 716:
      return "CUDA_ERROR_MISALIGNED_ADDRESS";
   case 717:
      return "CUDA_ERROR_INVALID_ADDRESS_SPACE";
   case 718:
      return "CUDA_ERROR_INVALID_PC";
   case 719:
      return "CUDA_ERROR_LAUNCH_FAILED";
   default:
      return NULL;
   }
}

int rkb_session_run(rkb_session_t *s, uint32_t instance, uint32_t set, uint32_t deadline_ms,
                    rkb_run_outcome_t *outcome, rkb_error_t *err) {
   rkb_worker_run_t head = {.instance = instance, .set = set, .deadline_ms = deadline_ms};
   rkb_worker_ran_t ran = {0};
   if (!s->tool)
      rkb_device_settle(s->device);
   int refusal, status = rkb_session_ask(s, RKB_WORKER_RUN, &(rkb_piece_t){&head, sizeof head}, 1, &ran, sizeof ran, NULL,
                             RKB_REQUEST_NS + deadline_ms * 1000000ull, &refusal, err);
   if (status != RKB_OK || refusal)
      return status == RKB_OK ? rkb_session_refused(refusal, err) : status;
   const bool fails = ran.driver_error != 0;
   if (ran.outcome > RKB_RAN_CANARY || ran.before > 1 ||
       (ran.outcome != RKB_RAN_LATE && fails != (ran.outcome == RKB_RAN_FAULT)))
      return rkb_session_disbelieve(s, "an end of a run that there is not", err);
   if (ran.outcome == RKB_RAN_CANARY &&
       (instance >= RKB_WORKER_MAX_INSTANCES || ran.buffer >= s->buffers[instance]))
      return rkb_session_disbelieve(s, "damage beside a buffer that the plan has not", err);
   *outcome = (rkb_run_outcome_t){.outcome = ran.outcome,
                                  .driver_error = ran.driver_error,
                                  .buffer = ran.buffer,
                                  .before = ran.before,
                                  .distance = ran.distance};
   if (fault_name(ran.driver_error))
      snprintf(outcome->error_name, sizeof outcome->error_name, "%s", fault_name(ran.driver_error));
   else
      snprintf(outcome->error_name, sizeof outcome->error_name, "CUDA error %d", ran.driver_error);
   /* Replaces the worker, because a fault breaks the context, and a kernel that still runs occupies the
    * device. */
   if ((ran.outcome == RKB_RAN_FAULT && !s->tool) || ran.outcome == RKB_RAN_LATE)
      rkb_device_worker_stop(s->worker);
   return RKB_OK;
}

int rkb_session_read(rkb_session_t *s, uint32_t instance, uint32_t buffer, uint64_t offset, uint64_t bytes,
                     void *out, rkb_error_t *err) {
   int refusal = 0, status = RKB_OK;
   for (uint64_t done = 0; done < bytes && status == RKB_OK && !refusal;) {
      uint64_t now = bytes - done < RKB_WORKER_MAX_BODY ? bytes - done : RKB_WORKER_MAX_BODY;
      rkb_worker_read_t head = {instance, buffer, offset + done, now};
      status = rkb_session_ask(s, RKB_WORKER_READ, &(rkb_piece_t){&head, sizeof head}, 1, (char *)out + done, now, NULL,
                   RKB_REQUEST_NS, &refusal, err);
      done += now;
   }
   return status == RKB_OK && refusal ? rkb_session_refused(refusal, err) : status;
}

/* Puts as many ranges into a request as fit its reply.  A range longer than a reply is read by itself. */
int rkb_session_pick(rkb_session_t *s, uint32_t instance, const rkb_range_t *ranges, uint32_t count,
                     void *out, rkb_error_t *err) {
   _Static_assert(sizeof(rkb_range_t) == sizeof(rkb_worker_range_t), "ranges travel as they are");
   char *at = out;
   int refusal = 0, status = RKB_OK;
   for (uint32_t done = 0, now; done < count && status == RKB_OK && !refusal; done += now) {
      uint64_t bytes = 0;
      for (now = 0; done + now < count && now < RKB_WORKER_MAX_RANGES &&
                    ranges[done + now].bytes <= RKB_WORKER_MAX_BODY - bytes;
           now++)
         bytes += ranges[done + now].bytes;
      rkb_worker_pick_t head = {instance, now};
      rkb_piece_t pieces[] = {{&head, sizeof head}, {ranges + done, now * sizeof *ranges}};
      if (now > 0)
         status = rkb_session_ask(s, RKB_WORKER_PICK, pieces, 2, at, bytes, NULL, RKB_REQUEST_NS, &refusal, err);
      else {
         const rkb_range_t *r = &ranges[done];
         now = 1;
         bytes = r->bytes;
         status = rkb_session_read(s, instance, r->buffer, r->offset, r->bytes, at, err);
      }
      at += bytes;
   }
   return status == RKB_OK && refusal ? rkb_session_refused(refusal, err) : status;
}

/* Less than the launch of any kernel takes.  Between the events of an empty turn there may be no time at all. */
#define LEAST_RUN_MS 1e-4f

static bool can_be(const rkb_turn_t *turn, uint32_t deadline_ms, float milliseconds) {
   const float least = turn->instance < RKB_TURN_ANCHOR_CHAIN ? LEAST_RUN_MS : 0;
   return milliseconds >= least && milliseconds <= (float)deadline_ms; /* NaN is neither */
}

int rkb_session_time(rkb_session_t *s, const rkb_turn_t *turns, uint32_t count, uint32_t deadline_ms,
                     float *milliseconds, rkb_error_t *err) {
   _Static_assert(sizeof(rkb_turn_t) == sizeof(rkb_worker_turn_t) && RKB_FRESH_INPUTS == RKB_TURN_FRESH &&
                     RKB_CHECKED_RUN == RKB_TURN_CHECKED && RKB_MIXED_BITS == RKB_TURN_MIXED,
                  "turns travel as they are");
   rkb_worker_time_t head = {count, deadline_ms};
   if (!s->tool)
      rkb_device_settle(s->device);
   rkb_piece_t pieces[] = {{&head, sizeof head}, {turns, count * sizeof *turns}};
   int refusal, status = rkb_session_ask(s, RKB_WORKER_TIME, pieces, 2, milliseconds, count * sizeof *milliseconds, NULL,
                             RKB_REQUEST_NS + (uint64_t)count * deadline_ms * 1000000ull, &refusal, err);
   for (uint32_t i = 0; status == RKB_OK && !refusal && i < count; i++)
      if (!can_be(&turns[i], deadline_ms, milliseconds[i]))
         return rkb_session_disbelieve(s, "a time that is none, or past the turn's deadline", err);
   return status == RKB_OK && refusal ? rkb_session_refused(refusal, err) : status;
}

int rkb_session_drop(rkb_session_t *s, uint32_t thing, uint32_t number, rkb_error_t *err) {
   rkb_worker_drop_t head = {thing, number};
   int refusal, status = rkb_session_ask(s, RKB_WORKER_DROP, &(rkb_piece_t){&head, sizeof head}, 1, NULL, 0, NULL,
                             RKB_REQUEST_NS, &refusal, err);
   return status == RKB_OK && refusal ? rkb_session_refused(refusal, err) : status;
}

int rkb_session_sums(rkb_session_t *s, uint32_t instance, uint32_t count, const uint32_t *buffers,
                     const uint64_t *keys, uint64_t *sums, rkb_error_t *err) {
   rkb_worker_sum_t list[RKB_WORKER_MAX_SUMS];
   int refusal = 0, status = RKB_OK;
   for (uint32_t done = 0, now; done < count && status == RKB_OK && !refusal; done += now) {
      now = count - done < RKB_WORKER_MAX_SUMS ? count - done : RKB_WORKER_MAX_SUMS;
      for (uint32_t i = 0; i < now; i++)
         list[i] =
            (rkb_worker_sum_t){.instance = instance, .buffer = buffers[done + i], .key = keys[done + i]};
      status = rkb_session_ask(s, RKB_WORKER_SUM, &(rkb_piece_t){list, now * sizeof *list}, 1, sums + done,
                   now * sizeof *sums, NULL, RKB_REQUEST_NS, &refusal, err);
   }
   return status == RKB_OK && refusal ? rkb_session_refused(refusal, err) : status;
}

int rkb_session_keep(rkb_session_t *s, uint32_t set, uint32_t tensor, const uint64_t name[2],
                     rkb_error_t *err) {
   rkb_worker_keep_t head = {set, tensor, {name[0], name[1]}};
   int refusal, status = rkb_session_ask(s, RKB_WORKER_KEEP, &(rkb_piece_t){&head, sizeof head}, 1, NULL, 0, NULL,
                             RKB_REQUEST_NS, &refusal, err);
   return status == RKB_OK && refusal ? rkb_session_refused(refusal, err) : status;
}

int rkb_session_take(rkb_session_t *s, uint32_t set, uint32_t tensor, const uint64_t name[2], uint64_t bytes,
                     uint64_t key, bool *there, uint64_t *sum, rkb_error_t *err) {
   rkb_worker_take_t head = {set, tensor, {name[0], name[1]}, bytes, key};
   rkb_worker_taken_t taken = {0};
   int refusal, status = rkb_session_ask(s, RKB_WORKER_TAKE, &(rkb_piece_t){&head, sizeof head}, 1, &taken, sizeof taken,
                             NULL, RKB_REQUEST_NS, &refusal, err);
   *there = taken.there != 0;
   *sum = taken.sum;
   return status == RKB_OK && refusal ? rkb_session_refused(refusal, err) : status;
}

int rkb_session_restart(rkb_session_t *s, rkb_error_t *err) {
   if (s->tool)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the worker under the tool has ended");
   rkb_device_worker_stop(s->worker);
   return rkb_device_ready(s->devices, s->device, err);
}
