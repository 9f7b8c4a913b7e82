/* Evaluates the expected values of the next rows while the GPU works on the current one.  Child processes do
 * it (`rkb expected`), so that their memory is released when they end, and they can be stopped during a
 * timing.  Two threads each wait for a child; one begins with the first work, the other with the last and
 * costliest.  Owns threads and children. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/file.h"
#include "base/memory.h"
#include "cli/bench/bench.h"
#include "system/processors.h"
#include "system/timed_wait.h"

enum { CHILDREN = 2, NICE = 10 };

/* The same budget as in pipelines/remeasure.yaml, which measures the rows. */
#define BUDGET "400ms"

enum state { WAITING, RUNNING, EVALUATED };

typedef struct child {
   rkb_background_t *ahead;
   pthread_t thread;
   bool from_the_end, started;
   rkb_pipe_process_t peer;
} child_t;

struct rkb_background {
   const rkb_bench_t *bench;
   const rkb_bench_work_t *const *works; /* in the order in which they are measured; owned by the caller */
   uint32_t count;
   enum state *states; /* one per work */
   char *program, threads[32];
   pthread_mutex_t lock;
   pthread_cond_t changed;
   bool ending, paused;
   child_t children[CHILDREN];
};

/* Chooses the next work for a child; count when there is none.  The caller holds the lock. */
static uint32_t choose(const rkb_background_t *a, bool from_the_end) {
   for (uint32_t i = 0; i < a->count; i++) {
      const uint32_t n = from_the_end ? a->count - 1 - i : i;
      if (a->states[n] == WAITING)
         return n;
   }
   return a->count;
}

static bool is_ending(void *argument) {
   rkb_background_t *a = argument;
   pthread_mutex_lock(&a->lock);
   const bool ending = a->ending;
   pthread_mutex_unlock(&a->lock);
   return ending;
}

/* Makes an environment from the program's own, with this many threads for one evaluation. */
static const char **environment_of(const rkb_background_t *a) {
   size_t count = 0, kept = 0;
   while (environ[count])
      count++;
   const char **list = rkb_allocate(count + 2, sizeof *list);
   for (size_t i = 0; i < count; i++)
      if (strncmp(environ[i], "OMP_NUM_THREADS=", strlen("OMP_NUM_THREADS=")) != 0)
         list[kept++] = environ[i];
   list[kept] = a->threads;
   return list;
}

static int start(child_t *child, const rkb_bench_work_t *work, rkb_error_t *err) {
   const rkb_background_t *a = child->ahead;
   const char *const words[] = {a->program,      "expected", work->directory, "--direction",
                                work->direction, "--budget", BUDGET,          NULL};
   rkb_bench_kernels_t kernels;
   int status = rkb_bench_kernels_find(work, &kernels, err); /* a work without a kernel is not compared */
   if (status != RKB_OK)
      return status;
   const char **environment = environment_of(a);
   status = rkb_pipe_process_start(&child->peer, words, (const char *const *)environment, -1, err);
   if (status == RKB_OK)
      setpriority(PRIO_PGRP, (id_t)child->peer.pid, NICE);
   free(environment);
   rkb_bench_kernels_free(&kernels);
   return status;
}

/* Evaluates the works one after the other.  If the child process fails, the measurement evaluates the values itself and reports the
 * error. */
static void *tend(void *argument) {
   child_t *child = argument;
   rkb_background_t *a = child->ahead;
   rkb_error_t ignored;
   pthread_mutex_lock(&a->lock);
   for (;;) {
      while (a->paused && !a->ending)
         pthread_cond_wait(&a->changed, &a->lock);
      const uint32_t n = a->ending ? a->count : choose(a, child->from_the_end);
      if (n == a->count)
         break;
      a->states[n] = RUNNING;
      if (start(child, a->works[n], &ignored) == RKB_OK) {
         char piece;
         pthread_mutex_unlock(&a->lock);
         while (rkb_pipe_process_receive(&child->peer, &piece, 1, 0, is_ending, a) == RKB_TRANSFERRED)
            continue;
         pthread_mutex_lock(&a->lock);
         rkb_pipe_process_kill(&child->peer, NULL);
      }
      a->states[n] = EVALUATED;
      pthread_cond_broadcast(&a->changed);
   }
   pthread_mutex_unlock(&a->lock);
   return NULL;
}

int rkb_background_open(const rkb_bench_t *bench, const rkb_bench_work_t *const *works, const bool *measured,
                   uint32_t count, rkb_background_t **out, rkb_error_t *err) {
   const uint32_t cores = rkb_processors();
   rkb_background_t *a = rkb_allocate(1, sizeof *a);
   *out = NULL;
   a->bench = bench;
   a->works = works;
   a->count = count;
   a->states = rkb_allocate(count + 1, sizeof *a->states);
   a->program = rkb_find_program("rkb");
   snprintf(a->threads, sizeof a->threads, "OMP_NUM_THREADS=%u", cores > 4 ? cores / 4 : 1);
   pthread_mutex_init(&a->lock, NULL);
   pthread_cond_init(&a->changed, NULL);
   if (!a->program) {
      rkb_background_close(a);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the program rkb is not installed");
   }
   for (uint32_t i = 0; i < count; i++)
      a->states[i] = measured[i] ? EVALUATED : WAITING;
   /* Only the main thread handles signals. */
   sigset_t held, before;
   sigfillset(&held);
   pthread_sigmask(SIG_BLOCK, &held, &before);
   for (uint32_t i = 0; i < CHILDREN; i++) {
      child_t *child = &a->children[i];
      *child = (child_t){.ahead = a, .from_the_end = i > 0, .peer = {.in = -1, .out = -1}};
      child->started = pthread_create(&child->thread, NULL, tend, child) == 0;
   }
   pthread_sigmask(SIG_SETMASK, &before, NULL);
   *out = a;
   return RKB_OK;
}

/* Whether a signal arrived while signals were blocked. */
static bool is_interrupted(void) {
   sigset_t pending;
   return sigpending(&pending) == 0 &&
          (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

int rkb_background_wait(rkb_background_t *a, uint32_t work, rkb_error_t *err) {
   enum { LOOK_MS = 100 };
   sigset_t held, before;
   int status = RKB_OK;
   if (!a)
      return RKB_OK;
   sigemptyset(&held);
   sigaddset(&held, SIGINT);
   sigaddset(&held, SIGTERM);
   pthread_sigmask(SIG_BLOCK, &held, &before);
   pthread_mutex_lock(&a->lock);
   /* A work that no child has begun (there may be no thread) is evaluated when it is measured. */
   if (a->states[work] == WAITING)
      a->states[work] = EVALUATED;
   while (a->states[work] != EVALUATED && status == RKB_OK) {
      rkb_timed_wait(&a->changed, &a->lock, LOOK_MS);
      if (is_interrupted())
         status = rkb_fail(err, RKB_ERR_CANCELLED, "interrupted");
   }
   pthread_mutex_unlock(&a->lock);
   if (status == RKB_OK) /* otherwise the signal has interrupted the wait, and stays pending until close */
      pthread_sigmask(SIG_SETMASK, &before, NULL);
   return status;
}

void rkb_background_pause(rkb_background_t *a, bool pause) {
   if (!a)
      return;
   pthread_mutex_lock(&a->lock);
   a->paused = pause;
   for (uint32_t i = 0; i < CHILDREN; i++)
      if (a->children[i].peer.pid > 0)
         kill(-a->children[i].peer.pid, pause ? SIGSTOP : SIGCONT);
   pthread_cond_broadcast(&a->changed);
   pthread_mutex_unlock(&a->lock);
}

void rkb_background_close(rkb_background_t *a) {
   if (!a)
      return;
   pthread_mutex_lock(&a->lock);
   a->ending = true;
   pthread_cond_broadcast(&a->changed);
   pthread_mutex_unlock(&a->lock);
   /* Each thread kills its child, whether the child is stopped or not. */
   for (uint32_t i = 0; i < CHILDREN; i++)
      if (a->children[i].started)
         pthread_join(a->children[i].thread, NULL);
   pthread_cond_destroy(&a->changed);
   pthread_mutex_destroy(&a->lock);
   free(a->states);
   free(a->program);
   free(a);
}
