/* Small helpers over jansson: limits on what comes in, one canonical way out. */
#ifndef RKB_BASE_JSON_H
#define RKB_BASE_JSON_H

#include <jansson.h>
#include <rkb/plugin.h>

/* Parses with duplicate keys refused and nesting capped at jansson's JSON_PARSER_MAX_DEPTH; the error names the position. Owned: json_decref. */
json_t *rkb_json_parse(const char *text, size_t length, rkb_error_t *err);
/* Sorted keys, compact, reals with 17 digits: equal values give equal bytes.  malloc'd; NULL when memory is out. */
char *rkb_json_canonical(const json_t *value);
/* json_real that turns NaN and infinities into the strings "nan", "inf", "-inf", which JSON cannot hold as numbers. */
json_t *rkb_json_number(double value);

#endif
