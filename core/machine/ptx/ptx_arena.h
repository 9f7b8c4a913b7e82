/* The memory of one module: a limit, and arrays that grow.  All of it is freed at once.  One thread at a
 * time. */
#ifndef RKB_MACHINE_PTX_PTX_ARENA_H
#define RKB_MACHINE_PTX_PTX_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct ptx_arena ptx_arena_t;

ptx_arena_t *ptx_arena_new(size_t limit);
void ptx_arena_free(ptx_arena_t *arena);
void *ptx_arena_alloc(ptx_arena_t *arena, size_t bytes); /* zeroed, 16-byte aligned; NULL past the limit */
char *ptx_arena_text(ptx_arena_t *arena, const char *text, size_t length);

/* Makes room for one more element of an array of count, which doubles at powers of two.  Returns the array,
 * or NULL. */
void *ptx_arena_grow(ptx_arena_t *arena, void *array, uint32_t count, size_t size);

#endif
