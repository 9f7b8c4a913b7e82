/* Durations ("250ms", "30s", "5m", "1h") and byte counts ("64KiB", "4MiB", "1GiB", "100") as people write them.
 * Units of durations: ns, us, ms, s, m, h; a plain 0 needs none.  Units of byte counts: KiB, MiB, GiB, TiB, B or none.  Both may
 * have a decimal point.  Each parser returns false when the text does not match or the value overflows.  Any thread. */
#ifndef RKB_BASE_UNITS_H
#define RKB_BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

bool rkb_parse_duration(const char *text, uint64_t *nanoseconds);
bool rkb_parse_bytes(const char *text, uint64_t *bytes);
/* whole text, decimal or 0x, no space, no leading zeros */
bool rkb_parse_int(const char *text, int64_t *value);
bool rkb_parse_real(const char *text, double *value); /* whole text, finite, locale-independent */
void rkb_format_duration(uint64_t nanoseconds, char *out, size_t size); /* "1.24 s", "310 ms", "2 m 05 s" */
void rkb_format_bytes(uint64_t bytes, char *out, size_t size);          /* "1.5 MiB" */

#endif
