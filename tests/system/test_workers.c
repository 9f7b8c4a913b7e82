/* Worker threads: every task once, the bounded queue, a stuck worker replaced, parts of one task side by side. */
#include "check.h"
#include "system/loop.h"
#include "system/parallel_parts.h"
#include "system/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static rkb_workers_t *open_pool(uint32_t count, uint32_t limit) {
   rkb_error_t err;
   rkb_workers_t *workers;
   assert_int_equal(rkb_workers_open(count, limit, &workers, &err), RKB_OK);
   return workers;
}

static void count(void *counter) {
   atomic_fetch_add((atomic_int *)counter, 1);
}

/* A door that tasks wait behind. */
typedef struct door {
   pthread_mutex_t lock;
   pthread_cond_t changed;
   bool open;
   int waiting, passed;
} door_t;

#define DOOR                                                                                                 \
   { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0, 0 }

static void wait_at(void *argument) {
   door_t *door = argument;
   pthread_mutex_lock(&door->lock);
   door->waiting++;
   pthread_cond_broadcast(&door->changed);
   while (!door->open)
      pthread_cond_wait(&door->changed, &door->lock);
   door->passed++;
   pthread_cond_broadcast(&door->changed);
   pthread_mutex_unlock(&door->lock);
}

static void until_waiting(door_t *door, int number) {
   pthread_mutex_lock(&door->lock);
   while (door->waiting < number)
      pthread_cond_wait(&door->changed, &door->lock);
   pthread_mutex_unlock(&door->lock);
}

static void let_pass(door_t *door, int number) {
   pthread_mutex_lock(&door->lock);
   door->open = true;
   pthread_cond_broadcast(&door->changed);
   while (door->passed < number)
      pthread_cond_wait(&door->changed, &door->lock);
   pthread_mutex_unlock(&door->lock);
}

static void until_done(atomic_int *counter, int number) {
   while (atomic_load(counter) < number)
      usleep(1000);
}

static void every_task_runs_once(void **state) {
   (void)state;
   atomic_int counter = 0;
   rkb_workers_t *workers = open_pool(4, 100);
   for (int i = 0; i < 20000;)
      i += rkb_workers_submit(workers, count, &counter, NULL) == RKB_OK;
   until_done(&counter, 20000);
   rkb_workers_close(workers);
   assert_int_equal(counter, 20000);
   rkb_workers_close(NULL);
}

static void the_queue_is_bounded(void **state) {
   (void)state;
   door_t door = DOOR;
   atomic_int counter = 0;
   rkb_workers_t *workers = open_pool(1, 3);
   assert_int_equal(rkb_workers_submit(workers, wait_at, &door, NULL), RKB_OK);
   until_waiting(&door, 1);
   for (int i = 0; i < 3; i++)
      assert_int_equal(rkb_workers_submit(workers, count, &counter, NULL), RKB_OK);
   assert_int_equal(rkb_workers_submit(workers, count, &counter, NULL), RKB_ERR_LIMIT);
   assert_int_equal(rkb_workers_state(workers).waiting, 3);
   let_pass(&door, 1);
   until_done(&counter, 3);
   rkb_workers_close(workers);
}

static void a_waiting_task_can_be_withdrawn(void **state) {
   (void)state;
   door_t door = DOOR;
   atomic_int counter = 0;
   rkb_ticket_t running, first, second, third;
   rkb_workers_t *workers = open_pool(1, 3);
   rkb_workers_submit(workers, wait_at, &door, &running);
   until_waiting(&door, 1);
   rkb_workers_submit(workers, count, &counter, &first);
   rkb_workers_submit(workers, count, &counter, &second);
   rkb_workers_submit(workers, count, &counter, &third);
   assert_true(rkb_workers_withdraw(workers, second));
   assert_false(rkb_workers_withdraw(workers, second));
   assert_false(rkb_workers_withdraw(workers, running));
   assert_false(rkb_workers_withdraw(workers, 0));
   /* Its place is free again. */
   assert_int_equal(rkb_workers_submit(workers, count, &counter, NULL), RKB_OK);
   assert_int_equal(rkb_workers_submit(workers, count, &counter, NULL), RKB_ERR_LIMIT);
   let_pass(&door, 1);
   until_done(&counter, 3);
   assert_false(rkb_workers_withdraw(workers, first));
   rkb_workers_close(workers);
   assert_int_equal(counter, 3);
}

typedef struct order {
   atomic_int count;
   int numbers[8];
} order_t;

typedef struct numbered {
   order_t *order;
   int number;
} numbered_t;

static void note_turn(void *argument) {
   const numbered_t *numbered = argument;
   order_t *order = numbered->order;
   order->numbers[atomic_load(&order->count)] = numbered->number; /* one thread runs them all */
   atomic_fetch_add(&order->count, 1);
}

static void the_lowest_rank_goes_first(void **state) {
   (void)state;
   static const uint64_t ranks[] = {7, RKB_RANK_LAST, 3, RKB_RANK_FIRST, 7, 5, 3, RKB_RANK_FIRST};
   static const int expected[] = {3, 7, 2, 6, 0, 4, 1}; /* without the sixth, which is withdrawn */
   door_t door = DOOR;
   order_t order = {0};
   numbered_t numbered[8];
   rkb_ticket_t tickets[8];
   rkb_workers_t *workers = open_pool(1, 8);
   rkb_workers_submit(workers, wait_at, &door, NULL);
   until_waiting(&door, 1);
   for (int i = 0; i < 8; i++) {
      numbered[i] = (numbered_t){&order, i};
      assert_int_equal(rkb_workers_submit_ranked(workers, ranks[i], note_turn, &numbered[i], &tickets[i]),
                       RKB_OK);
   }
   assert_true(rkb_workers_withdraw(workers, tickets[5]));
   let_pass(&door, 1);
   until_done(&order.count, 7);
   rkb_workers_close(workers);
   assert_memory_equal(order.numbers, expected, sizeof expected);
}

typedef struct steps {
   rkb_workers_t *workers;
   rkb_loop_t *loop;
   numbered_t first, next, behind;
} steps_t;

static void submit_next(void *argument) {
   steps_t *steps = argument;
   rkb_workers_submit_ranked(steps->workers, 1, note_turn, &steps->next, NULL);
}

static void run_first(void *argument) {
   steps_t *steps = argument;
   note_turn(&steps->first);
   rkb_loop_post(steps->loop, submit_next, steps);
}

static void run_behind(void *argument) {
   steps_t *steps = argument;
   note_turn(&steps->behind);
   rkb_loop_stop(steps->loop);
}

/* The thread waits for the loop, which submits the next step, and does not take the task behind it meanwhile. */
static void what_follows_goes_before_what_is_behind(void **state) {
   (void)state;
   static const int expected[] = {0, 1, 2};
   rkb_error_t err;
   door_t door = DOOR;
   order_t order = {0};
   steps_t steps = {
      .workers = open_pool(1, 8), .first = {&order, 0}, .next = {&order, 1}, .behind = {&order, 2}};
   assert_int_equal(rkb_loop_new(&steps.loop, &err), RKB_OK);
   rkb_workers_heed(steps.workers, steps.loop);
   rkb_workers_submit(steps.workers, wait_at, &door, NULL);
   until_waiting(&door, 1);
   rkb_workers_submit_ranked(steps.workers, 2, run_behind, &steps, NULL);
   rkb_workers_submit_ranked(steps.workers, 1, run_first, &steps, NULL);
   let_pass(&door, 1);
   rkb_loop_run(steps.loop);
   rkb_workers_close(steps.workers);
   rkb_loop_free(steps.loop);
   assert_memory_equal(order.numbers, expected, sizeof expected);
}

/* Until this thread is the only one. */
static void until_alone(void) {
   struct stat tasks;
   while (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3) /* ".", ".." and one */
      usleep(1000);
}

static void a_stuck_worker_is_replaced(void **state) {
   (void)state;
   door_t door = DOOR;
   atomic_int counter = 0;
   bool replaced = false;
   rkb_ticket_t stuck, quick;
   rkb_workers_t *workers = open_pool(1, 10);
   rkb_workers_submit(workers, wait_at, &door, &stuck);
   until_waiting(&door, 1);
   rkb_workers_submit(workers, count, &counter, &quick);
   assert_false(rkb_workers_write_off(workers, quick, &replaced)); /* it waits, it does not run */
   assert_true(rkb_workers_write_off(workers, stuck, &replaced));
   assert_true(replaced);
   assert_false(rkb_workers_write_off(workers, stuck, &replaced));
   assert_false(rkb_workers_write_off(workers, 0, &replaced));
   until_done(&counter, 1);
   rkb_workers_state_t now = rkb_workers_state(workers);
   assert_int_equal(now.threads, 1);
   assert_int_equal(now.written_off, 1);
   /* Closing does not wait for it; it ends by itself once its task returns. */
   rkb_workers_close(workers);
   assert_int_equal(door.passed, 0);
   let_pass(&door, 1);
   until_alone();
}

static void *close_pool(void *workers) {
   rkb_workers_close(workers);
   return NULL;
}

static void closing_lets_running_tasks_end(void **state) {
   (void)state;
   door_t door = DOOR;
   atomic_int counter = 0;
   pthread_t thread;
   rkb_workers_t *workers = open_pool(2, 10);
   rkb_workers_submit(workers, wait_at, &door, NULL);
   rkb_workers_submit(workers, wait_at, &door, NULL);
   until_waiting(&door, 2);
   rkb_workers_submit(workers, count, &counter, NULL);
   assert_int_equal(pthread_create(&thread, NULL, close_pool, workers), 0);
   /* A pool that is being closed refuses new tasks and drops those that wait. */
   while (rkb_workers_submit(workers, count, &counter, NULL) != RKB_ERR_CANCELLED)
      usleep(1000);
   let_pass(&door, 2);
   pthread_join(thread, NULL);
   assert_int_equal(counter, 0); /* what waited was dropped */
}

static void look_at_signals(void *blocked) {
   sigset_t mask;
   pthread_sigmask(SIG_SETMASK, NULL, &mask);
   atomic_store((atomic_int *)blocked, sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) ? 1 : 2);
}

static void signals_stay_with_the_main_thread(void **state) {
   (void)state;
   atomic_int blocked = 0;
   rkb_workers_t *workers = open_pool(1, 1);
   rkb_workers_submit(workers, look_at_signals, &blocked, NULL);
   until_done(&blocked, 1);
   assert_int_equal(blocked, 1);
   rkb_workers_close(workers);
}

typedef struct parts {
   rkb_workers_t *workers;
   atomic_int calls[64], ended;
   uint32_t count;
} parts_t;

static void part(void *argument, uint32_t n) {
   parts_t *parts = argument;
   atomic_fetch_add(&parts->calls[n], 1);
   usleep(200);
}

static void share_from_a_task(void *argument) {
   parts_t *parts = argument;
   rkb_workers_run_parts(parts->workers, parts->count, part, parts);
   atomic_store(&parts->ended, 1);
}

/* Tasks that fill the pool share out their parts: every part is executed once, and no task waits for a thread
 * that does not exist. */
static void parts_are_each_called_once(void **state) {
   (void)state;
   static parts_t parts[4];
   rkb_workers_t *workers = open_pool(3, 100);
   for (uint32_t p = 0; p < 4; p++) {
      memset(&parts[p], 0, sizeof parts[p]);
      parts[p].workers = workers;
      parts[p].count = p == 0 ? 0 : 64;
      assert_int_equal(rkb_workers_submit(workers, share_from_a_task, &parts[p], NULL), RKB_OK);
   }
   for (uint32_t p = 0; p < 4; p++) {
      until_done(&parts[p].ended, 1);
      for (uint32_t n = 0; n < 64; n++)
         assert_int_equal(parts[p].calls[n], p == 0 ? 0 : 1);
   }
   rkb_workers_close(workers);
}

typedef struct chain {
   atomic_int reached[16];
} chain_t;

static void wait_for_the_one_before(void *argument, uint32_t n) {
   chain_t *chain = argument;
   while (n > 0 && !atomic_load(&chain->reached[n - 1]))
      usleep(100);
   atomic_store(&chain->reached[n], 1);
}

static void a_part_may_wait_for_a_lower_one(void **state) {
   (void)state;
   for (uint32_t threads = 1; threads < 5; threads++) {
      chain_t chain = {0};
      rkb_workers_t *workers = open_pool(threads, 100);
      rkb_workers_run_parts(workers, 16, wait_for_the_one_before, &chain);
      for (int n = 0; n < 16; n++)
         assert_int_equal(chain.reached[n], 1);
      rkb_workers_close(workers);
   }
}

static void a_reserved_thread_begins_no_task(void **state) {
   (void)state;
   door_t first = DOOR, second = DOOR;
   atomic_int counter = 0;
   rkb_ticket_t ticket;
   rkb_workers_t *workers = open_pool(2, 10);
   assert_int_equal(rkb_workers_submit(workers, wait_at, &first, NULL), RKB_OK);
   assert_int_equal(rkb_workers_submit(workers, wait_at, &second, NULL), RKB_OK);
   until_waiting(&first, 1);
   until_waiting(&second, 1);
   assert_true(rkb_workers_reserve(workers)); /* both are busy: the next that ends its task */
   assert_false(rkb_workers_reserve(workers));
   assert_int_equal(rkb_workers_submit(workers, count, &counter, NULL), RKB_OK);
   let_pass(&second, 1);
   while (rkb_workers_state(workers).running == 2)
      usleep(10000);
   usleep(50000);
   assert_int_equal(counter, 0);
   assert_int_equal(rkb_workers_submit(workers, count, &counter, &ticket), RKB_OK);
   assert_true(rkb_workers_withdraw(workers, ticket));
   rkb_workers_release(workers);
   for (int n = 0; n < 30000 && atomic_load(&counter) == 0; n++)
      usleep(10000);
   assert_int_equal(counter, 1); /* while the first task still runs */
   let_pass(&first, 1);
   rkb_workers_close(workers);
}

static void the_last_thread_is_not_reserved(void **state) {
   (void)state;
   rkb_workers_t *workers = open_pool(1, 10);
   assert_false(rkb_workers_reserve(workers));
   rkb_workers_close(workers);
}

static void sizes_are_checked(void **state) {
   (void)state;
   rkb_error_t err;
   rkb_workers_t *workers;
   assert_int_equal(rkb_workers_open(0, 1, &workers, &err), RKB_ERR_INVALID);
   assert_int_equal(rkb_workers_open(RKB_WORKERS_MOST + 1, 1, &workers, &err), RKB_ERR_INVALID);
   assert_int_equal(rkb_workers_open(1, 0, &workers, &err), RKB_ERR_INVALID);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_task_runs_once),
                                      cmocka_unit_test(the_queue_is_bounded),
                                      cmocka_unit_test(a_waiting_task_can_be_withdrawn),
                                      cmocka_unit_test(the_lowest_rank_goes_first),
                                      cmocka_unit_test(what_follows_goes_before_what_is_behind),
                                      cmocka_unit_test(a_stuck_worker_is_replaced),
                                      cmocka_unit_test(closing_lets_running_tasks_end),
                                      cmocka_unit_test(signals_stay_with_the_main_thread),
                                      cmocka_unit_test(parts_are_each_called_once),
                                      cmocka_unit_test(a_part_may_wait_for_a_lower_one),
                                      cmocka_unit_test(a_reserved_thread_begins_no_task),
                                      cmocka_unit_test(the_last_thread_is_not_reserved),
                                      cmocka_unit_test(sizes_are_checked)};
   return RUN_TESTS(tests);
}
