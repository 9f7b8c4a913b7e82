/* Waiting tasks by rank and ticket (task_queue.h).  A binary heap: entries[n] starts before entries[2n + 1] and entries[2n + 2]. */
#include "system/task_queue.h"

#include <stdlib.h>
#include "base/memory.h"

#define FIRST_ROOM 256u

static bool goes_before(const rkb_task_entry_t *one, const rkb_task_entry_t *other) {
   return one->rank != other->rank ? one->rank < other->rank : one->ticket < other->ticket;
}

/* Puts the entry into the empty place `at` or nearer to the root. */
static void rise(rkb_task_queue_t *queue, uint32_t at, const rkb_task_entry_t *entry) {
   while (at && goes_before(entry, &queue->entries[(at - 1) / 2])) {
      queue->entries[at] = queue->entries[(at - 1) / 2];
      at = (at - 1) / 2;
   }
   queue->entries[at] = *entry;
}

/* Puts the entry into the empty place `at` or further from the root. */
static void sink(rkb_task_queue_t *queue, uint32_t at, const rkb_task_entry_t *entry) {
   for (uint32_t child; (child = 2 * at + 1) < queue->count; at = child) {
      if (child + 1 < queue->count && goes_before(&queue->entries[child + 1], &queue->entries[child]))
         child++;
      if (!goes_before(&queue->entries[child], entry))
         break;
      queue->entries[at] = queue->entries[child];
   }
   queue->entries[at] = *entry;
}

void rkb_task_queue_put(rkb_task_queue_t *queue, const rkb_task_entry_t *entry) {
   if (queue->count == queue->room) {
      queue->room = queue->room ? queue->room * 2 : FIRST_ROOM;
      queue->entries = rkb_grow(queue->entries, queue->room, sizeof *queue->entries);
   }
   rise(queue, queue->count++, entry);
}

/* Fills the place `at`, whose entry is gone, with the last entry. */
static void close_gap(rkb_task_queue_t *queue, uint32_t at) {
   const rkb_task_entry_t last = queue->entries[--queue->count];
   if (at == queue->count)
      return;
   if (at && goes_before(&last, &queue->entries[(at - 1) / 2]))
      rise(queue, at, &last);
   else
      sink(queue, at, &last);
}

bool rkb_task_queue_take(rkb_task_queue_t *queue, rkb_task_entry_t *entry) {
   if (!queue->count)
      return false;
   *entry = queue->entries[0];
   close_gap(queue, 0);
   return true;
}

bool rkb_task_queue_lowest(const rkb_task_queue_t *queue, uint64_t *rank) {
   if (queue->count)
      *rank = queue->entries[0].rank;
   return queue->count > 0;
}

bool rkb_task_queue_withdraw(rkb_task_queue_t *queue, uint64_t ticket) {
   uint32_t at = queue->count;
   while (at && queue->entries[at - 1].ticket != ticket)
      at--;
   if (!at)
      return false;
   close_gap(queue, at - 1);
   return true;
}

void rkb_task_queue_free(rkb_task_queue_t *queue) {
   free(queue->entries);
   *queue = (rkb_task_queue_t){0};
}
