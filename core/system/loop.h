/* The event loop: one libuv loop run by one thread, a queue through which every other thread reaches it, and timers.
 *
 *   [loop]  only on the thread that runs the loop (or before it runs, on the thread that made it)
 *   [any]   any thread
 */
#ifndef RKB_SYSTEM_LOOP_H
#define RKB_SYSTEM_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>
#include <rkb/plugin.h>

typedef struct rkb_loop rkb_loop_t;
typedef struct rkb_timer rkb_timer_t;

#define RKB_LOOP_MOST_POSTED (1u << 20) /* messages that may wait at once */

int rkb_loop_new(rkb_loop_t **loop, rkb_error_t *err);

/* Runs what was posted (and what that posts, 64 times over), then closes the loop's own handle and waits for every close
 * callback.  Handles of others must be closing by then, and no thread may post any more.  Not from inside rkb_loop_run.  NULL is accepted.  [loop] */
void rkb_loop_free(rkb_loop_t *loop);

/* Runs until rkb_loop_stop.  Re-entering is a fault of the program and aborts.  [loop] */
void rkb_loop_run(rkb_loop_t *loop);
/* makes rkb_loop_run return, after what was posted before; also the next one [any] */
void rkb_loop_stop(rkb_loop_t *loop);

uv_loop_t *rkb_loop_uv(rkb_loop_t *loop);         /* for handles of the core's own [loop] */
bool rkb_loop_is_current(const rkb_loop_t *loop); /* whether this thread is the loop's [any] */

/* Runs fn(arg) on the loop thread, in order of posting, after the current callback returns.  RKB_ERR_LIMIT when too much
 * waits; then fn is not called.  The loop is woken only when the queue was empty.  [any] */
int rkb_loop_post(rkb_loop_t *loop, void (*fn)(void *arg), void *arg);

/* Calls fn(arg) once, delay_ns from now (rounded up to a millisecond), and frees the timer.  [loop] */
rkb_timer_t *rkb_timer_start(rkb_loop_t *loop, uint64_t delay_ns, void (*fn)(void *arg), void *arg);
/* Calls fn(arg) every period_ns until it is stopped.  [loop] */
rkb_timer_t *rkb_timer_start_repeating(rkb_loop_t *loop, uint64_t period_ns, void (*fn)(void *arg),
                                       void *arg);
void rkb_timer_stop(rkb_timer_t *timer); /* not after a one-shot's fn was called; NULL is accepted [loop] */

uint64_t rkb_now_ns(void); /* CLOCK_MONOTONIC [any] */

#endif
