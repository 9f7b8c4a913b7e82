/* Helpers over jansson: parsing with limits, and one canonical way to write. */
#ifndef RKB_BASE_JSON_H
#define RKB_BASE_JSON_H

#include <jansson.h>
#include <rkb/plugin.h>

/* Parses JSON.  Refuses duplicate keys and nesting over jansson's JSON_PARSER_MAX_DEPTH; the error names the position.  The
 * caller releases the value with json_decref. */
json_t *rkb_json_parse(const char *text, size_t length, rkb_error_t *err);
/* Writes sorted keys, no spaces, and reals with 17 digits, so equal values give equal bytes.  malloc'd; NULL when memory is out. */
char *rkb_json_canonical(const json_t *value);
/* Like json_string, but bytes that are not UTF-8 become U+FFFD, because JSON cannot hold them.  NULL becomes null. */
json_t *rkb_json_text(const char *text);

/* Like json_real, but NaN and infinities become the strings "nan", "inf", "-inf", because JSON cannot hold them as numbers. */
json_t *rkb_json_number(double value);

#endif
