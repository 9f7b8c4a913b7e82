/* Small helpers over jansson.  Any thread. */
#include "base/json.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"

json_t *rkb_json_parse(const char *text, size_t length, rkb_error_t *err) {
   json_error_t problem;
   json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
   if (!value && json_error_code(&problem) == json_error_out_of_memory)
      rkb_fail_memory(err, 0);
   else if (!value)
      rkb_fail(err, RKB_ERR_INVALID, "not valid JSON at line %d column %d: %s", problem.line, problem.column,
               problem.text);
   return value;
}

char *rkb_json_canonical(const json_t *value) {
   return json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

json_t *rkb_json_text(const char *text) {
   json_t *value = text ? json_string(text) : json_null();
   if (value)
      return value;
   rkb_text_t mended;
   rkb_text_init(&mended, 3 * strlen(text) + 1); /* U+FFFD takes three bytes */
   rkb_utf8_mend(text, strlen(text), &mended);
   value = json_string(rkb_text_get(&mended));
   rkb_text_free(&mended);
   return value;
}

json_t *rkb_json_number(double value) {
   if (isnan(value))
      return json_string("nan");
   if (isinf(value))
      return json_string(value > 0 ? "inf" : "-inf");
   return json_real(value);
}
