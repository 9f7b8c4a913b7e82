/* The event loop: one libuv loop run by one thread, timers, and a queue through which other threads reach it.
 *
 *   [loop]  only on the thread that runs the loop (before it runs: the thread that made it)
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

/* Runs the posted messages, and messages that these post (at most 64 rounds).  Then closes the loop's own handle and waits for every
 * close callback.  All other handles must be closing by then, and no thread may post any more.  Do not call it from inside
 * rkb_loop_run.  NULL is accepted.  [loop] */
void rkb_loop_free(rkb_loop_t *loop);

/* Runs the loop until rkb_loop_stop.  A nested call aborts the program.  [loop] */
void rkb_loop_run(rkb_loop_t *loop);
/* Makes rkb_loop_run return after the messages posted so far.  If the loop is not running, the next run returns.  [any] */
void rkb_loop_stop(rkb_loop_t *loop);

uv_loop_t *rkb_loop_uv(rkb_loop_t *loop);         /* for the core's own libuv handles [loop] */
bool rkb_loop_is_current(const rkb_loop_t *loop); /* whether this thread is the loop's [any] */

/* Runs fn(arg) on the loop thread, in order of posting, after the current callback returns.  RKB_ERR_LIMIT when too much
 * waits; then fn is not called.  The loop is woken only when the queue was empty.  [any] */
int rkb_loop_post(rkb_loop_t *loop, void (*fn)(void *arg), void *arg);

/* Calls fn(arg) once, delay_ns from now (rounded up to a millisecond), and frees the timer.  [loop] */
rkb_timer_t *rkb_timer_start(rkb_loop_t *loop, uint64_t delay_ns, void (*fn)(void *arg), void *arg);
/* Calls fn(arg) every period_ns until it is stopped.  [loop] */
rkb_timer_t *rkb_timer_start_repeating(rkb_loop_t *loop, uint64_t period_ns, void (*fn)(void *arg),
                                       void *arg);
/* Do not call it for a one-shot timer that has fired.  NULL is accepted.  [loop] */
void rkb_timer_stop(rkb_timer_t *timer);

uint64_t rkb_now_ns(void); /* CLOCK_MONOTONIC [any] */

#endif
