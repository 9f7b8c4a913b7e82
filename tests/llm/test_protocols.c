/* Every protocol against a server that behaves well or badly: how each exchange ends, what it costs, and that
 * nothing that was written contains the key. */
#include "base/memory.h"
#include "llm_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define TEXT "Here it is: \xce\xba = 1.\n"
#define MENDED "Here it is: \xef\xbf\xbd\xef\xbf\xbd = 1.\n" /* two bytes that are no UTF-8 */
#define BLANKED "*************************\n"                /* the planted key */
#define MOST_OUTPUT 4000

enum charge { NOTHING, REPORTED, RESERVED };

typedef struct behaviour {
   const char *name;
   uint32_t outcome;
   enum charge charge;
   int attempts;        /* rows in the ledger; the models retry twice */
   bool streams_only;   /* means nothing without a stream */
   const char *not_for; /* protocols that have no such thing, or NULL */
   const char *text;    /* what arrives, or NULL */
} behaviour_t;

static const behaviour_t BEHAVIOURS[] = {
   {"plain", RKB_LLM_ANSWERED, REPORTED, 1, false, NULL, TEXT},
   {"split", RKB_LLM_ANSWERED, REPORTED, 1, true, NULL, TEXT},
   {"truncated", RKB_LLM_TRUNCATED, REPORTED, 1, false, NULL, TEXT},
   {"refused", RKB_LLM_REFUSED, REPORTED, 1, false, "gemini bedrock", TEXT},
   {"filtered", RKB_LLM_FILTERED, REPORTED, 1, false, "anthropic", TEXT},
   {"limited", RKB_LLM_ANSWERED, REPORTED, 3, false, NULL, TEXT},
   {"limited-for-ever", RKB_LLM_UNREACHABLE, NOTHING, 3, false, NULL, NULL},
   {"error-500", RKB_LLM_UNREACHABLE, NOTHING, 3, false, NULL, NULL},
   {"error-529", RKB_LLM_UNREACHABLE, NOTHING, 3, false, NULL, NULL},
   {"error-400", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, NULL},
   {"unauthorised", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, NULL},
   {"overloaded-mid-stream", RKB_LLM_UNREACHABLE, RESERVED, 3, true, NULL, NULL},
   {"fails-without-words", RKB_LLM_UNREACHABLE, RESERVED, 3, true, NULL, NULL},
   {"no-usage", RKB_LLM_ANSWERED, RESERVED, 1, true, NULL, TEXT},
   /* Reports that no such question and reply can have. */
   {"usage-huge", RKB_LLM_ANSWERED, RESERVED, 1, false, NULL, TEXT},
   {"usage-immense", RKB_LLM_ANSWERED, RESERVED, 1, true, NULL, TEXT},
   {"usage-long", RKB_LLM_ANSWERED, RESERVED, 1, false, NULL, TEXT},
   {"usage-nothing", RKB_LLM_ANSWERED, RESERVED, 1, false, NULL, TEXT},
   {"usage-few", RKB_LLM_ANSWERED, RESERVED, 1, false, NULL, TEXT},
   {"usage-silent", RKB_LLM_ANSWERED, RESERVED, 1, true, NULL, TEXT},
   {"garbage", RKB_LLM_UNREADABLE, RESERVED, 1, false, NULL, NULL},
   {"bad-utf8", RKB_LLM_UNREADABLE, RESERVED, 1, false, NULL, NULL},
   {"bad-utf8-stream", RKB_LLM_ANSWERED, REPORTED, 1, true, NULL, MENDED},
   {"big", RKB_LLM_UNREADABLE, RESERVED, 1, false, NULL, NULL},
   {"big-stream", RKB_LLM_UNREADABLE, RESERVED, 1, true, NULL, NULL},
   {"dies", RKB_LLM_UNREACHABLE, RESERVED, 3, true, NULL, NULL},
   {"dies-whole", RKB_LLM_UNREACHABLE, RESERVED, 3, false, NULL, NULL},
   {"dies-early", RKB_LLM_UNREACHABLE, RESERVED, 3, false, NULL, NULL},
   {"stalls", RKB_LLM_UNREACHABLE, RESERVED, 3, true, NULL, NULL},
   {"endless", RKB_LLM_UNREACHABLE, RESERVED, 3, true, NULL, NULL},
   /* The server quotes the key, whole or where a text is cut. */
   {"echo-key", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, NULL},
   {"echo-key-cut", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, NULL},
   {"echo-key-page", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, NULL},
   {"echo-key-retried", RKB_LLM_UNREACHABLE, NOTHING, 3, false, NULL, NULL},
   {"echo-key-stream", RKB_LLM_UNREACHABLE, RESERVED, 3, true, NULL, NULL},
   {"echo-key-event", RKB_LLM_UNREADABLE, RESERVED, 1, true, NULL, NULL},
   {"echo-key-reply", RKB_LLM_ANSWERED, REPORTED, 1, false, NULL, BLANKED},
   {"echo-key-refused", RKB_LLM_REFUSED, REPORTED, 1, false, "gemini bedrock", BLANKED},
};

/* Addresses where no provider is. */
static const behaviour_t ADDRESSES[] = {
   {"http://127.0.0.1:1", RKB_LLM_UNREACHABLE, NOTHING, 3, false, NULL, NULL},
   {"http://no-such-host.invalid", RKB_LLM_UNREACHABLE, NOTHING, 3, false, NULL, NULL},
   {"https://localhost:TLS", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, NULL}, /* its own certificate */
   {"https://127.0.0.1:TLS", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, NULL}, /* and of another name */
   {"https://localhost:PLAIN", RKB_LLM_REJECTED, NOTHING, 1, false, NULL, NULL},
};

#define BEHAVIOUR_COUNT (sizeof BEHAVIOURS / sizeof BEHAVIOURS[0])
#define ADDRESS_COUNT (sizeof ADDRESSES / sizeof ADDRESSES[0])

static provider_server_t server;

static void add_model(rkb_text_t *out, const char *name, const char *provider, const char *address,
                      const char *model, bool stream, const char *more) {
   const char *path = strncmp(provider, "openai", 6) == 0   ? "/v1"
                      : strcmp(provider, "azure") == 0      ? "/openai/deployments/mine/?api-version=2024-10-21"
                                                            : "";
   rkb_text_format(
      out,
      "%s: {provider: %s, base_url: \"%s%s\", model: %s, key: {env: RKB_PLANTED}, "
      "max_output_tokens: %d, price: {input: 10, cached: 1, output: 100}, retries: 2, backoff: 10ms, "
      "idle: %s, timeout: %s, stream: %s, record: %s/cassette.yaml, cache: read-write%s%s}\n",
      name, provider, address, path, model, MOST_OUTPUT, strcmp(model, "stalls") == 0 ? "150ms" : "5s",
      strcmp(model, "endless") == 0 ? "200ms" : "20s", stream ? "true" : "false", server.folder,
      strcmp(provider, "bedrock") == 0 ? ", region: us-east-1" : "", more);
}

/* Settings that change the request; the server turns away what its service would. */
static const struct {
   const char *name, *model, *more;
} SETTINGS[] = {
   {"warm", "plain", ", temperature: 0.7"},
   {"thinks", "plain", ", reasoning_effort: medium"},
   {"thinks-with-a-budget", "claude-opus-4-5", ", reasoning_effort: low"},
   {"thinks-as-before", "gemini-2.5-pro", ", reasoning_effort: high"},
   {"warm-and-thinks", "plain", ", temperature: 1, reasoning_effort: low"},
};

/* Bedrock takes a temperature, the first, and no effort. */
static size_t settings_of(const char *provider) {
   return strcmp(provider, "bedrock") == 0 ? 1 : sizeof SETTINGS / sizeof SETTINGS[0];
}

/* One model for each behaviour, named like it, and "address-N". */
static void models_of(const char *provider, bool stream, rkb_text_t *out) {
   char here[64], name[32], address[64];
   snprintf(here, sizeof here, "http://127.0.0.1:%d", server.port);
   for (size_t i = 0; i < BEHAVIOUR_COUNT; i++)
      add_model(out, BEHAVIOURS[i].name, provider, here, BEHAVIOURS[i].name, stream, "");
   for (size_t i = 0; i < settings_of(provider); i++)
      add_model(out, SETTINGS[i].name, provider, here, SETTINGS[i].model, stream, SETTINGS[i].more);
   for (size_t i = 0; i < ADDRESS_COUNT; i++) {
      const char *port = strrchr(ADDRESSES[i].name, ':') + 1;
      snprintf(name, sizeof name, "address-%zu", i);
      snprintf(address, sizeof address, "%.*s%d", (int)(port - ADDRESSES[i].name), ADDRESSES[i].name,
               strcmp(port, "TLS") == 0 ? server.tls_port : server.port);
      bool given = strcmp(port, "TLS") != 0 && strcmp(port, "PLAIN") != 0;
      add_model(out, name, provider, given ? ADDRESSES[i].name : address, "plain", stream, "");
   }
}

static void check_one(service_t *service, const char *model, const behaviour_t *behaviour, int64_t request) {
   char sql[256];
   double reported = 60 * 10e-6 + 40 * 1e-6 + 20 * 100e-6;
   uint64_t began = rkb_now_ns();
   /* a question that must have several tokens */
   char *question =
      rkb_format("%s: %600s", behaviour->name, "Which part of this kernel takes the most time?");
   rkb_llm_answer_t *answer = service_ask(service, model, request, 0, question);
   free(question);
   /* Turned away twice, and each time told to wait 20 ms, which is longer than the client's own pauses (10
    * and at most 20). */
   if (strcmp(behaviour->name, "limited") == 0)
      assert_true(rkb_now_ns() - began >= 40000000);
   if (answer->outcome != behaviour->outcome)
      fail_msg("%s: %s (%s), not %s", behaviour->name, rkb_llm_outcome_name(answer->outcome), answer->message,
               rkb_llm_outcome_name(behaviour->outcome));
   if (behaviour->text)
      assert_string_equal(answer->text, behaviour->text);
   assert_null(strstr(answer->text, PLANTED_KEY));
   assert_null(strstr(answer->message, PLANTED_KEY));
   assert_true(answer->outcome == RKB_LLM_ANSWERED || answer->message[0]);
   snprintf(sql, sizeof sql, "SELECT count(*) FROM call WHERE request = %lld", (long long)request);
   assert_int_equal((int)service_number(service->directory, sql), behaviour->attempts);
   snprintf(
      sql, sizeof sql,
      "SELECT count(*) FROM call WHERE request = %lld AND state = 'failed' AND coalesce(error, '') = ''",
      (long long)request);
   assert_int_equal((int)service_number(service->directory, sql), 0);
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

/* Whatever was written in a directory, read as bytes; a part of the key is too much already. */
static void assert_key_is_nowhere(const char *directory) {
   char command[512];
   snprintf(command, sizeof command, "! grep -r -a -q -F '%.10s' '%s'", PLANTED_KEY, directory);
   assert_int_equal(system(command), 0);
}

/* A fault, that nothing of the key was written, and that the next question is answered as ever. */
static void check_fault(service_t *service, const char *model, const behaviour_t *behaviour,
                        int64_t request) {
   check_one(service, model, behaviour, request);
   assert_key_is_nowhere(service->directory);
   assert_key_is_nowhere(server.folder); /* the cassette, the cache */
   check_one(service, "plain", &BEHAVIOURS[0], request + 1000);
}

static void check_provider(const char *provider, bool stream) {
   service_t service;
   rkb_text_t models;
   struct rlimit core;
   double sum = 0;
   char cache[128]; /* looked through for the key, and gone with the server's folder */
   snprintf(cache, sizeof cache, "%s/cache-%s-%d", server.folder, provider, stream);
   setenv("XDG_CACHE_HOME", cache, 1);
   rkb_text_init(&models, 1 << 16);
   models_of(provider, stream, &models);
   service_open(&service, rkb_text_get(&models), 100, NULL);
   assert_int_equal(prctl(PR_GET_DUMPABLE), 0); /* a process that holds a key */
   assert_int_equal(getrlimit(RLIMIT_CORE, &core), 0);
   assert_int_equal(core.rlim_cur, 0);
   for (size_t i = 0; i < BEHAVIOUR_COUNT; i++) {
      const behaviour_t *behaviour = &BEHAVIOURS[i];
      if ((behaviour->not_for && strstr(behaviour->not_for, provider)) ||
          (behaviour->streams_only && !stream))
         continue;
      check_fault(&service, behaviour->name, behaviour, (int64_t)i);
   }
   for (size_t i = 0; i < ADDRESS_COUNT; i++) {
      char name[32];
      snprintf(name, sizeof name, "address-%zu", i);
      check_fault(&service, name, &ADDRESSES[i], 500 + (int64_t)i);
   }
   for (size_t i = 0; i < settings_of(provider); i++)
      check_one(&service, SETTINGS[i].name, &BEHAVIOURS[0], 600 + (int64_t)i);
   /* The ledger agrees with its rows. */
   sum = service_number(service.directory, "SELECT sum(cost_usd) FROM call");
   assert_true(fabs(sum - rkb_llm_spent(service.llm)) < 1e-9);
   assert_int_equal(
      (int)service_number(service.directory, "SELECT count(*) FROM call WHERE state = 'reserved'"), 0);
   service_close(&service);
   assert_key_is_nowhere(service.directory);
   service_remove(&service);
   rkb_text_free(&models);
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

static void azure(void **state) {
   (void)state;
   check_provider("azure", true);
   check_provider("azure", false);
}

static void bedrock(void **state) {
   (void)state;
   check_provider("bedrock", false);
}

/* Pairs of access keys sign.  The server makes each signature again; the vendor's own client has been tried on it. */
static void bedrock_signed(void **state) {
   static const struct {
      const char *keys;
      uint32_t outcome;
   } rows[] = {{"AKIAPLANTED:a-secret-of-the-tests", RKB_LLM_ANSWERED},
               {"ASIAPLANTED:another-secret:a-token-of-a-session", RKB_LLM_ANSWERED},
               {"ASIAPLANTED:another-secret", RKB_LLM_REJECTED},
               {"AKIAPLANTED:not-the-secret-of-it", RKB_LLM_REJECTED}};
   (void)state;
   for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
      service_t service;
      rkb_text_t models;
      rkb_text_init(&models, 4096);
      rkb_text_format(&models,
                      "m: {provider: bedrock, region: eu-west-1, base_url: \"http://127.0.0.1:%d\", model: \"plain:0\", "
                      "key: {env: RKB_PLANTED_PAIR}, max_output_tokens: 1000}\n",
                      server.port);
      setenv("RKB_PLANTED_PAIR", rows[i].keys, 1);
      service_open(&service, rkb_text_get(&models), -1, NULL);
      rkb_llm_answer_t *answer = service_ask(&service, "m", 1, 0, "signed");
      if (answer->outcome != rows[i].outcome)
         fail_msg("%zu: %s (%s)", i, rkb_llm_outcome_name(answer->outcome), answer->message);
      rkb_llm_answer_free(answer);
      service_close(&service);
      service_remove(&service);
      rkb_text_free(&models);
   }
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
      cmocka_unit_test(openai),
      cmocka_unit_test(anthropic),
      cmocka_unit_test(gemini),
      cmocka_unit_test(openai_responses),
      cmocka_unit_test(azure),
      cmocka_unit_test(bedrock),
      cmocka_unit_test(bedrock_signed),
   };
   return cmocka_run_group_tests(tests, start, stop);
}
