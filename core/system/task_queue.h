/* The waiting tasks of a pool of threads (workers.h).  The task with the lowest rank goes first; of equal ranks, the one that was
 * put in first.  A binary heap.  The owner's lock guards it. */
#ifndef RKB_SYSTEM_TASK_QUEUE_H
#define RKB_SYSTEM_TASK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rkb_task_entry {
   uint64_t rank, ticket;
   void (*fn)(void *arg);
   void *arg;
} rkb_task_entry_t;

/* Empty when all members are 0. */
typedef struct rkb_task_queue {
   rkb_task_entry_t *entries;
   uint32_t count, room;
} rkb_task_queue_t;

void rkb_task_queue_put(rkb_task_queue_t *queue, const rkb_task_entry_t *entry);
/* False when the queue is empty. */
bool rkb_task_queue_take(rkb_task_queue_t *queue, rkb_task_entry_t *entry);
/* The rank of the task that goes next; false when the queue is empty. */
bool rkb_task_queue_lowest(const rkb_task_queue_t *queue, uint64_t *rank);
/* Removes the task with this ticket; false when it does not wait.  Searches all waiting tasks, from the last one. */
bool rkb_task_queue_withdraw(rkb_task_queue_t *queue, uint64_t ticket);
void rkb_task_queue_free(rkb_task_queue_t *queue);

#endif
