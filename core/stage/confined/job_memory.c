/* How a job's process gets memory from the system (job_memory.h).  A job makes and drops tables and buffers of megabytes for each case.
 * A new page from the system costs more than clearing one that is there.  In a virtual machine a fault for a page of 4 KiB takes as long as
 * clearing a hundred pages, and one huge page saves 512 faults.  The process ends with its candidate, so nothing is given back.  Owns
 * nothing; one thread. */
#include "stage/confined/job_memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/memory.h"

#define KEPT_MOST (32 << 20)     /* bytes of a block; the most that mallopt takes */
#define KEPT_FREE (1 << 30)      /* bytes */
#define HEAP_ADDRESSES (1 << 29) /* bytes; those that are never written take no memory */
#define HEAP_STEP (4 << 20)      /* bytes by which the heap grows beyond them */
#define FIRST_BLOCK                                                                                          \
   (24 << 20) /* bytes: more than the heap has free when the job begins, and not more than KEPT_MOST */

/* Asks for the heap's addresses in one piece, and for huge pages in it.  Where the system refuses either, the heap is as it was. */
static void lay_out_heap(void) {
   const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
   const uintptr_t before = ((uintptr_t)sbrk(0) + page - 1) & ~(page - 1);
   mallopt(M_TOP_PAD, HEAP_ADDRESSES);
   void *block = rkb_try_uncleared(FIRST_BLOCK, 1, NULL);
   free(block);
   mallopt(M_TOP_PAD, HEAP_STEP);
   const uintptr_t after = (uintptr_t)sbrk(0);
   if (after > before)
      madvise((void *)before, after - before, MADV_HUGEPAGE);
}

void confined_job_memory(void) {
   mallopt(M_MMAP_THRESHOLD, KEPT_MOST);
   mallopt(M_TRIM_THRESHOLD, KEPT_FREE);
   mallopt(M_ARENA_MAX,
           1); /* heaps of threads grow by mprotect, a few pages at a time, and never get a huge page */
   lay_out_heap();
}
