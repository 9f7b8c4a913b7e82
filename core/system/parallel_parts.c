/* Divides a piece of work among the threads of a pool.  The caller submits helpers to the pool.  The caller and the helpers take parts from one shared
 * counter. At the end the caller withdraws each helper that has not started, so it waits for no queued task. */
#include "system/parallel_parts.h"

#include <pthread.h>
#include <stdlib.h>

#define MOST_HELPERS 63u

typedef struct share {
   pthread_mutex_t lock;
   pthread_cond_t left; /* signalled when a helper leaves */
   void (*part)(void *argument, uint32_t n);
   void *argument;
   uint32_t next, count; /* parts */
   uint32_t helpers;     /* submitted helpers that were not withdrawn and have not ended */
} share_t;

static void take_parts(share_t *share) {
   pthread_mutex_lock(&share->lock);
   while (share->next < share->count) {
      const uint32_t n = share->next++;
      pthread_mutex_unlock(&share->lock);
      share->part(share->argument, n);
      pthread_mutex_lock(&share->lock);
   }
   pthread_mutex_unlock(&share->lock);
}

static void help(void *argument) {
   share_t *share = argument;
   take_parts(share);
   pthread_mutex_lock(&share->lock);
   share->helpers--;
   pthread_cond_signal(&share->left);
   pthread_mutex_unlock(&share->lock);
}

void rkb_workers_run_parts(rkb_workers_t *workers, uint32_t count, void (*part)(void *argument, uint32_t n),
                           void *argument) {
   share_t share = {.lock = PTHREAD_MUTEX_INITIALIZER,
                    .left = PTHREAD_COND_INITIALIZER,
                    .part = part,
                    .argument = argument,
                    .count = count};
   rkb_ticket_t tickets[MOST_HELPERS];
   const uint32_t threads = rkb_workers_state(workers).threads;
   uint32_t wanted = count && threads ? (count < threads ? count : threads) - 1 : 0, submitted = 0;
   wanted = wanted > MOST_HELPERS ? MOST_HELPERS : wanted;
   while (submitted < wanted) {
      pthread_mutex_lock(&share.lock);
      share.helpers++;
      pthread_mutex_unlock(&share.lock);
      if (rkb_workers_submit_ranked(workers, RKB_RANK_LAST, help, &share, &tickets[submitted]) == RKB_OK) {
         submitted++;
         continue;
      }
      pthread_mutex_lock(&share.lock); /* the queue is full: goes on with the helpers that were submitted */
      share.helpers--;
      pthread_mutex_unlock(&share.lock);
      break;
   }
   take_parts(&share);
   for (uint32_t n = 0; n < submitted; n++)
      if (rkb_workers_withdraw(workers, tickets[n])) {
         pthread_mutex_lock(&share.lock);
         share.helpers--;
         pthread_mutex_unlock(&share.lock);
      }
   pthread_mutex_lock(&share.lock);
   while (share.helpers)
      pthread_cond_wait(&share.left, &share.lock);
   pthread_mutex_unlock(&share.lock);
   pthread_cond_destroy(&share.left);
   pthread_mutex_destroy(&share.lock);
}
