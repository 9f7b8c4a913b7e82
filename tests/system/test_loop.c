/* The loop's messages and timers; other threads send. */
#include "check.h"
#include "system/loop.h"

#include <pthread.h>
#include <stdlib.h>

static rkb_loop_t *make_loop(void) {
   rkb_error_t err;
   rkb_loop_t *loop;
   assert_int_equal(rkb_loop_new(&loop, &err), RKB_OK);
   return loop;
}

typedef struct sequence {
   rkb_loop_t *loop;
   unsigned from, next, wrong, until;
} sequence_t;

static sequence_t sequence; /* of the test that runs; messages carry their number */

static void take_number(void *number) {
   if ((uintptr_t)number != sequence.next)
      sequence.wrong++;
   if (!rkb_loop_is_current(sequence.loop))
      sequence.wrong++;
   if (++sequence.next == sequence.until)
      rkb_loop_stop(sequence.loop);
}

static void *post_numbers(void *unused) {
   (void)unused;
   for (uintptr_t i = 0; i < sequence.until; i++) {
      while (rkb_loop_post(sequence.loop, take_number, (void *)i) == RKB_ERR_LIMIT)
         sched_yield();
   }
   return NULL;
}

static void messages_keep_their_order(void **state) {
   (void)state;
   pthread_t thread;
   sequence = (sequence_t){.loop = make_loop(), .until = 200000};
   assert_int_equal(pthread_create(&thread, NULL, post_numbers, NULL), 0);
   rkb_loop_run(sequence.loop);
   pthread_join(thread, NULL);
   assert_int_equal(sequence.next, 200000);
   assert_int_equal(sequence.wrong, 0);
   rkb_loop_free(sequence.loop);
}

static void count(void *counter) {
   ++*(int *)counter;
}

static void the_queue_has_a_ceiling(void **state) {
   (void)state;
   rkb_loop_t *loop = make_loop();
   int counter = 0;
   for (uint32_t i = 0; i < RKB_LOOP_MOST_POSTED; i++)
      assert_int_equal(rkb_loop_post(loop, count, &counter), RKB_OK);
   assert_int_equal(rkb_loop_post(loop, count, &counter), RKB_ERR_LIMIT);
   rkb_loop_stop(loop);
   rkb_loop_run(loop);
   assert_int_equal(counter, RKB_LOOP_MOST_POSTED);
   assert_int_equal(rkb_loop_post(loop, count, &counter), RKB_OK);
   rkb_loop_free(loop); /* runs what still waits */
   assert_int_equal(counter, RKB_LOOP_MOST_POSTED + 1);
   rkb_loop_free(NULL);
}

static void stop_now(void *loop) {
   rkb_loop_stop(loop);
}

static void stopping_lets_earlier_messages_run(void **state) {
   (void)state;
   rkb_loop_t *loop = make_loop();
   int counter = 0;
   rkb_loop_post(loop, stop_now, loop);
   rkb_loop_post(loop, count, &counter);
   rkb_loop_run(loop);
   assert_int_equal(counter, 1);
   rkb_loop_stop(loop); /* before it runs: the next run returns */
   rkb_loop_run(loop);
   rkb_loop_free(loop);
}

typedef struct ticking {
   rkb_loop_t *loop;
   rkb_timer_t *timer, *never;
   uint64_t began, first;
   int ticks;
} ticking_t;

static void tick(void *argument) {
   ticking_t *ticking = argument;
   if (++ticking->ticks < 3)
      return;
   rkb_timer_stop(ticking->timer);
   rkb_timer_stop(ticking->never);
   rkb_loop_stop(ticking->loop);
}

static void note_time(void *argument) {
   ticking_t *ticking = argument;
   ticking->first = rkb_now_ns();
}

static void timers_wait_at_least_as_long_as_they_say(void **state) {
   (void)state;
   ticking_t ticking = {.loop = make_loop()};
   /* The loop's own idea of the time is now old: a timer that counted from it would fire early. */
   uint64_t until = rkb_now_ns() + 20000000;
   while (rkb_now_ns() < until)
      continue;
   ticking.began = rkb_now_ns();
   assert_non_null(rkb_timer_start(ticking.loop, 10000001, note_time, &ticking));
   ticking.timer = rkb_timer_start_repeating(ticking.loop, 15000000, tick, &ticking);
   ticking.never = rkb_timer_start(ticking.loop, UINT64_C(3600000000000), tick, &ticking);
   rkb_loop_run(ticking.loop);
   assert_int_equal(ticking.ticks, 3);
   assert_true(ticking.first - ticking.began >= 10000001);
   rkb_loop_free(ticking.loop);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(messages_keep_their_order),
                                      cmocka_unit_test(the_queue_has_a_ceiling),
                                      cmocka_unit_test(stopping_lets_earlier_messages_run),
                                      cmocka_unit_test(timers_wait_at_least_as_long_as_they_say)};
   return RUN_TESTS(tests);
}
