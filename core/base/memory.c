/* Two kinds of memory (memory.h): memory without which the process ends, and memory that may be refused.  Uses only libc, because rkb-worker is built from
 * this file too.  Any thread. */
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_MESSAGE 256

static size_t bytes_of(size_t count, size_t size) {
   size_t bytes;
   if (__builtin_mul_overflow(count, size, &bytes))
      return SIZE_MAX;
   return bytes ? bytes : 1;
}

static int write_message(char *out, size_t room, size_t bytes) {
   if (bytes == 0)
      return snprintf(out, room, "out of memory");
   return snprintf(out, room, "out of memory: the system refused %zu bytes", bytes);
}

int rkb_fail_memory(rkb_error_t *err, size_t bytes) {
   char message[LONGEST_MESSAGE];
   write_message(message, sizeof message, bytes);
   return rkb_fail(err, RKB_ERR_NOMEM, "%s", message);
}

/* Runs no exit handlers and flushes no streams: other threads still run, and one of them may hold a lock that a handler would wait for.  So text in a
 * stream's buffer is lost.  Commits of the archive are not lost. */
_Noreturn void rkb_end_without_memory(size_t bytes) {
   char message[LONGEST_MESSAGE];
   size_t room = sizeof message;
   int used = snprintf(message, room, "%s: ", program_invocation_short_name);
   used = used < 0 || (size_t)used >= room / 4 ? 0 : used;
   used += write_message(message + used, room - (size_t)used, bytes);
   used += snprintf(message + used, room - (size_t)used,
                    "; every finished result of a run is stored: continue it with rkb-run --resume DIR\n");
   ssize_t written = write(STDERR_FILENO, message, (size_t)used);
   (void)written; /* nobody is left to tell of an error */
   _exit(RKB_EXIT_OUT_OF_MEMORY);
}

void *rkb_allocate(size_t count, size_t size) {
   const size_t bytes = bytes_of(count, size);
   void *memory = calloc(1, bytes);
   if (!memory)
      rkb_end_without_memory(bytes);
   return memory;
}

void *rkb_grow(void *memory, size_t count, size_t size) {
   const size_t bytes = bytes_of(count, size);
   void *grown = realloc(memory, bytes);
   if (!grown)
      rkb_end_without_memory(bytes);
   return grown;
}

char *rkb_duplicate(const char *text) {
   return rkb_duplicate_part(text, strlen(text));
}

char *rkb_duplicate_part(const char *text, size_t bytes) {
   const size_t length = strnlen(text, bytes);
   char *copy = rkb_grow(NULL, length + 1, 1);
   memcpy(copy, text, length);
   copy[length] = '\0';
   return copy;
}

char *rkb_format(const char *fmt, ...) {
   va_list list;
   va_start(list, fmt);
   char *text = rkb_format_list(fmt, list);
   va_end(list);
   return text;
}

char *rkb_format_list(const char *fmt, va_list list) {
   char *text;
   if (vasprintf(&text, fmt, list) < 0)
      rkb_end_without_memory(0);
   return text;
}

void *rkb_try_uncleared(size_t count, size_t size, rkb_error_t *err) {
   const size_t bytes = bytes_of(count, size);
   void *memory = malloc(bytes);
   if (!memory)
      rkb_fail_memory(err, bytes);
   return memory;
}

void *rkb_try_grow(void *memory, size_t count, size_t size, rkb_error_t *err) {
   const size_t bytes = bytes_of(count, size);
   void *grown = realloc(memory, bytes);
   if (!grown)
      rkb_fail_memory(err, bytes);
   return grown;
}

void *rkb_try_allocate(size_t count, size_t size, rkb_error_t *err) {
   const size_t bytes = bytes_of(count, size);
   void *memory = calloc(1, bytes);
   if (!memory)
      rkb_fail_memory(err, bytes);
   return memory;
}
