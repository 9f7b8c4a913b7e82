/* The counter moves in steps, so a round begins right after one and ends right after another (NVML API Reference Guide,
 * nvmlDeviceGetTotalEnergyConsumption: millijoules since the driver was loaded).  Owns nothing; one thread. */
#include "gpu/worker/spent_energy.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

/* A step that does not come within a second will not come: the counter stands still. */
#define MOST_STEP_NS 1000000000ull
/* Runs are in flight together for about so long: the device hardly ever waits for the next, and the counter is read often enough. */
#define BATCH_NS 2000000ull
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
      status = rkb_instance_prepare(d, in, inputs, r->set);
   return status == CUDA_SUCCESS && r->does & RKB_ENERGY_RUN ? d->cuGraphLaunch(in->graph, d->stream) : status;
}

/* Keeps the device at work until the counter moved and least_ns are over; adds what was run.  NOT_READY: the counter stands still, or a
 * run is late. */
static CUresult run_to_step(const rkb_driver_t *d, const rkb_instance_t *in, rkb_values_t *inputs, const rkb_worker_energy_t *r,
                            const meter_t *meter, uint64_t least_ns, uint32_t *batch, unsigned long long *millijoules,
                            uint64_t *at_ns, uint64_t *runs) {
   const uint64_t start = now_ns();
   unsigned long long before = 0, now = 0;
   uint64_t last_ns = start;
   CUresult status = meter->read(meter->device, &before) == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
   while (status == CUDA_SUCCESS) {
      for (uint32_t i = 0; i < *batch && status == CUDA_SUCCESS; i++)
         status = run_once(d, in, inputs, r);
      if (status == CUDA_SUCCESS)
         status = rkb_wait(d, r->deadline_ms);
      *runs += *batch;
      *at_ns = now_ns();
      *batch = *at_ns - last_ns < BATCH_NS && *batch < MOST_IN_FLIGHT ? 2 * *batch : *batch;
      last_ns = *at_ns;
      if (status == CUDA_SUCCESS && meter->read(meter->device, &now) != 0)
         status = CUDA_ERROR_NOT_SUPPORTED;
      if (*at_ns - start < least_ns)
         before = now;
      else if (now != before)
         break;
      else if (*at_ns - start > least_ns + MOST_STEP_NS)
         status = CUDA_ERROR_NOT_READY;
   }
   *millijoules = now;
   return status;
}

int rkb_spend_energy(const rkb_driver_t *d, const rkb_instance_t *in, rkb_values_t *inputs, const rkb_worker_energy_t *r,
                     rkb_worker_spent_t *spent, char *message, size_t size) {
   meter_t meter = {.device = d->nvml_device};
   unsigned long long first = 0, last = 0;
   uint64_t from = 0, to = 0, ignored = 0;
   uint32_t batch = 1;
   if (d->nvml)
      *(void **)&meter.read = dlsym(d->nvml, "nvmlDeviceGetTotalEnergyConsumption");
   if (!meter.read || meter.read(meter.device, &first) != 0)
      return say(message, size, RKB_WORKER_NO_DEVICE, "NVML counts no energy on this device");
   /* The first round begins at a step; each later one where the one before it ended. */
   CUresult status = rkb_instance_prepare(d, in, inputs, r->set);
   if (status == CUDA_SUCCESS)
      status = run_to_step(d, in, inputs, r, &meter, 0, &batch, &first, &from, &ignored);
   for (uint32_t i = 0; i < r->rounds && status == CUDA_SUCCESS; i++) {
      spent[i] = (rkb_worker_spent_t){0};
      status = run_to_step(d, in, inputs, r, &meter, r->least_ms * 1000000ull, &batch, &last, &to, &spent[i].runs);
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
