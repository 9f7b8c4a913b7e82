/* Servers that speak OpenAI's chat completions in their own way: each file of compatible/ is what one might answer, and what
 * is to come of it.  A file is lines "name: value", an empty line, and the reply's body:
 *
 *    written   what it was written after; none is a recording
 *    provider                          openai unless said otherwise
 *    status, type                      of the reply
 *    outcome, text, says               of the answer: its name, its text, a part of its message
 *    input, cached, output, reasoning  tokens; -1: not reported
 *    charge    reported (unless said otherwise), reserved or nothing
 *    attempts  1 unless said otherwise; the models retry once
 *    stream    true unless said otherwise */
#include "llm_fixture.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"

#define FOLDER RKB_SOURCE_DIR "/tests/llm/compatible/"

static provider_server_t server;

typedef struct fixture {
   char *text;
   const char *name;
} fixture_t;

/* A value of the head, or fallback; into a buffer of the caller's. */
static const char *value_of(const fixture_t *fixture, const char *name, const char *fallback, char out[512]) {
   char key[64];
   const char *end = strstr(fixture->text, "\n\n");
   snprintf(key, sizeof key, "\n%s: ", name);
   const char *at = strstr(fixture->text, key);
   snprintf(out, 512, "%s", fallback);
   if (at && at < end)
      snprintf(out, 512, "%.*s", (int)strcspn(at + strlen(key), "\n"), at + strlen(key));
   return out;
}

static int64_t number_of(const fixture_t *fixture, const char *name, int64_t fallback) {
   char value[512];
   value_of(fixture, name, "", value);
   return value[0] ? strtoll(value, NULL, 10) : fallback;
}

static void check_answer(const fixture_t *fixture, const service_t *service, const rkb_llm_answer_t *answer,
                         int64_t request) {
   char value[512], sql[128];
   snprintf(sql, sizeof sql, "SELECT sum(reserved_usd) FROM call WHERE request = %lld", (long long)request);
   double reserved = service_number(service->directory, sql);
   snprintf(sql, sizeof sql, "SELECT count(*) FROM call WHERE request = %lld", (long long)request);
   double attempts = service_number(service->directory, sql);
   if (strcmp(rkb_llm_outcome_name(answer->outcome), value_of(fixture, "outcome", "", value)) != 0)
      fail_msg("%s: %s (%s), not %s", fixture->name, rkb_llm_outcome_name(answer->outcome), answer->message,
               value);
   value_of(fixture, "text", "", value);
   if (value[0] &&
       (strncmp(answer->text, value, strlen(value)) != 0 || strcmp(answer->text + strlen(value), "\n") != 0))
      fail_msg("%s: the text is '%s'", fixture->name, answer->text);
   if (!strstr(answer->message, value_of(fixture, "says", "", value)))
      fail_msg("%s says '%s'", fixture->name, answer->message);
   if (attempts != (double)number_of(fixture, "attempts", 1))
      fail_msg("%s: %g attempts", fixture->name, attempts);
   value_of(fixture, "charge", "reported", value);
   bool reports = strcmp(value, "reported") == 0;
   int64_t cached = answer->cached_tokens > 0 ? answer->cached_tokens : 0;
   double expected = strcmp(value, "reserved") == 0 ? reserved
                     : !reports                     ? 0
                                : (double)(answer->input_tokens - cached) * 10e-6 + (double)cached * 1e-6 +
                                     (double)answer->output_tokens * 100e-6;
   if (fabs(answer->paid_usd - expected) > 1e-9 || answer->estimated != (strcmp(value, "reserved") == 0))
      fail_msg("%s cost %g, not %g", fixture->name, answer->paid_usd, expected);
   if (reports && (answer->input_tokens != number_of(fixture, "input", -1) ||
                   answer->output_tokens != number_of(fixture, "output", -1) ||
                   answer->cached_tokens != number_of(fixture, "cached", answer->cached_tokens) ||
                   answer->reasoning_tokens != number_of(fixture, "reasoning", answer->reasoning_tokens)))
      fail_msg("%s: %lld (%lld cached) and %lld (%lld reasoning) tokens", fixture->name,
               (long long)answer->input_tokens, (long long)answer->cached_tokens,
               (long long)answer->output_tokens, (long long)answer->reasoning_tokens);
}

static void check_file(const char *path, int64_t request) {
   fixture_t fixture = {.name = strrchr(path, '/') + 1};
   service_t service;
   size_t length = 0;
   rkb_error_t err = {0};
   char models[1024], value[512], provider[512];
   assert_int_equal(rkb_file_read(path, 1 << 20, &fixture.text, &length, &err), RKB_OK);
   if (strncmp(fixture.text, "written: for the tests, after ", 30) != 0 ||
       !strstr(fixture.text, "no recording of any"))
      fail_msg("%s does not say that it was written for the tests", fixture.name);
   snprintf(
      models, sizeof models,
      "m: {provider: %s, base_url: \"http://127.0.0.1:%d/v1\", model: file-%s, max_output_tokens: 1000, "
      "price: {input: 10, cached: 1, output: 100}, retries: 1, backoff: 5ms, stream: %s}\n",
      value_of(&fixture, "provider", "openai", provider), server.port, fixture.name, value_of(&fixture, "stream", "true", value));
   service_open(&service, models, 100, NULL);
   rkb_llm_answer_t *answer = service_ask(&service, "m", request, 0, "?");
   check_answer(&fixture, &service, answer, request);
   rkb_llm_answer_free(answer);
   service_close(&service);
   service_remove(&service);
   free(fixture.text);
}

static void each_is_understood(void **state) {
   glob_t files;
   (void)state;
   assert_int_equal(glob(FOLDER "*", 0, NULL, &files), 0);
   assert_true(files.gl_pathc >= 20);
   for (size_t i = 0; i < files.gl_pathc; i++)
      check_file(files.gl_pathv[i], (int64_t)i);
   globfree(&files);
}

static int start(void **state) {
   (void)state;
   provider_server_start(&server);
   return 0;
}

static int stop(void **state) {
   (void)state;
   provider_server_stop(&server);
   return 0;
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_understood)};
   return cmocka_run_group_tests(tests, start, stop);
}
