/* Extension rkb.device/2: core/gpu/devices for plugins.  Called on workers. */
#include <stdlib.h>
#include "base/memory.h"
#include "stage/extensions.h"
#include "stage/instance.h"
#include "gpu/devices.h"
#include "gpu/protocol.h"

typedef struct asking {
   rkb_jobs_t *jobs;
   rkb_job_t job;
} asking_t;

/* The session keeps a pointer to the arguments of its cancellation check, so they are stored with it. */
typedef struct lent {
   rkb_session_t *session;
   asking_t asking;
} lent_t;

static rkb_session_t *of(rkb_session_t *session) {
   return ((lent_t *)session)->session;
}

static bool cancelled(void *argument) {
   const asking_t *asking = argument;
   return rkb_jobs_cancelled(asking->jobs, asking->job);
}

static int begin(const rkb_host_t *host, rkb_job_t job, rkb_session_t **session, rkb_error_t *err) {
   rkb_runtime_t *runtime = rkb_owner_of(host)->runtime;
   lent_t *lent = rkb_allocate(1, sizeof *lent);
   lent->asking = (asking_t){runtime->jobs, job};
   int status = rkb_session_begin(runtime->devices, rkb_jobs_deadline(runtime->jobs, job), cancelled, &lent->asking,
                                  &lent->session, err);
   if (status != RKB_OK)
      free(lent);
   else
      *session = (rkb_session_t *)lent;
   return status;
}

static int begin_under(const rkb_host_t *host, rkb_job_t job, const char *const *words, rkb_session_t **session,
                       rkb_error_t *err) {
   rkb_runtime_t *runtime = rkb_owner_of(host)->runtime;
   lent_t *lent = rkb_allocate(1, sizeof *lent);
   lent->asking = (asking_t){runtime->jobs, job};
   int status = rkb_session_begin_under(runtime->devices, words, rkb_jobs_deadline(runtime->jobs, job), cancelled,
                                        &lent->asking, &lent->session, err);
   if (status != RKB_OK)
      free(lent);
   else
      *session = (rkb_session_t *)lent;
   return status;
}

static void end(rkb_session_t *session) {
   if (!session)
      return;
   rkb_session_end(of(session));
   free(session);
}

static const char *describe(const rkb_session_t *session) {
   return rkb_session_describe(((const lent_t *)session)->session);
}

static int state(rkb_session_t *session, char *out, size_t size, rkb_error_t *err) {
   return rkb_session_state(of(session), out, size, err);
}

static int module(rkb_session_t *session, uint32_t number, const void *cubin, size_t bytes,
                  rkb_finding_t *finding, rkb_error_t *err) {
   return rkb_session_module(of(session), number, cubin, bytes, finding, err);
}

static int stage(rkb_session_t *session, uint32_t set, uint32_t tensor, uint64_t total, uint64_t offset,
                 const void *data, size_t count, rkb_error_t *err) {
   return rkb_session_stage(of(session), set, tensor, total, offset, data, count, err);
}

static int instance(rkb_session_t *session, uint32_t number, uint32_t module_number, uint32_t placement,
                    const rkb_plan_t *plan, rkb_finding_t *finding, rkb_error_t *err) {
   return rkb_session_instance(of(session), number, module_number, placement, plan, finding, err);
}

static int run(rkb_session_t *session, uint32_t number, uint32_t set, uint32_t deadline_ms,
               rkb_run_outcome_t *outcome, rkb_error_t *err) {
   return rkb_session_run(of(session), number, set, deadline_ms, outcome, err);
}

static int read_buffer(rkb_session_t *session, uint32_t number, uint32_t buffer, uint64_t offset,
                       uint64_t bytes, void *out, rkb_error_t *err) {
   return rkb_session_read(of(session), number, buffer, offset, bytes, out, err);
}

static int pick(rkb_session_t *session, uint32_t number, const rkb_range_t *ranges, uint32_t count, void *out,
                rkb_error_t *err) {
   return rkb_session_pick(of(session), number, ranges, count, out, err);
}

static int time_turns(rkb_session_t *session, const rkb_turn_t *turns, uint32_t count, uint32_t deadline_ms,
                      float *milliseconds, rkb_error_t *err) {
   return rkb_session_time(of(session), turns, count, deadline_ms, milliseconds, err);
}

static int restart(rkb_session_t *session, rkb_error_t *err) {
   return rkb_session_restart(of(session), err);
}

static int drop_instance(rkb_session_t *session, uint32_t number, rkb_error_t *err) {
   return rkb_session_drop(of(session), RKB_DROP_INSTANCE, number, err);
}

static int drop_module(rkb_session_t *session, uint32_t number, rkb_error_t *err) {
   return rkb_session_drop(of(session), RKB_DROP_MODULE, number, err);
}

static int drop_set(rkb_session_t *session, uint32_t number, rkb_error_t *err) {
   return rkb_session_drop(of(session), RKB_DROP_SET, number, err);
}

static int sums(rkb_session_t *session, uint32_t instance_number, uint32_t count, const uint32_t *buffers,
                const uint64_t *keys, uint64_t *out, rkb_error_t *err) {
   return rkb_session_sums(of(session), instance_number, count, buffers, keys, out, err);
}

static int keep(rkb_session_t *session, uint32_t set, uint32_t tensor, const uint64_t name[2],
                rkb_error_t *err) {
   return rkb_session_keep(of(session), set, tensor, name, err);
}

static int take(rkb_session_t *session, uint32_t set, uint32_t tensor, const uint64_t name[2], uint64_t bytes,
                uint64_t key, bool *there, uint64_t *out, rkb_error_t *err) {
   return rkb_session_take(of(session), set, tensor, name, bytes, key, there, out, err);
}

static int observe(rkb_session_t *session, uint32_t number, uint32_t set, const char *const *metrics, uint32_t count,
                   uint32_t deadline_ms, rkb_observation_t *seen, double *values, rkb_error_t *err) {
   return rkb_session_observe(of(session), number, set, metrics, count, deadline_ms, seen, values, err);
}

static int energy(rkb_session_t *session, uint32_t number, uint32_t set, const rkb_energy_rounds_t *rounds,
                  rkb_energy_spent_t *spent, bool *counted, rkb_error_t *err) {
   return rkb_session_energy(of(session), number, set, rounds, spent, counted, err);
}

static int report(rkb_session_t *session, char **text, size_t *bytes, rkb_error_t *err) {
   return rkb_session_report(of(session), text, bytes, err);
}

const rkb_device_api_t RKB_DEVICE_API = {.size = sizeof RKB_DEVICE_API,
                                         .begin = begin,
                                         .end = end,
                                         .describe = describe,
                                         .state = state,
                                         .module = module,
                                         .stage = stage,
                                         .instance = instance,
                                         .run = run,
                                         .read = read_buffer,
                                         .time = time_turns,
                                         .restart = restart,
                                         .drop_instance = drop_instance,
                                         .drop_module = drop_module,
                                         .drop_set = drop_set,
                                         .sums = sums,
                                         .keep = keep,
                                         .take = take,
                                         .pick = pick,
                                         .observe = observe,
                                         .energy = energy,
                                         .begin_under = begin_under,
                                         .report = report};
