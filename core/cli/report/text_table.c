/* Tables of texts (text_table.h). */
#include "cli/report/text_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 16, MAX_CELL = 512 };

static void add_cell(rkb_text_table_t *table, char *text) {
   if (table->count == table->room) {
      table->room = table->room ? 2 * table->room : 64;
      table->cells = rkb_grow(table->cells, table->room, sizeof *table->cells);
   }
   table->cells[table->count++] = text;
}

void rkb_text_table_begin(rkb_text_table_t *table, const char *title, uint32_t columns,
                          const char *const *headings) {
   *table = (rkb_text_table_t){.title = title, .columns = columns < MAX_COLUMNS ? columns : MAX_COLUMNS};
   for (uint32_t i = 0; i < table->columns; i++)
      add_cell(table, rkb_duplicate(headings[i]));
}

void rkb_text_table_add(rkb_text_table_t *table, const char *fmt, ...) {
   char text[MAX_CELL];
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(text, sizeof text, fmt, ap);
   va_end(ap);
   add_cell(table, rkb_duplicate(text));
}

/* Characters of a UTF-8 text: bytes that do not continue one. */
static int width_of(const char *text) {
   int width = 0;
   for (; *text; text++)
      width += ((unsigned char)*text & 0xc0) != 0x80;
   return width;
}

static void free_cells(rkb_text_table_t *table) {
   for (uint32_t i = 0; i < table->count; i++)
      free(table->cells[i]);
   free(table->cells);
   *table = (rkb_text_table_t){0};
}

void rkb_text_table_print(rkb_text_table_t *table) {
   int widths[MAX_COLUMNS] = {0};
   for (uint32_t i = 0; i < table->count; i++) {
      const int width = width_of(table->cells[i]);
      if (width > widths[i % table->columns])
         widths[i % table->columns] = width;
   }
   printf("\n%s\n", table->title);
   for (uint32_t i = 0; i < table->count; i++) {
      const uint32_t column = i % table->columns;
      const int room = widths[column] - width_of(table->cells[i]);
      if (column == 0)
         printf("  %s%*s", table->cells[i], table->columns > 1 ? room : 0, "");
      else
         printf("  %*s%s", room, "", table->cells[i]);
      if (column + 1 == table->columns)
         printf("\n");
   }
   free_cells(table);
}

static void print_latex_text(const char *text) {
   for (; *text; text++)
      switch (*text) {
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
         printf("\\%c", *text);
         break;
      case '~':
         printf("\\textasciitilde{}");
         break;
      case '^':
         printf("\\textasciicircum{}");
         break;
      case '\\':
         printf("\\textbackslash{}");
         break;
      case '<':
      case '>':
         printf("$%c$", *text);
         break;
      default:
         putchar(*text);
      }
}

void rkb_text_table_print_latex(rkb_text_table_t *table) {
   printf("\\begin{table}\n\\caption{");
   print_latex_text(table->title);
   printf("}\n\\begin{tabular}{l");
   for (uint32_t i = 1; i < table->columns; i++)
      putchar('r');
   printf("}\n\\toprule\n");
   for (uint32_t i = 0; i < table->count; i++) {
      const uint32_t column = i % table->columns;
      print_latex_text(table->cells[i]);
      printf("%s", column + 1 < table->columns ? " & " : " \\\\\n");
      if (i + 1 == table->columns)
         printf("\\midrule\n");
   }
   printf("\\bottomrule\n\\end{tabular}\n\\end{table}\n");
   free_cells(table);
}
