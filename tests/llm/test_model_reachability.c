/* What is found out about models before a run begins: which have no key, which have no server, and which
 * their servers do not know; and to which servers keys are sent meanwhile. */
#include "llm_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "llm/model_reachability.h"

typedef struct row {
   const char *name, *provider, *path, *model, *more; /* path: behind the server's address; NULL: the whole of base_url is in more */
   uint32_t state;                                    /* 0: not asked for */
   const char *text;                                  /* part of what is said */
} row_t;

static const row_t ROWS[] = {
   {"listed", "openai", "/v1", "plain", "", RKB_PRESENCE_FOUND, ""},
   {"alias", "openai", "/v1", "alias", "", RKB_PRESENCE_FOUND, ""},
   {"misspelt", "openai", "/v1", "plaim", "", RKB_PRESENCE_UNKNOWN, "did you mean 'plain'?"},
   {"unknown", "openai", "/v1", "no-such", "", RKB_PRESENCE_UNKNOWN, "has no model 'no-such'"},
   {"responses", "openai-responses", "/v1", "plain", "", RKB_PRESENCE_FOUND, ""},
   {"anthropic", "anthropic", "", "plain", "", RKB_PRESENCE_FOUND, ""},
   {"anthropic-unknown", "anthropic", "", "no-such", "", RKB_PRESENCE_UNKNOWN, "has no model 'no-such'"},
   {"gemini", "gemini", "", "plain", "", RKB_PRESENCE_FOUND, ""},
   {"gemini-unknown", "gemini", "", "no-such", "", RKB_PRESENCE_UNKNOWN, "has no model"},
   {"azure", "azure", "/openai/deployments/d?api-version=2024-10-21", "plain", "", RKB_PRESENCE_UNTOLD, "status 404"},
   {"silent", "openai", "/silent", "plain", "", RKB_PRESENCE_UNTOLD, "does not say which models it has"},
   {"refused", "openai", "/v1", "plain", ", key: {env: RKB_WRONG}", RKB_PRESENCE_REFUSED, "does not take the key"},
   {"no-key", "openai", "/v1", "plain", ", key: {env: RKB_ABSENT}", RKB_PRESENCE_NO_KEY, "the environment has no RKB_ABSENT"},
   {"dead", "openai", NULL, "plain", ", base_url: \"http://127.0.0.1:1/v1\"", RKB_PRESENCE_UNREACHABLE, "127.0.0.1:1"},
   {"taken", "openai", "/v1", "no-such", ", check: false", 0, NULL},
};
#define ROW_COUNT (sizeof ROWS / sizeof ROWS[0])

static provider_server_t server;
static rkb_presence_report_t reports[ROW_COUNT];
static char names[ROW_COUNT][32]; /* of the reports' models, which live no longer than the models */
static uint32_t report_count;

static void keep(void *argument, const rkb_presence_report_t *report) {
   (void)argument;
   assert_true(report_count < ROW_COUNT);
   snprintf(names[report_count], sizeof names[0], "%s", report->model);
   reports[report_count++] = *report;
}

static void look(bool send_keys) {
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_yaml_t *yaml;
   rkb_text_t text;
   rkb_problems_init(&problems);
   rkb_text_init(&text, 1 << 16);
   for (size_t i = 0; i < ROW_COUNT; i++) {
      const row_t *row = &ROWS[i];
      rkb_text_format(&text, "%s: {provider: %s, model: %s, max_output_tokens: 100", row->name, row->provider, row->model);
      if (row->path)
         rkb_text_format(&text, ", base_url: \"http://127.0.0.1:%d%s\"", server.port, row->path);
      if (!strstr(row->more, "key:"))
         rkb_text_add(&text, ", key: {env: RKB_PLANTED}");
      rkb_text_format(&text, "%s}\n", row->more);
   }
   yaml = rkb_yaml_parse(arena, "models.yaml", rkb_text_get(&text), text.length, 1, 1, &problems);
   assert_non_null(yaml);
   rkb_models_t *models = rkb_models_read(arena, yaml, NULL, -1, NULL, NULL, &problems);
   assert_int_equal(problems.errors, 0);
   report_count = 0;
   rkb_models_look_for(models, send_keys, keep, NULL);
   rkb_problems_free(&problems);
   rkb_text_free(&text);
   rkb_arena_free(arena);
}

static void every_model_is_looked_for(void **state) {
   uint32_t at = 0;
   (void)state;
   look(true);
   for (size_t i = 0; i < ROW_COUNT; i++) {
      if (!ROWS[i].state)
         continue;
      const rkb_presence_report_t *report = &reports[at];
      assert_string_equal(names[at++], ROWS[i].name);
      if (report->state != ROWS[i].state || !strstr(report->text, ROWS[i].text))
         fail_msg("%s: %u (%s)", ROWS[i].name, report->state, report->text);
      assert_null(strstr(report->text, PLANTED_KEY));
   }
   assert_int_equal(at, report_count);
}

/* A command that only looks at a stranger's pipeline sends no key to the stranger's server. */
static void a_look_sends_no_key(void **state) {
   char path[64], *log = NULL;
   size_t length;
   rkb_error_t err;
   (void)state;
   snprintf(path, sizeof path, "%s/asked", server.folder);
   assert_int_equal(truncate(path, 0), 0);
   look(false);
   assert_int_equal(rkb_file_read(path, 1 << 20, &log, &length, &err), RKB_OK);
   assert_non_null(memmem(log, length, "without a key", 13));
   assert_null(memmem(log, length, "with a key", 10));
   free(log);
}

static int start(void **state) {
   (void)state;
   setenv("RKB_PLANTED", PLANTED_KEY, 1);
   setenv("RKB_WRONG", "wrong-key", 1);
   unsetenv("RKB_ABSENT");
   provider_server_start(&server);
   return 0;
}

static int stop(void **state) {
   (void)state;
   provider_server_stop(&server);
   return 0;
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_model_is_looked_for), cmocka_unit_test(a_look_sends_no_key)};
   return cmocka_run_group_tests(tests, start, stop);
}
