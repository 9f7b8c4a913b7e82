/* Applies edits (reply_edits.h).  All is done in whole lines, so that a line is changed whole or not at all. */
#include "reply_edits.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (256u << 10) /* most bytes of the edited text */

typedef struct span {
   const char *text;
   size_t bytes;
} span_t;

typedef struct edit {
   span_t search, replace;
} edit_t;

static const char *next_line(const char *line, const char *end) {
   const char *newline = memchr(line, '\n', (size_t)(end - line));
   return newline ? newline + 1 : end;
}

/* Returns the line without its end and the blanks before that. */
static span_t trimmed(const char *line, const char *end) {
   const char *stop = next_line(line, end);
   while (stop > line && (stop[-1] == '\n' || stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t'))
      stop--;
   return (span_t){line, (size_t)(stop - line)};
}

static bool same(span_t left, span_t right) {
   return left.bytes == right.bytes && memcmp(left.text, right.text, left.bytes) == 0;
}

static bool is_mark(const char *line, const char *end, const char *mark) {
   return same(trimmed(line, end), (span_t){mark, strlen(mark)});
}

/* Reads one edit; *at moves behind it.  0: no more; 1: one; -1: a broken one. */
static int next_edit(const char **at, const char *end, edit_t *edit) {
   const char *line = *at;
   while (line < end && !is_mark(line, end, "<<<<<<< SEARCH"))
      line = next_line(line, end);
   if (line == end)
      return 0;
   const char *search = next_line(line, end);
   for (line = search; line < end && !is_mark(line, end, "======="); line = next_line(line, end))
      if (is_mark(line, end, "<<<<<<< SEARCH") || is_mark(line, end, ">>>>>>> REPLACE"))
         return -1;
   const char *middle = line;
   if (line == end)
      return -1;
   const char *replace = next_line(line, end);
   for (line = replace; line < end && !is_mark(line, end, ">>>>>>> REPLACE"); line = next_line(line, end))
      if (is_mark(line, end, "<<<<<<< SEARCH"))
         return -1;
   if (line == end)
      return -1;
   edit->search = (span_t){search, (size_t)(middle - search)};
   edit->replace = (span_t){replace, (size_t)(line - replace)};
   *at = next_line(line, end);
   return 1;
}

bool edits_present(const char *reply, size_t bytes) {
   const char *end = reply + bytes;
   for (const char *line = reply; line < end; line = next_line(line, end))
      if (is_mark(line, end, "<<<<<<< SEARCH"))
         return true;
   return false;
}

/* Returns how many bytes of text at line match all lines of search; 0 when they do not match. */
static size_t match_at(const char *line, const char *end, span_t search) {
   const char *start = line, *wanted = search.text, *stop = search.text + search.bytes;
   while (wanted < stop) {
      if (line == end || !same(trimmed(line, end), trimmed(wanted, stop)))
         return 0;
      line = next_line(line, end);
      wanted = next_line(wanted, stop);
   }
   return (size_t)(line - start);
}

static bool blank(span_t span) {
   for (size_t i = 0; i < span.bytes; i++)
      if (!strchr(" \t\r\n", span.text[i]))
         return false;
   return true;
}

/* Returns the number of the text's line that equals the first line of the search but for its indentation; 0
 * for none. */
static uint32_t like_line(span_t text, span_t search) {
   const char *end = text.text + text.bytes, *stop = search.text + search.bytes;
   span_t wanted = trimmed(search.text, stop);
   uint32_t number = 1;
   while (wanted.bytes && strchr(" \t", *wanted.text))
      wanted.text++, wanted.bytes--;
   for (const char *line = text.text; line < end && wanted.bytes; line = next_line(line, end), number++) {
      span_t have = trimmed(line, end);
      while (have.bytes && strchr(" \t", *have.text))
         have.text++, have.bytes--;
      if (same(have, wanted))
         return number;
   }
   return 0;
}

static int find_place(span_t text, const edit_t *edit, uint32_t number, size_t *at, size_t *length,
                      rkb_error_t *err) {
   const char *end = text.text + text.bytes;
   uint32_t line_number = 1, found = 0, lines[3] = {0};
   if (blank(edit->search))
      return rkb_fail(err, RKB_ERR_INVALID,
                      "edit %u searches for nothing; quote at least one line of the kernel", number);
   for (const char *line = text.text; line < end; line = next_line(line, end), line_number++) {
      size_t bytes = match_at(line, end, edit->search);
      if (!bytes)
         continue;
      if (found < 3)
         lines[found] = line_number;
      if (!found++) {
         *at = (size_t)(line - text.text);
         *length = bytes;
      }
   }
   if (found == 1)
      return RKB_OK;
   if (found > 1)
      return rkb_fail(
         err, RKB_ERR_INVALID,
         "edit %u: what it searches stands %u times in the kernel (lines %u, %u%s); quote more lines "
         "around it",
         number, found, lines[0], lines[1], found > 2 ? ", ..." : "");
   uint32_t like = like_line(text, edit->search);
   span_t first = trimmed(edit->search.text, edit->search.text + edit->search.bytes);
   if (like)
      return rkb_fail(err, RKB_ERR_INVALID,
                      "edit %u: what it searches is not in the kernel; its first line is like line %u, but "
                      "indentation or the lines after differ",
                      number, like);
   return rkb_fail(err, RKB_ERR_INVALID,
                   "edit %u: what it searches is not in the kernel, beginning with '%.*s'", number,
                   first.bytes > 80 ? 80 : (int)first.bytes, first.text);
}

static char *replaced(span_t text, size_t at, size_t length, span_t replace) {
   size_t behind = text.bytes - at - length, bytes = at + replace.bytes + behind;
   char *out = bytes <= MOST_BYTES ? malloc(bytes + 1) : NULL;
   if (!out)
      return NULL;
   memcpy(out, text.text, at);
   memcpy(out + at, replace.text, replace.bytes);
   memcpy(out + at + replace.bytes, text.text + at + length, behind);
   out[bytes] = '\0';
   return out;
}

int edits_apply(const char *text, const char *reply, size_t bytes, char **edited, uint32_t *count,
                rkb_error_t *err) {
   const char *at = reply, *end = reply + bytes;
   char *now = strdup(text);
   edit_t edit;
   int status = now ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory"), more = 0;
   *edited = NULL;
   *count = 0;
   if (status == RKB_OK && memchr(reply, '\0', bytes))
      status = rkb_fail(err, RKB_ERR_INVALID, "the reply holds a NUL byte");
   while (status == RKB_OK) {
      size_t place = 0, length = 0;
      more = next_edit(&at, end, &edit);
      if (more <= 0)
         break;
      if (++*count > EDITS_MOST) {
         status =
            rkb_fail(err, RKB_ERR_INVALID, "more than %d edits; write the whole kernel instead", EDITS_MOST);
         break;
      }
      span_t whole = {now, strlen(now)};
      status = find_place(whole, &edit, *count, &place, &length, err);
      if (status != RKB_OK)
         break;
      char *next = replaced(whole, place, length, edit.replace);
      if (!next)
         status = rkb_fail(err, RKB_ERR_INVALID, "after edit %u the kernel is larger than 256 KiB", *count);
      free(now);
      now = next;
   }
   if (status == RKB_OK && more < 0)
      status =
         rkb_fail(err, RKB_ERR_INVALID,
                  "edit %u is broken: it needs <<<<<<< SEARCH, ======= and >>>>>>> REPLACE, each on its own "
                  "line",
                  *count + 1);
   if (status == RKB_OK && !*count)
      status = rkb_fail(err, RKB_ERR_INVALID, "the reply holds no edit");
   if (status != RKB_OK) {
      free(now);
      return status;
   }
   *edited = now;
   return RKB_OK;
}
