/* The GPUs that a run measures on, of this machine and of others: which job may use one, and the worker
 * processes.  One worker serves a session.  A spare worker is started in advance, so a kernel that kills its
 * worker costs milliseconds instead of a driver start.  Any thread may call; a session belongs to the thread
 * that began it. */
#ifndef RKB_GPU_DEVICES_H
#define RKB_GPU_DEVICES_H

#include <rkb/ext/device.h>

typedef struct rkb_devices rkb_devices_t;

enum { RKB_MAX_DEVICES = 256, RKB_MAX_WORKER_ADDRESSES = 64 };

/* A machine with GPUs: how its workers are started. */
typedef struct rkb_worker_address {
   /* Words that start rkb-worker (ssh, srun, docker run), NULL-terminated; a device number is appended.  NULL: this machine, by the
    * words of RKB_WORKER in the environment, or else the rkb-worker beside this program. */
   const char *const *command;
   uint32_t count; /* use devices 0 .. count-1; 0: all that the machine has */
   const char *const
      *environment; /* names of environment variables for its command, in addition to those that every worker gets; or NULL */
   /* The class of its devices ("NVIDIA H200"); NULL: the class of the first device that answers. */
   const char *device;
} rkb_worker_address_t;

typedef struct rkb_devices_options {
   const rkb_worker_address_t *addresses;
   uint32_t count; /* 1 to RKB_MAX_WORKER_ADDRESSES */
   /* Tells which worker is left out, and why; any thread calls it; or NULL. */
   void (*note)(void *argument, const char *text);
   void *argument;
} rkb_devices_options_t;

/* Opens every machine whose first device answers within a minute.  The others are reported, left out, and
 * tried again later.  All devices are of the class of the first that answers; a device of another class is
 * reported and never used.  RKB_ERR_UNAVAILABLE, with the reason of the first, when none answers. */
int rkb_devices_open_all(const rkb_devices_options_t *options, rkb_devices_t **devices, rkb_error_t *err);
/* The same for one machine: worker as an address's command. */
int rkb_devices_open(const char *const *worker, uint32_t count, rkb_devices_t **devices, rkb_error_t *err);
void rkb_devices_close(rkb_devices_t *devices);
/* How many devices may be used at the same time. */
uint32_t rkb_devices_count(const rkb_devices_t *devices);
/* The name of all devices: "NVIDIA H200". */
const char *rkb_devices_class(const rkb_devices_t *devices);
/* The greeting of the first device's worker: "device=NVIDIA H200\n...". */
const char *rkb_devices_describe(const rkb_devices_t *devices);

/* As in <rkb/ext/device.h>.  cancelled, or NULL, is called during the wait. */
int rkb_session_begin(rkb_devices_t *devices, uint64_t deadline_ns, bool (*cancelled)(void *), void *argument,
                      rkb_session_t **session, rkb_error_t *err);
void rkb_session_end(rkb_session_t *session);
const char *rkb_session_describe(const rkb_session_t *session);
int rkb_session_state(rkb_session_t *session, char *out, size_t size, rkb_error_t *err);
int rkb_session_module(rkb_session_t *session, uint32_t module, const void *cubin, size_t bytes,
                       rkb_finding_t *finding, rkb_error_t *err);
int rkb_session_stage(rkb_session_t *session, uint32_t set, uint32_t tensor, uint64_t total, uint64_t offset,
                      const void *data, size_t count, rkb_error_t *err);
int rkb_session_instance(rkb_session_t *session, uint32_t instance, uint32_t module, uint32_t placement,
                         const rkb_plan_t *plan, rkb_finding_t *finding, rkb_error_t *err);
int rkb_session_run(rkb_session_t *session, uint32_t instance, uint32_t set, uint32_t deadline_ms,
                    rkb_run_outcome_t *outcome, rkb_error_t *err);
int rkb_session_read(rkb_session_t *session, uint32_t instance, uint32_t buffer, uint64_t offset,
                     uint64_t bytes, void *out, rkb_error_t *err);
int rkb_session_pick(rkb_session_t *session, uint32_t instance, const rkb_range_t *ranges, uint32_t count,
                     void *out, rkb_error_t *err);
int rkb_session_time(rkb_session_t *session, const rkb_turn_t *turns, uint32_t count, uint32_t deadline_ms,
                     float *milliseconds, rkb_error_t *err);
int rkb_session_sums(rkb_session_t *session, uint32_t instance, uint32_t count, const uint32_t *buffers,
                     const uint64_t *keys, uint64_t *sums, rkb_error_t *err);
int rkb_session_keep(rkb_session_t *session, uint32_t set, uint32_t tensor, const uint64_t name[2],
                     rkb_error_t *err);
int rkb_session_take(rkb_session_t *session, uint32_t set, uint32_t tensor, const uint64_t name[2],
                     uint64_t bytes, uint64_t key, bool *there, uint64_t *sum, rkb_error_t *err);
int rkb_session_restart(rkb_session_t *session, rkb_error_t *err);
int rkb_session_drop(rkb_session_t *session, uint32_t thing /* enum rkb_worker_thing */, uint32_t number,
                     rkb_error_t *err);

/* A profiler's observations, as in <rkb/ext/device.h>. */
int rkb_session_observe(rkb_session_t *session, uint32_t instance, uint32_t set, const char *const *metrics, uint32_t count,
                        uint32_t deadline_ms, rkb_observation_t *seen, double *values, rkb_error_t *err);
int rkb_session_energy(rkb_session_t *session, uint32_t instance, uint32_t set, const rkb_energy_rounds_t *rounds,
                       rkb_energy_spent_t *spent, bool *counted, rkb_error_t *err);
int rkb_session_begin_under(rkb_devices_t *devices, const char *const *words, uint64_t deadline_ns, bool (*cancelled)(void *),
                            void *argument, rkb_session_t **session, rkb_error_t *err);
int rkb_session_report(rkb_session_t *session, char **report, size_t *bytes, rkb_error_t *err);

#endif
