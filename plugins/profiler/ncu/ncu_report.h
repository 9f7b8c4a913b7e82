/* Reads what Nsight Compute writes with --csv --page raw: a row for each launch, a column for each metric.  The text comes from a program
 * on another machine, perhaps: it may hold anything.  Pure; any thread. */
#ifndef NCU_REPORT_H
#define NCU_REPORT_H

#include <stddef.h>
#include <stdint.h>

/* The values of the first `launches` rows, count a row, in the order of names; NAN for a cell that is empty, no number, or of a column
 * that is not there.  Returns how many rows there were; 0 also where the text has no such table.  Lines before the table are skipped. */
uint32_t ncu_report_read(const char *text, size_t length, const char *const *names, uint32_t count, uint32_t launches,
                         double *values);

/* The first line of the text that tells of an error ("==ERROR== ..."), without its mark; "" when there is none. */
void ncu_report_error(const char *text, size_t length, char *out, size_t size);

#endif
