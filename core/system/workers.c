/* A pool of threads.  Owns a queue of waiting tasks and one record per thread, all under one lock.  The pool's memory is reference-counted, and each thread
 * holds a reference.  So a thread that was written off can return after the pool was closed, and still finds the lock. */
#include "system/workers.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "system/task_queue.h"

#define MOST_WAITING (1u << 20)

typedef struct worker {
   struct worker *next;
   rkb_workers_t *pool;
   pthread_t thread;
   rkb_ticket_t running; /* 0: none */
   uint64_t rank, post;  /* the rank of the task that ended last, and the number of the message that it posted to the loop at its end; 0: none */
   bool written_off;
} worker_t;

struct rkb_workers {
   pthread_mutex_t lock;
   pthread_cond_t work;     /* a task waits, or the pool closes */
   pthread_cond_t attended; /* the loop ran a message, or the pool closes */
   uint32_t holders;        /* threads, messages to the loop, plus the owner until it closes the pool */
   bool closing;

   rkb_task_queue_t queue;
   uint32_t queue_limit;
   rkb_ticket_t last; /* ticket of the task that was submitted last */

   worker_t *workers; /* without the written-off ones */
   uint32_t count;
   uint32_t idle; /* threads that wait for work and were not yet signalled */
   uint32_t running;
   uint32_t reserved; /* threads that begin no task, beside those that run one */
   uint32_t written_off;

   rkb_loop_t *loop;       /* NULL: threads go on at once */
   uint64_t posted, heard; /* messages to the loop, and those that it ran; it runs them in order */
};

/* Drops a reference.  Called with the lock held; returns with it released. */
static void let_go(rkb_workers_t *pool) {
   bool last = --pool->holders == 0;
   pthread_mutex_unlock(&pool->lock);
   if (!last)
      return;
   pthread_cond_destroy(&pool->work);
   pthread_cond_destroy(&pool->attended);
   pthread_mutex_destroy(&pool->lock);
   rkb_task_queue_free(&pool->queue);
   free(pool);
}

/* Runs on the loop.  All messages that a task posted before its end have run now, so the tasks that follow from it are in the queue. */
static void hear(void *argument) {
   rkb_workers_t *pool = argument;
   pthread_mutex_lock(&pool->lock);
   pool->heard++;
   pthread_cond_broadcast(&pool->attended);
   let_go(pool);
}

/* Lock held. */
static void post_end(worker_t *self, uint64_t rank) {
   rkb_workers_t *pool = self->pool;
   if (rank == RKB_RANK_LAST || self->written_off || !pool->loop ||
       rkb_loop_post(pool->loop, hear, pool) != RKB_OK)
      return;
   pool->holders++;
   self->rank = rank;
   self->post = ++pool->posted;
}

/* Lock held.  Whether this thread must wait: a task that follows from its last task may still come, and would go before the first waiting task. */
static bool must_wait(const worker_t *self) {
   const rkb_workers_t *pool = self->pool;
   uint64_t rank = 0;
   return !pool->closing && pool->heard < self->post && rkb_task_queue_lowest(&pool->queue, &rank) &&
          rank > self->rank;
}

/* Lock held.  Whether all threads that run no task are reserved. */
static bool is_reserved(const rkb_workers_t *pool) {
   return pool->reserved && pool->running + pool->reserved >= pool->count;
}

static void *work(void *argument) {
   worker_t *self = argument;
   rkb_workers_t *pool = self->pool;
   rkb_task_entry_t task;
   pthread_mutex_lock(&pool->lock);
   while (!self->written_off && !pool->closing) {
      if (must_wait(self)) {
         pthread_cond_wait(&pool->attended, &pool->lock);
         continue;
      }
      if (is_reserved(pool) || !rkb_task_queue_take(&pool->queue, &task)) {
         self->running = 0;
         pool->idle++;
         pthread_cond_wait(&pool->work, &pool->lock);
         /* The signalling thread has already subtracted this one from `idle`.  After a spurious wake-up the count
          * is one too high, which costs a needless signal later but delays no task. */
         continue;
      }
      self->running = task.ticket;
      pool->running++;
      pthread_mutex_unlock(&pool->lock);
      task.fn(task.arg);
      pthread_mutex_lock(&pool->lock);
      if (!self->written_off)
         pool->running--;
      self->running = 0;
      post_end(self, task.rank);
   }
   if (self->written_off)
      free(self);
   let_go(pool);
   return NULL;
}

/* Lock held.  Blocks all signals in the new thread except the fault signals of the thread itself, so that the loop's thread gets
 * the others. */
static int start_thread(rkb_workers_t *pool) {
   static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
   sigset_t all, before;
   worker_t *worker = rkb_allocate(1, sizeof *worker);
   worker->pool = pool;
   sigfillset(&all);
   /* With these unblocked, the program can report what the thread was doing when it crashed (cli/crash_report.h). */
   for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
      sigdelset(&all, faults[i]);
   pthread_sigmask(SIG_SETMASK, &all, &before);
   int number = pthread_create(&worker->thread, NULL, work, worker);
   pthread_sigmask(SIG_SETMASK, &before, NULL);
   if (number != 0) {
      free(worker);
      return number;
   }
   pthread_setname_np(worker->thread, "rkb-worker");
   worker->next = pool->workers;
   pool->workers = worker;
   pool->count++;
   pool->holders++;
   return 0;
}

int rkb_workers_open(uint32_t count, uint32_t queue_limit, rkb_workers_t **workers, rkb_error_t *err) {
   if (count < 1 || count > RKB_WORKERS_MOST || queue_limit < 1 || queue_limit > MOST_WAITING)
      return rkb_fail(err, RKB_ERR_INVALID, "a pool has 1 to %u threads and room for 1 to %u tasks",
                      RKB_WORKERS_MOST, MOST_WAITING);
   rkb_workers_t *pool = rkb_allocate(1, sizeof *pool);
   pthread_mutex_init(&pool->lock, NULL);
   pthread_cond_init(&pool->work, NULL);
   pthread_cond_init(&pool->attended, NULL);
   pool->holders = 1;
   pool->queue_limit = queue_limit;
   int number = 0;
   pthread_mutex_lock(&pool->lock);
   while (number == 0 && pool->count < count)
      number = start_thread(pool);
   pthread_mutex_unlock(&pool->lock);
   if (number != 0) {
      rkb_workers_close(pool);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot start %u worker threads: %s", count,
                      strerror(number));
   }
   *workers = pool;
   return RKB_OK;
}

void rkb_workers_heed(rkb_workers_t *pool, rkb_loop_t *loop) {
   pthread_mutex_lock(&pool->lock);
   pool->loop = loop;
   pthread_mutex_unlock(&pool->lock);
}

void rkb_workers_close(rkb_workers_t *pool) {
   if (!pool)
      return;
   pthread_mutex_lock(&pool->lock);
   pool->closing = true;
   pthread_cond_broadcast(&pool->work);
   pthread_cond_broadcast(&pool->attended);
   while (pool->workers) {
      worker_t *worker = pool->workers;
      pool->workers = worker->next;
      pool->count--;
      pthread_mutex_unlock(&pool->lock);
      pthread_join(worker->thread, NULL);
      free(worker);
      pthread_mutex_lock(&pool->lock);
   }
   let_go(pool);
}

int rkb_workers_submit_ranked(rkb_workers_t *pool, uint64_t rank, void (*fn)(void *arg), void *arg,
                              rkb_ticket_t *ticket) {
   pthread_mutex_lock(&pool->lock);
   const int status = pool->closing                            ? RKB_ERR_CANCELLED
                      : pool->queue.count >= pool->queue_limit ? RKB_ERR_LIMIT
                                                               : RKB_OK;
   if (status == RKB_OK) {
      const rkb_task_entry_t entry = {.rank = rank, .ticket = ++pool->last, .fn = fn, .arg = arg};
      rkb_task_queue_put(&pool->queue, &entry);
      if (ticket)
         *ticket = entry.ticket;
      if (pool->idle) {
         pool->idle--;
         pthread_cond_signal(&pool->work);
      }
   }
   pthread_mutex_unlock(&pool->lock);
   return status;
}

int rkb_workers_submit(rkb_workers_t *pool, void (*fn)(void *arg), void *arg, rkb_ticket_t *ticket) {
   return rkb_workers_submit_ranked(pool, RKB_RANK_FIRST, fn, arg, ticket);
}

bool rkb_workers_withdraw(rkb_workers_t *pool, rkb_ticket_t ticket) {
   pthread_mutex_lock(&pool->lock);
   const bool waits = rkb_task_queue_withdraw(&pool->queue, ticket);
   pthread_mutex_unlock(&pool->lock);
   return waits;
}

bool rkb_workers_write_off(rkb_workers_t *pool, rkb_ticket_t ticket, bool *replaced) {
   pthread_mutex_lock(&pool->lock);
   worker_t **link = &pool->workers;
   while (*link && (*link)->running != ticket)
      link = &(*link)->next;
   worker_t *worker = ticket ? *link : NULL;
   if (worker) {
      *link = worker->next;
      worker->written_off = true;
      pthread_detach(worker->thread);
      pool->count--;
      pool->running--;
      pool->written_off++;
      *replaced = !pool->closing && start_thread(pool) == 0;
   }
   pthread_mutex_unlock(&pool->lock);
   return worker != NULL;
}

bool rkb_workers_reserve(rkb_workers_t *pool) {
   pthread_mutex_lock(&pool->lock);
   const bool has = pool->reserved + 1 < pool->count;
   pool->reserved += has;
   pthread_mutex_unlock(&pool->lock);
   return has;
}

void rkb_workers_release(rkb_workers_t *pool) {
   pthread_mutex_lock(&pool->lock);
   pool->reserved--;
   pool->idle = 0;
   pthread_cond_broadcast(&pool->work);
   pthread_mutex_unlock(&pool->lock);
}

rkb_workers_state_t rkb_workers_state(rkb_workers_t *pool) {
   pthread_mutex_lock(&pool->lock);
   rkb_workers_state_t state = {.threads = pool->count,
                                .running = pool->running,
                                .reserved = pool->reserved,
                                .waiting = pool->queue.count,
                                .written_off = pool->written_off};
   pthread_mutex_unlock(&pool->lock);
   return state;
}
