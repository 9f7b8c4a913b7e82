/* Reads the compiler's messages.  NVRTC writes `name(line): error: text`, then the source line, then a caret
 * whose position is the column.  Source lines are quoted only from the candidate.  A message about any other
 * file keeps its text and loses its quotation, so that no diagnostic carries the content of this machine's
 * files.  Owns nothing; any thread. */
#include "kernel/compiler_messages.h"
#include "base/memory.h"
#include "kernel/candidate_finding.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MESSAGES = 64, MAX_TEXT = 300 };

typedef struct message {
   bool error;
   bool own; /* about the candidate's text */
   uint32_t line, column;
   char text[MAX_TEXT];
} message_t;

typedef struct lines {
   const char *at, *end;
   const char *start; /* the current line */
   size_t length;
} lines_t;

static bool next_line(lines_t *lines) {
   const char *newline;
   if (lines->at >= lines->end)
      return false;
   lines->start = lines->at;
   newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
   lines->length = (size_t)((newline ? newline : lines->end) - lines->at);
   lines->at = (newline ? newline : lines->end) + 1;
   return true;
}

/* Keeps only printable ASCII and UTF-8. */
static void copy_text(char *out, size_t room, const char *text, size_t length) {
   size_t used = 0;
   for (size_t i = 0; i < length && used + 1 < room; i++)
      if ((unsigned char)text[i] >= ' ' && text[i] != 0x7f)
         out[used++] = text[i];
   out[used] = '\0';
}

/* "name(12): error: text" or "name(12): error #20-D: text", "catastrophic error", "ptxas fatal : text", ...
 */
static bool read_head(const lines_t *lines, const char *name, message_t *message) {
   static const char *const kinds[] = {
      "catastrophic error", "internal error", "fatal", "error", "warning", NULL};
   const char *line = lines->start, *end = line + lines->length, *after = line;
   size_t name_length = strlen(name);
   const bool assembler = lines->length > 5 && memcmp(line, "ptxas", 5) == 0;
   memset(message, 0, sizeof *message);
   message->own =
      lines->length > name_length && memcmp(line, name, name_length) == 0 && line[name_length] == '(';
   if (message->own)
      message->line = (uint32_t)strtoul(line + name_length + 1, NULL, 10);
   for (uint32_t i = 0; kinds[i]; i++) {
      const char *found = memmem(line, lines->length, kinds[i], strlen(kinds[i]));
      const char *colon = found ? memchr(found, ':', (size_t)(end - found)) : NULL;
      /* "): error:" and "ptxas fatal   :" begin a message; the word "error" in a source line does not. */
      bool begins = found && colon &&
                    (assembler || found == line || (found >= line + 3 && memcmp(found - 3, "): ", 3) == 0));
      if (!begins)
         continue;
      message->error = i < 4;
      after = colon + 1;
      while (after < end && *after == ' ')
         after++;
      /* The assembler counts lines of the PTX, which the author never sees, so such line numbers are dropped. */
      snprintf(message->text, sizeof message->text, "%s", assembler ? "ptxas: " : "");
      copy_text(message->text + strlen(message->text), sizeof message->text - strlen(message->text), after,
                (size_t)(end - after));
      return true;
   }
   return false;
}

/* The caret line below a message: blanks and one '^'. */
static uint32_t caret_column(const lines_t *lines) {
   size_t i = 0;
   while (i < lines->length && (lines->start[i] == ' ' || lines->start[i] == '\t'))
      i++;
   return i < lines->length && lines->start[i] == '^' && i + 2 >= lines->length ? (uint32_t)i + 1 : 0;
}

static uint32_t read_messages(const char *log, size_t bytes, const char *name, message_t *list,
                              uint32_t room) {
   lines_t lines = {log, log + bytes, log, 0};
   uint32_t count = 0;
   while (next_line(&lines) && count < room) {
      if (read_head(&lines, name, &list[count]))
         count++;
      else if (count && !list[count - 1].column && list[count - 1].own && caret_column(&lines))
         /* the quoted line is indented by two blanks */
         list[count - 1].column = caret_column(&lines) > 2 ? caret_column(&lines) - 2 : 1;
   }
   return count;
}

static size_t first_line_bytes(const char *log, size_t bytes) {
   const char *end = memchr(log, '\n', bytes);
   return end ? (size_t)(end - log) : bytes;
}

/* When static shared memory exceeds a block's limit, the assembler reports it only by its exit status.  The
 * amount is in its report ("ptxas info : Used 30 registers, 65536 bytes smem"), after the name of the
 * function.  The limit is 48 KiB on every device: CUDA C++ Programming Guide, 'Technical Specifications per
 * Compute Capability', the note on static shared memory. */
enum { MOST_STATIC_SHARED = 48 << 10 };

static bool shared_overflow(const char *log, size_t bytes, rkb_text_t *text) {
   static const char compiling[] = "Compiling entry function '", used[] = " bytes smem";
   lines_t lines = {log, log + bytes, log, 0};
   const char *name = NULL;
   size_t name_length = 0;
   while (next_line(&lines)) {
      const char *end = lines.start + lines.length;
      const char *found = memmem(lines.start, lines.length, compiling, sizeof compiling - 1);
      if (found) {
         name = found + sizeof compiling - 1;
         const char *quote = memchr(name, '\'', (size_t)(end - name));
         name_length = (size_t)((quote ? quote : end) - name);
         continue;
      }
      const char *number = memmem(lines.start, lines.length, used, sizeof used - 1);
      if (!number)
         continue;
      while (number > lines.start && number[-1] >= '0' && number[-1] <= '9')
         number--;
      const unsigned long long shared = strtoull(number, NULL, 10);
      if (shared <= MOST_STATIC_SHARED)
         continue;
      rkb_text_format(text, "its static shared memory is too large: %llu bytes, where a block may have %d",
                      shared, MOST_STATIC_SHARED);
      if (name && name_length < 128)
         rkb_text_format(text, " (%.*s)", (int)name_length, name);
      return true;
   }
   return false;
}

void diagnostics_finding(const char *log, size_t bytes, const char *name, rkb_finding_t *finding) {
   message_t *list = rkb_allocate(MAX_MESSAGES, sizeof *list);
   uint32_t count = read_messages(log, bytes, name, list, MAX_MESSAGES);
   const message_t *first = NULL;
   rkb_text_t text;
   rkb_text_init(&text, 400);
   for (uint32_t i = 0; i < count; i++) {
      const message_t *message = &list[i];
      if (!message->error)
         continue;
      if (!first) {
         first = message;
         rkb_text_add(&text, message->text);
      } else if (text.length + strlen(message->text) + 24 < 400)
         rkb_text_format(&text, message->own ? "; line %u: %s" : "; %.0u%s", message->line, message->text);
   }
   rkb_finding_clear(finding);
   if (!first && bytes > 0 &&
       !shared_overflow(log, bytes, &text)) /* no message names a place: use the log's first line */
      rkb_text_append(&text, log, first_line_bytes(log, bytes));
   rkb_finding_set(finding, "build.error", first ? first->line : 0, first ? first->column : 0, "%s",
                   text.length ? rkb_text_get(&text)
                               : "it does not compile, and the compiler does not say why");
   rkb_text_free(&text);
   free(list);
}

void diagnostics_warnings(const char *log, size_t bytes, const char *name, rkb_text_t *out) {
   message_t *list = rkb_allocate(MAX_MESSAGES, sizeof *list);
   uint32_t count = read_messages(log, bytes, name, list, MAX_MESSAGES);
   for (uint32_t i = 0; i < count; i++)
      if (!list[i].error && list[i].own)
         rkb_text_format(out, "%s:%u:%u: warning: %s\n", name, list[i].line, list[i].column, list[i].text);
   free(list);
}
