/* Collects everything that is wrong with a user's file.  Owns copies of file names and messages, so you may free a document
 * before you print its problems.  One thread at a time. */
#include "base/problems.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define MOST_KEPT RKB_PROBLEMS_KEPT
#define LONGEST_MESSAGE 1024u

void rkb_problems_init(rkb_problems_t *problems) {
   *problems = (rkb_problems_t){0};
}

void rkb_problems_free(rkb_problems_t *problems) {
   for (uint32_t i = 0; i < problems->count; i++) {
      free(problems->list[i].file);
      free(problems->list[i].message);
   }
   free(problems->list);
   rkb_problems_init(problems);
}

/* Replaces control characters: messages quote files and models, and must not control a terminal or break the line. */
static void make_printable(char *text) {
   for (unsigned char *c = (unsigned char *)text; *c; c++) {
      bool c1_control = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
      if (*c < 0x20 || *c == 0x7f || c1_control)
         *c = '?';
   }
}

/* Adds a problem.  Past RKB_PROBLEMS_KEPT problems it is only counted. */
static void add(rkb_problems_t *problems, rkb_place_t place, bool warning, const char *fmt, va_list ap) {
   if (warning)
      problems->warnings++;
   else
      problems->errors++;
   if (problems->count >= MOST_KEPT)
      return;
   if (problems->count == problems->room) {
      uint32_t room = problems->room ? problems->room * 2 : 8;
      problems->list = rkb_grow(problems->list, room, sizeof *problems->list);
      problems->room = room;
   }
   rkb_text_t message;
   rkb_text_init(&message, LONGEST_MESSAGE);
   rkb_text_vformat(&message, fmt, ap);
   char *file = rkb_duplicate(place.file ? place.file : "");
   char *text = rkb_text_take(&message);
   make_printable(file);
   make_printable(text);
   problems->list[problems->count++] = (rkb_problem_t){
      .file = file, .line = place.line, .column = place.column, .warning = warning, .message = text};
}

void rkb_problem(rkb_problems_t *problems, rkb_place_t place, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   add(problems, place, false, fmt, ap);
   va_end(ap);
}

void rkb_problem_warning(rkb_problems_t *problems, rkb_place_t place, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   add(problems, place, true, fmt, ap);
   va_end(ap);
}

void rkb_problems_place(rkb_problems_t *problems, uint32_t from, rkb_place_t place) {
   for (uint32_t i = from; i < problems->count; i++) {
      rkb_problem_t *problem = &problems->list[i];
      if (problem->file[0] != '\0' || !place.file)
         continue;
      char *file = rkb_duplicate(place.file);
      make_printable(file);
      free(problem->file);
      problem->file = file;
      problem->line = place.line;
      problem->column = place.column;
   }
}

/* Returns the index of the first problem that names a file.  Files are sorted by it. */
static uint32_t first_mention(const rkb_problems_t *problems, const char *file) {
   uint32_t i = 0;
   while (i < problems->count && strcmp(problems->list[i].file, file) != 0)
      i++;
   return i;
}

static bool comes_before(const rkb_problem_t *a, uint32_t file_a, const rkb_problem_t *b, uint32_t file_b) {
   if (file_a != file_b)
      return file_a < file_b;
   if (a->line != b->line)
      return a->line < b->line;
   return a->column < b->column;
}

/* Insertion sort: it is stable, and the list is short and nearly sorted. */
static void sort(rkb_problems_t *problems) {
   uint32_t rank[MOST_KEPT];
   for (uint32_t i = 0; i < problems->count; i++)
      rank[i] = first_mention(problems, problems->list[i].file);
   for (uint32_t i = 1; i < problems->count; i++) {
      rkb_problem_t moved = problems->list[i];
      uint32_t moved_rank = rank[i];
      uint32_t j = i;
      for (; j > 0 && comes_before(&moved, moved_rank, &problems->list[j - 1], rank[j - 1]); j--) {
         problems->list[j] = problems->list[j - 1];
         rank[j] = rank[j - 1];
      }
      problems->list[j] = moved;
      rank[j] = moved_rank;
   }
}

static void write_place(const rkb_problem_t *problem, rkb_text_t *out) {
   if (problem->file[0] == '\0')
      return;
   rkb_text_add(out, problem->file);
   if (problem->line)
      rkb_text_format(out, ":%u:%u", problem->line, problem->column);
   rkb_text_add(out, ": ");
}

void rkb_problems_write(rkb_problems_t *problems, rkb_text_t *out) {
   sort(problems);
   for (uint32_t i = 0; i < problems->count; i++) {
      const rkb_problem_t *problem = &problems->list[i];
      write_place(problem, out);
      rkb_text_format(out, "%s%s\n", problem->warning ? "warning: " : "", problem->message);
   }
   uint32_t total = problems->errors + problems->warnings;
   if (total > problems->count)
      rkb_text_format(out, "and %u more\n", total - problems->count);
}

int rkb_problems_error(rkb_problems_t *problems, rkb_error_t *err) {
   if (!problems->errors)
      return RKB_OK;
   sort(problems);
   for (uint32_t i = 0; i < problems->count; i++) {
      const rkb_problem_t *problem = &problems->list[i];
      if (problem->warning)
         continue;
      rkb_text_t text;
      rkb_text_init(&text, sizeof err->message - 1);
      write_place(problem, &text);
      rkb_text_add(&text, problem->message);
      rkb_fail(err, RKB_ERR_INVALID, "%s", rkb_text_get(&text));
      rkb_text_free(&text);
      return RKB_ERR_INVALID;
   }
   return rkb_fail(err, RKB_ERR_INVALID, "%u problems", problems->errors);
}
