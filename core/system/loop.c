/* The event loop.  Owns the libuv loop, the queue that other threads fill, and the handle that wakes the loop.  The thread that
 * made the loop runs it.
 *
 * The queue is a pair of arrays.  Other threads append messages to one array under the lock.  The loop exchanges the two arrays and runs the messages of the
 * full one.  A message wakes the loop only if the queue was empty.  (uv_async_send merges wake-ups anyway; this saves its system call.)  The wake-up is sent
 * under the lock, and closing takes the same lock, so uv_async_send never meets a closed handle. */
#include "system/loop.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "base/memory.h"

#define MOST_LAST_TURNS 64u /* rounds of messages that post messages, when the loop is freed */

typedef struct message {
   void (*fn)(void *arg);
   void *arg;
} message_t;

typedef struct queue {
   message_t *messages;
   uint32_t count, room;
} queue_t;

struct rkb_loop {
   uv_loop_t uv;
   uv_async_t wake;
   pthread_t thread;
   bool running;
   bool stop;

   pthread_mutex_t lock;
   queue_t posted;  /* guarded by lock */
   bool stop_asked; /* guarded by lock */
   bool closed;     /* guarded by lock */

   queue_t taken; /* being run; only the loop thread uses it */
};

struct rkb_timer {
   uv_timer_t uv;
   void (*fn)(void *arg);
   void *arg;
   bool repeats;
};

/* Returns true when there were messages to run. */
static bool run_posted(rkb_loop_t *loop) {
   pthread_mutex_lock(&loop->lock);
   bool stop = loop->stop_asked;
   loop->stop_asked = false;
   queue_t batch = loop->posted;
   loop->posted = loop->taken;
   loop->posted.count = 0;
   pthread_mutex_unlock(&loop->lock);
   loop->taken = batch;
   for (uint32_t i = 0; i < batch.count; i++)
      batch.messages[i].fn(batch.messages[i].arg);
   loop->taken.count = 0;
   loop->stop |= stop;
   return batch.count > 0;
}

static void on_wake(uv_async_t *wake) {
   run_posted(wake->data);
}

int rkb_loop_new(rkb_loop_t **loop, rkb_error_t *err) {
   rkb_loop_t *made = rkb_allocate(1, sizeof *made);
   int status = uv_loop_init(&made->uv);
   if (status != 0) {
      free(made);
      return rkb_fail(err, RKB_ERR_INTERNAL, "cannot make an event loop: %s", uv_strerror(status));
   }
   status = uv_async_init(&made->uv, &made->wake, on_wake);
   if (status != 0) {
      uv_loop_close(&made->uv);
      free(made);
      return rkb_fail(err, RKB_ERR_INTERNAL, "cannot make the loop's wake-up handle: %s",
                      uv_strerror(status));
   }
   made->wake.data = made;
   made->thread = pthread_self();
   pthread_mutex_init(&made->lock, NULL);
   *loop = made;
   return RKB_OK;
}

void rkb_loop_free(rkb_loop_t *loop) {
   if (!loop)
      return;
   assert(!loop->running);
   for (unsigned turn = 0; turn < MOST_LAST_TURNS && run_posted(loop);)
      turn++;
   pthread_mutex_lock(&loop->lock);
   loop->closed = true;
   uv_close((uv_handle_t *)&loop->wake, NULL);
   pthread_mutex_unlock(&loop->lock);
   uv_run(&loop->uv, UV_RUN_DEFAULT);
   int status = uv_loop_close(&loop->uv);
   assert(status == 0);
   (void)status;
   pthread_mutex_destroy(&loop->lock);
   free(loop->posted.messages);
   free(loop->taken.messages);
   free(loop);
}

void rkb_loop_run(rkb_loop_t *loop) {
   assert(!loop->running && rkb_loop_is_current(loop));
   loop->running = true;
   while (!loop->stop)
      uv_run(&loop->uv, UV_RUN_ONCE);
   loop->stop = false;
   loop->running = false;
}

void rkb_loop_stop(rkb_loop_t *loop) {
   pthread_mutex_lock(&loop->lock);
   loop->stop_asked = true;
   if (!loop->closed)
      uv_async_send(&loop->wake);
   pthread_mutex_unlock(&loop->lock);
}

uv_loop_t *rkb_loop_uv(rkb_loop_t *loop) {
   return &loop->uv;
}

bool rkb_loop_is_current(const rkb_loop_t *loop) {
   return pthread_equal(loop->thread, pthread_self());
}

static int append(queue_t *queue, message_t message) {
   if (queue->count == RKB_LOOP_MOST_POSTED)
      return RKB_ERR_LIMIT;
   if (queue->count == queue->room) {
      uint32_t room = queue->room ? queue->room * 2 : 64;
      queue->messages = rkb_grow(queue->messages, room, sizeof *queue->messages);
      queue->room = room;
   }
   queue->messages[queue->count++] = message;
   return RKB_OK;
}

int rkb_loop_post(rkb_loop_t *loop, void (*fn)(void *arg), void *arg) {
   pthread_mutex_lock(&loop->lock);
   int status = loop->closed ? RKB_ERR_CANCELLED : append(&loop->posted, (message_t){fn, arg});
   if (status == RKB_OK && loop->posted.count == 1)
      uv_async_send(&loop->wake);
   pthread_mutex_unlock(&loop->lock);
   return status;
}

static void free_timer(uv_handle_t *handle) {
   free(handle->data);
}

static void on_timer(uv_timer_t *handle) {
   rkb_timer_t *timer = handle->data;
   if (!timer->repeats)
      uv_close((uv_handle_t *)&timer->uv, free_timer);
   timer->fn(timer->arg);
}

static rkb_timer_t *start_timer(rkb_loop_t *loop, uint64_t ns, bool repeats, void (*fn)(void *arg),
                                void *arg) {
   rkb_timer_t *timer = rkb_allocate(1, sizeof *timer);
   uint64_t ms = ns / 1000000 + (ns % 1000000 != 0);
   uv_timer_init(&loop->uv, &timer->uv);
   timer->uv.data = timer;
   timer->fn = fn;
   timer->arg = arg;
   timer->repeats = repeats;
   uv_update_time(&loop->uv); /* otherwise libuv counts from the start of this turn, and the timer fires too early */
   /* For libuv a repeat of 0 ms means that the timer fires once. */
   uv_timer_start(&timer->uv, on_timer, ms, !repeats ? 0 : ms ? ms : 1);
   return timer;
}

rkb_timer_t *rkb_timer_start(rkb_loop_t *loop, uint64_t delay_ns, void (*fn)(void *arg), void *arg) {
   return start_timer(loop, delay_ns, false, fn, arg);
}

rkb_timer_t *rkb_timer_start_repeating(rkb_loop_t *loop, uint64_t period_ns, void (*fn)(void *arg),
                                       void *arg) {
   return start_timer(loop, period_ns, true, fn, arg);
}

void rkb_timer_stop(rkb_timer_t *timer) {
   if (timer)
      uv_close((uv_handle_t *)&timer->uv, free_timer);
}

uint64_t rkb_now_ns(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
