/* The energy that the device takes while a plan runs back to back, by NVML's counter.  One thread. */
#ifndef RKB_GPU_WORKER_SPENT_ENERGY_H
#define RKB_GPU_WORKER_SPENT_ENERGY_H

#include "gpu/protocol.h"
#include "gpu/worker/plan_instance.h"
#include "gpu/worker/staged_inputs.h"

/* An enum rkb_worker_status, with a sentence in message; spent has room for request->rounds.  NO_DEVICE: this device has no such
 * counter. */
int rkb_spend_energy(const rkb_driver_t *driver, const rkb_instance_t *instance, rkb_values_t *inputs,
                     const rkb_worker_energy_t *request, rkb_worker_spent_t *spent, char *message, size_t size);

#endif
