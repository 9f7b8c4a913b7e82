/* A table of texts that is printed aligned for people or as LaTeX.  The main thread alone. */
#ifndef RKB_CLI_REPORT_TEXT_TABLE_H
#define RKB_CLI_REPORT_TEXT_TABLE_H

#include <stdint.h>
#include "base/memory.h"

typedef struct rkb_text_table {
   const char *title;
   uint32_t columns;
   char **cells; /* row by row; the first row is the heading */
   uint32_t count, room;
} rkb_text_table_t;

/* All columns except the first are right-aligned.  title must live as long as the table. */
void rkb_text_table_begin(rkb_text_table_t *table, const char *title, uint32_t columns,
                          const char *const *headings);
void rkb_text_table_add(rkb_text_table_t *table, const char *fmt, ...) RKB_PRINTF(2, 3);
/* Prints the table on standard output and frees its cells. */
void rkb_text_table_print(rkb_text_table_t *table);
void rkb_text_table_print_latex(rkb_text_table_t *table);

#endif
