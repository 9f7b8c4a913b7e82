/* Memory that is freed together: parsed files, graphs, plans.  One owner, one thread at a time.  All memory is zeroed and
 * aligned to 16 bytes. */
#ifndef RKB_BASE_ARENA_H
#define RKB_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <rkb/plugin.h>
#include "base/memory.h"

typedef struct rkb_arena rkb_arena_t;

rkb_arena_t *rkb_arena_new(size_t limit); /* most bytes that rkb_arena_try hands out; 0: 1 GiB */
void rkb_arena_free(rkb_arena_t *arena);  /* NULL is accepted */

/* For memory whose size this program bounds by itself: values of a parsed file, names, options.  Never NULL: without memory the process ends (base/memory.h).
 * */
RKB_NEVER_NULL void *rkb_arena_alloc(rkb_arena_t *arena, size_t bytes);
RKB_NEVER_NULL void *rkb_arena_array(rkb_arena_t *arena, size_t count, size_t size); /* overflow-checked */
/* A copy of the text, NUL-terminated. */
RKB_NEVER_NULL char *rkb_arena_text(rkb_arena_t *arena, const char *text, size_t bytes);
RKB_NEVER_NULL char *rkb_arena_format(rkb_arena_t *arena, const char *fmt, ...) RKB_PRINTF(2, 3);
/* For memory whose size a task, a candidate or a file decides.  NULL past the limit or when memory is out. */
void *rkb_arena_try(rkb_arena_t *arena, size_t count, size_t size);
bool rkb_arena_refused(const rkb_arena_t *arena); /* whether rkb_arena_try ever returned NULL */
/* Writes the message for such a refusal; returns RKB_ERR_LIMIT or RKB_ERR_NOMEM.  what: "the plan". */
int rkb_arena_fail(const rkb_arena_t *arena, const char *what, rkb_error_t *err);
size_t rkb_arena_used(const rkb_arena_t *arena);

#endif
