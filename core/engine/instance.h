/* A stage at work: one created instance with its queue.  It starts jobs up to its limit, watches their deadlines, tries
 * broken tools again, and writes off what does not end.  Loop thread, but for the worker that runs a job. */
#ifndef RKB_ENGINE_INSTANCE_H
#define RKB_ENGINE_INSTANCE_H

#include "engine/core.h"
#include "engine/jobs.h"

typedef struct rkb_instance rkb_instance_t;

/* One item's way through one stage, tries included.  Embedded by its owner, who fills the first part; the rest is the
 * instance's until done is called, once, on the loop. */
typedef struct rkb_work {
   rkb_item_t *in;                 /* the instance takes a reference of its own */
   rkb_scope_t scope;
   void (*began)(struct rkb_work *work); /* or NULL: when its first try is handed over */
   void (*done)(struct rkb_work *work, rkb_ended_t *ended); /* ended lives until it returns; items may be taken out */
   void *owner;
   struct rkb_work *next;
   uint32_t attempts;
   bool hung;                      /* its stage never ended it: whatever it was about must stay in memory */
} rkb_work_t;

/* Makes the instance and calls create.  The instance outlives the run when a job of it hung. */
rkb_instance_t *rkb_instance_new(rkb_core_t *core, const rkb_entry_t *entry, rkb_error_t *err);
/* Starts start() on a worker; done is called on the loop. */
void rkb_instance_start(rkb_instance_t *instance, void (*done)(void *argument, rkb_instance_t *instance, int status,
                                                               const rkb_error_t *err), void *argument);
void rkb_instance_add(rkb_instance_t *instance, rkb_work_t *work);
/* Forgets what waits; asks what runs to end.  Ended jobs still call done, with RKB_ERR_CANCELLED or what they reached. */
void rkb_instance_cancel(rkb_instance_t *instance);
/* Asks for stop; then stopped tells. */
void rkb_instance_stop(rkb_instance_t *instance);
bool rkb_instance_stopped(const rkb_instance_t *instance);
/* Destroys and frees; a written-off one stays as it is. */
void rkb_instance_free(rkb_instance_t *instance);

const char *const *rkb_instance_emits(const rkb_instance_t *instance);
const rkb_entry_t *rkb_instance_entry(const rkb_instance_t *instance);
rkb_core_t *rkb_instance_core(const rkb_instance_t *instance);
const rkb_host_t *rkb_instance_host(const rkb_instance_t *instance);
uint32_t rkb_instance_waiting(const rkb_instance_t *instance);
uint32_t rkb_instance_running(const rkb_instance_t *instance);

/* For the core's own loop work. */
void rkb_instance_ended(rkb_instance_t *instance, rkb_ended_t *ended); /* takes ended */
void rkb_instance_pump(rkb_instance_t *instance);
void rkb_instance_write_off(rkb_instance_t *instance, rkb_job_t job);
/* host.c: the host of an instance, and back.  The host of a strategy has an entry and no instance. */
void rkb_host_fill(rkb_host_t *host, rkb_core_t *core, const char *name);
void rkb_instance_set_stopped(rkb_instance_t *instance);

#endif
