/* The C allocator of rkb-compiler, which replaces the library's.  NVRTC walks hash tables whose keys are
 * addresses, so the same text gives other PTX when the heap lies elsewhere, and the kernel moves a heap at
 * every start.  This heap lies at the same address in every process and returns the same addresses for the
 * same calls.  Owns two ranges of addresses for the life of the process: one for allocations before the
 * process forks, and one behind it for the fork.  An allocator has one state per process, so this file has
 * the program's only global that changes.  Any thread; in practice one. */
#include "kernel/compiler/compiler.h"
#include "kernel/compiler_protocol.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if HEAP_IS_OURS

#define EXPORTED __attribute__((visibility("default")))
/* Far from the addresses where the kernel puts programs, libraries and stacks, on x86-64 and on arm64 with 48
 * bits of address. */
#define HEAP_ADDRESS ((char *)0x200000000000)

enum {
   ALIGNMENT = 16,
   /* Up to here sizes are multiples of the alignment; from here on there are 8 sizes per doubling. */
   SMALL = 512,
   SMALL_DOUBLINGS = 9,
   SMALL_CLASSES = SMALL / ALIGNMENT + 1,
   STEPS = 8,
   CLASSES = SMALL_CLASSES + 32 * STEPS,
   ABSURD = 16 /* a request of this many times the limit shows that NVRTC is broken */
};
/* grown_by: how much memory is made accessible at a time.  It is small, because each new page must be cleared and the compile may end before it needs
 * them. */
static const size_t largest = (size_t)1 << 40, grown_by = 2 << 20, kept = 64 << 20;

/* The header before each block. */
typedef struct header {
   uint32_t class;
   /* Bytes from the start of the block's room; more than a header when the block was aligned. */
   uint32_t back;
   uint64_t bytes; /* bytes that the caller may use */
} header_t;
_Static_assert(sizeof(header_t) == ALIGNMENT, "a block lies right behind its header");

typedef struct room {
   struct room *next;
} room_t;

static struct {
   atomic_flag busy;
   /* The range in use; memory beyond `ready` must be made accessible first. */
   char *start, *top, *ready, *end;
   char *shared; /* the range for forks; NULL: there is none */
   char *own_end; /* in a fork: up to this address the memory is the fork's own */
   size_t limit; /* size limit of that range */
   bool forked;
   room_t *free[CLASSES];
} heap = {.busy = ATOMIC_FLAG_INIT};

static void lock(void) {
   while (atomic_flag_test_and_set_explicit(&heap.busy, memory_order_acquire))
      continue;
}

static void unlock(void) {
   atomic_flag_clear_explicit(&heap.busy, memory_order_release);
}

/* The size class for this many bytes, and the size of its rooms. */
static uint32_t class_of(size_t bytes, size_t *room) {
   if (bytes <= SMALL) {
      const size_t units = (bytes + ALIGNMENT - 1) / ALIGNMENT;
      *room = units * ALIGNMENT;
      return (uint32_t)units;
   }
   const uint32_t doubling = 63 - (uint32_t)__builtin_clzll(bytes - 1);
   const size_t base = (size_t)1 << doubling, step = base / STEPS, steps = (bytes - base + step - 1) / step;
   *room = base + steps * step;
   return SMALL_CLASSES + (doubling - SMALL_DOUBLINGS) * STEPS + (uint32_t)steps - 1;
}

/* Maps memory at the address if it is free, else at another address.  The compiler works there too, but its output may differ. */
static char *map(char *address, size_t bytes, int protection, int flags, int file) {
   void *at = mmap(address, bytes, protection, flags | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
   if (at == MAP_FAILED)
      at = mmap(NULL, bytes, protection, flags | MAP_NORESERVE, file, 0);
   return at == MAP_FAILED ? NULL : at;
}

static bool open_heap(void) {
   heap.start = heap.top = heap.ready =
      map(HEAP_ADDRESS, HEAP_OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
   heap.end = heap.start ? heap.start + HEAP_OWN_BYTES : NULL;
   return heap.start != NULL;
}

static void *new_room(size_t bytes) {
   if ((!heap.start && !open_heap()) || bytes > (size_t)(heap.end - heap.top))
      return NULL;
   while (heap.forked && heap.top + bytes > heap.ready) {
      const size_t left = (size_t)(heap.end - heap.ready), more = left < grown_by ? left : grown_by;
      /* one system call in place of thousands of page faults */
      madvise(heap.ready, more, heap.ready < heap.own_end ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
      heap.ready += more;
   }
   void *room = heap.top;
   heap.top += bytes;
   return room;
}

static void *allocate(size_t alignment, size_t bytes) {
   const size_t before = alignment > ALIGNMENT ? alignment : ALIGNMENT;
   room_t *room = NULL;
   if (bytes < largest && alignment < largest) {
      size_t room_bytes;
      const uint32_t class = class_of(bytes + before, &room_bytes);
      lock();
      room = heap.free[class];
      if (room)
         heap.free[class] = room->next;
      else
         room = new_room(room_bytes);
      unlock();
      if (room) {
         char *block = (char *)(((uintptr_t)room + ALIGNMENT + before - 1) & ~(uintptr_t)(before - 1));
         const size_t back = (size_t)(block - (char *)room);
         *((header_t *)block - 1) = (header_t){class, (uint32_t)back, room_bytes - back};
         return block;
      }
   }
   /* When an allocation fails, NVRTC crashes as often as it reports the failure, so the fork ends here with an exit code.  There is one exception: NVRTC
    * has used little, and asks at once for many times the limit.  It cannot need that much, so it is broken.  It then gets NULL, and its crash shows the
    * fault. */
   if (heap.forked && !(bytes / ABSURD > heap.limit && heap_bytes() < heap.limit / 2))
      _exit(COMPILER_EXIT_MEMORY);
   errno = ENOMEM;
   return NULL;
}

bool heap_share(uint64_t bytes) {
   const int file = memfd_create("heap", MFD_CLOEXEC);
   heap.limit = bytes < largest ? bytes : largest;
   if (file >= 0 && ftruncate(file, (off_t)heap.limit) == 0)
      heap.shared = map(HEAP_ADDRESS + HEAP_OWN_BYTES, heap.limit, PROT_READ | PROT_WRITE, MAP_SHARED, file);
   if (file >= 0)
      close(file);
   return heap.shared != NULL;
}

/* Maps memory of the fork's own over the part of the shared range that most compiles need.  This memory has huge pages, which shared memory cannot have
 * and which are made in a third of the time. */
static void take_own(void) {
   const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
   if (heap.limit < HEAP_FIRST_BYTES ||
       mmap(heap.shared, HEAP_FIRST_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
      return;
   madvise(heap.shared, HEAP_FIRST_BYTES, MADV_HUGEPAGE);
   heap.own_end = heap.shared + HEAP_FIRST_BYTES;
}

void heap_fork(bool first) {
   heap.forked = true;
   heap.start = heap.top = heap.ready = heap.own_end = heap.shared;
   heap.end = heap.shared + heap.limit;
   if (first) /* the first fork may be the only one (`rkb check` compiles once), so shared pages would serve nobody else */
      take_own();
   memset(heap.free, 0, sizeof heap.free); /* free blocks from before the fork are in the parent's pages, which would have to be copied */
}

void heap_give_back(void) {
   if (heap.top > heap.shared + kept)
      madvise(heap.shared + kept, heap.limit - kept, MADV_REMOVE);
}

uint64_t heap_bytes(void) {
   return (uint64_t)(heap.top - heap.start);
}

EXPORTED void *malloc(size_t bytes) {
   return allocate(ALIGNMENT, bytes);
}

EXPORTED void free(void *block) {
   if (!block || (heap.forked && ((char *)block < heap.start || (char *)block >= heap.end)))
      return; /* a NULL pointer, or a block of the parent */
   const header_t *header = (header_t *)block - 1;
   const uint32_t class = header->class;
   room_t *room = (room_t *)((char *)block - header->back);
   lock();
   room->next = heap.free[class];
   heap.free[class] = room;
   unlock();
}

EXPORTED void *calloc(size_t count, size_t size) {
   size_t bytes;
   if (__builtin_mul_overflow(count, size, &bytes))
      bytes = SIZE_MAX;
   void *block = allocate(ALIGNMENT, bytes);
   return block ? memset(block, 0, bytes) : NULL;
}

EXPORTED void *realloc(void *block, size_t bytes) {
   const size_t held = block ? ((header_t *)block - 1)->bytes : 0;
   if (block && bytes <= held && bytes >= held / 2)
      return block;
   void *other = allocate(ALIGNMENT, bytes);
   if (other && block) {
      memcpy(other, block, bytes < held ? bytes : held);
      free(block);
   }
   return other;
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t bytes) {
   *block = allocate(alignment, bytes);
   return *block ? 0 : ENOMEM;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t bytes) {
   return allocate(alignment, bytes);
}

EXPORTED void *memalign(size_t alignment, size_t bytes) {
   return allocate(alignment, bytes);
}

EXPORTED void *valloc(size_t bytes) {
   return allocate((size_t)getpagesize(), bytes);
}

EXPORTED void *pvalloc(size_t bytes) {
   const size_t page = (size_t)getpagesize();
   return bytes < largest ? allocate(page, (bytes + page - 1) / page * page) : NULL;
}

EXPORTED size_t malloc_usable_size(void *block) {
   return block ? ((header_t *)block - 1)->bytes : 0;
}

#else

bool heap_share(uint64_t bytes) {
   (void)bytes;
   return true;
}

void heap_fork(bool first) {
   (void)first;
}

void heap_give_back(void) {}

uint64_t heap_bytes(void) {
   return 0;
}

#endif
