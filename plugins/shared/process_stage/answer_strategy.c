/* Reads what a program that is a strategy answers when asked for a request (stage_answer.h).  Owns nothing;
 * the loop's thread. */
#include "process_stage/stage_answer.h"

#include <stdlib.h>
#include <string.h>

static bool is_true(const json_t *answer, const char *key) {
   return json_is_true(json_object_get(answer, key));
}

static int read_numbers(const json_t *answer, const char *key, int64_t *numbers, uint32_t *count, rkb_error_t *err) {
   const json_t *list = json_object_get(answer, key);
   *count = 0;
   if (!list)
      return RKB_OK;
   if (!json_is_array(list) || json_array_size(list) > RKB_MAX_PARENTS)
      return rkb_fail(err, RKB_ERR_CONTRACT, "'%s' is no list of at most %d candidates' numbers", key, RKB_MAX_PARENTS);
   for (size_t i = 0; i < json_array_size(list); i++) {
      const json_t *number = json_array_get(list, i);
      if (!json_is_integer(number) || json_integer_value(number) < 1)
         return rkb_fail(err, RKB_ERR_CONTRACT, "'%s' holds something else than candidates' numbers", key);
      numbers[(*count)++] = json_integer_value(number);
   }
   return RKB_OK;
}

static int read_hints(const json_t *answer, rkb_request_t *out, rkb_error_t *err) {
   const json_t *hints = json_object_get(answer, "hints");
   if (!hints || json_is_null(hints))
      return RKB_OK;
   char *text = json_is_object(hints) ? json_dumps(hints, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
   if (!text || strlen(text) >= sizeof out->hints) {
      free(text);
      return rkb_fail(err, RKB_ERR_CONTRACT, "'hints' is no object of less than %zu bytes", sizeof out->hints);
   }
   memcpy(out->hints, text, strlen(text) + 1);
   free(text);
   return RKB_OK;
}

int answer_read_ask(const json_t *answer, const rkb_setup_t *setup, rkb_request_t *out, rkb_error_t *err) {
   if (is_true(answer, "done"))
      return RKB_ASK_DONE;
   if (is_true(answer, "wait"))
      return RKB_ASK_WAIT;
   const char *operator_id = json_string_value(json_object_get(answer, "operator"));
   uint32_t at = 0;
   while (operator_id && at < setup->operator_count && strcmp(setup->operators[at].id, operator_id) != 0)
      at++;
   if (!operator_id || at == setup->operator_count)
      return rkb_fail(err, RKB_ERR_CONTRACT, "its answer names no 'operator' of search.operators, and neither 'wait' nor 'done' is true");
   out->operator_index = at;
   int status = read_numbers(answer, "parents", out->parents, &out->parent_count, err);
   if (status == RKB_OK)
      status = read_numbers(answer, "inspirations", out->inspirations, &out->inspiration_count, err);
   if (status == RKB_OK)
      status = read_hints(answer, out, err);
   return status == RKB_OK ? RKB_ASK_OK : status;
}
