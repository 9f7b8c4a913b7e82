/* The version of the Anthropic protocol in which a question is sent.  The newest takes no temperature, and
 * only Anthropic's own address is known to speak it. */
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "llm/provider.h"

typedef struct row {
   const char *base_url, *effort;
   double temperature;
   const char *version;
} row_t;

static const row_t rows[] = {
   {"https://api.anthropic.com", NULL, -1, "2026-10-21"},
   {"https://api.anthropic.com", NULL, 0.7, "2023-06-01"},
   {"https://api.anthropic.com", NULL, 0, "2023-06-01"},
   {"https://api.anthropic.com", "high", 0.7, "2026-10-21"}, /* beside thinking no temperature is sent */
   {"http://localhost:8000", NULL, -1, "2023-06-01"},
};

static void the_version_fits_what_is_sent(void **state) {
   (void)state;
   for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
      const rkb_model_t model = {.face = {.name = "m", .model = "claude-opus-5", .most_output_tokens = 8000},
                                 .provider = &rkb_provider_anthropic,
                                 .base_url = rows[n].base_url,
                                 .reasoning_effort = rows[n].effort,
                                 .temperature = rows[n].temperature};
      const rkb_llm_question_t question = {.size = sizeof question, .user = "?", .temperature = -1};
      char wanted[64];
      rkb_text_t lines;
      rkb_text_init(&lines, 1024);
      rkb_provider_anthropic.headers(&(rkb_provider_request_t){.model = &model, .question = &question, .key = "k"}, &lines);
      snprintf(wanted, sizeof wanted, "anthropic-version: %s\nx-api-key: k\n", rows[n].version);
      assert_string_equal(rkb_text_get(&lines), wanted);
      json_t *body = rkb_provider_anthropic.body(&model, &question);
      assert_non_null(body);
      const bool newest = strcmp(rows[n].version, "2026-10-21") == 0;
      assert_true(!newest || !json_object_get(body, "temperature"));
      json_decref(body);
      rkb_text_free(&lines);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(the_version_fits_what_is_sent)};
   return RUN_TESTS(tests);
}
