/* Reads registers, spills and memory of a kernel from the lines that `--ptxas-options=-v` adds to the compile
 * log: two lines after "Function properties for NAME".  Owns nothing; any thread. */
#include "kernel/ptx.h"

#include <stdlib.h>
#include <string.h>

/* Returns the number before the text `what` in the line, or 0. */
static uint32_t amount(const char *line, size_t length, const char *what) {
   const char *found = memmem(line, length, what, strlen(what));
   while (found && found > line && found[-1] == ' ')
      found--;
   while (found && found > line && found[-1] >= '0' && found[-1] <= '9')
      found--;
   return found ? (uint32_t)strtoul(found, NULL, 10) : 0;
}

static bool is_about(const char *line, size_t length, const char *entry) {
   static const char head[] = "Function properties for ";
   const char *found = memmem(line, length, head, sizeof head - 1);
   size_t name = strlen(entry);
   if (!found)
      return false;
   found += sizeof head - 1;
   return (size_t)(line + length - found) == name && memcmp(found, entry, name) == 0;
}

static void read_line(const char *line, size_t length, rkb_built_kernel_t *kernel) {
   uint32_t stack = amount(line, length, "bytes stack frame"),
            deep = amount(line, length, "bytes cumulative stack size");
   if (memmem(line, length, "bytes stack frame", 17)) {
      kernel->spill_store_bytes = amount(line, length, "bytes spill stores");
      kernel->spill_load_bytes = amount(line, length, "bytes spill loads");
   }
   kernel->local_bytes = stack > kernel->local_bytes ? stack : kernel->local_bytes;
   kernel->local_bytes = deep > kernel->local_bytes ? deep : kernel->local_bytes;
   if (memmem(line, length, " registers", 10)) {
      kernel->registers = amount(line, length, "registers");
      kernel->shared_bytes = amount(line, length, "bytes smem");
      kernel->constant_bytes = amount(line, length, "bytes cmem[");
   }
}

void ptxas_read_resources(const char *log, size_t bytes, rkb_built_kernel_t *kernel) {
   const char *at = log, *end = log + bytes;
   uint32_t left = 0; /* lines after the heading that still belong to it */
   while (at < end) {
      const char *newline = memchr(at, '\n', (size_t)(end - at));
      size_t length = (size_t)((newline ? newline : end) - at);
      if (is_about(at, length, kernel->entry))
         left = 2;
      else if (left) {
         read_line(at, length, kernel);
         left--;
      }
      at += length + 1;
   }
}
