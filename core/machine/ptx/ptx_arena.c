/* The memory of one module: a list of blocks that is freed as a whole.  The module owns it; one thread at a time. */
#include "machine/ptx/ptx_arena.h"

#include <stdlib.h>
#include <string.h>

struct block {
   struct block *next;
   size_t used, room;
   _Alignas(16) unsigned char data[];
};

struct ptx_arena {
   struct block *blocks;
   size_t used, limit;
};

ptx_arena_t *ptx_arena_new(size_t limit) {
   ptx_arena_t *arena = calloc(1, sizeof *arena);
   if (arena)
      arena->limit = limit;
   return arena;
}

void ptx_arena_free(ptx_arena_t *arena) {
   if (!arena)
      return;
   while (arena->blocks) {
      struct block *next = arena->blocks->next;
      free(arena->blocks);
      arena->blocks = next;
   }
   free(arena);
}

void *ptx_arena_alloc(ptx_arena_t *arena, size_t bytes) {
   bytes = (bytes + 15) & ~(size_t)15;
   if (bytes > arena->limit - arena->used)
      return NULL;
   struct block *block = arena->blocks;
   if (!block || block->room - block->used < bytes) {
      size_t room = bytes > 65536 ? bytes : 65536;
      block = calloc(1, sizeof *block + room);
      if (!block)
         return NULL;
      block->room = room;
      block->next = arena->blocks;
      arena->blocks = block;
   }
   void *memory = block->data + block->used;
   block->used += bytes;
   arena->used += bytes;
   return memory;
}

char *ptx_arena_text(ptx_arena_t *arena, const char *text, size_t length) {
   char *copy = ptx_arena_alloc(arena, length + 1);
   if (copy)
      memcpy(copy, text, length);
   return copy;
}

void *ptx_arena_grow(ptx_arena_t *arena, void *array, uint32_t count, size_t size) {
   if (count && (count & (count - 1)))
      return array;
   void *larger = ptx_arena_alloc(arena, (count ? (size_t)count * 2 : 1) * size);
   if (larger && count)
      memcpy(larger, array, count * size);
   return larger;
}
