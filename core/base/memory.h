/* The one way to run out of memory (docs/decisions/out-of-memory.md).
 *
 * Structures whose size this program's source bounds come from rkb_allocate and the functions beside it.  They never return NULL: when memory is out, they
 * write one message to standard error and end the process with RKB_EXIT_OUT_OF_MEMORY.  Memory whose size a task, a candidate or a file decides comes from
 * rkb_try_allocate and the functions beside it, where a failure is an ordinary error.
 *
 * Any thread.  Release everything with free(). */
#ifndef RKB_BASE_MEMORY_H
#define RKB_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <rkb/plugin.h>

#define RKB_EXIT_OUT_OF_MEMORY 3 /* "a tool failed; nothing is known": a run can be resumed */

#define RKB_MAYBE_NULL __attribute__((malloc, alloc_size(1, 2), warn_unused_result))
#define RKB_NEVER_NULL __attribute__((returns_nonnull, warn_unused_result))

/* count things of size bytes, zeroed. */
RKB_NEVER_NULL __attribute__((malloc, alloc_size(1, 2))) void *rkb_allocate(size_t count, size_t size);
/* Returns memory (or NULL) grown to room for count things of size bytes.  The added part is not cleared. */
RKB_NEVER_NULL __attribute__((alloc_size(2, 3))) void *rkb_grow(void *memory, size_t count, size_t size);
RKB_NEVER_NULL __attribute__((malloc)) char *rkb_duplicate(const char *text);
/* Copies at most `bytes` of text, NUL-terminated. */
RKB_NEVER_NULL __attribute__((malloc)) char *rkb_duplicate_part(const char *text, size_t bytes);
RKB_NEVER_NULL __attribute__((malloc)) char *rkb_format(const char *fmt, ...) RKB_PRINTF(1, 2);
RKB_NEVER_NULL __attribute__((malloc)) char *rkb_format_list(const char *fmt, va_list list) RKB_PRINTF(1, 0);

/* As rkb_allocate, but returns NULL when memory is out, and err then has the message.  err may be NULL, in a function that returns only a status; its caller
 * writes the message by rkb_fail_memory. */
RKB_MAYBE_NULL void *rkb_try_allocate(size_t count, size_t size, rkb_error_t *err);
/* The same, not cleared. */
RKB_MAYBE_NULL void *rkb_try_uncleared(size_t count, size_t size, rkb_error_t *err);
/* Returns memory (or NULL) grown to room for count things; the added part is not cleared.  NULL: there is no memory, and `memory` is still valid. */
__attribute__((alloc_size(2, 3), warn_unused_result)) void *rkb_try_grow(void *memory, size_t count, size_t size, rkb_error_t *err);

/* Writes the message for memory that another library was refused.  bytes: 0 when nobody knows how many. rkb_fail_memory returns RKB_ERR_NOMEM;
 * rkb_end_without_memory does not return. */
int rkb_fail_memory(rkb_error_t *err, size_t bytes);
_Noreturn void rkb_end_without_memory(size_t bytes);

#endif
