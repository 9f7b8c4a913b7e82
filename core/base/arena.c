/* An arena: memory that is freed all at once.  It keeps a list of zeroed chunks and hands out memory from the front of the
 * newest chunk.  An arena owns its chunks.  Any thread may use it, one at a time. */
#include "base/arena.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16u
#define FIRST_CHUNK (4u << 10)
#define LARGEST_CHUNK (256u << 10)
#define DEFAULT_LIMIT ((size_t)1 << 30)

typedef struct chunk {
   struct chunk *next;
   size_t size;
   size_t used;
   size_t padding; /* keeps data on a multiple of 16 */
   unsigned char data[];
} chunk_t;

_Static_assert(sizeof(chunk_t) % ALIGNMENT == 0, "chunk data would be misaligned");

struct rkb_arena {
   chunk_t *chunks; /* the first one is being filled */
   size_t next_size;
   size_t used;
   size_t limit;
   bool past_limit;
   size_t refused; /* bytes that the system did not give; 0: none */
};

rkb_arena_t *rkb_arena_new(size_t limit) {
   rkb_arena_t *arena = rkb_allocate(1, sizeof *arena);
   arena->limit = limit ? limit : DEFAULT_LIMIT;
   arena->next_size = FIRST_CHUNK;
   return arena;
}

void rkb_arena_free(rkb_arena_t *arena) {
   if (!arena)
      return;
   for (chunk_t *chunk = arena->chunks, *next; chunk; chunk = next) {
      next = chunk->next;
      free(chunk);
   }
   free(arena);
}

static chunk_t *chunk_new(size_t size) {
   chunk_t *chunk = rkb_try_allocate(1, sizeof *chunk + size, NULL);
   if (chunk)
      chunk->size = size;
   return chunk;
}

/* Returns a chunk with room for bytes.  A large request gets a chunk of its own, placed behind the one being filled, so that
 * the rest of the chunk being filled stays usable. */
static chunk_t *chunk_for(rkb_arena_t *arena, size_t bytes) {
   chunk_t *first = arena->chunks;
   if (first && first->size - first->used >= bytes)
      return first;
   if (first && bytes > arena->next_size / 2) {
      chunk_t *own = chunk_new(bytes);
      if (own) {
         own->next = first->next;
         first->next = own;
      }
      return own;
   }
   chunk_t *chunk = chunk_new(bytes > arena->next_size ? bytes : arena->next_size);
   if (!chunk)
      return NULL;
   if (arena->next_size < LARGEST_CHUNK)
      arena->next_size *= 2;
   chunk->next = first;
   arena->chunks = chunk;
   return chunk;
}

static size_t rounded_up(size_t bytes) {
   if (bytes > SIZE_MAX - ALIGNMENT)
      return SIZE_MAX;
   return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

/* Returns NULL when memory is out. */
static void *take(rkb_arena_t *arena, size_t bytes) {
   const size_t rounded = rounded_up(bytes);
   chunk_t *chunk = chunk_for(arena, rounded);
   if (!chunk)
      return NULL;
   void *memory = chunk->data + chunk->used;
   chunk->used += rounded;
   arena->used += rounded;
   return memory;
}

void *rkb_arena_alloc(rkb_arena_t *arena, size_t bytes) {
   void *memory = bytes < SIZE_MAX / 2 ? take(arena, bytes) : NULL;
   if (!memory)
      rkb_end_without_memory(bytes);
   return memory;
}

void *rkb_arena_array(rkb_arena_t *arena, size_t count, size_t size) {
   size_t bytes;
   if (__builtin_mul_overflow(count, size, &bytes))
      bytes = SIZE_MAX;
   return rkb_arena_alloc(arena, bytes);
}

char *rkb_arena_text(rkb_arena_t *arena, const char *text, size_t bytes) {
   char *copy = rkb_arena_alloc(arena, bytes < SIZE_MAX ? bytes + 1 : bytes);
   if (bytes)
      memcpy(copy, text, bytes);
   return copy;
}

char *rkb_arena_format(rkb_arena_t *arena, const char *fmt, ...) {
   va_list ap, again;
   va_start(ap, fmt);
   va_copy(again, ap);
   const int length = vsnprintf(NULL, 0, fmt, ap);
   const size_t room = length < 0 ? 1 : (size_t)length + 1;
   char *text = rkb_arena_alloc(arena, room);
   if (length >= 0)
      vsnprintf(text, room, fmt, again);
   va_end(again);
   va_end(ap);
   return text;
}

void *rkb_arena_try(rkb_arena_t *arena, size_t count, size_t size) {
   size_t bytes;
   if (__builtin_mul_overflow(count, size, &bytes) || arena->used > arena->limit ||
       rounded_up(bytes) > arena->limit - arena->used) {
      arena->past_limit = true;
      return NULL;
   }
   void *memory = take(arena, bytes);
   if (!memory)
      arena->refused = bytes;
   return memory;
}

bool rkb_arena_refused(const rkb_arena_t *arena) {
   return arena->past_limit || arena->refused;
}

int rkb_arena_fail(const rkb_arena_t *arena, const char *what, rkb_error_t *err) {
   if (arena->refused)
      return rkb_fail_memory(err, arena->refused);
   return rkb_fail(err, RKB_ERR_LIMIT, "%s needs more than %zu MiB", what, arena->limit >> 20);
}

size_t rkb_arena_used(const rkb_arena_t *arena) {
   return arena->used;
}
