/* Rate limits (rate_limits.h): for each address, a semaphore and two token buckets.  A bucket holds one minute's worth and refills
 * evenly.  A question larger than a full bucket waits until the bucket is full and then overdraws it. */
#include "llm/rate_limits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/memory.h"

#define LOOK_NS 50000000ull /* how often a waiter checks whether to give up */

typedef struct bucket {
   double a_minute; /* 0: no limit */
   double left;
} bucket_t;

typedef struct gate {
   const char *provider, *address;
   int64_t free; /* questions that may still start */
   bucket_t requests, tokens;
   uint64_t filled_ns;
} gate_t;

struct rkb_limits {
   pthread_mutex_t mutex;
   uint32_t count;
   uint32_t *of_model; /* gate by model index */
   gate_t gates[];
};

static double least(double a, int64_t b) {
   return b && (!a || (double)b < a) ? (double)b : a;
}

rkb_limits_t *rkb_limits_new(const rkb_models_t *models) {
   rkb_limits_t *limits = rkb_allocate(1, sizeof *limits + (models->count + 1) * sizeof(gate_t));
   limits->of_model = rkb_allocate(models->count + 1, sizeof *limits->of_model);
   for (uint32_t i = 0; i < models->count; i++) {
      const rkb_model_t *model = &models->list[i];
      const char *address =
         model->base_url ? model->base_url : model->face.name; /* each command has its own gate */
      uint32_t g = 0;
      while (g < limits->count && (strcmp(limits->gates[g].provider, model->face.provider) != 0 ||
                                   strcmp(limits->gates[g].address, address) != 0))
         g++;
      gate_t *gate = &limits->gates[g];
      if (g == limits->count) {
         limits->count++;
         *gate = (gate_t){.provider = model->face.provider,
                          .address = address,
                          .free = model->limits.concurrency,
                          .filled_ns = rkb_now_ns()};
      }
      if (model->limits.concurrency < gate->free)
         gate->free = model->limits.concurrency;
      gate->requests.a_minute = least(gate->requests.a_minute, model->limits.requests_per_minute);
      gate->tokens.a_minute = least(gate->tokens.a_minute, model->limits.tokens_per_minute);
      gate->requests.left = gate->requests.a_minute;
      gate->tokens.left = gate->tokens.a_minute;
      limits->of_model[i] = g;
   }
   pthread_mutex_init(&limits->mutex, NULL);
   return limits;
}

void rkb_limits_free(rkb_limits_t *limits) {
   if (!limits)
      return;
   pthread_mutex_destroy(&limits->mutex);
   free(limits->of_model);
   free(limits);
}

static void fill(bucket_t *bucket, double minutes) {
   bucket->left += bucket->a_minute * minutes;
   if (bucket->left > bucket->a_minute)
      bucket->left = bucket->a_minute;
}

static bool holds(const bucket_t *bucket, double amount) {
   return !bucket->a_minute || bucket->left >= amount || bucket->left >= bucket->a_minute;
}

static bool take_now(rkb_limits_t *limits, gate_t *gate, int64_t tokens) {
   pthread_mutex_lock(&limits->mutex);
   uint64_t now = rkb_now_ns();
   fill(&gate->requests, (double)(now - gate->filled_ns) / 60e9);
   fill(&gate->tokens, (double)(now - gate->filled_ns) / 60e9);
   gate->filled_ns = now;
   bool taken = gate->free > 0 && holds(&gate->requests, 1) && holds(&gate->tokens, (double)tokens);
   if (taken) {
      gate->free--;
      gate->requests.left -= 1;
      gate->tokens.left -= (double)tokens;
   }
   pthread_mutex_unlock(&limits->mutex);
   return taken;
}

bool rkb_limits_pause(uint64_t nanoseconds, rkb_give_up_t give_up, void *argument) {
   uint64_t end = rkb_now_ns() + nanoseconds, now = rkb_now_ns();
   for (; now < end; now = rkb_now_ns()) {
      uint64_t next = end - now < LOOK_NS ? end - now : LOOK_NS;
      struct timespec pause = {.tv_sec = (time_t)(next / 1000000000ull),
                               .tv_nsec = (long)(next % 1000000000ull)};
      if (give_up(argument))
         return false;
      nanosleep(&pause, NULL);
   }
   return !give_up(argument);
}

bool rkb_limits_take(rkb_limits_t *limits, const rkb_model_t *model, int64_t tokens, rkb_give_up_t give_up,
                     void *argument) {
   gate_t *gate = &limits->gates[limits->of_model[model->index]];
   while (!take_now(limits, gate, tokens))
      if (!rkb_limits_pause(LOOK_NS, give_up, argument))
         return false;
   return true;
}

void rkb_limits_give(rkb_limits_t *limits, const rkb_model_t *model, int64_t reserved, int64_t used) {
   gate_t *gate = &limits->gates[limits->of_model[model->index]];
   pthread_mutex_lock(&limits->mutex);
   gate->free++;
   if (used >= 0 && used < reserved && gate->tokens.a_minute) {
      gate->tokens.left += (double)(reserved - used);
      fill(&gate->tokens, 0);
   }
   pthread_mutex_unlock(&limits->mutex);
}
