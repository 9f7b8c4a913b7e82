/* rkb/draft/asynchronous.h - a stage that waits without a thread.  Draft extension "rkb.draft.asynchronous/0".
 *
 * A draft may change or go (docs/decisions/drafts.md): no shipped plugin uses it yet.
 *
 * A stage's run blocks a worker until it returns.  A stage that mostly waits for something outside can take its jobs on the
 * loop thread instead, return at once, and complete each job later from any thread.  It asks for this extension in create and
 * calls serve; from then on its submit is called in place of run.  run stays in the stage's table: it serves programs that do
 * not offer this draft.
 */
#ifndef RKB_DRAFT_ASYNCHRONOUS_H
#define RKB_DRAFT_ASYNCHRONOUS_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_DRAFT_ASYNCHRONOUS "rkb.draft.asynchronous/0"

typedef struct rkb_asynchronous_stage {
   uint32_t size;
   uint32_t reserved;

   /* Optional.  Acquires what the stage needs to run: I/O, threads, connections.  The first job comes after it.  [worker] */
   int (*start)(void *self, rkb_error_t *err);

   /* Starts the work and returns.  RKB_OK means accepted: the stage must now call job_complete exactly once for this job, from any
    * thread, even after cancel or stop.  Any other value means refused: the core completes the job with that status, and the stage
    * must not touch it again.  [loop] */
   int (*submit)(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err);

   /* Optional.  Asks an accepted job to end early.  A hint: the job still completes once, with RKB_ERR_CANCELLED or whatever
    * it had reached.  [loop] */
   void (*cancel)(void *self, rkb_job_t job);

   /* Optional.  No more jobs will come.  Close handles and threads, then call stage_stopped.  Before destroy, the core waits for
    * this call and for the end of every accepted job.  Absent means "at once".  [loop] */
   void (*stop)(void *self);
} rkb_asynchronous_stage_t;

typedef struct rkb_asynchronous_api {
   uint32_t size;
   uint32_t reserved;

   /* Once, from create.  The structure is copied.  RKB_ERR_CONTRACT: it has no submit, this is not the first call, or create
    * has returned.  [loop] */
   int (*serve)(const rkb_host_t *host, const rkb_asynchronous_stage_t *stage, rkb_error_t *err);

   /* Runs fn(arg) on the loop thread, after the current callback returns.  [any] */
   void (*post)(const rkb_host_t *host, void (*fn)(void *arg), void *arg);

   /* Ends the stage's right to use a job that submit accepted.  err may be NULL when status is RKB_OK.  [any] */
   void (*job_complete)(const rkb_host_t *host, rkb_job_t job, int status, const rkb_error_t *err);

   void (*stage_stopped)(const rkb_host_t *host); /* [any] */
} rkb_asynchronous_api_t;

#ifdef __cplusplus
}
#endif
#endif
