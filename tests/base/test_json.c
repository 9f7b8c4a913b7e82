/* Canonical JSON, refused texts with their place, and numbers that JSON lacks.  One thread. */
#include "check.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *parse(const char *text) {
   rkb_error_t err;
   return rkb_json_parse(text, strlen(text), &err);
}

static void equal_values_give_equal_bytes(void **state) {
   (void)state;
   json_t *value =
      parse("{ \"b\": [1, 2.5, 9007199254740993, true, null], \"a\": {\"z\": \"\\u00e9\", \"y\": -0.1} }");
   assert_non_null(value);
   char *text = rkb_json_canonical(value);
   assert_string_equal(
      text,
      "{\"a\":{\"y\":-0.10000000000000001,\"z\":\"\xc3\xa9\"},\"b\":[1,2.5,9007199254740993,true,null]}");
   free(text);
   json_decref(value);
}

static void bad_texts_are_refused_with_their_place(void **state) {
   (void)state;
   rkb_error_t err;
   const char twice[] = "{\"a\": 1,\n \"a\": 2}";
   assert_null(rkb_json_parse(twice, strlen(twice), &err));
   assert_int_equal(err.status, RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "line 2"));
   assert_null(parse("{\"a\": \"\\u0000\"}"));
   assert_null(parse("[1] 2"));
   assert_null(parse(""));
   assert_null(parse("\"\xff\""));
   assert_null(parse("9223372036854775808"));
   char deep[100000];
   memset(deep, '[', sizeof deep);
   assert_null(rkb_json_parse(deep, sizeof deep, &err));
}

static void numbers_that_json_lacks_become_texts(void **state) {
   (void)state;
   json_t *list = json_pack("[o, o, o, o]", rkb_json_number(NAN), rkb_json_number(INFINITY),
                            rkb_json_number(-INFINITY), rkb_json_number(0.5));
   char *text = rkb_json_canonical(list);
   assert_string_equal(text, "[\"nan\",\"inf\",\"-inf\",0.5]");
   free(text);
   json_decref(list);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(equal_values_give_equal_bytes),
                                      cmocka_unit_test(bad_texts_are_refused_with_their_place),
                                      cmocka_unit_test(numbers_that_json_lacks_become_texts)};
   return RUN_TESTS(tests);
}
