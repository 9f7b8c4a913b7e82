/* A plan ready to run: its buffers on the device, its launches as one graph.  The worker's table owns it; one thread. */
#ifndef RKB_GPU_WORKER_PLAN_INSTANCE_H
#define RKB_GPU_WORKER_PLAN_INSTANCE_H

#include <rkb/ext/kernel.h>
#include "gpu/worker/driver.h"
#include "gpu/worker/guarded_memory.h"
#include "gpu/worker/module_variables.h"
#include "gpu/worker/worker_kernels.h"
#include "gpu/protocol.h"
#include "gpu/worker/staged_inputs.h"

typedef struct rkb_instance {
   rkb_plan_t *plan;            /* owned; NULL: unused slot */
   rkb_device_memory_t *memory; /* one per buffer of the plan */
   CUgraphExec graph;           /* fills, constants, launches */
   CUmodule module;             /* owned by the session */
   bool untouched;              /* no buffer is poisoned */
   /* The module's, owned by the session; NULL: nothing to reset.  Set after opening. */
   const rkb_variables_t *variables;
   uint32_t poison; /* which of the bytes scratch was poisoned with last */
} rkb_instance_t;

/* Allocates memory, loads the functions and records the graph.  Takes ownership of plan, also on failure.  A failure is an enum
 * rkb_worker_status, with a sentence in message. */
int rkb_instance_open(const rkb_driver_t *driver, CUmodule module, rkb_plan_t *plan, uint32_t placement,
                      rkb_instance_t *instance, char *message, size_t size);
void rkb_instance_close(const rkb_driver_t *driver, rkb_instance_t *instance);

/* Removes what earlier runs left: resets the module's variables, and poisons scratch that no fill overwrites, with another byte than the
 * time before.  `chance` draws the byte.  Enqueues on the stream; does not wait. */
CUresult rkb_instance_reset(const rkb_driver_t *driver, rkb_instance_t *instance, uint64_t chance);
/* How the inputs of a run are mixed from two sets (RKB_TURN_FRESH). */
typedef struct rkb_mixing {
   const rkb_worker_kernels_t *kernels;
   uint32_t half; /* bit number t: tensor t takes half of its pieces from each set */
   /* Every piece comes from the run's set.  The same kernel copies it, so that the caches are left as by other runs. */
   bool own;
   uint64_t key; /* decides which pieces come from which set; no kernel can know it */
} rkb_mixing_t;
/* Copies a set's values into the inputs, poisons outputs and writes the canaries.  mixing: NULL, or how the inputs differ from the set.
 * Enqueues on the stream; does not wait. */
CUresult rkb_instance_prepare(const rkb_driver_t *driver, const rkb_instance_t *instance,
                              rkb_values_t *values, uint32_t set, const rkb_mixing_t *mixing);
/* The last request to the driver, for the message if it refuses. */
typedef struct rkb_asked {
   char text[320];
} rkb_asked_t;
/* Enqueues the contents of the graph without the graph, so that a profiler sees each launch. */
CUresult rkb_instance_enqueue(const rkb_driver_t *driver, const rkb_instance_t *instance, rkb_asked_t *asked);
/* Launches the graph, waits at most deadline_ms, and inspects the canaries. */
rkb_worker_ran_t rkb_instance_run(const rkb_driver_t *driver, const rkb_worker_kernels_t *own,
                                  const rkb_instance_t *instance, uint32_t deadline_ms);

/* Waits for the stream: CUDA_SUCCESS, CUDA_ERROR_NOT_READY at the deadline, or the fault. */
CUresult rkb_wait(const rkb_driver_t *driver, uint32_t deadline_ms);

#endif
