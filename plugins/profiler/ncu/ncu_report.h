/* Reads what Nsight Compute writes with --csv --page raw: a row for each launch, a column for each metric.
 * The text may come from a program on another machine, so it is not trusted.  Pure; any thread. */
#ifndef NCU_REPORT_H
#define NCU_REPORT_H

#include <stddef.h>
#include <stdint.h>

/* Reads the first `launches` rows, count values a row, in the order of names; NAN for a cell that is empty or
 * no number, or whose column is missing.  Returns how many rows there were; 0 also where the text has no such
 * table.  Skips lines before the table. */
uint32_t ncu_report_read(const char *text, size_t length, const char *const *names, uint32_t count, uint32_t launches,
                         double *values);

/* Copies the first line of the text that reports an error ("==ERROR== ..."), without its mark; "" when there
 * is none. */
void ncu_report_error(const char *text, size_t length, char *out, size_t size);

#endif
