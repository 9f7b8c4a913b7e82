/* Memory that is freed together: parsed files, graphs, plans.  One owner, one thread at a time. */
#ifndef RKB_BASE_ARENA_H
#define RKB_BASE_ARENA_H

#include <stddef.h>
#include <stdarg.h>
#include <rkb/plugin.h>

typedef struct rkb_arena rkb_arena_t;

rkb_arena_t *rkb_arena_new(size_t limit); /* most bytes it may hand out; 0: 1 GiB.  NULL when out of memory */
void rkb_arena_free(rkb_arena_t *arena);  /* NULL is accepted */

/* All return zeroed memory aligned to 16 bytes, or NULL past the limit or when memory is out. */
void *rkb_arena_alloc(rkb_arena_t *arena, size_t bytes);
void *rkb_arena_array(rkb_arena_t *arena, size_t count, size_t size);     /* overflow-checked */
char *rkb_arena_text(rkb_arena_t *arena, const char *text, size_t bytes); /* copy, NUL-terminated */
char *rkb_arena_format(rkb_arena_t *arena, const char *fmt, ...) RKB_PRINTF(2, 3);
size_t rkb_arena_used(const rkb_arena_t *arena);

#endif
