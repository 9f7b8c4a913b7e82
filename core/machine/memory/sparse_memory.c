/* Memory that reads as zeros, and of which only written pages take real memory.
 *
 * The first write to a page causes a page fault.  In a virtual machine this takes as long as clearing hundreds of kilobytes.  If the host of the
 * virtual machine has no page ready, a huge page costs milliseconds.  So each size of memory comes from another source:
 *   small memory        the heap, whose pages have been written before; it is cleared
 *   a few megabytes     huge pages, which cause fewer page faults
 *   tensors of gigabytes  small pages, because a sample of blocks touches only a few of them.
 * limits.execute_memory bounds the memory of a process, so a run may have only a limited amount in huge pages.  Any thread. */
#include "machine/state/execution.h"

#include <stdlib.h>
#include <sys/mman.h>

/* All in bytes.  HEAP_LEAST: up to here memory always comes from the heap.  HUGE_PAGE: the size of a huge page on x86-64, and on arm64 with pages of 4 KiB;
 * elsewhere the system refuses the advice or it does no harm.  HUGE_LEAST: for less memory a huge page costs more than it saves.  HUGE_MOST: in more memory,
 * blocks may write so far apart that each write clears a huge page of its own. */
#define HEAP_LEAST (UINT64_C(1) << 15)
#define HUGE_PAGE (UINT64_C(2) << 20)
#define HUGE_LEAST (UINT64_C(1) << 19)
#define HUGE_MOST (UINT64_C(4) << 20)
/* A network has a buffer for each of its hundreds of launches, and sampled blocks write little of it: to clear them all in advance takes longer than the page
 * faults. */
#define MANY_LAUNCHES 16u
#define HUGE_OF_MANY (UINT64_C(8) << 20)
/* Memory from the heap begins 64 bytes behind a multiple of 128, and mapped memory begins at a page.  So an address shows where its memory came from. */
#define HEAP_OFFSET UINT64_C(64)

static uint64_t mapped_bytes(uint64_t bytes) {
   return bytes < HUGE_LEAST || bytes > HUGE_MOST ? bytes : (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

/* Takes the bytes from the amount that may still lie in huge pages; false: too few are left. */
static bool take(uint64_t bytes, uint64_t *huge_left) {
   if (bytes > *huge_left)
      return false;
   *huge_left -= bytes;
   return true;
}

static uint8_t *from_heap(uint64_t bytes) {
   const uint64_t room = (bytes + 3 * HEAP_OFFSET - 1) & ~(2 * HEAP_OFFSET - 1);
   uint8_t *memory = aligned_alloc(2 * HEAP_OFFSET, room);
   return memory ? memset(memory + HEAP_OFFSET, 0, bytes) : NULL;
}

static bool is_from_heap(const void *memory) {
   return (uintptr_t)memory % (2 * HEAP_OFFSET) == HEAP_OFFSET;
}

uint64_t rkb_machine_huge_bytes(const rkb_plan_t *plan) {
   return plan->launch_count > MANY_LAUNCHES ? HUGE_OF_MANY : RKB_MACHINE_HUGE_BYTES;
}

uint8_t *rkb_machine_sparse(uint64_t bytes, uint64_t *huge_left) {
   /* Memory of up to one huge page comes from the heap too: the system would also have to clear the huge page, and the host to provide it. */
   if (bytes <= HEAP_LEAST || (bytes <= HUGE_PAGE && take(bytes, huge_left)))
      return from_heap(bytes);
   void *memory = mmap(NULL, mapped_bytes(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   if (memory == MAP_FAILED)
      return NULL;
   if (bytes >= HUGE_LEAST && bytes <= HUGE_MOST && take(mapped_bytes(bytes), huge_left))
      machine_dense(memory, mapped_bytes(bytes));
   return memory;
}

void rkb_machine_sparse_free(void *memory, uint64_t bytes) {
   if (is_from_heap(memory))
      free((uint8_t *)memory - HEAP_OFFSET);
   else if (memory)
      munmap(memory, mapped_bytes(bytes));
}

void machine_sparse_clear(void *memory, uint64_t bytes) {
   if (is_from_heap(memory))
      memset(memory, 0, bytes);
   else
      madvise(memory, mapped_bytes(bytes), MADV_DONTNEED);
}

void machine_dense(void *memory, uint64_t bytes) {
   const uintptr_t first = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1),
                   end = ((uintptr_t)memory + bytes) & ~(HUGE_PAGE - 1);
   if (end > first)
      madvise((void *)first, end - first, MADV_HUGEPAGE);
}

void rkb_machine_dense(void *memory, uint64_t bytes, uint64_t *huge_left) {
   if (bytes > HUGE_MOST && take(HUGE_PAGE, huge_left)) /* every huge page will be full, except the last one */
      machine_dense(memory, bytes);
}
