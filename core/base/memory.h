/* The one way to run out of memory (docs/decisions/out-of-memory.md).
 *
 * Structures whose size has a ceiling in this program's source come from rkb_allocate and its kin, which never return NULL:
 * when memory is out they write one message to standard error and end the process with RKB_EXIT_OUT_OF_MEMORY.
 * Memory whose size a task, a candidate or a file decides comes from rkb_try_allocate: a failure is an ordinary error.
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
/* memory (or NULL) with room for count things of size bytes; what is added is not cleared. */
RKB_NEVER_NULL __attribute__((alloc_size(2, 3))) void *rkb_grow(void *memory, size_t count, size_t size);
RKB_NEVER_NULL __attribute__((malloc)) char *rkb_duplicate(const char *text);
/* At most bytes of text, NUL-terminated. */
RKB_NEVER_NULL __attribute__((malloc)) char *rkb_duplicate_part(const char *text, size_t bytes);
RKB_NEVER_NULL __attribute__((malloc)) char *rkb_format(const char *fmt, ...) RKB_PRINTF(1, 2);
RKB_NEVER_NULL __attribute__((malloc)) char *rkb_format_list(const char *fmt, va_list list) RKB_PRINTF(1, 0);

/* As rkb_allocate, but NULL when there is no such memory, and then err has the message.  err is NULL where a function can only answer with
 * a status.  A caller that has an error to fill then calls rkb_fail_memory. */
RKB_MAYBE_NULL void *rkb_try_allocate(size_t count, size_t size, rkb_error_t *err);
/* The same, not cleared. */
RKB_MAYBE_NULL void *rkb_try_uncleared(size_t count, size_t size, rkb_error_t *err);
/* memory (or NULL) with room for count things; what is added is not cleared.  NULL: memory is as it was. */
__attribute__((alloc_size(2, 3), warn_unused_result)) void *rkb_try_grow(void *memory, size_t count, size_t size, rkb_error_t *err);

/* The message, for memory that something else asked for and did not get.  bytes: 0 when nobody knows how many.
 * rkb_fail_memory returns RKB_ERR_NOMEM; rkb_end_without_memory does not return. */
int rkb_fail_memory(rkb_error_t *err, size_t bytes);
_Noreturn void rkb_end_without_memory(size_t bytes);

#endif
