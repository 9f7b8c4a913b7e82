/* Measures energy with a counter that advances in steps, so a round begins right after one step and ends
 * right after another (NVML API Reference Guide, nvmlDeviceGetTotalEnergyConsumption: millijoules since the
 * driver was loaded).  Owns nothing; one thread. */
#include "gpu/worker/spent_energy.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

/* If the counter does not change within a second, it does not work. */
#define MOST_STEP_NS 1000000000ull
/* The least duration of a batch of runs.  Reading the counter takes some milliseconds (4 on an H200).  The next batch runs
 * meanwhile, so the device does not wait. */
#define BATCH_NS 20000000ull
#define MOST_IN_FLIGHT 4096u

typedef struct meter {
   int (*read)(void *device, unsigned long long *millijoules);
   void *device;
} meter_t;

static uint64_t now_ns(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static int say(char *message, size_t size, int status, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(message, size, fmt, ap);
   va_end(ap);
   return status;
}

static CUresult run_once(const rkb_driver_t *d, const rkb_instance_t *in, rkb_values_t *inputs, const rkb_worker_energy_t *r) {
   CUresult status = CUDA_SUCCESS;
   if (r->does & RKB_ENERGY_PREPARE)
      status = rkb_instance_prepare(d, in, inputs, r->set, NULL);
   return status == CUDA_SUCCESS && r->does & RKB_ENERGY_RUN ? d->cuGraphLaunch(in->graph, d->stream) : status;
}

/* Keeps the device busy until the counter has changed and least_ns have passed; adds the number of runs.  NOT_READY: the counter
 * does not change, or a run is late. */
static CUresult run_to_step(const rkb_driver_t *d, const rkb_instance_t *in, rkb_values_t *inputs, const rkb_worker_energy_t *r,
                            const meter_t *meter, uint64_t least_ns, uint32_t *batch, uint64_t *owed, unsigned long long *millijoules,
                            uint64_t *at_ns, uint64_t *runs) {
   const uint64_t start = now_ns();
   unsigned long long before = 0, now = 0;
   CUresult status = meter->read(meter->device, &before) == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
   /* Each reading comes right after a batch's launch.  So the batches between two steps are those from the
    * batch of the first step to the batch before that of the second. */
   *runs += *owed;
   for (*owed = 0; status == CUDA_SUCCESS && *owed == 0;) {
      const uint64_t batch_ns = now_ns();
      for (uint32_t i = 0; i < *batch && status == CUDA_SUCCESS; i++)
         status = run_once(d, in, inputs, r);
      if (status == CUDA_SUCCESS && meter->read(meter->device, &now) != 0)
         status = CUDA_ERROR_NOT_SUPPORTED;
      *at_ns = now_ns();
      if (status == CUDA_SUCCESS)
         status = rkb_wait(d, r->deadline_ms);
      if (*at_ns - start < least_ns)
         before = now;
      else if (now != before)
         *owed = *batch;
      else if (*at_ns - start > least_ns + MOST_STEP_NS)
         status = status == CUDA_SUCCESS ? CUDA_ERROR_NOT_READY : status;
      if (*owed == 0)
         *runs += *batch;
      if (now_ns() - batch_ns < BATCH_NS && *batch < MOST_IN_FLIGHT)
         *batch *= 2;
   }
   *millijoules = now;
   return status;
}

int rkb_spend_energy(const rkb_driver_t *d, const rkb_instance_t *in, rkb_values_t *inputs, const rkb_worker_energy_t *r,
                     rkb_worker_spent_t *spent, char *message, size_t size) {
   meter_t meter = {.device = d->nvml_device};
   unsigned long long first = 0, last = 0;
   uint64_t from = 0, to = 0, ignored = 0;
   uint64_t owed = 0;
   uint32_t batch = 1;
   if (d->nvml)
      *(void **)&meter.read = dlsym(d->nvml, "nvmlDeviceGetTotalEnergyConsumption");
   if (!meter.read || meter.read(meter.device, &first) != 0)
      return say(message, size, RKB_WORKER_NO_DEVICE, "NVML counts no energy on this device");
   /* The first round begins at a step; each later round begins where the previous one ended. */
   CUresult status = rkb_instance_prepare(d, in, inputs, r->set, NULL);
   if (status == CUDA_SUCCESS)
      status = run_to_step(d, in, inputs, r, &meter, 0, &batch, &owed, &first, &from, &ignored);
   for (uint32_t i = 0; i < r->rounds && status == CUDA_SUCCESS; i++) {
      spent[i] = (rkb_worker_spent_t){0};
      status = run_to_step(d, in, inputs, r, &meter, r->least_ms * 1000000ull, &batch, &owed, &last, &to, &spent[i].runs);
      spent[i].millijoules = last - first;
      spent[i].nanoseconds = to - from;
      first = last;
      from = to;
   }
   if (status == CUDA_ERROR_NOT_READY || status == CUDA_ERROR_NOT_SUPPORTED)
      return say(message, size, status == CUDA_ERROR_NOT_READY ? RKB_WORKER_DRIVER : RKB_WORKER_NO_DEVICE,
                 "NVML's counter of energy stands still, or a run is late");
   return status == CUDA_SUCCESS ? RKB_WORKER_OK
                                 : say(message, size, RKB_WORKER_DRIVER, "running for energy: %s", rkb_driver_error(d, status));
}
