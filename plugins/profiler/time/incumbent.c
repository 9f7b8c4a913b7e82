/* The incumbent and its references (incumbent.h). */
#include "incumbent.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct throne {
   pthread_mutex_t lock;
   incumbent_t *incumbent; /* holds one reference */
};

throne_t *throne_new(void) {
   throne_t *throne = calloc(1, sizeof *throne);
   if (throne)
      pthread_mutex_init(&throne->lock, NULL);
   return throne;
}

static void destroy(incumbent_t *in) {
   for (uint32_t i = 0; i < in->plan_count; i++)
      in->plan_free(in->plans[i]);
   free(in->plans);
   free(in->cubin);
   free(in);
}

void throne_free(throne_t *throne) {
   if (!throne)
      return;
   incumbent_release(throne, throne->incumbent);
   pthread_mutex_destroy(&throne->lock);
   free(throne);
}

incumbent_t *throne_hold(throne_t *throne) {
   pthread_mutex_lock(&throne->lock);
   incumbent_t *held = throne->incumbent;
   if (held)
      held->holders++;
   pthread_mutex_unlock(&throne->lock);
   return held;
}

void incumbent_release(throne_t *throne, incumbent_t *in) {
   if (!in)
      return;
   pthread_mutex_lock(&throne->lock);
   bool last = --in->holders == 0;
   pthread_mutex_unlock(&throne->lock);
   if (last)
      destroy(in);
}

void throne_take(throne_t *throne, const incumbent_t *against, const rkb_kernel_api_t *kernel,
                 const rkb_build_t *build, bool transform, rkb_plan_t **plans, uint32_t plan_count) {
   incumbent_t *made = calloc(1, sizeof *made), *old = NULL;
   void *cubin = malloc(build->cubin_bytes);
   bool taken = false;
   if (made && cubin) {
      memcpy(cubin, build->cubin, build->cubin_bytes);
      *made = (incumbent_t){.cubin = cubin,
                            .cubin_bytes = build->cubin_bytes,
                            .transform = transform,
                            .plans = plans,
                            .plan_count = plan_count,
                            .holders = 1,
                            .plan_free = kernel->plan_free};
      strncpy(made->hash, build->cubin_hash, sizeof made->hash - 1);
      pthread_mutex_lock(&throne->lock);
      if (throne->incumbent == against) {
         old = throne->incumbent;
         throne->incumbent = made;
         taken = true;
      }
      pthread_mutex_unlock(&throne->lock);
      if (!taken)
         destroy(made);
      incumbent_release(throne, old);
      return;
   }
   for (uint32_t i = 0; i < plan_count; i++)
      kernel->plan_free(plans[i]);
   free(plans);
   free(cubin);
   free(made);
}
