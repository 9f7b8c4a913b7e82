/* Compares texts by lines: finds the longest common subsequence with its table (Wagner and Fischer, 'The String-to-String
 * Correction Problem', JACM 1974).  Equal lines at both ends are skipped first, because kernels of one lineage differ in few
 * places. */
#include "base/line_difference.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

enum { CONTEXT = 3, MOST_PAIRS = 4 << 20 };

typedef struct line {
   const char *start;
   size_t length;
} line_t;

typedef struct lines {
   line_t *list;
   uint32_t count;
} lines_t;

/* For each line, whether it is part of the common subsequence. */
typedef struct matching {
   bool *kept[2];
} matching_t;

static void split(const char *text, lines_t *lines) {
   uint32_t count = 0;
   for (const char *at = text; *at; at++)
      count += *at == '\n' || !at[1];
   lines->list = rkb_allocate(count + 1, sizeof *lines->list);
   lines->count = 0;
   while (*text) {
      const char *end = strchrnul(text, '\n');
      lines->list[lines->count++] = (line_t){text, (size_t)(end - text)};
      text = *end ? end + 1 : end;
   }
}

static bool equal(line_t a, line_t b) {
   return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

/* The table holds, from each pair of places on, the length of the longest common subsequence. */
static void match_between(const lines_t *a, const lines_t *b, uint32_t from, uint32_t a_end, uint32_t b_end,
                          matching_t *matching) {
   const size_t rows = a_end - from, columns = b_end - from, width = columns + 1;
   if (rows == 0 || columns == 0 || rows > MOST_PAIRS / columns)
      return;
   uint32_t *longest = rkb_allocate((rows + 1) * width, sizeof *longest);
   for (size_t i = rows; i-- > 0;)
      for (size_t j = columns; j-- > 0;) {
         const uint32_t down = longest[(i + 1) * width + j], right = longest[i * width + j + 1];
         longest[i * width + j] = equal(a->list[from + i], b->list[from + j])
                                     ? longest[(i + 1) * width + j + 1] + 1
                                  : down > right ? down
                                                 : right;
      }
   for (size_t i = 0, j = 0; i < rows && j < columns;)
      if (equal(a->list[from + i], b->list[from + j]))
         matching->kept[0][from + i++] = matching->kept[1][from + j++] = true;
      else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1])
         i++;
      else
         j++;
   free(longest);
}

static void match(const lines_t *a, const lines_t *b, matching_t *matching) {
   uint32_t from = 0, a_end = a->count, b_end = b->count;
   for (; from < a_end && from < b_end && equal(a->list[from], b->list[from]); from++)
      matching->kept[0][from] = matching->kept[1][from] = true;
   for (; a_end > from && b_end > from && equal(a->list[a_end - 1], b->list[b_end - 1]); a_end--, b_end--)
      matching->kept[0][a_end - 1] = matching->kept[1][b_end - 1] = true;
   match_between(a, b, from, a_end, b_end, matching);
}

static void write_line(rkb_text_t *out, char sign, line_t line) {
   rkb_text_append(out, &sign, 1);
   rkb_text_append(out, line.start, line.length);
   rkb_text_add(out, "\n");
}

static void write_side(rkb_text_t *out, char sign, uint32_t first, uint32_t count) {
   rkb_text_format(out, "%c%u", sign, count ? first + 1 : first);
   if (count != 1)
      rkb_text_format(out, ",%u", count);
}

/* Writes lines a_from .. a_to and b_from .. b_to as one hunk; both ranges include the equal lines around the change. */
static void write_hunk(rkb_text_t *out, const lines_t *a, const lines_t *b, const matching_t *matching,
                       uint32_t a_from, uint32_t a_to, uint32_t b_from, uint32_t b_to) {
   rkb_text_add(out, "@@ ");
   write_side(out, '-', a_from, a_to - a_from);
   rkb_text_add(out, " ");
   write_side(out, '+', b_from, b_to - b_from);
   rkb_text_add(out, " @@\n");
   for (uint32_t i = a_from, j = b_from; i < a_to || j < b_to;) {
      for (; i < a_to && !matching->kept[0][i]; i++)
         write_line(out, '-', a->list[i]);
      for (; j < b_to && !matching->kept[1][j]; j++)
         write_line(out, '+', b->list[j]);
      for (; i < a_to && j < b_to && matching->kept[0][i] && matching->kept[1][j]; i++, j++)
         write_line(out, ' ', a->list[i]);
   }
}

/* Changes that are separated by at most twice the context share a hunk. */
static void write_hunks(rkb_text_t *out, const lines_t *a, const lines_t *b, const matching_t *matching) {
   uint32_t i = 0, j = 0;
   while (i < a->count || j < b->count) {
      uint32_t equal_lines = 0, before;
      for (; i < a->count && j < b->count && matching->kept[0][i] && matching->kept[1][j]; i++, j++)
         equal_lines++;
      if (i == a->count && j == b->count)
         return;
      before = equal_lines < CONTEXT ? equal_lines : CONTEXT;
      const uint32_t a_from = i - before, b_from = j - before;
      for (equal_lines = 0; (i < a->count || j < b->count) && equal_lines <= 2 * CONTEXT;) {
         const bool gone = i < a->count && !matching->kept[0][i],
                    come = j < b->count && !matching->kept[1][j];
         equal_lines = gone || come ? 0 : equal_lines + 1;
         i += gone || !come;
         j += !gone;
      }
      const uint32_t after = equal_lines > CONTEXT ? equal_lines - CONTEXT : 0;
      i -= after;
      j -= after;
      write_hunk(out, a, b, matching, a_from, i, b_from, j);
   }
}

void rkb_line_difference(const char *before, const char *after, rkb_text_t *out) {
   lines_t a = {NULL, 0}, b = {NULL, 0};
   matching_t matching = {{NULL, NULL}};
   split(before, &a);
   split(after, &b);
   matching.kept[0] = rkb_allocate(a.count + 1, 1);
   matching.kept[1] = rkb_allocate(b.count + 1, 1);
   match(&a, &b, &matching);
   write_hunks(out, &a, &b, &matching);
   free(matching.kept[0]);
   free(matching.kept[1]);
   free(a.list);
   free(b.list);
}
