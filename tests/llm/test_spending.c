/* Money and keys through a whole run: the cap's end, what validate refuses, bandits, and where a key might show. */
#include "llm_fixture.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"

static char folder[] = "/tmp/rkb-spending-XXXXXX";
static provider_server_t server;

static const char *path_of(char out[256], const char *name) {
   snprintf(out, 256, "%s/%s", folder, name);
   return out;
}

static void write_file(const char *name, const char *fmt, ...) {
   char path[256], text[8192];
   rkb_error_t err = {0};
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(text, sizeof text, fmt, ap);
   va_end(ap);
   assert_int_equal(rkb_file_write(path_of(path, name), text, strlen(text), &err), RKB_OK);
}

static char *read_text(const char *name) {
   char path[256], *text = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   assert_int_equal(rkb_file_read(path_of(path, name), 4 << 20, &text, &length, &err), RKB_OK);
   return text;
}

static int run(const char *pipeline, const char *name, bool resume) {
   char file[256], directory[256];
   return run_finish(run_start(path_of(file, pipeline), path_of(directory, name), resume, "2"));
}

static double number(const char *name, const char *sql) {
   char directory[256];
   return service_number(path_of(directory, name), sql);
}

/* A model that is a program: the n-th answer is a kernel of its own, so that none is a duplicate. */
static void write_models(void) {
   write_file(
      "good.sh",
      "n=$(( $(cat %s/count 2>/dev/null || echo 0) + 1 )); echo $n > %s/count\n"
      "echo '```'\n"
      "sed \"s/default: [0-9]*, choices: .[^]]*./default: $((64 << n %% 3)), choices: [$((64 << n %% 3))]/; "
      "s/KERNEL/scale_$n/\" %s/kernel.cu\n"
      "echo '```'\n",
      folder, folder, folder);
   write_file("poor.sh", "echo I have no idea.\n");
   write_file(
      "kernel.cu",
      "/* rkb-kernel: 1\ntask: llama_rmsnorm\ndirection: forward\ntune:\n"
      "  BLOCK: {default: 64, choices: [32, 64, 128, 256]}\nlaunches:\n"
      "  - {kernel: KERNEL<BLOCK>, grid: B * T, block: BLOCK, args: \"x, weight, y, eps, D\"}\n*/\n"
      "template <int block> __global__ void KERNEL(const float *x, const float *weight, float *y, float eps, int D) {\n"
      "   __shared__ float part[block];\n"
      "   const float *row = x + (long long)blockIdx.x * D;\n"
      "   float *out = y + (long long)blockIdx.x * D, sum = 0.0f;\n"
      "   for (int i = threadIdx.x; i < D; i += block)\n      sum += row[i] * row[i];\n"
      "   part[threadIdx.x] = sum;\n"
      "   for (int half = block / 2; half > 0; half /= 2) {\n      __syncthreads();\n"
      "      if (threadIdx.x < half)\n         part[threadIdx.x] += part[threadIdx.x + half];\n   }\n"
      "   __syncthreads();\n   sum = part[0];\n"
      "   const float inverse = rsqrtf(sum / D + eps);\n"
      "   for (int i = threadIdx.x; i < D; i += block)\n      out[i] = row[i] * inverse * weight[i];\n}\n");
}

#define HEAD "rkb: 1\nname: spending\ntask: %s/tasks/llama_rmsnorm\ntarget: h200\n"

/* 2.5 USD buy two answers of 1 USD.  The third question is not asked, tuning continues to the last
 * generation, and the run says so. */
static void the_cap_leaves_free_operators(void **state) {
   (void)state;
   write_file("capped.yaml",
              HEAD
              "limits: {generations: 4, cost_usd: 2.5}\n"
              "models:\n  m: {provider: command, command: [sh, %s/good.sh], env: [PATH], cost_per_call: 1}\n"
              "propose:\n  - {use: rkb.translator.llm, with: {models: [{model: m}]}}\n"
              "screen:\n  - {use: rkb.verifier.lint}\n"
              "search:\n  use: rkb.strategy.best_of_n\n  window: 4\n  operators:\n"
              "    - {use: rkb.mutator.llm, id: improve, with: {mode: improve, models: [{model: m}]}}\n"
              "    - {use: rkb.mutator.tune}\n",
              RKB_SOURCE_DIR, folder);
   char command[512];
   snprintf(command, sizeof command,
            "%s/bin/rkb-run %s/capped.yaml --out %s/capped --jobs 2 > %s/capped.said 2>&1", RKB_BINARY_DIR,
            folder, folder, folder);
   assert_int_equal(system(command) >> 8, 1); /* nothing executes what is found */
   assert_true(number("capped", "SELECT sum(cost_usd) FROM call") == 2);
   assert_true(number("capped", "SELECT count(*) FROM call") == 2);
   assert_true(
      number("capped", "SELECT count(*) FROM request WHERE section = 'search' AND state = 'finished'") == 16);
   assert_true(
      number("capped", "SELECT count(*) FROM request WHERE operator = 'improve' AND state = 'finished'") > 2);
   char *said = read_text("capped.said");
   assert_non_null(strstr(said, "such questions are not asked any more; what is free goes on"));
   free(said);
}

/* Where every operator costs, the run ends with its group open, and goes on with a higher limit. */
static void without_free_operators_it_ends(void **state) {
   static const char pipeline[] =
      HEAD "limits: {generations: 3, cost_usd: %s}\n"
           "models:\n  m: {provider: command, command: [sh, %s/good.sh], env: [PATH], cost_per_call: 1}\n"
           "propose:\n  - {use: rkb.translator.llm, with: {models: [{model: m}]}}\n"
           "screen:\n  - {use: rkb.verifier.lint}\n"
           "search:\n  use: rkb.strategy.best_of_n\n  window: 2\n  operators:\n"
           "    - {use: rkb.mutator.llm, id: improve, with: {mode: improve, models: [{model: m}]}}\n";
   (void)state;
   write_file("spent.yaml", pipeline, RKB_SOURCE_DIR, "2.5", folder);
   run("spent.yaml", "spent", false);
   assert_true(number("spent", "SELECT sum(cost_usd) FROM call") == 2);
   assert_true(
      number("spent", "SELECT count(*) FROM request WHERE section = 'search' AND state = 'finished'") < 6);
   write_file("spent.yaml", pipeline, RKB_SOURCE_DIR, "100", folder);
   run("spent.yaml", "spent", true);
   assert_true(
      number("spent", "SELECT count(*) FROM request WHERE section = 'search' AND state = 'finished'") == 6);
   assert_true(
      number(
         "spent",
         "SELECT count(*) FROM (SELECT 1 FROM call GROUP BY request, stage, child HAVING count(*) > 1)") ==
      0);
}

/* What rkb validate says of one model while cost_usd is set; it exits 2 and names the place. */
static void validate_refuses_what_is_not_bounded(void **state) {
   static const struct {
      const char *model, *says;
   } CASES[] = {
      {"{provider: openai, model: unheard-of, max_output_tokens: 10}",
       "has no price, and limits.cost_usd is set"},
      {"{provider: gemini, model: gemini-2.5-pro, max_output_tokens: 10}",
       "has no price, and limits.cost_usd is set"},
      {"{provider: openai, model: gpt-5-mini}",
       "needs max_output_tokens: without it nothing bounds what a request costs"},
      {"{provider: openai, base_url: \"http://localhost:1/v1\", model: x, price: {input: 0, output: 0}}",
       "needs max_output_tokens"},
      {"{provider: command, command: [cat]}", "with limits.cost_usd it needs cost_per_call"},
      {"{provider: openai, model: gpt-5-mini, max_output_tokens: 10}", NULL},
      {"{provider: command, command: [cat], cost_per_call: 0}", NULL},
   };
   char command[1024];
   (void)state;
   for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
      write_file("refused.yaml",
                 HEAD "limits: {generations: 1, cost_usd: 1}\nmodels:\n  m: %s\n"
                      "propose:\n  - {use: rkb.translator.llm, with: {models: [{model: m}]}}\n",
                 RKB_SOURCE_DIR, CASES[i].model);
      snprintf(command, sizeof command, "%s/bin/rkb validate %s/refused.yaml > %s/said 2>&1", RKB_BINARY_DIR,
               folder, folder);
      int code = system(command) >> 8;
      char *said = read_text("said");
      if (code != (CASES[i].says ? 2 : 0) ||
          (CASES[i].says && (!strstr(said, CASES[i].says) || !strstr(said, "refused.yaml:7:"))))
         fail_msg("%s: %d, %s", CASES[i].model, code, said);
      free(said);
   }
}

/* A model that helps and costs one cent, against a model that does not help and costs five.  After one try of
 * each, the first is asked. */
static void a_bandit_prefers_what_pays(void **state) {
   static const char *const choices[] = {"ucb", "thompson"};
   (void)state;
   for (int i = 0; i < 2; i++) {
      char pipeline[32];
      snprintf(pipeline, sizeof pipeline, "%s.yaml", choices[i]);
      write_file(
         pipeline,
         HEAD
         "limits: {generations: 8, cost_usd: 100}\n"
         "objective: {minimise: [model.predicted_us], over: bench, combine: geomean}\n"
         "models:\n"
         "  poor: {provider: command, command: [sh, %s/poor.sh], env: [PATH], cost_per_call: 0.05}\n"
         "  good: {provider: command, command: [sh, %s/good.sh], env: [PATH], cost_per_call: 0.01}\n"
         "propose:\n  - {use: rkb.translator.llm, with: {models: [{model: good}]}}\n"
         "screen:\n  - {use: rkb.verifier.lint}\n  - {use: rkb.verifier.machine, with: {families: 1, shapes: 0}}\n"
         "  - {use: rkb.profiler.model}\n"
         "search:\n  use: rkb.strategy.best_of_n\n  window: 2\n  operators:\n"
         "    - {use: rkb.mutator.llm, id: improve, with: {mode: improve, choice: %s, models: [{model: poor}, "
         "{model: good}]}}\n",
         RKB_SOURCE_DIR, folder, folder, choices[i]);
      assert_int_equal(run(pipeline, choices[i], false), 0);
      double good =
                number(choices[i], "SELECT count(*) FROM call WHERE stage = 'improve' AND model = 'good'"),
             poor =
                number(choices[i], "SELECT count(*) FROM call WHERE stage = 'improve' AND model = 'poor'");
      if (!(good + poor >= 16 && poor >= 1 && good >= 2 * poor))
         fail_msg("%s: %g questions to the good model, %g to the poor one", choices[i], good, poor);
   }
}

/* The key is in this process's environment, as in a person's shell.  Every provider fails in its own way, a
 * program answers, and kernels are compiled.  Nothing that the run wrote, printed, cached or passed to a
 * child has the key. */
static void a_key_shows_nowhere(void **state) {
   static const char *const faults[] = {
      "echo-key",         "echo-key-cut",     "echo-key-page", "echo-key-reply", "echo-key-stream",
      "echo-key-refused", "limited-for-ever", "dies",          "garbage",        "plain"};
   char models[6000] = "", list[1024] = "", cache[256], command[1024];
   (void)state;
   for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
      size_t used = strlen(models);
      snprintf(
         models + used, sizeof models - used,
         "  f%zu: {provider: openai, base_url: \"http://127.0.0.1:%d/v1\", model: %s, key: {env: RKB_PLANTED}, "
         "max_output_tokens: 10, price: {input: 1, output: 1}, retries: 1, backoff: 5ms, cache: read-write, "
         "record: %s/keys.cassette.yaml}\n",
         i, server.port, faults[i], folder);
      used = strlen(list);
      snprintf(list + used, sizeof list - used, "{model: f%zu}, ", i);
   }
   /* The program writes down its own environment and those of its siblings, the compiler among them. */
   write_file(
      "look.sh",
      "{ env; for p in /proc/[0-9]*; do\n"
      "  if grep -q \"^PPid:[[:space:]]*$PPID\\$\" $p/status 2>/dev/null; then tr '\\0' '\\n' < $p/cmdline; "
      "tr '\\0' '\\n' < $p/environ; fi\ndone; } >> %s/children 2>/dev/null\n. %s/good.sh\n",
      folder, folder);
   write_file(
      "keys.yaml",
      HEAD
      "limits: {generations: 2, cost_usd: 100}\nmodels:\n%s"
      "  look: {provider: command, command: [sh, %s/look.sh], env: [PATH], cost_per_call: 0}\n"
      "propose:\n  - {use: rkb.translator.llm, id: broken, with: {proposals: 16, models: [%s{model: look}]}}\n"
      "  - {use: rkb.translator.llm, id: works, with: {proposals: 3, models: [{model: look}]}}\n"
      "screen:\n  - {use: rkb.verifier.lint}\n  - {use: rkb.profiler.model}\n"
      "search:\n  use: rkb.strategy.best_of_n\n  window: 8\n  operators:\n"
      "    - {use: rkb.mutator.llm, id: improve, with: {mode: improve, models: [%s{model: look}]}}\n",
      RKB_SOURCE_DIR, models, folder, list, list);
   setenv("RKB_PLANTED", PLANTED_KEY, 1);
   setenv("XDG_CACHE_HOME", path_of(cache, "cache"), 1);
   run("keys.yaml", "keys", false);
   unsetenv("XDG_CACHE_HOME");
   unsetenv("RKB_PLANTED");
   assert_true(number("keys", "SELECT count(DISTINCT outcome) FROM call") >= 4);
   char *children = read_text("children");
   assert_non_null(strstr(children, "rkb-compiler"));
   free(children);
   snprintf(command, sizeof command, "! grep -r -a -l -F '%.10s' '%s' >&2", PLANTED_KEY, folder);
   assert_int_equal(system(command), 0);
}

static int start(void **state) {
   (void)state;
   provider_server_start(&server);
   if (!mkdtemp(folder))
      return -1;
   write_models();
   return 0;
}

static int stop(void **state) {
   char command[128];
   (void)state;
   provider_server_stop(&server);
   snprintf(command, sizeof command, "rm -rf '%s'", folder);
   return getenv("KEEP") ? 0 : system(command);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_cap_leaves_free_operators),
      cmocka_unit_test(without_free_operators_it_ends),
      cmocka_unit_test(validate_refuses_what_is_not_bounded),
      cmocka_unit_test(a_bandit_prefers_what_pays),
      cmocka_unit_test(a_key_shows_nowhere),
   };
   return cmocka_run_group_tests(tests, start, stop);
}
