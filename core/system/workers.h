/* A pool of threads for work that blocks.  libuv's own pool has four threads by default and shares them with name lookups and
 * files, so it is not used.  A task that hangs can be written off: its thread is left alone and replaced.
 * Any thread may call any function here. */
#ifndef RKB_SYSTEM_WORKERS_H
#define RKB_SYSTEM_WORKERS_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>
#include "system/loop.h"

typedef struct rkb_workers rkb_workers_t;

typedef uint64_t rkb_ticket_t; /* identifies a submitted task; never reused; 0: no task */

#define RKB_WORKERS_MOST 1024u /* threads; written-off threads do not count */

/* Opens a pool of count threads (1 to RKB_WORKERS_MOST) in which at most queue_limit tasks may wait (1 to 2^20). */
int rkb_workers_open(uint32_t count, uint32_t queue_limit, rkb_workers_t **workers, rkb_error_t *err);

/* Drops the waiting tasks, lets each running task end, and joins the threads.  Does not wait for written-off threads; the memory they
 * use stays allocated until they end.  NULL is accepted.  Do not call it from a task. */
void rkb_workers_close(rkb_workers_t *workers);

/* From now on, a thread that has ended a task does not begin a task of a higher rank before the loop has run the messages that the ended task posted.  The
 * reason: the loop may then submit the next step of the same work.  That step goes first, and does not wait behind long tasks of later work.  The loop must
 * run, and must be freed after the pool was closed. */
void rkb_workers_heed(rkb_workers_t *workers, rkb_loop_t *loop);

#define RKB_RANK_FIRST 0u
#define RKB_RANK_LAST UINT64_MAX

/* Runs fn(arg) on a worker.  Of the waiting tasks the lowest rank goes first; equal ranks go in the order of submission.
 * RKB_ERR_LIMIT when the queue is full; then fn is not called.  ticket may be NULL. */
int rkb_workers_submit_ranked(rkb_workers_t *workers, uint64_t rank, void (*fn)(void *arg), void *arg,
                              rkb_ticket_t *ticket);
/* The same with RKB_RANK_FIRST. */
int rkb_workers_submit(rkb_workers_t *workers, void (*fn)(void *arg), void *arg, rkb_ticket_t *ticket);

/* Takes back a waiting task.  True: it was still waiting and will never run. */
bool rkb_workers_withdraw(rkb_workers_t *workers, rkb_ticket_t ticket);

/* Gives up on a running task.  True: the task was running, its thread gets no more work, and a new thread takes its place.  *replaced
 * is false when none could be started; the pool is then one thread smaller.  The old thread ends when its task returns. */
bool rkb_workers_write_off(rkb_workers_t *workers, rkb_ticket_t ticket, bool *replaced);

/* Reserves one thread, for a task that computes with threads of its own: of the threads that run no task, one begins none until the thread is released.  If all
 * are busy, the next one that ends its task.  False: the pool has no thread beside the calling task's and those that are reserved.  A task that
 * reserves a thread must not wait for another task. */
bool rkb_workers_reserve(rkb_workers_t *workers);
void rkb_workers_release(rkb_workers_t *workers);

typedef struct rkb_workers_state {
   uint32_t threads;     /* threads that are alive and not written off */
   uint32_t running;     /* tasks on them */
   uint32_t reserved;    /* threads that begin no task now */
   uint32_t waiting;     /* tasks in the queue */
   uint32_t written_off; /* threads written off so far */
} rkb_workers_state_t;

rkb_workers_state_t rkb_workers_state(rkb_workers_t *workers);

#endif
