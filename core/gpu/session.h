/* The inside of a session, for core/gpu: the worker that it holds, and requests to it.  devices.h is the public part.  A session
 * belongs to the thread that began it. */
#ifndef RKB_GPU_SESSION_H
#define RKB_GPU_SESSION_H

#include "gpu/device_pool.h"
#include "gpu/device_worker.h"
#include "gpu/devices.h"

/* Moving 256 MiB takes 0.1 s. */
#define RKB_REQUEST_NS (60ull * 1000000000ull)

struct rkb_tool_run;

struct rkb_session {
   rkb_devices_t *devices;
   rkb_pooled_device_t *device;
   rkb_device_worker_t *worker; /* the device's own worker, or the tool's */
   struct rkb_tool_run *tool;   /* the tool of a session under a tool; owned; else NULL */
   bool observed;               /* CUPTI was loaded into the worker, so no run in it may be timed any more */
   bool (*cancelled)(void *);
   void *argument;
   uint32_t buffers[RKB_WORKER_MAX_INSTANCES];  /* number of buffers of each instance's plan */
   uint32_t launches[RKB_WORKER_MAX_INSTANCES]; /* number of launches of each instance's plan */
};

/* Sends one request, as rkb_device_worker_ask, and waits at most wait_ns.  After an error of the driver the
 * worker is stopped. */
int rkb_session_ask(rkb_session_t *session, uint32_t type, const rkb_piece_t *pieces, uint32_t count, void *answer,
                    size_t bytes, size_t *length, uint64_t wait_ns, int *refusal, rkb_error_t *err);
/* Turns a refusal that is not about the candidate into a status. */
int rkb_session_refused(int refusal, rkb_error_t *err);
/* Stops a worker whose answer is implausible. */
int rkb_session_disbelieve(rkb_session_t *session, const char *what, rkb_error_t *err);
/* tool_run.c: starts the session's worker under a tool; words are the tool's command.  After a failure the session has no worker;
 * end it as usual. */
int rkb_session_start_tool(rkb_session_t *session, const char *const *words, uint64_t deadline_ns, rkb_error_t *err);
/* Ends a tool and its worker without asking for its report. */
void rkb_session_end_tool(rkb_session_t *session);

#endif
