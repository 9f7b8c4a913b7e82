/* The requests of rkb-worker (protocol.h), and the objects on the device that they make and use.  One thread. */
#ifndef RKB_GPU_WORKER_WORKER_REQUESTS_H
#define RKB_GPU_WORKER_WORKER_REQUESTS_H

#include "gpu/worker/observation.h"
#include "gpu/worker/plan_instance.h"
#include "gpu/worker/staged_inputs.h"

typedef struct worker {
   rkb_driver_t driver;
   rkb_worker_kernels_t own;
   CUmodule modules[RKB_WORKER_MAX_INSTANCES];
   rkb_variables_t variables[RKB_WORKER_MAX_INSTANCES]; /* of the module with the same number */
   rkb_instance_t instances[RKB_WORKER_MAX_INSTANCES];
   rkb_values_t values;
   uint64_t timings; /* number of requests to time turns: two with equal turns draw differently */
   bool open, own_open;
   char layers[96];   /* the layers of the sandbox */
   char message[256]; /* the sentence of a refusal */
} worker_t;

/* Each function answers one type of request.  It returns an enum rkb_worker_status; if that is not RKB_WORKER_OK,
 * the worker's message says why. */
/* Opens the device at the first call, and writes the greeting to out. */
int worker_hello(worker_t *w, int ordinal, char *out, size_t size);
int worker_load(worker_t *w, const rkb_worker_module_t *r, const char *cubin, size_t bytes);
int worker_stage(worker_t *w, const rkb_worker_stage_t *r, const char *data, size_t bytes);
/* Writes the sum of each listed buffer to out. */
int worker_sums(worker_t *w, const rkb_worker_sum_t *list, size_t bytes, uint64_t *out);
int worker_keep(worker_t *w, const rkb_worker_keep_t *r);
int worker_take(worker_t *w, const rkb_worker_take_t *r, rkb_worker_taken_t *taken);
int worker_open_instance(worker_t *w, const rkb_worker_instance_t *r, const char *plan_bytes, size_t bytes);
int worker_run_instance(worker_t *w, const rkb_worker_run_t *r, rkb_worker_ran_t *ran);
/* *out is the malloc'd answer, here and below; the caller frees it also after a refusal. */
int worker_read_buffer(worker_t *w, const rkb_worker_read_t *r, char **out);
int worker_pick(worker_t *w, const rkb_worker_pick_t *r, const rkb_worker_range_t *ranges, size_t bytes,
                char **out, size_t *answered);
int worker_time_turns(worker_t *w, const rkb_worker_time_t *r, const rkb_worker_turn_t *turns, size_t bytes,
                      float **out);
int worker_observe(worker_t *w, const rkb_worker_observe_t *r, const char *names, size_t bytes, char **out,
                   size_t *answered);
int worker_energy(worker_t *w, const rkb_worker_energy_t *r, char **out, size_t *answered);
int worker_drop(worker_t *w, const rkb_worker_drop_t *r);

/* Sets the message of a refusal; returns status. */
int worker_refuse(worker_t *w, int status, const char *fmt, ...) RKB_PRINTF(3, 4);
/* Whether to try a request again: when the device's memory is full, kept values are freed first. */
bool worker_makes_room(worker_t *w, int status);

#endif
