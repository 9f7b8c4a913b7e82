/* Each line of the tool begins with "========= " (Compute Sanitizer 2025.3, User Manual); a report's later lines are indented.  Owns
 * nothing. */
#include "sanitizer_report.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "========="
/* Lines of a report that are kept of where it comes from; the others are the host's stack, which is the
 * worker's. */
enum { MOST_DETAILS = 4 };

/* Copies printable characters. */
static void copy_plain(char *out, size_t size, const char *from, size_t length) {
   size_t used = 0;
   for (size_t i = 0; i < length && used + 1 < size; i++)
      out[used++] = isprint((unsigned char)from[i]) ? from[i] : '?';
   out[used] = '\0';
}

static bool begins(const char *line, const char *with) {
   return strncmp(line, with, strlen(with)) == 0;
}

/* Reads the first numbers of a line; returns how many there were. */
static int numbers_of(const char *line, unsigned long long *out, int most) {
   int count = 0;
   while (count < most && *(line += strcspn(line, "0123456789"))) {
      char *end;
      out[count++] = strtoull(line, &end, 10);
      line = end;
   }
   return count;
}

/* Reads "ERROR SUMMARY: 257 errors" or "RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)".  A
 * second line of that name says what was not printed. */
static bool read_summary(const char *line, sanitizer_summary_t *s) {
   unsigned long long n[3] = {0};
   const bool race = begins(line, "RACECHECK SUMMARY:"), error = begins(line, "ERROR SUMMARY:");
   if ((!race && !error) || strstr(line, "not printed"))
      return race || error || begins(line, "LEAK SUMMARY:");
   const int count = numbers_of(line, n, 3);
   s->ended = s->ended || count == 3 || (error && count > 0);
   s->errors = race ? n[1] : n[0];
   s->warnings = race ? n[2] : 0;
   return true;
}

/* Reads what the tool says when it cannot work at all.  "Error: " alone does not show that: racecheck's
 * findings begin with it too. */
static bool read_failure(const char *line, sanitizer_summary_t *s) {
   static const char *const signs[] = {"not supported", "Internal Sanitizer Error", "No attachable process", "before first instrumented API call"};
   for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
      if (strstr(line, signs[i])) {
         if (!s->failure[0])
            snprintf(s->failure, sizeof s->failure, "%.255s", line);
         return true;
      }
   return false;
}

static bool ends_report(const char *line) {
   return begins(line, "Saved host backtrace") || begins(line, "Host Frame") || begins(line, "Device Frame") || !line[0];
}

void sanitizer_report_read(const char *text, size_t length, sanitizer_summary_t *s) {
   const char *end = text + length;
   char line[512], *report = NULL;
   uint32_t details = 0;
   *s = (sanitizer_summary_t){0};
   for (const char *at = text, *next; at < end; at = next) {
      const char *newline = memchr(at, '\n', (size_t)(end - at));
      const size_t bytes = (size_t)((newline ? newline : end) - at), mark = sizeof MARK - 1;
      next = newline ? newline + 1 : end;
      if (bytes < mark || memcmp(at, MARK, mark) != 0)
         continue;
      copy_plain(line, sizeof line, at + mark, bytes - mark);
      const char *said = line + strspn(line, " ");
      const size_t indent = (size_t)(said - line);
      if (strcmp(said, "COMPUTE-SANITIZER") == 0 || read_summary(said, s) || read_failure(said, s)) {
         report = NULL;
      } else if (ends_report(said)) {
         details = MOST_DETAILS;
         report = said[0] ? report : NULL;
      } else if (indent <= 1) {
         report = s->report_count < SANITIZER_MOST_REPORTS ? s->reports[s->report_count++] : NULL;
         if (report)
            snprintf(report, sizeof s->reports[0], "%.300s", said);
         details = 0;
      } else if (report && details++ < MOST_DETAILS) {
         const size_t used = strlen(report);
         snprintf(report + used, sizeof s->reports[0] - used, "; %.200s", said);
      }
   }
}
