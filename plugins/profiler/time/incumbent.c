/* The incumbent and its references (incumbent.h). */
#include "incumbent.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct incumbent_holder {
   pthread_mutex_t lock;
   incumbent_t *incumbent; /* holds one reference */
};

incumbent_holder_t *incumbent_holder_new(void) {
   incumbent_holder_t *holder = calloc(1, sizeof *holder);
   if (holder)
      pthread_mutex_init(&holder->lock, NULL);
   return holder;
}

static void destroy(incumbent_t *in) {
   for (uint32_t i = 0; i < in->plan_count; i++)
      in->plan_free(in->plans[i]);
   free(in->plans);
   free(in->cubin);
   free(in);
}

void incumbent_holder_free(incumbent_holder_t *holder) {
   if (!holder)
      return;
   incumbent_release(holder, holder->incumbent);
   pthread_mutex_destroy(&holder->lock);
   free(holder);
}

incumbent_t *incumbent_hold(incumbent_holder_t *holder) {
   pthread_mutex_lock(&holder->lock);
   incumbent_t *held = holder->incumbent;
   if (held)
      held->holders++;
   pthread_mutex_unlock(&holder->lock);
   return held;
}

void incumbent_release(incumbent_holder_t *holder, incumbent_t *in) {
   if (!in)
      return;
   pthread_mutex_lock(&holder->lock);
   bool last = --in->holders == 0;
   pthread_mutex_unlock(&holder->lock);
   if (last)
      destroy(in);
}

void incumbent_replace(incumbent_holder_t *holder, const incumbent_t *against, const rkb_kernel_api_t *kernel,
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
      pthread_mutex_lock(&holder->lock);
      if (holder->incumbent == against) {
         old = holder->incumbent;
         holder->incumbent = made;
         taken = true;
      }
      pthread_mutex_unlock(&holder->lock);
      if (!taken)
         destroy(made);
      incumbent_release(holder, old);
      return;
   }
   for (uint32_t i = 0; i < plan_count; i++)
      kernel->plan_free(plans[i]);
   free(plans);
   free(cubin);
   free(made);
}
