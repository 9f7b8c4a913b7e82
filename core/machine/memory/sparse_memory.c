/* Zeros that take memory only where they are written.  The first write to a page causes a page fault, which in a virtual machine takes as long as
 * clearing hundreds of kilobytes; where the host must find the page first, a huge page costs milliseconds.  So small memory comes from the heap,
 * which has been touched before and is cleared, and memory of a few megabytes is asked for in huge pages.  Tensors of gigabytes stay in small
 * pages, of which a sample of blocks touches a few.  A run has a limited amount in huge pages, because what a process may hold is limited
 * (limits.execute_memory).  Any thread. */
#include "machine/state/execution.h"

#include <stdlib.h>
#include <sys/mman.h>

/* In bytes.  HEAP_MOST: what always comes from the heap.  HUGE_PAGE: of x86-64, and of arm64 with pages of 4 KiB;
 * elsewhere the advice is refused or does no harm.  HUGE_LEAST: less does not repay a huge page.
 * HUGE_MOST: in more, blocks may be so far apart that each clears a huge page of its own. */
#define HEAP_MOST (UINT64_C(1) << 18)
#define HUGE_PAGE (UINT64_C(2) << 20)
#define HUGE_LEAST (UINT64_C(1) << 19)
#define HUGE_MOST (UINT64_C(4) << 20)
/* Memory of the heap begins so far behind a multiple of twice as much.  Mapped memory begins at a page.  So an
 * address says where its memory came from. */
#define HEAP_OFFSET UINT64_C(64)

static uint64_t mapped_bytes(uint64_t bytes) {
   return bytes < HUGE_LEAST || bytes > HUGE_MOST ? bytes : (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

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

uint8_t *rkb_machine_sparse(uint64_t bytes, uint64_t *huge_left) {
   /* A huge page would be cleared as well, and might have to be found first. */
   if (bytes <= HEAP_MOST || (bytes <= HUGE_PAGE && take(bytes, huge_left)))
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
   if (bytes <= HUGE_PAGE)
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
   if (bytes > HUGE_MOST && take(HUGE_PAGE, huge_left)) /* all pages but the last will be full */
      machine_dense(memory, bytes);
}
