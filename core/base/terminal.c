/* The guard of terminals (terminal.h): stdout and stderr write through a filter.  Owns one filter for each stream, as long as the process lives. */
#include "base/terminal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/utf8.h"

enum { LONGEST_CHARACTER = 4, ROOM = 4096, LONGEST_PIECE = 8 };

typedef struct filter {
   int file;
   char held[LONGEST_CHARACTER]; /* the first bytes of a character that a write cut */
   size_t held_bytes;
} filter_t;

static bool put(int file, const char *data, size_t length) {
   while (length) {
      ssize_t done = write(file, data, length);
      if (done < 0 && errno == EINTR)
         continue;
      if (done <= 0)
         return false;
      data += done;
      length -= (size_t)done;
   }
   return true;
}

static bool is_control(const char *text, size_t bytes) {
   const unsigned char first = (unsigned char)text[0];
   if (bytes == 2) /* C1 control characters; 0x9b begins control sequences as ESC [ does */
      return first == 0xc2 && (unsigned char)text[1] < 0xa0;
   return bytes == 1 && ((first < 0x20 && first != '\n' && first != '\t') || first == 0x7f);
}

/* Returns how many bytes a character with this first byte may have.  If a write ends before the last of them, the filter waits for the rest. */
static size_t announced(unsigned char first) {
   return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
}

/* Writes one character, or one byte that is no character, as it may be shown.  Returns the bytes taken; 0: the character is cut. */
static size_t show(const char *text, size_t length, char out[LONGEST_PIECE], size_t *shown) {
   const size_t bytes = rkb_utf8_character(text, length);
   if (bytes == 0 && length < announced((unsigned char)text[0]))
      return 0;
   if (bytes == 0)
      *shown = (size_t)snprintf(out, LONGEST_PIECE, "\xef\xbf\xbd");
   else if (is_control(text, bytes))
      *shown = (size_t)snprintf(out, LONGEST_PIECE, "\\u%04x", (unsigned char)text[bytes - 1]);
   else {
      memcpy(out, text, bytes);
      *shown = bytes;
   }
   return bytes ? bytes : 1;
}

/* Filters the held bytes and the bytes that follow them, one character at a time. */
static ssize_t filtered_write(void *cookie, const char *data, size_t size) {
   filter_t *filter = cookie;
   char room[ROOM];
   size_t used = 0, at = 0;
   while (at < size) {
      char character[LONGEST_CHARACTER];
      size_t have = filter->held_bytes, shown, taken;
      memcpy(character, filter->held, have);
      while (have < LONGEST_CHARACTER && at + have - filter->held_bytes < size) {
         character[have] = data[at + have - filter->held_bytes];
         have++;
      }
      if (used + LONGEST_PIECE > ROOM) {
         if (!put(filter->file, room, used))
            return 0;
         used = 0;
      }
      taken = show(character, have, room + used, &shown);
      if (taken == 0) { /* the rest comes with the next write */
         memcpy(filter->held, character, have);
         filter->held_bytes = have;
         break;
      }
      used += shown;
      if (taken >= filter->held_bytes) {
         at += taken - filter->held_bytes;
         filter->held_bytes = 0;
      } else {
         memmove(filter->held, filter->held + taken, filter->held_bytes - taken);
         filter->held_bytes -= taken;
      }
   }
   return put(filter->file, room, used) ? (ssize_t)size : 0;
}

static FILE *guarded(filter_t *filter, int file, FILE *stream, int buffering) {
   filter->file = file;
   FILE *made = isatty(file) ? fopencookie(filter, "w", (cookie_io_functions_t){.write = filtered_write}) : NULL;
   if (!made)
      return stream;
   fflush(stream);
   setvbuf(made, NULL, buffering, 0);
   return made;
}

void rkb_terminal_guard(void) {
   static filter_t filters[2]; /* as long as the process, like the two streams */
   stdout = guarded(&filters[0], STDOUT_FILENO, stdout, _IOLBF);
   stderr = guarded(&filters[1], STDERR_FILENO, stderr, _IONBF);
}
