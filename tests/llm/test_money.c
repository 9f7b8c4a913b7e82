/* Money and memory: the cap holds whatever runs at the same time; a reply is bought once, also across
 * processes; replays are free; and a model's entry must say certain things. */
#include "llm_fixture.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"

static provider_server_t server;

static const char *paid_model(char *out, size_t size, const char *behaviour, const char *more) {
   snprintf(out, size,
            "m: {provider: openai, base_url: \"http://127.0.0.1:%d/v1\", model: %s, max_output_tokens: 1000, "
            "price: {input: 1, output: "
            "1000}, retries: 0, backoff: 5ms, key: {env: RKB_PLANTED}%s}\n",
            server.port, behaviour, more);
   return out;
}

typedef struct asker {
   pthread_t thread;
   service_t *service;
   int number;
   uint32_t outcome;
} asker_t;

static void *ask_one(void *argument) {
   asker_t *asker = argument;
   rkb_error_t err = {0};
   rkb_llm_answer_t *answer = NULL;
   char text[32];
   snprintf(text, sizeof text, "question %d", asker->number);
   rkb_llm_asker_t who = {.stage = "stage", .section = RKB_SECTION_SEARCH, .request = asker->number};
   rkb_llm_question_t question = {.size = sizeof question, .model = "m", .user = text, .temperature = -1};
   if (rkb_llm_ask(asker->service->llm, &who, &question, &answer, &err) == RKB_OK)
      asker->outcome = answer->outcome;
   rkb_llm_answer_free(answer);
   return NULL;
}

/* Each question may cost a little more than 1 USD, and costs all of that when the reply reports no usage. 5.5
 * USD are enough for five. */
static void the_cap_is_never_overrun(void **state) {
   service_t service;
   asker_t askers[16];
   char models[512];
   int answered = 0, turned_away = 0;
   (void)state;
   service_open(&service, paid_model(models, sizeof models, "no-usage", ", limits: {concurrency: 16}"), 5.5,
                NULL);
   for (int i = 0; i < 16; i++) {
      askers[i] = (asker_t){.service = &service, .number = i};
      assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_one, &askers[i]), 0);
   }
   for (int i = 0; i < 16; i++) {
      pthread_join(askers[i].thread, NULL);
      answered += askers[i].outcome == RKB_LLM_ANSWERED;
      turned_away += askers[i].outcome == RKB_LLM_OVER_BUDGET;
   }
   assert_int_equal(answered, 5);
   assert_int_equal(turned_away, 11);
   assert_true(rkb_llm_spent(service.llm) <= 5.5);
   assert_true(rkb_llm_is_over_budget(service.llm));
   assert_non_null(strstr(service.over_budget, "5.50 USD"));
   service_close(&service);
   assert_true(service_number(service.directory, "SELECT sum(cost_usd) FROM call") <= 5.5);
   service_remove(&service);
}

/* Sixteen questions, each of which may cost a little more than 1 USD and does cost 0.0066.  Five at a time
 * fit under 5.5 USD; the others wait until reserved money is free again.  None is turned away. */
static void reservations_are_waited_for(void **state) {
   service_t service;
   asker_t askers[16];
   char models[512];
   (void)state;
   service_open(&service, paid_model(models, sizeof models, "plain", ", limits: {concurrency: 16}"), 5.5, NULL);
   for (int i = 0; i < 16; i++) {
      askers[i] = (asker_t){.service = &service, .number = i};
      assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_one, &askers[i]), 0);
   }
   for (int i = 0; i < 16; i++) {
      pthread_join(askers[i].thread, NULL);
      assert_int_equal(askers[i].outcome, RKB_LLM_ANSWERED);
   }
   assert_false(rkb_llm_is_over_budget(service.llm));
   double charged, reserved;
   rkb_llm_money(service.llm, &charged, &reserved);
   assert_true(charged < 1 && reserved == 0);
   service_close(&service);
   service_remove(&service);
}

static void ask_together(service_t *service, asker_t *askers, int count) {
   for (int i = 0; i < count; i++) {
      askers[i] = (asker_t){.service = service, .number = i};
      assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_one, &askers[i]), 0);
   }
   for (int i = 0; i < count; i++) {
      pthread_join(askers[i].thread, NULL);
      assert_int_equal(askers[i].outcome, RKB_LLM_ANSWERED);
   }
}

/* A program that says how many of it run at once: never more than concurrency allows, though 12 ask. */
static void no_more_than_so_many_at_once(void **state) {
   service_t service;
   asker_t askers[12];
   char models[512], running[] = "/tmp/rkb-running-XXXXXX", command[128];
   (void)state;
   assert_non_null(mkdtemp(running));
   snprintf(models, sizeof models,
            "m: {provider: command, command: [sh, -c, \"touch %s/$$; ls %s | wc -l; sleep 0.05; rm %s/$$\"], "
            "env: [PATH], cost_per_call: 0, limits: {concurrency: 3}}\n",
            running, running, running);
   service_open(&service, models, -1, NULL);
   ask_together(&service, askers, 12);
   service_close(&service);
   double most =
      service_number(service.directory, "SELECT max(CAST(d.text AS INTEGER)) FROM call c JOIN document d ON "
                                        "d.hash = c.reply_hash");
   assert_true(most >= 1 && most <= 3);
   service_remove(&service);
   snprintf(command, sizeof command, "rm -rf '%s'", running);
   assert_int_equal(system(command), 0);
}

/* 62 questions where 60 a minute may go: the last waits two seconds for the bucket to fill. */
static double seconds_of_62(const char *limits) {
   service_t service;
   asker_t askers[62];
   char models[512];
   service_open(&service, paid_model(models, sizeof models, "no-usage", limits), -1, NULL);
   uint64_t began = rkb_now_ns();
   ask_together(&service, askers, 62);
   double seconds = (double)(rkb_now_ns() - began) * 1e-9;
   service_close(&service);
   service_remove(&service);
   return seconds;
}

static void a_minute_has_its_share(void **state) {
   service_t service;
   asker_t asker;
   char models[512], limits[96];
   (void)state;
   assert_true(seconds_of_62(", limits: {concurrency: 16, requests_per_minute: 60}") > 1.5);
   /* As many tokens as 60 of these questions may take: one in for every byte, 32 for two messages, 1000 out. */
   service_open(&service, paid_model(models, sizeof models, "no-usage", ""), -1, NULL);
   ask_together(&service, &asker, 1);
   service_close(&service);
   double tokens = 1000 + (service_number(service.directory, "SELECT max(reserved_usd) FROM call") - 1) * 1e6;
   assert_true(tokens > 1100 && tokens < 1400);
   service_remove(&service);
   snprintf(limits, sizeof limits, ", limits: {concurrency: 16, tokens_per_minute: %.0f}", 60 * tokens);
   assert_true(seconds_of_62(limits) > 1.5);
}

static void a_reply_is_bought_once(void **state) {
   service_t first, second;
   char models[512];
   (void)state;
   service_open(&first, paid_model(models, sizeof models, "plain", ""), 10, NULL);
   rkb_llm_answer_t *answer = service_ask(&first, "m", 0, 0, "the same");
   assert_false(answer->replayed);
   rkb_llm_answer_free(answer);
   answer = service_ask(&first, "m", 0, 0, "the same"); /* the same asker: the same reply */
   assert_true(answer->replayed);
   rkb_llm_answer_free(answer);
   answer = service_ask(&first, "m", 0, 1, "the same"); /* another asker: another draw, bought */
   assert_false(answer->replayed);
   rkb_llm_answer_free(answer);
   service_close(&first);
   assert_int_equal((int)service_number(first.directory, "SELECT max(draw) FROM call"), 1);
   double spent = service_number(first.directory, "SELECT sum(cost_usd) FROM call");
   service_open(&second, models, 10, first.directory);
   for (int child = 0; child < 2; child++) {
      answer = service_ask(&second, "m", 0, child, "the same");
      assert_true(answer->replayed);
      assert_string_equal(answer->text, "Here it is: \xce\xba = 1.\n");
      assert_true(answer->worth_usd > 0);
      rkb_llm_answer_free(answer);
   }
   assert_true(fabs(rkb_llm_spent(second.llm) - spent) < 1e-12);
   service_close(&second);
   free(first.directory);
   service_remove(&second);
}

/* A process that is killed while a question is in flight leaves a reservation, which is charged whole.  The
 * question may be asked again. */
static void a_killed_question_is_charged(void **state) {
   service_t service;
   char models[512], directory[] = "/tmp/rkb-llm-kill-XXXXXX";
   int pipes[2];
   (void)state;
   assert_int_equal(pipe(pipes), 0);
   assert_non_null(mkdtemp(directory));
   pid_t child = fork();
   if (child == 0) {
      service_t mine;
      rkb_llm_answer_t *answer;
      close(pipes[0]);
      service_open(&mine, paid_model(models, sizeof models, "endless", ""), 10, NULL);
      if (write(pipes[1], mine.directory, strlen(mine.directory) + 1) < 0)
         _exit(1);
      answer = service_ask(&mine, "m", 0, 0, "never answered");
      rkb_llm_answer_free(answer);
      _exit(0);
   }
   char path[256] = "";
   close(pipes[1]);
   assert_true(read(pipes[0], path, sizeof path) > 0);
   close(pipes[0]);
   /* Its reservation is committed before anything is sent: wait for the row, then kill. */
   for (int i = 0; i < 6000 && service_number(path, "SELECT count(*) FROM call WHERE state = 'reserved'") < 1;
        i++)
      usleep(20000);
   kill(child, SIGKILL);
   waitpid(child, NULL, 0);
   double reserved = service_number(path, "SELECT sum(reserved_usd) FROM call");
   assert_true(reserved > 1);
   service_open(&service, paid_model(models, sizeof models, "plain", ""), 10, path);
   assert_true(fabs(rkb_llm_spent(service.llm) - reserved) < 1e-12);
   assert_int_equal(
      (int)service_number(path, "SELECT count(*) FROM call WHERE estimated = 1 AND outcome = 'abandoned'"),
      1);
   service_close(&service);
   service_remove(&service);
   rmdir(directory);
}

static void a_recording_replays(void **state) {
   service_t service;
   char models[1024], cassette[64] = "/tmp/rkb-cassette-XXXXXX", more[160];
   char *bytes = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   (void)state;
   close(mkstemp(cassette));
   snprintf(more, sizeof more, ", record: %s", cassette);
   service_open(&service, paid_model(models, sizeof models, "plain", more), 10, NULL);
   rkb_llm_answer_free(service_ask(&service, "m", 0, 0, "a question\nof two lines: \"quoted\"\ttab"));
   rkb_llm_answer_free(service_ask(&service, "m", 1, 0, "another\r\n  indented"));
   service_close(&service);
   service_remove(&service);
   assert_int_equal(rkb_file_read(cassette, 1 << 20, &bytes, &length, &err), RKB_OK);
   assert_null(memmem(bytes, length, PLANTED_KEY, strlen(PLANTED_KEY)));
   assert_non_null(strstr(bytes, "origin: recorded"));
   free(bytes);
   snprintf(more, sizeof more, ", replay: %s", cassette);
   service_open(&service, paid_model(models, sizeof models, "plain", more), 10, NULL);
   const char *const texts[] = {"a question\nof two lines: \"quoted\"\ttab", "another\r\n  indented",
                                "never asked"};
   for (int i = 0; i < 3; i++) {
      rkb_llm_answer_t *answer = service_ask(&service, "m", i, 0, texts[i]);
      assert_int_equal(answer->outcome, i < 2 ? RKB_LLM_ANSWERED : RKB_LLM_REJECTED);
      assert_string_equal(answer->text, i < 2 ? "Here it is: \xce\xba = 1.\n" : "");
      assert_true(answer->paid_usd == 0);
      rkb_llm_answer_free(answer);
   }
   service_close(&service);
   service_remove(&service);
   unlink(cassette);
}

/* One run after the other: read finds what read-write left, leaves nothing itself, and off looks for nothing. */
static void the_cache_serves_other_runs(void **state) {
   static const struct {
      const char *use;
      bool replayed;
   } RUNS[] = {{", cache: read", false}, {", cache: off", false},
               {", cache: read", false}, {", cache: read-write", false},
               {", cache: read", true},  {", cache: read-write", true},
               {", cache: off", false},  {"", false}};
   service_t service;
   char models[512], folder[] = "/tmp/rkb-cache-XXXXXX", command[64];
   (void)state;
   assert_non_null(mkdtemp(folder));
   setenv("XDG_CACHE_HOME", folder, 1);
   for (size_t run = 0; run < sizeof RUNS / sizeof RUNS[0]; run++) {
      service_open(&service, paid_model(models, sizeof models, "plain", RUNS[run].use), 10, NULL);
      rkb_llm_answer_t *answer = service_ask(&service, "m", 0, 0, "the same in many runs");
      assert_int_equal(answer->outcome, RKB_LLM_ANSWERED);
      if (answer->replayed != RUNS[run].replayed)
         fail_msg("run %zu, '%s': replayed %d", run, RUNS[run].use, answer->replayed);
      assert_true(answer->worth_usd > 0);
      assert_int_equal(answer->paid_usd > 0, !RUNS[run].replayed);
      rkb_llm_answer_free(answer);
      /* The second draw of it is a reply of its own, and cached like one. */
      answer = service_ask(&service, "m", 0, 1, "the same in many runs");
      assert_int_equal(answer->replayed, run == 4 || run == 5);
      rkb_llm_answer_free(answer);
      service_close(&service);
      service_remove(&service);
   }
   snprintf(command, sizeof command, "rm -rf '%s'", folder);
   assert_int_equal(system(command), 0);
}

static void commands_answer(void **state) {
   service_t service;
   static const char models[] =
      "echo: {provider: command, command: [sh, -c, \"cat; echo; echo answer; env\"], cost_per_call: 0.25}\n"
      "listed: {provider: command, command: [sh, -c, \"echo $RKB_LISTED $RKB_PLANTED\"], env: [RKB_LISTED], "
      "cost_per_call: 0}\n"
      "fails: {provider: command, command: [sh, -c, \"echo oh no >&2; exit 3\"], cost_per_call: 0.25, "
      "retries: 1, backoff: 5ms}\n"
      "slow: {provider: command, command: [sleep, 60], cost_per_call: 0, retries: 0, timeout: 100ms}\n"
      "absent: {provider: command, command: [no-such-program-anywhere], cost_per_call: 0.25}\n";
   (void)state;
   setenv("RKB_LISTED", "listed", 1);
   service_open(&service, models, 10, NULL);
   rkb_llm_answer_t *answer = service_ask(&service, "echo", 0, 0, "What is it?");
   assert_int_equal(answer->outcome, RKB_LLM_ANSWERED);
   assert_non_null(strstr(answer->text, "Be brief.\n\nWhat is it?\nanswer\n"));
   assert_null(strstr(answer->text, PLANTED_KEY));
   assert_true(fabs(answer->paid_usd - 0.25) < 1e-12);
   rkb_llm_answer_free(answer);
   answer = service_ask(&service, "listed", 1, 0, "?");
   assert_string_equal(answer->text, "listed\n");
   rkb_llm_answer_free(answer);
   answer = service_ask(&service, "fails", 2, 0, "?");
   assert_int_equal(answer->outcome, RKB_LLM_UNREACHABLE);
   assert_non_null(strstr(answer->message, "oh no"));
   assert_true(fabs(answer->paid_usd - 0.5) < 1e-12); /* two attempts ran */
   rkb_llm_answer_free(answer);
   answer = service_ask(&service, "slow", 3, 0, "?");
   assert_int_equal(answer->outcome, RKB_LLM_UNREACHABLE);
   rkb_llm_answer_free(answer);
   answer = service_ask(&service, "absent", 4, 0, "?");
   assert_int_equal(answer->outcome, RKB_LLM_REJECTED);
   assert_true(answer->paid_usd == 0);
   rkb_llm_answer_free(answer);
   service_close(&service);
   service_remove(&service);
}

typedef struct refused_entry {
   const char *models, *says;
   double cost_limit;
} refused_entry_t;

static void entries_are_checked(void **state) {
   static const refused_entry_t ENTRIES[] = {
      {"m: {provider: openai, model: nobody-knows-it, max_output_tokens: 10}",
       "has no price, and limits.cost_usd is set", 1},
      {"m: {provider: openai, model: gpt-5-mini}", "needs max_output_tokens", 1},
      {"m: {provider: command, command: [x]}", "needs cost_per_call", 1},
      {"m: {provider: anthropic, model: x}", "needs max_output_tokens", -1},
      {"m: {provider: opnai, model: x}", "did you mean 'openai'", -1},
      {"m: {provider: openai}", "needs model:", -1},
      {"m: {provider: openai, model: x, key: sk-secret}", "never the value itself", -1},
      {"m: {provider: openai, model: x, base_url: 'https://user:word@host/v1'}", "user's name or password",
       -1},
      {"m: {provider: openai, model: x, base_url: 'ftp://host'}", "write http://", -1},
      {"m: {provider: openai, model: x, replay: /no/such/file}", "there is no cassette", -1},
      {"m: {provider: openai, model: x, price: {input: 1}}", "price needs output", -1},
      {"m: {provider: openai, model: x, temperatur: 1}", "temperature", -1},
   };
   (void)state;
   for (size_t i = 0; i < sizeof ENTRIES / sizeof ENTRIES[0]; i++) {
      rkb_arena_t *arena = rkb_arena_new(0);
      rkb_problems_t problems;
      rkb_text_t text;
      rkb_problems_init(&problems);
      rkb_text_init(&text, 1 << 16);
      const rkb_yaml_t *yaml =
         rkb_yaml_parse(arena, "p.yaml", ENTRIES[i].models, strlen(ENTRIES[i].models), 1, 1, &problems);
      rkb_models_read(arena, yaml, NULL, ENTRIES[i].cost_limit, NULL, NULL, &problems);
      rkb_problems_write(&problems, &text);
      if (!problems.errors || !strstr(rkb_text_get(&text), ENTRIES[i].says) ||
          !strstr(rkb_text_get(&text), "p.yaml:1:"))
         fail_msg("%s\nsays: %s", ENTRIES[i].models, rkb_text_get(&text));
      assert_null(strstr(rkb_text_get(&text), "sk-secret"));
      rkb_text_free(&text);
      rkb_problems_free(&problems);
      rkb_arena_free(arena);
   }
}

/* Every price that is shipped says which page it was read from, and is one that a pipeline may use. */
static void shipped_prices_have_a_source(void **state) {
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   uint32_t prices = 0;
   (void)state;
   rkb_problems_init(&problems);
   const rkb_yaml_t *table =
      rkb_yaml_get(rkb_yaml_load(arena, RKB_SOURCE_DIR "/pipelines/models/prices.yaml", &problems), "prices");
   for (uint32_t i = 0; i < table->count; i++)
      for (uint32_t j = 0; j < table->items[i]->count; j++, prices++) {
         const rkb_yaml_t *price = table->items[i]->items[j];
         const char *source = NULL;
         if (!rkb_yaml_scalar(rkb_yaml_get(price, "source"), "source", &source, &problems) ||
             !strchr(source, '/'))
            fail_msg("%s has no source", table->items[i]->keys[j]->text);
         char models[256];
         snprintf(models, sizeof models, "m: {provider: %s, model: %s, max_output_tokens: 10}",
                  table->keys[i]->text, table->items[i]->keys[j]->text);
         const rkb_yaml_t *yaml = rkb_yaml_parse(arena, "p.yaml", models, strlen(models), 1, 1, &problems);
         const rkb_llm_model_t *model =
            rkb_models_at(rkb_models_read(arena, yaml, NULL, 1, NULL, NULL, &problems), 0);
         assert_int_equal(problems.errors, 0);
         assert_true(model->input_usd > 0 && model->cached_usd <= model->input_usd &&
                     model->output_usd > model->input_usd);
      }
   assert_true(prices > 0);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
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
      cmocka_unit_test(the_cap_is_never_overrun),
      cmocka_unit_test(reservations_are_waited_for),     cmocka_unit_test(a_reply_is_bought_once),
      cmocka_unit_test(no_more_than_so_many_at_once), cmocka_unit_test(a_minute_has_its_share),
      cmocka_unit_test(a_killed_question_is_charged), cmocka_unit_test(a_recording_replays),
      cmocka_unit_test(the_cache_serves_other_runs),  cmocka_unit_test(commands_answer),
      cmocka_unit_test(entries_are_checked),          cmocka_unit_test(shipped_prices_have_a_source),
   };
   return cmocka_run_group_tests(tests, start, stop);
}
