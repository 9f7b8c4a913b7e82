/* Memory that a run leaves to later runs of the same plan (machine.h).
 *
 * Sampled blocks write some bytes of each of thousands of pages of an output, and a run notes for each of these bytes that it holds a value.  A fault
 * for one of these pages takes longer than clearing ten kilobytes.  The next run of the plan mostly writes the same pages.  So a run clears the
 * few bytes that it wrote, and the next run takes the memory with its pages.  The caller owns it.  Any thread. */
#include "machine/memory/kept_memory.h"

#include <pthread.h>
#include <stdlib.h>

#define MOST_KEPT 8u                         /* pieces of memory */
#define MOST_BYTES (UINT64_C(256) << 20)     /* of all of them, since limits.execute_memory counts them */
#define LEAST_BYTES ((UINT64_C(4) << 20) + 1) /* less memory comes from the heap or in huge pages (sparse_memory.c) */

struct rkb_machine_kept {
   pthread_mutex_t lock;
   struct {
      uint8_t *memory; /* holds zeros */
      uint64_t bytes;
   } list[MOST_KEPT];
   uint32_t count;
   uint64_t bytes; /* of all together */
};

rkb_machine_kept_t *rkb_machine_kept_new(void) {
   rkb_machine_kept_t *kept = calloc(1, sizeof *kept);
   if (kept && pthread_mutex_init(&kept->lock, NULL) != 0) {
      free(kept);
      kept = NULL;
   }
   return kept;
}

void rkb_machine_kept_free(rkb_machine_kept_t *kept) {
   if (!kept)
      return;
   for (uint32_t n = 0; n < kept->count; n++)
      rkb_machine_sparse_free(kept->list[n].memory, kept->list[n].bytes);
   pthread_mutex_destroy(&kept->lock);
   free(kept);
}

uint8_t *machine_kept_take(rkb_machine_kept_t *kept, uint64_t bytes) {
   uint8_t *memory = NULL;
   if (!kept || bytes < LEAST_BYTES)
      return NULL;
   pthread_mutex_lock(&kept->lock);
   for (uint32_t n = 0; n < kept->count && !memory; n++)
      if (kept->list[n].bytes == bytes) {
         memory = kept->list[n].memory;
         kept->list[n] = kept->list[--kept->count];
         kept->bytes -= bytes;
      }
   pthread_mutex_unlock(&kept->lock);
   return memory;
}

bool machine_kept_give(rkb_machine_kept_t *kept, uint8_t *memory, uint64_t bytes) {
   if (!kept || bytes < LEAST_BYTES)
      return false;
   pthread_mutex_lock(&kept->lock);
   const bool room = kept->count < MOST_KEPT && bytes <= MOST_BYTES - kept->bytes;
   if (room) {
      kept->list[kept->count].memory = memory;
      kept->list[kept->count++].bytes = bytes;
      kept->bytes += bytes;
   }
   pthread_mutex_unlock(&kept->lock);
   return room;
}
