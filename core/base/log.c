/* The structured log.  Owns its file and a lock; any thread.  Each line is built first and then written with one call under the
 * lock, so lines of several threads and several processes never mix. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"

#define LONGEST_LINE 4096u
#define CUT_MARK " [cut]"
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

struct rkb_log {
   pthread_mutex_t lock;
   int level;
   bool json;
   int file; /* -1: none */
   void (*before)(void *);
   void (*after)(void *);
   void *argument;
};

typedef struct entry {
   struct timespec time;
   int level;
   const char *who, *file, *text;
   int line;
} entry_t;

static const char *level_name(int level) {
   static const char *const names[] = {"trace", "debug", "info", "warn", "error"};
   return level < RKB_LOG_TRACE ? names[0] : level > RKB_LOG_ERROR ? names[4] : names[level];
}

/* Opens a regular file that lies in the folder of its path: refuses links, which may lead to another file, and pipes.  -1: failed, errno says why. */
static int open_file(const char *path) {
   struct stat about;
   const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
   if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 1)
      return file;
   if (file >= 0) {
      close(file);
      errno = EMLINK;
   }
   return -1;
}

int rkb_log_open(int level, bool json, const char *path, rkb_log_t **log, rkb_error_t *err) {
   rkb_log_t *made = rkb_allocate(1, sizeof *made);
   made->level = level;
   made->json = json;
   made->file = -1;
   if (path) {
      made->file = open_file(path);
      if (made->file < 0) {
         int number = errno;
         free(made);
         return rkb_fail(err, RKB_ERR_IO, "cannot open the log %s: %s", path, strerror(number));
      }
   }
   pthread_mutex_init(&made->lock, NULL);
   *log = made;
   return RKB_OK;
}

void rkb_log_close(rkb_log_t *log) {
   if (!log)
      return;
   if (log->file >= 0)
      close(log->file);
   pthread_mutex_destroy(&log->lock);
   free(log);
}

int rkb_log_level(const rkb_log_t *log) {
   return log->level;
}

/* Appends text, escaped so that it stays one line of well-formed UTF-8 and cannot control a terminal.  Uses at most room bytes;
 * returns whether the whole text fitted. */
static bool append_escaped(rkb_text_t *line, const char *text, size_t room, bool json) {
   size_t length = strlen(text);
   size_t end = line->length + room;
   while (length) {
      char escape[8];
      const char *piece = text;
      size_t bytes = rkb_utf8_character(text, length);
      size_t used = bytes ? bytes : 1;
      unsigned char first = (unsigned char)text[0];
      bool c1_control = first == 0xc2 && bytes == 2 && (unsigned char)text[1] < 0xa0;
      if (bytes == 0) {
         piece = REPLACEMENT;
         bytes = strlen(REPLACEMENT);
      } else if (first == '\n' || first == '\t' || (json && (first == '"' || first == '\\'))) {
         bytes = (size_t)snprintf(escape, sizeof escape, "\\%c",
                                  first == '\n'   ? 'n'
                                  : first == '\t' ? 't'
                                                  : first);
         piece = escape;
      } else if (first < 0x20 || first == 0x7f || c1_control) {
         bytes =
            (size_t)snprintf(escape, sizeof escape, "\\u%04x", c1_control ? (unsigned char)text[1] : first);
         piece = escape;
      }
      if (line->length + bytes > end)
         return false;
      rkb_text_append(line, piece, bytes);
      text += used;
      length -= used;
   }
   return true;
}

static void append_time(rkb_text_t *line, const struct timespec *time, bool whole) {
   struct tm parts;
   char text[32];
   gmtime_r(&time->tv_sec, &parts);
   strftime(text, sizeof text, whole ? "%Y-%m-%dT%H:%M:%S" : "%H:%M:%S", &parts);
   rkb_text_format(line, "%s.%03ldZ", text, time->tv_nsec / 1000000);
}

static void append_json(rkb_text_t *line, const entry_t *entry) {
   rkb_text_add(line, "{\"time\":\"");
   append_time(line, &entry->time, true);
   rkb_text_format(line, "\",\"level\":\"%s\",\"who\":\"", level_name(entry->level));
   append_escaped(line, entry->who, 256, true);
   if (entry->file) {
      rkb_text_add(line, "\",\"file\":\"");
      append_escaped(line, entry->file, 512, true);
      rkb_text_format(line, "\",\"line\":%d,\"text\":\"", entry->line);
   } else {
      rkb_text_add(line, "\",\"text\":\"");
   }
   static const char end_cut[] = CUT_MARK "\",\"cut\":true}\n";
   bool all = append_escaped(line, entry->text, LONGEST_LINE - line->length - sizeof end_cut, true);
   rkb_text_add(line, all ? "\"}\n" : end_cut);
}

static void append_text(rkb_text_t *line, const entry_t *entry) {
   append_time(line, &entry->time, false);
   rkb_text_format(line, " %-5s ", level_name(entry->level));
   append_escaped(line, entry->who, 256, false);
   rkb_text_add(line, ": ");
   bool all = append_escaped(line, entry->text, LONGEST_LINE - line->length - sizeof CUT_MARK - 1, false);
   rkb_text_add(line, all ? "\n" : CUT_MARK "\n");
}

/* Ignores failures: a log that cannot be written must not stop the work it describes. */
static void put(int file, const rkb_text_t *line) {
   const char *data = rkb_text_get(line);
   size_t left = line->length;
   while (left) {
      ssize_t done = write(file, data, left);
      if (done < 0 && errno == EINTR)
         continue;
      if (done <= 0)
         return;
      data += done;
      left -= (size_t)done;
   }
}

static void put_standard_error(const rkb_log_t *log, const entry_t *entry, rkb_text_t *line) {
   rkb_text_clear(line);
   if (log->json) {
      append_json(line, entry);
      put(STDERR_FILENO, line);
      return;
   }
   append_text(line, entry);
   if (log->before)
      log->before(log->argument);
   put(STDERR_FILENO, line);
   if (log->after)
      log->after(log->argument);
}

void rkb_log_write(rkb_log_t *log, int level, const char *who, const char *file, int line, const char *text) {
   bool to_file = log->file >= 0 && level >= RKB_LOG_DEBUG;
   bool to_standard_error = level >= log->level;
   if (!to_file && !to_standard_error)
      return;
   entry_t entry = {.level = level, .who = who ? who : "", .file = file, .line = line, .text = text};
   rkb_text_t out;
   rkb_text_init(&out, LONGEST_LINE);
   pthread_mutex_lock(&log->lock);
   clock_gettime(CLOCK_REALTIME, &entry.time); /* under the lock, so that times in the file never decrease */
   if (to_file) {
      append_json(&out, &entry);
      put(log->file, &out);
   }
   if (to_standard_error)
      put_standard_error(log, &entry, &out);
   pthread_mutex_unlock(&log->lock);
   rkb_text_free(&out);
}

void rkb_log_printf(rkb_log_t *log, int level, const char *who, const char *fmt, ...) {
   rkb_text_t text;
   va_list ap;
   rkb_text_init(&text, LONGEST_LINE + 1); /* one byte more, so that an overlong line is noticed */
   va_start(ap, fmt);
   rkb_text_vformat(&text, fmt, ap);
   va_end(ap);
   rkb_log_write(log, level, who, NULL, 0, rkb_text_get(&text));
   rkb_text_free(&text);
}

void rkb_log_set_hooks(rkb_log_t *log, void (*before)(void *), void (*after)(void *), void *argument) {
   pthread_mutex_lock(&log->lock);
   log->before = before;
   log->after = after;
   log->argument = argument;
   pthread_mutex_unlock(&log->lock);
}
