/* Every protocol against a server that behaves and misbehaves: how each exchange ends, what it costs, and that the key is in
 * nothing that was written. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"

#define TEXT "Here it is: \xce\xba = 1.\n"
#define MOST_OUTPUT 1000

enum charge { NOTHING, REPORTED, RESERVED };

typedef struct behaviour {
   const char *name;
   uint32_t outcome;
   enum charge charge;
   int attempts;         /* rows in the ledger; the models retry twice */
   bool streams_only;    /* means nothing without a stream */
   const char *not_for;  /* a protocol that has no such thing, or NULL */
   bool text;            /* the text arrives */
} behaviour_t;

static const behaviour_t BEHAVIOURS[] = {
   {"plain", RKB_LLM_ANSWERED, REPORTED, 1, false, NULL, true},
   {"split", RKB_LLM_ANSWERED, REPORTED, 1, true, NULL, true},
   {"truncated", RKB_LLM_TRUNCATED, REPORTED, 1, false, NULL, true},
   {"refused", RKB_LLM_REFUSED, REPORTED, 1, false, "gemini", true},
   {"filtered", RKB_LLM_FILTERED, REPORTED, 1, false, "anthropic", true},
   {"limited", RKB_LLM_ANSWERED, REPORTED, 3, false, NULL, true},
   {"limited-for-ever", RKB_LLM_UNREACHABLE, NOTHING, 3, false, NULL, false},
   {"error-500", RKB_LLM_UNREACHABLE, NOTHING, 3, false, NULL, false},
   {"error-529", RKB_LLM_UNREACHABLE, NOTHING, 3, false, NULL, false},
   {"error-400", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, false},
   {"unauthorised", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, false},
   {"echo-key", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, false},
   {"no-usage", RKB_LLM_ANSWERED, RESERVED, 1, true, NULL, true},
   {"garbage", RKB_LLM_UNREADABLE, RESERVED, 1, false, NULL, false},
   {"bad-utf8", RKB_LLM_UNREADABLE, RESERVED, 1, false, NULL, false},
   {"big", RKB_LLM_UNREADABLE, RESERVED, 1, false, NULL, false},
   {"dies", RKB_LLM_UNREACHABLE, RESERVED, 3, true, NULL, false},
   {"dies-early", RKB_LLM_UNREACHABLE, RESERVED, 3, false, NULL, false},
   {"endless", RKB_LLM_UNREACHABLE, RESERVED, 3, true, NULL, false},
};

static provider_server_t server;

static void models_of(const char *provider, bool stream, char *out, size_t size) {
   const char *path = strcmp(provider, "openai") == 0 || strcmp(provider, "openai-responses") == 0 ? "/v1" : "";
   out[0] = '\0';
   for (size_t i = 0; i < sizeof BEHAVIOURS / sizeof BEHAVIOURS[0]; i++) {
      size_t used = strlen(out);
      snprintf(out + used, size - used,
               "%s: {provider: %s, base_url: \"http://127.0.0.1:%d%s\", model: %s, key: {env: RKB_PLANTED}, max_output_tokens: %d, "
               "price: {input: 10, cached: 1, output: 100}, retries: 2, backoff: 10ms, idle: 5s, timeout: %s, stream: %s}\n",
               BEHAVIOURS[i].name, provider, server.port, path, BEHAVIOURS[i].name, MOST_OUTPUT,
               strcmp(BEHAVIOURS[i].name, "endless") == 0 ? "200ms" : "20s", stream ? "true" : "false");
   }
}

static void check_one(service_t *service, const behaviour_t *behaviour, int64_t request) {
   char sql[256];
   double reported = 60 * 10e-6 + 40 * 1e-6 + 20 * 100e-6;
   rkb_llm_answer_t *answer = service_ask(service, behaviour->name, request, 0, behaviour->name);
   if (answer->outcome != behaviour->outcome)
      fail_msg("%s: %s (%s), not %s", behaviour->name, rkb_llm_outcome_name(answer->outcome), answer->message,
               rkb_llm_outcome_name(behaviour->outcome));
   if (behaviour->text)
      assert_string_equal(answer->text, TEXT);
   assert_null(strstr(answer->text, PLANTED_KEY));
   assert_null(strstr(answer->message, PLANTED_KEY));
   assert_true(answer->outcome == RKB_LLM_ANSWERED || answer->message[0]);
   snprintf(sql, sizeof sql, "SELECT count(*) FROM call WHERE request = %lld", (long long)request);
   assert_int_equal((int)service_number(service->directory, sql), behaviour->attempts);
   snprintf(sql, sizeof sql, "SELECT sum(reserved_usd) FROM call WHERE request = %lld", (long long)request);
   double reserved = service_number(service->directory, sql);
   double expected = behaviour->charge == NOTHING ? 0 : behaviour->charge == REPORTED ? reported : reserved;
   if (fabs(answer->paid_usd - expected) > 1e-9)
      fail_msg("%s cost %.9f, not %.9f", behaviour->name, answer->paid_usd, expected);
   assert_int_equal(answer->estimated, behaviour->charge == RESERVED);
   if (behaviour->charge == REPORTED) {
      assert_int_equal(answer->input_tokens, 100);
      assert_int_equal(answer->cached_tokens, 40);
      assert_int_equal(answer->output_tokens, 20);
   }
   assert_true(reported <= reserved);
   rkb_llm_answer_free(answer);
}

/* Whatever was written in the run's directory, read as bytes. */
static void assert_key_is_nowhere(const char *directory) {
   char command[512];
   snprintf(command, sizeof command, "! grep -r -a -q -F '%s' '%s'", PLANTED_KEY, directory);
   assert_int_equal(system(command), 0);
}

static void check_provider(const char *provider, bool stream) {
   service_t service;
   char models[16384];
   double sum = 0;
   models_of(provider, stream, models, sizeof models);
   service_open(&service, models, 100, NULL);
   for (size_t i = 0; i < sizeof BEHAVIOURS / sizeof BEHAVIOURS[0]; i++) {
      const behaviour_t *behaviour = &BEHAVIOURS[i];
      if ((behaviour->not_for && strcmp(behaviour->not_for, provider) == 0) || (behaviour->streams_only && !stream))
         continue;
      check_one(&service, behaviour, (int64_t)i);
      assert_key_is_nowhere(service.directory);
   }
   /* After all that the loop still works, and the ledger agrees with the rows. */
   check_one(&service, &BEHAVIOURS[0], 1000);
   sum = service_number(service.directory, "SELECT sum(cost_usd) FROM call");
   assert_true(fabs(sum - rkb_llm_spent(service.llm)) < 1e-9);
   assert_int_equal((int)service_number(service.directory, "SELECT count(*) FROM call WHERE state = 'reserved'"), 0);
   service_close(&service);
   assert_key_is_nowhere(service.directory);
   service_remove(&service);
}

static void openai(void **state) {
   (void)state;
   check_provider("openai", true);
   check_provider("openai", false);
}

static void anthropic(void **state) {
   (void)state;
   check_provider("anthropic", true);
   check_provider("anthropic", false);
}

static void gemini(void **state) {
   (void)state;
   check_provider("gemini", true);
   check_provider("gemini", false);
}

static void openai_responses(void **state) {
   (void)state;
   check_provider("openai-responses", true);
   check_provider("openai-responses", false);
}

/* What never reaches a server costs nothing; a server that is not there is unreachable, a name that does not resolve too. */
static void nobody_there(void **state) {
   service_t service;
   (void)state;
   service_open(&service,
                "closed: {provider: openai, base_url: \"http://127.0.0.1:1/v1\", model: m, max_output_tokens: 10, price: {input: 1, "
                "output: 1}, retries: 1, backoff: 5ms}\n"
                "nameless: {provider: openai, base_url: \"http://no-such-host.invalid/v1\", model: m, max_output_tokens: 10, price: "
                "{input: 1, output: 1}, retries: 0}\n",
                1, NULL);
   const char *const names[] = {"closed", "nameless"};
   for (int i = 0; i < 2; i++) {
      rkb_llm_answer_t *answer = service_ask(&service, names[i], i, 0, "anyone?");
      assert_int_equal(answer->outcome, RKB_LLM_UNREACHABLE);
      assert_true(answer->paid_usd == 0);
      assert_false(answer->estimated);
      rkb_llm_answer_free(answer);
   }
   service_close(&service);
   service_remove(&service);
}

static int start(void **state) {
   (void)state;
   setenv("RKB_PLANTED", PLANTED_KEY, 1);
   provider_server_start(&server);
   return 0;
}

static int stop(void **state) {
   (void)state;
   provider_server_stop(&server);
   return 0;
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(openai),           cmocka_unit_test(anthropic),    cmocka_unit_test(gemini),
      cmocka_unit_test(openai_responses), cmocka_unit_test(nobody_there),
   };
   return cmocka_run_group_tests(tests, start, stop);
}
