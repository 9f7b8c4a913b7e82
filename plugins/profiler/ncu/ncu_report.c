/* Reads CSV as Nsight Compute writes it: every cell in quotes, a quote inside as two, commas between
 * thousands (RFC 4180 but for the last).  Owns nothing. */
#include "ncu_report.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 4096, MOST_NUMBER = 64 };

/* A place in the text. */
typedef struct reader {
   const char *at, *end;
} reader_t;

/* Reads one cell, without its quotes, cut to size; true while the row goes on.  A row ends at a line's end
 * outside of quotes. */
static bool next_cell(reader_t *r, char *out, size_t size) {
   size_t used = 0;
   bool quoted = r->at < r->end && *r->at == '"';
   r->at += quoted;
   for (; r->at < r->end; r->at++) {
      if (quoted && *r->at == '"') {
         if (r->at + 1 < r->end && r->at[1] == '"')
            r->at++;
         else {
            quoted = false;
            continue;
         }
      } else if (!quoted && (*r->at == ',' || *r->at == '\n')) {
         break;
      }
      if (used + 1 < size && *r->at != '\r')
         out[used++] = *r->at;
   }
   out[used] = '\0';
   const bool more = r->at < r->end && *r->at == ',';
   r->at += r->at < r->end;
   return more;
}

/* Reads a number like "1,980,000.5". */
static double number_of(const char *cell) {
   char digits[MOST_NUMBER], *end = NULL;
   size_t used = 0;
   for (const char *c = cell; *c && used + 1 < sizeof digits; c++)
      if (*c != ',')
         digits[used++] = *c;
   digits[used] = '\0';
   if (used == 0 || strspn(digits, "0123456789.eE+-") != used)
      return NAN;
   const double value = strtod(digits, &end);
   return *end == '\0' && isfinite(value) ? value : NAN;
}

/* Finds which metric each column holds; -1: none.  Returns the number of columns, 0 when the line is not the
 * table's head. */
static uint32_t read_head(reader_t *r, const char *const *names, uint32_t count, int16_t *columns) {
   char cell[256];
   uint32_t width = 0;
   for (bool more = true; more && width < MOST_COLUMNS;) {
      more = next_cell(r, cell, sizeof cell);
      if (width == 0 && strcmp(cell, "ID") != 0)
         return 0;
      columns[width] = -1;
      for (uint32_t i = 0; i < count; i++)
         if (strcmp(cell, names[i]) == 0)
            columns[width] = (int16_t)i;
      width++;
   }
   return width;
}

/* Reads one row; false when it is no launch's: the row of units has no number in its first column. */
static bool read_row(reader_t *r, const int16_t *columns, uint32_t width, double *values) {
   char cell[256];
   bool launch = false;
   uint32_t column = 0;
   for (bool more = true; more; column++) {
      more = next_cell(r, cell, sizeof cell);
      if (column == 0)
         launch = isfinite(number_of(cell));
      if (launch && values && column < width && columns[column] >= 0)
         values[columns[column]] = number_of(cell);
   }
   return launch;
}

uint32_t ncu_report_read(const char *text, size_t length, const char *const *names, uint32_t count, uint32_t launches,
                         double *values) {
   reader_t r = {text, text + length};
   int16_t columns[MOST_COLUMNS];
   uint32_t width = 0, rows = 0;
   for (size_t i = 0; i < (size_t)launches * count; i++)
      values[i] = NAN;
   while (r.at < r.end && width == 0) {
      const char *line = r.at;
      if (strncmp(line, "\"ID\",", (size_t)(r.end - line) < 5 ? (size_t)(r.end - line) : 5) == 0)
         width = read_head(&r, names, count, columns);
      if (width == 0) {
         const char *next = memchr(line, '\n', (size_t)(r.end - line));
         r.at = next ? next + 1 : r.end;
      }
   }
   while (r.at < r.end) {
      if (*r.at != '"') { /* it is a message of the tool, after the table */
         const char *next = memchr(r.at, '\n', (size_t)(r.end - r.at));
         r.at = next ? next + 1 : r.end;
         continue;
      }
      rows += read_row(&r, columns, width, rows < launches ? values + (size_t)rows * count : NULL);
   }
   return width ? rows : 0;
}

void ncu_report_error(const char *text, size_t length, char *out, size_t size) {
   static const char mark[] = "==ERROR== ";
   out[0] = '\0';
   for (const char *at = text, *end = text + length; at < end;) {
      const char *next = memchr(at, '\n', (size_t)(end - at));
      const size_t line = (size_t)((next ? next : end) - at);
      if (line > sizeof mark - 1 && memcmp(at, mark, sizeof mark - 1) == 0) {
         const size_t said = line - (sizeof mark - 1);
         snprintf(out, size, "%.*s", (int)(said < size ? said : size - 1), at + sizeof mark - 1);
         return;
      }
      at = next ? next + 1 : end;
   }
}
