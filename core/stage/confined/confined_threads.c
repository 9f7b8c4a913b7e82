/* Parts of a job's work on threads of its own process (confined.h): there is no pool, because no thread outlives a fork. */
#include <pthread.h>
#include <stdatomic.h>
#include "base/memory.h"
#include "stage/confined/confined.h"
#include "task/task.h"

#include <stdlib.h>

enum { MOST_THREADS = 64 };

typedef struct sharing {
   void (*part)(void *argument, uint32_t n);
   void *argument;
   uint32_t count;
   atomic_uint next;
} sharing_t;

static void *take_parts(void *argument) {
   sharing_t *sharing = argument;
   rkb_task_use_threads(1);
   for (uint32_t n; (n = atomic_fetch_add(&sharing->next, 1)) < sharing->count;)
      sharing->part(sharing->argument, n);
   return NULL;
}

void rkb_confined_share(const rkb_confined_job_t *own, uint32_t count, void (*part)(void *argument, uint32_t n),
                        void *argument) {
   sharing_t sharing = {.part = part, .argument = argument, .count = count};
   pthread_t threads[MOST_THREADS];
   uint32_t begun = 0, wanted = own->threads < count ? own->threads : count;
   while (begun + 1 < wanted && begun < MOST_THREADS &&
          pthread_create(&threads[begun], NULL, take_parts, &sharing) == 0)
      begun++;
   take_parts(&sharing);
   while (begun)
      pthread_join(threads[--begun], NULL);
}
