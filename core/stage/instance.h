/* One instance of a stage, with its queue.  It starts jobs up to its limit, tries again after a broken tool, and ends jobs that
 * its stage does not end.  Loop thread, except for the worker that runs a job. */
#ifndef RKB_STAGE_INSTANCE_H
#define RKB_STAGE_INSTANCE_H

#include <stdatomic.h>
#include <rkb/draft/asynchronous.h>
#include "stage/runtime.h"
#include "stage/jobs.h"

typedef struct rkb_instance rkb_instance_t;

/* One item for one stage, with all attempts.  The owner embeds it and fills the first part; the instance uses the rest until it
 * calls done, once, on the loop. */
typedef struct rkb_work {
   rkb_item_t *in; /* borrowed until done */
   rkb_scope_t scope;
   void (*began)(struct rkb_work *work); /* called when its first attempt starts; or NULL */
   void (*done)(struct rkb_work *work,
                rkb_ended_t *ended); /* ended is valid until done returns; done may take items out */
   void *owner;

   struct rkb_work *next;
   rkb_instance_t *instance;
   rkb_job_t job;
   rkb_ticket_t ticket;
   uint32_t attempts;
   bool hung; /* its stage never ended the job, so its candidate must stay in memory */
} rkb_work_t;

/* The owner of a host: an instance or the strategy. */
typedef struct rkb_owner {
   rkb_host_t host; /* first */
   rkb_runtime_t *runtime;
   const rkb_entry_t *entry;
   rkb_instance_t *instance; /* NULL for the strategy */
   atomic_uint posted;       /* calls that host->post has queued and that have not run yet */
} rkb_owner_t;

struct rkb_instance {
   rkb_owner_t owner; /* must come first: host.c casts the host to its instance */
   const rkb_stage_t *stage;
   rkb_asynchronous_stage_t asynchronous; /* zero unless create called serve; if zero, jobs go to run */
   void *self;
   rkb_instance_t *next;     /* of core->instances */
   rkb_work_t *first, *last; /* the queue of waiting work */
   uint32_t waiting, running, limit;
   bool confined; /* its jobs run in processes of their own: confined/ */
   bool creating, started, written_off, stop_called, stopped;
   int start_status; /* of start(), once it ended */
   rkb_error_t start_error;
};

/* Makes the instance and calls create. */
int rkb_instance_new(rkb_runtime_t *runtime, const rkb_entry_t *entry, rkb_instance_t **instance, rkb_error_t *err);
/* Calls an asynchronous stage's start() on a worker.  When that has ended, the loop stops; started or start_status holds the
 * result. */
int rkb_instance_start(rkb_instance_t *instance, rkb_error_t *err);
void rkb_instance_add(rkb_instance_t *instance, rkb_work_t *work);
void rkb_instance_pump(rkb_instance_t *instance);
void rkb_instance_ended(rkb_ended_t *ended); /* frees ended */
/* Ends work that was never handed to a stage.   done is called from the loop's queue, after this call has returned. */
void rkb_work_end(rkb_runtime_t *runtime, rkb_work_t *work, int status, const char *why);
/* Ends all waiting work with the status. */
void rkb_instance_flush(rkb_instance_t *instance, int status, const char *why);
/* Gives up on a job that does not end.  The instance gets no more jobs and is never destroyed; a new instance takes its queue. */
void rkb_instance_write_off(rkb_instance_t *instance, const rkb_job_view_t *view);
void rkb_instance_stop(rkb_instance_t *instance);
void rkb_instance_free(rkb_instance_t *instance); /* destroys; NULL is accepted */

static inline const char *const *rkb_instance_emits(const rkb_instance_t *instance) {
   return instance->stage->emits;
}

/* host.c */
void rkb_owner_init(rkb_owner_t *owner, rkb_runtime_t *runtime, const rkb_entry_t *entry, rkb_instance_t *instance);
static inline rkb_owner_t *rkb_owner_of(const rkb_host_t *host) {
   return (rkb_owner_t *)host;
}

/* item_contract.c: checks that the emitted items follow rkb/items.h; if not, ended gets RKB_ERR_CONTRACT. */
void rkb_contract_check(const rkb_instance_t *instance, const rkb_work_t *work, rkb_ended_t *ended);

#endif
