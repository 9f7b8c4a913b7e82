/* stock-llm from beginning to end from a cassette, also killed on the way: translation, a wrong kernel
 * repaired from its evidence, an improvement, a crossover, and judges.  Nothing is bought twice. */
#include "llm_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"

#define DIFF RKB_BINARY_DIR "/bin/rkb"

static char folder[] = "/tmp/rkb-stock-llm-XXXXXX";

static void path_of(char *out, size_t size, const char *name) {
   snprintf(out, size, "%s/%s", folder, name);
}

static void the_whole_way(void **state) {
   char run[256];
   (void)state;
   path_of(run, sizeof run, "whole");
   assert_int_equal(run_finish(run_start(RKB_SOURCE_DIR "/tests/llm/stock-llm.yaml", run, false, "2")), 0);
   /* A translation is right, another is wrong; a reply without a kernel and a cut one are kept and rejected.
    */
   assert_true(
      service_number(
         run, "SELECT count(*) FROM candidate WHERE operator = 'translate' AND standing = 'accept'") == 1);
   assert_true(
      service_number(
         run,
         "SELECT count(*) FROM candidate WHERE operator = 'translate' AND reason = 'numeric.mismatch'") == 1);
   assert_true(
      service_number(
         run,
         "SELECT count(*) FROM candidate WHERE operator = 'translate' AND note LIKE '%cannot be used%'") ==
      2);
   /* The wrong one is mended by an edit, from evidence that the prompt showed. */
   assert_true(service_number(
                  run, "SELECT count(*) FROM candidate WHERE operator = 'fix' AND standing = 'accept'") >= 1);
   assert_true(
      service_number(
         run,
         "SELECT count(*) FROM call c JOIN document d ON d.hash = c.prompt_hash WHERE c.stage = 'fix' AND "
         "instr(d.text, 'numeric.mismatch') AND instr(d.text, 'evidence')") >= 1);
   assert_true(service_number(
                  run, "SELECT count(*) FROM candidate WHERE operator = 'improve' AND standing = 'accept'") >=
               1);
   assert_true(service_number(
                  run,
                  "SELECT count(*) FROM candidate c WHERE operator = 'crossover' AND standing = 'accept' AND "
                  "(SELECT count(*) FROM parent p WHERE p.child = c.id) = 2") >= 1);
   assert_true(
      service_number(run, "SELECT count(*) FROM verdict WHERE stage LIKE 'judge_%' AND shadow = 1") >= 3);
   /* Nothing was paid, everything has its worth, its prompt and where that came from. */
   assert_true(service_number(run, "SELECT sum(cost_usd) FROM call") == 0);
   assert_true(service_number(run, "SELECT min(worth_usd) FROM call") > 0);
   assert_true(service_number(run, "SELECT count(*) FROM call WHERE prompt_hash IS NULL OR provenance_hash "
                                   "IS NULL OR source <> 'cassette'") == 0);
}

/* How many questions of that stage show the text in their prompt. */
static double prompts_with(const char *run, const char *stage, const char *text) {
   char sql[512];
   snprintf(sql, sizeof sql,
            "SELECT count(*) FROM call c JOIN document d ON d.hash = c.prompt_hash WHERE c.stage = '%s' AND "
            "c.child < 64 AND instr(d.text, '%s')",
            stage, text);
   return service_number(run, sql);
}

/* A model that is asked to improve a kernel reads what limits the kernel in each case, what may help, what
 * the compiler reported, and what was tried before. */
static void prompts_show_what_limits_the_parent(void **state) {
   static const char *const shown[] = {"case ", "; limited by ", "; bottleneck: ", "; what treats it: ",
                                       "build.registers = ", "model.occupancy = "};
   char run[256];
   (void)state;
   path_of(run, sizeof run, "whole");
   double questions = prompts_with(run, "improve", "");
   assert_true(questions >= 1);
   for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
      if (prompts_with(run, "improve", shown[i]) != questions)
         fail_msg("%g of %g prompts show '%s'", prompts_with(run, "improve", shown[i]), questions, shown[i]);
   assert_true(prompts_with(run, "improve", "times as good as its parent") >= 1);
}

/* stock-llm itself: the machine decides, and judges hear a sampled share in the shadow, wrong kernels among it. */
static void a_sampled_share_calibrates(void **state) {
   char run[256], command[1024], *report = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   (void)state;
   path_of(run, sizeof run, "whole");
   snprintf(command, sizeof command, "%s report %s > %s/stock-report", DIFF, run, folder);
   assert_int_equal(system(command), 0);
   snprintf(command, sizeof command, "%s/stock-report", folder);
   assert_int_equal(rkb_file_read(command, 1 << 20, &report, &length, &err), RKB_OK);
   const char *compile = strstr(report, "judge_compile: "), *numbers = strstr(report, "judge_numbers: ");
   assert_true(compile && numbers);
   /* One kernel does not compile, and the judge called it right; one has wrong numbers, and was found. */
   assert_non_null(strstr(compile, "recall     0.00  [0.00, 0.79]  of 1\n"));
   assert_non_null(strstr(numbers, "precision  1.00  [0.21, 1.00]  of 1\n"));
   assert_non_null(strstr(numbers, "recall     1.00  [0.21, 1.00]  of 1\n"));
   assert_non_null(strstr(numbers, "USD, 0.00075 a candidate"));
   free(report);
   assert_true(
      service_number(run, "SELECT count(*) FROM verdict WHERE stage LIKE 'judge_%' AND NOT shadow") == 0);
}

/* In every generation (scratchpad: 1; windows of 8), the first request that sees one more generation writes a
 * note.  Only requests at least a window later see the note, and all of them that ask a model do. */
static void lessons_are_distilled_and_seen(void **state) {
   char run[256];
   (void)state;
   path_of(run, sizeof run, "whole");
   assert_true(
      service_number(run, "SELECT count(*) FROM candidate WHERE instr(note, 'lessons of generation')") >= 1);
   assert_true(service_number(run,
                              "SELECT count(*) FROM candidate WHERE instr(note, 'lessons of generation') AND "
                              "request NOT IN (15, 23, 31)") == 0);
   assert_true(
      service_number(run, "SELECT count(*) FROM call WHERE child = 64 AND stage NOT LIKE 'judge_%'") ==
      service_number(run, "SELECT count(*) FROM candidate WHERE instr(note, 'lessons of generation')"));
   static const char shown[] =
      "FROM call c JOIN document d ON d.hash = c.prompt_hash WHERE c.stage IN ('fix', 'improve', "
      "'crossover', 'explore') AND c.child < 64 AND instr(d.text, 'lessons of generation')";
   char sql[512];
   snprintf(sql, sizeof sql,
            "SELECT min(c.request) - (SELECT min(request) FROM candidate WHERE instr(note, 'lessons of "
            "generation')) %s",
            shown);
   assert_true(service_number(run, sql) >= 8);
   snprintf(sql, sizeof sql, "SELECT count(*) %s", shown);
   double prompts = service_number(run, sql);
   assert_true(prompts >= 1);
   assert_true(prompts ==
               service_number(run,
                              "SELECT count(*) FROM call WHERE child < 64 AND request >= 8 + (SELECT "
                              "min(request) FROM candidate WHERE instr(note, 'lessons of generation')) AND "
                              "stage IN ('fix', 'improve', 'crossover', 'explore')"));
}

static void without_a_scratchpad_there_are_no_lessons(void **state) {
   char run[256], pipeline[256], text[1024];
   rkb_error_t err = {0};
   (void)state;
   path_of(run, sizeof run, "plain");
   path_of(pipeline, sizeof pipeline, "plain.yaml");
   snprintf(
      text, sizeof text,
      "rkb: 1\nextends: %s/tests/llm/stock-llm.yaml\nname: plain\nset:\n"
      "  search.operators.improve.with.scratchpad: 0\n  search.operators.fix.with.scratchpad: 0\n"
      "  search.operators.crossover.with.scratchpad: 0\n  search.operators.explore.with.scratchpad: 0\n",
      RKB_SOURCE_DIR);
   assert_int_equal(rkb_file_write(pipeline, text, strlen(text), &err), RKB_OK);
   assert_int_equal(run_finish(run_start(pipeline, run, false, "2")), 0);
   assert_true(
      service_number(run, "SELECT count(*) FROM document WHERE instr(text, 'lessons of generation')") == 0);
   assert_true(service_number(run, "SELECT count(*) FROM candidate WHERE instr(note, 'lessons')") == 0);
}

static int lines_of(const char *path);

/* Waits until a run has finished more questions than before, or has bought more (a line each in the file), or
 * has ended: then false, with its exit code. */
static bool goes_on(pid_t pid, int *code, const char *run, int finished, const char *bought, int lines) {
   static const char sql[] = "SELECT count(*) FROM call WHERE state = 'finished'";
   for (;;) {
      if (waitpid(pid, code, WNOHANG) == pid) {
         *code = WIFEXITED(*code) ? WEXITSTATUS(*code) : -1;
         return false;
      }
      if (bought ? lines_of(bought) > lines : run_count(run, sql) > finished)
         return true;
      usleep(2000);
   }
}

/* Killed again and again, stock-llm ends as if it had not been: no question is kept twice, no candidate differs. */
static void stock_survives_kills(void **state) {
   char whole[256], run[256], command[1024];
   int kills = 0, code = 0;
   (void)state;
   path_of(whole, sizeof whole, "whole");
   path_of(run, sizeof run, "shot");
   pid_t pid = run_start(RKB_SOURCE_DIR "/tests/llm/stock-llm.yaml", run, false, "2");
   run_wait_until_asked(run);
   while (kills < 6) {
      int finished = run_count(run, "SELECT count(*) FROM call WHERE state = 'finished'");
      if (!goes_on(pid, &code, run, finished + kills, NULL, 0)) {
         pid = 0;
         break;
      }
      kill(pid, SIGKILL);
      waitpid(pid, NULL, 0);
      kills++;
      pid = run_start(RKB_SOURCE_DIR "/tests/llm/stock-llm.yaml", run, true, "2");
   }
   if (pid)
      code = run_finish(pid);
   assert_int_equal(code, 0);
   assert_true(kills > 0);
   assert_true(service_number(
                  run, "SELECT count(*) FROM (SELECT 1 FROM call WHERE state = 'finished' GROUP BY request, "
                       "stage, child HAVING count(*) > 1)") == 0);
   assert_true(service_number(run, "SELECT count(*) FROM call WHERE state = 'finished'") ==
               service_number(whole, "SELECT count(*) FROM call WHERE state = 'finished'"));
   assert_true(service_number(run, "SELECT count(DISTINCT note) FROM candidate") ==
               service_number(whole, "SELECT count(DISTINCT note) FROM candidate"));
   snprintf(command, sizeof command, "%s diff %s %s > %s/diff", DIFF, whole, run, folder);
   assert_int_equal(system(command), 0);
}

static void workers_change_nothing(void **state) {
   char one[256], four[256], command[1024];
   (void)state;
   path_of(one, sizeof one, "whole");
   path_of(four, sizeof four, "four");
   assert_int_equal(run_finish(run_start(RKB_SOURCE_DIR "/tests/llm/stock-llm.yaml", four, false, "4")), 0);
   snprintf(command, sizeof command, "%s diff %s %s > %s/diff", DIFF, one, four, folder);
   assert_int_equal(system(command), 0);
}

/* Judges decide and the machine only watches, so the report says how often judges were right.  The numbers
 * judge finds the one kernel whose numbers are wrong.  The memory judge has nothing to find, and so no
 * recall. */
static void judges_are_calibrated(void **state) {
   char run[256], command[1024], report[256], *text = NULL;
   size_t length = 0;
   rkb_error_t err = {0};
   (void)state;
   path_of(run, sizeof run, "paper");
   path_of(report, sizeof report, "report");
   run_finish(run_start(RKB_SOURCE_DIR "/tests/llm/paper-judges.yaml", run, false, "2"));
   assert_true(service_number(run, "SELECT count(*) FROM verdict WHERE stage = 'judge_numbers' AND standing "
                                   "= 'reject' AND shadow = 0 AND "
                                   "json_extract(evidence, '$.line') > 0") >= 1);
   assert_true(
      service_number(
         run,
         "SELECT count(*) FROM verdict WHERE stage = 'machine' AND standing = 'reject' AND shadow = 1") >= 1);
   /* Each verdict that a model gave has its numbers, and they rank. */
   assert_true(service_number(run, "SELECT count(*) FROM measurement WHERE name = 'judge_numbers.confidence' "
                                   "AND value BETWEEN 0 AND 1") ==
               service_number(run, "SELECT count(*) FROM verdict WHERE stage = 'judge_numbers' AND reason <> "
                                   "'tool.model'"));
   assert_true(service_number(run, "SELECT max(value) FROM measurement WHERE name = 'judge_numbers.severity'") > 0);
   snprintf(command, sizeof command, "%s report %s > %s", DIFF, run, report);
   assert_int_equal(system(command), 0);
   assert_int_equal(rkb_file_read(report, 1 << 20, &text, &length, &err), RKB_OK);
   const char *numbers = strstr(text, "judge_numbers: "), *memory = strstr(text, "judge_memory: ");
   assert_true(numbers && strstr(numbers, "precision  1.00  ["));
   assert_true(numbers && strstr(numbers, "recall     1.00  ["));
   assert_true(memory && strstr(memory, "precision  none to count"));
   assert_true(memory && strstr(memory, "recall     none to count"));
   free(text);
}

/* A model that is a program and writes a line for each question it gets. */
static void write_bought(const char *pipeline, const char *script, const char *bought) {
   char text[8192];
   rkb_error_t err = {0};
   snprintf(text, sizeof text,
            "echo bought >> %s\n"
            "sleep 0.05\n"
            "grep -q 'was rejected' && { echo no kernel; exit; }\n"
            "echo '```'\ncat %s/tasks/llama_rmsnorm/seeds/forward/*.cu | awk '/^.. rkb-kernel/ { n++ } n == "
            "1'\necho '```'\n",
            bought, RKB_SOURCE_DIR);
   assert_int_equal(rkb_file_write(script, text, strlen(text), &err), RKB_OK);
   snprintf(text, sizeof text,
            "rkb: 1\nname: killed\ntask: %s/tasks/llama_rmsnorm\ntarget: h200\nlimits: {generations: 4, "
            "cost_usd: 100}\n"
            "models:\n  m: {provider: command, command: [sh, %s], env: [PATH], cost_per_call: 0.01, limits: "
            "{concurrency: 2}}\n"
            "propose:\n  - {use: rkb.translator.llm, with: {proposals: 3, models: [{model: m}]}}\n"
            "screen:\n  - {use: rkb.verifier.lint}\n"
            "search:\n  use: rkb.strategy.best_of_n\n  window: 4\n  operators:\n"
            "    - {use: rkb.mutator.llm, id: fix, with: {mode: fix, models: [{model: m}]}}\n"
            "    - {use: rkb.mutator.llm, id: improve, with: {mode: improve, models: [{model: m}]}}\n",
            RKB_SOURCE_DIR, script);
   assert_int_equal(rkb_file_write(pipeline, text, strlen(text), &err), RKB_OK);
}

static int lines_of(const char *path) {
   char *bytes = NULL;
   size_t length = 0;
   int lines = 0;
   rkb_error_t err = {0};
   if (rkb_file_read(path, 1 << 20, &bytes, &length, &err) != RKB_OK)
      return 0;
   for (size_t i = 0; i < length; i++)
      lines += bytes[i] == '\n';
   free(bytes);
   return lines;
}

static void killed_and_resumed_it_buys_nothing_twice(void **state) {
   char pipeline[256], script[256], bought[256], run[256];
   int code = 0, kills = 0;
   (void)state;
   path_of(pipeline, sizeof pipeline, "killed.yaml");
   path_of(script, sizeof script, "answer.sh");
   path_of(bought, sizeof bought, "bought");
   path_of(run, sizeof run, "killed");
   write_bought(pipeline, script, bought);
   pid_t pid = run_start(pipeline, run, false, "2");
   run_wait_until_asked(run);
   while (kills < 4) {
      int finished = run_count(run, "SELECT count(*) FROM call WHERE state = 'finished'");
      if (!goes_on(pid, &code, run, finished, kills % 2 ? bought : NULL, lines_of(bought))) {
         pid = 0;
         break;
      }
      kill(pid, SIGKILL);
      waitpid(pid, NULL, 0);
      kills++;
      pid = run_start(pipeline, run, true, "2");
   }
   if (pid)
      code = run_finish(pid);
   assert_true(kills > 0);
   /* Each finished question has one paid row, however often the run was killed.  A question that a kill cut
    * off is charged too, and only such a question is asked again. */
   assert_int_equal(
      (int)service_number(
         run, "SELECT count(*) FROM (SELECT 1 FROM call WHERE state = 'finished' GROUP BY request, stage, "
              "child HAVING count(*) > 1)"),
      0);
   assert_int_equal((int)service_number(run, "SELECT count(*) FROM call WHERE state = 'reserved'"), 0);
   int finished = (int)service_number(run, "SELECT count(*) FROM call WHERE state = 'finished'");
   int abandoned = (int)service_number(run, "SELECT count(*) FROM call WHERE outcome = 'abandoned'");
   int asked = lines_of(bought);
   assert_true(finished >= 3);
   assert_true(asked >= finished && asked <= finished + abandoned);
}

/* A run of one request.  The model answers with a known kernel, changed by the given sed program; once it is
 * told in those words that its answer repeats a candidate, it answers with another seed. */
static void ask_of_a_repeater(const char *name, const char *program, const char *told, const char *options, char *run, size_t size) {
   char pipeline[256], script[256], file[64], text[4096];
   const char *seeds = RKB_SOURCE_DIR "/tasks/softmax/seeds/forward";
   rkb_error_t err = {0};
   snprintf(file, sizeof file, "%s.yaml", name);
   path_of(pipeline, sizeof pipeline, file);
   snprintf(file, sizeof file, "%s.sh", name);
   path_of(script, sizeof script, file);
   path_of(run, size, name);
   snprintf(text, sizeof text,
            "file=block_per_row.cu; program='%s'\ngrep -q '%s' && { file=warp_online.cu; program=; }\n"
            "echo '```'\nsed \"$program\" %s/$file\necho '```'\n", program, told, seeds);
   assert_int_equal(rkb_file_write(script, text, strlen(text), &err), RKB_OK);
   snprintf(text, sizeof text,
            "rkb: 1\nname: again\ntask: %s/tasks/softmax\ntarget: h200\nlimits: {generations: 1, cost_usd: 100}\n"
            "models:\n  m: {provider: command, command: [sh, %s], env: [PATH], cost_per_call: 0.25}\n"
            "propose:\n  - {use: rkb.translator.seed, with: {files: [%s/block_per_row.cu]}}\n"
            "screen:\n  - {use: rkb.verifier.lint}\n"
            "search:\n  use: rkb.strategy.best_of_n\n  window: 1\n  operators:\n"
            "    - {use: rkb.mutator.llm, id: explore, with: {mode: explore, again: 2, %smodels: [{model: m}]}}\n",
            RKB_SOURCE_DIR, script, seeds, options);
   assert_int_equal(rkb_file_write(pipeline, text, strlen(text), &err), RKB_OK);
   run_finish(run_start(pipeline, run, false, "1"));
}

static void was_asked(const char *run, int times) {
   char sql[256];
   snprintf(sql, sizeof sql, "SELECT count(*) FROM candidate WHERE note LIKE 'model m, $%.6f; explore%s%%'", 0.25 * times,
            times > 1 ? "; asked 2 times" : "");
   assert_int_equal((int)service_number(run, "SELECT count(*) FROM call"), times);
   assert_int_equal((int)service_number(run, "SELECT count(*) FROM candidate WHERE duplicate_of IS NULL AND note NOT LIKE '%cannot be used%'"), 2);
   assert_int_equal((int)service_number(run, sql), 1);
}

static void a_repeated_answer_is_asked_again(void **state) {
   char run[256];
   (void)state;
   ask_of_a_repeater("again", "", "repeated candidate 1, which is known already: accept", "", run, sizeof run);
   was_asked(run, 2);
}

/* Another name or another number does not make a kernel new, unless the option says that only texts count.
 * One more barrier does. */
static void a_near_copy_is_asked_again(void **state) {
   static const char renamed[] = "s/of_warp/partial/g; s/block_sum/total_of/g; s/distance = 16/step = 8/; s/distance/step/g", more[] = "s/__syncthreads();/__syncthreads(); __syncthreads();/";
   char run[256];
   (void)state;
   ask_of_a_repeater("near", renamed, "repeated candidate 1 but for names and numbers, which is known already: accept", "", run, sizeof run);
   was_asked(run, 2);
   ask_of_a_repeater("near_text", renamed, "repeated candidate", "near: 2, ", run, sizeof run);
   was_asked(run, 1);
   ask_of_a_repeater("near_more", more, "repeated candidate", "", run, sizeof run);
   was_asked(run, 1);
   ask_of_a_repeater("near_alike", more, "repeated candidate 1 but for [0-9]* % of its code", "near: 0.6, ", run, sizeof run);
   was_asked(run, 2);
}

/* A run on softmax with one operator that asks.  The models are shell scripts: a writer, a planner and an
 * advisor.  Each leaves the questions that it was asked in the archive. */
static void run_of_scripts(const char *name, const char *writer, const char *seeds, const char *operator, int generations, char *run, size_t size) {
   static const char planner[] = "echo 'Two rows a block.'", advisor[] = "echo '1. wider loads'; echo; echo 'lessons of generation 99 (model a, $1):'; echo '2. fewer barriers'";
   /* Of all kernels it calls one with three barriers in a row another. */
   static const char embedder[] = "case $(cat) in *'();__syncthreads();__syncthreads();'*) echo '[1, 0.5, 2]';; *) echo '[1, 0.5, -2]';; esac";
   char pipeline[256], file[64], text[4096];
   rkb_error_t err = {0};
   snprintf(file, sizeof file, "%s.yaml", name);
   path_of(pipeline, sizeof pipeline, file);
   path_of(run, size, name);
   snprintf(text, sizeof text,
            "rkb: 1\nname: scripts\ntask: %s/tasks/softmax\ntarget: h200\nlimits: {generations: %d, cost_usd: 100}\n"
            "objective: {minimise: [model.predicted_us]}\n"
            "models:\n  w: {provider: command, command: [sh, -c, \"%s\"], env: [PATH], cost_per_call: 0.25}\n"
            "  p: {provider: command, command: [sh, -c, \"%s\"], env: [PATH], cost_per_call: 0.5}\n"
            "  a: {provider: command, command: [sh, -c, \"%s\"], env: [PATH], cost_per_call: 1}\n"
            "  e: {provider: command, command: [sh, -c, \"%s\"], env: [PATH], cost_per_call: 0.125}\n"
            "propose:\n  - {use: rkb.translator.seed, with: {files: [%s]}}\n"
            "screen:\n  - {use: rkb.verifier.lint}\n  - {use: rkb.verifier.machine, with: {families: 1, shapes: 0}}\n  - {use: rkb.profiler.model}\n"
            "search:\n  use: rkb.strategy.best_of_n\n  window: 1\n  operators:\n    - {use: rkb.mutator.llm, id: ask, with: {models: [{model: w}], %s}}\n",
            RKB_SOURCE_DIR, generations, writer, planner, advisor, embedder, seeds, operator);
   assert_int_equal(rkb_file_write(pipeline, text, strlen(text), &err), RKB_OK);
   run_finish(run_start(pipeline, run, false, "1"));
}

/* A user's profiler, which is a program: the prompt has its texts under their names, a long one cut, and its
 * number beside them. */
static void documents_of_profilers_reach_prompts(void **state) {
   static const char script[] =
      "read -r hello\necho '{\"rkb_stage\": 1}'\nlong=$(printf '%07000d' 0)\n"
      "while read -r line; do\n  number=$(printf '%s' \"$line\" | sed 's/.*\"question\": *\\([0-9]*\\).*/\\1/')\n"
      "  echo \"{\\\"question\\\": $number, \\\"value\\\": 3, \\\"detail\\\": {\\\"documents\\\": {\\\"roof.txt\\\": \\\"half of the peak\\\", "
      "\\\"long.txt\\\": \\\"${long}end\\\"}}}\"\ndone\n";
   char profiler[256], pipeline[256], run[256], text[2048];
   rkb_error_t err = {0};
   (void)state;
   path_of(profiler, sizeof profiler, "profiler.sh");
   path_of(pipeline, sizeof pipeline, "documents.yaml");
   path_of(run, sizeof run, "documents");
   assert_int_equal(rkb_file_write(profiler, script, strlen(script), &err), RKB_OK);
   snprintf(
      text, sizeof text,
      "rkb: 1\nname: documents\ntask: " RKB_SOURCE_DIR
      "/tasks/softmax\ntarget: h200\nlimits: {generations: 1}\nobjective: {minimise: [mine.value]}\n"
      "models:\n  w: {provider: command, command: [sh, -c, 'echo no kernel'], env: [PATH], cost_per_call: 0}\n"
      "propose:\n  - {use: rkb.translator.seed, with: {files: [" RKB_SOURCE_DIR
      "/tasks/softmax/seeds/forward/block_per_row.cu]}}\n"
      "screen:\n  - {use: rkb.verifier.lint}\n  - {use: rkb.profiler.process, id: mine, with: {command: [sh, %s], folder: /}}\n"
      "search:\n  use: rkb.strategy.best_of_n\n  window: 1\n  operators:\n    - {use: rkb.mutator.llm, id: ask, with: {mode: improve, models: [{model: w}]}}\n",
      profiler);
   assert_int_equal(rkb_file_write(pipeline, text, strlen(text), &err), RKB_OK);
   run_finish(run_start(pipeline, run, false, "1"));
   const double asked = prompts_with(run, "ask", "");
   assert_true(asked >= 1);
   assert_true(prompts_with(run, "ask", "candidate 1, roof.txt of mine.value]") == asked);
   assert_true(prompts_with(run, "ask", "half of the peak") == asked);
   assert_true(prompts_with(run, "ask", "mine.value = 3") == asked);
   assert_true(prompts_with(run, "ask", "long.txt of mine.value]") == asked &&
               prompts_with(run, "ask", "[cut]") == asked);
   assert_true(prompts_with(run, "ask", "000end") == 0 && prompts_with(run, "ask", "details: ") == 0);
}

#define SOFTMAX RKB_SOURCE_DIR "/tasks/softmax/seeds/forward/"

static double asked_by(const char *run, const char *model) {
   char sql[128];
   snprintf(sql, sizeof sql, "SELECT count(*) FROM call WHERE model = '%s'", model);
   return service_number(run, sql);
}

/* The writer sees the plan and the recommendations.  The parent's profile is read once, although three
 * requests work on it.  No line of advice counts as a lesson. */
static void others_plan_and_advise(void **state) {
   char run[256];
   (void)state;
   run_of_scripts("advised", "echo no kernel $$", SOFTMAX "block_per_row.cu", "mode: improve, scratchpad: 1, planner: [{model: p}], advisor: [{model: a}]", 3, run,
                  sizeof run);
   assert_true(prompts_with(run, "ask", "") == 3);
   assert_true(prompts_with(run, "ask", "Two rows a block.") == 3);
   assert_true(prompts_with(run, "ask", "  1. wider loads") == 3);
   assert_true(asked_by(run, "p") == 3 && asked_by(run, "a") == 1);
   assert_true(service_number(run, "SELECT count(*) FROM call c JOIN document d ON d.hash = c.prompt_hash WHERE c.model = 'a' AND instr(d.text, 'limited by')") == 1);
   assert_true(service_number(run, "SELECT count(*) FROM call c JOIN document d ON d.hash = c.prompt_hash WHERE c.model = 'p' AND instr(d.text, 'wider loads')") == 3);
   assert_true(service_number(run, "SELECT count(*) FROM candidate WHERE note LIKE 'model w, $0.750000; improve%'") == 3);
   assert_true(service_number(run, "SELECT count(*) FROM candidate WHERE instr(note, char(10) || 'lessons of generation 99')") == 0);
   /* Two and more rejections are counted for later prompts. */
   assert_true(prompts_with(run, "ask", "2 times ") == 1);
   assert_true(prompts_with(run, "ask", "Of all kernels so far 2 were rejected") == 1);
}

static void a_share_of_prompts_is_lean(void **state) {
   char run[256];
   (void)state;
   run_of_scripts("lean", "echo no kernel", SOFTMAX "block_per_row.cu", "mode: improve, lean: 0.5, planner: [{model: p}]", 8, run, sizeof run);
   const double lean = service_number(run, "SELECT count(*) FROM candidate WHERE note LIKE '%; improve, lean prompt;%'");
   const double rich = service_number(run, "SELECT count(*) FROM candidate WHERE note LIKE '%; improve;%'");
   assert_true(lean >= 1 && rich >= 1 && lean + rich == 8);
   assert_true(prompts_with(run, "ask", "Other kernels that are right") == rich);
   assert_true(asked_by(run, "p") == rich);
   /* A lean prompt shows the kernel and what limits it. */
   assert_true(service_number(run, "SELECT count(*) FROM call c JOIN document d ON d.hash = c.prompt_hash WHERE c.model = 'w' AND instr(d.text, 'limited by') "
                                   "AND instr(d.text, 'block_sum')") == 8);
}

/* What another mutator or a seed got wrong is not a model's to mend, if the option says so. */
static void models_mend_their_own_rejects(void **state) {
   char run[256], broken[256], seeds[512], sed[1024];
   (void)state;
   path_of(broken, sizeof broken, "broken.cu");
   snprintf(sed, sizeof sed, "sed 's/float total = 0.0f;/float total = 1.0f;/' %s > %s", SOFTMAX "block_per_row.cu", broken);
   assert_int_equal(system(sed), 0);
   snprintf(seeds, sizeof seeds, "%s, %s", SOFTMAX "block_per_row.cu", broken);
   run_of_scripts("own", "echo no kernel", seeds, "mode: fix, rejects: models", 2, run, sizeof run);
   assert_true(service_number(run, "SELECT count(*) FROM candidate WHERE standing = 'reject'") == 1);
   assert_true(asked_by(run, "w") == 0);
   run_of_scripts("anybodys", "echo no kernel", seeds, "mode: fix", 2, run, sizeof run);
   assert_true(asked_by(run, "w") == 2 && prompts_with(run, "ask", "float total = 1.0f;") == 2);
}

/* Guidance is written from what kernels gained, later prompts draw it, and a repeated run gets the same.  A
 * kernel that was made with guidance has the guidance's number in its note.  Without the option none of this
 * happens. */
static void prompts_evolve(void **state) {
   static const char writer[] = "p=$(cat); case $p in *'You improve the guidance'*) echo 'Use shuffles.'; echo 'lessons of generation 9';; "
                                "*) echo no kernel $(echo $p | cksum);; esac";
   char run[256], again[256], command[1024];
   (void)state;
   run_of_scripts("evolving", writer, SOFTMAX "block_per_row.cu", "mode: improve, variants: 2", 6, run, sizeof run);
   const double first = service_number(run, "SELECT min(id) FROM candidate WHERE instr(note, char(10) || 'guidance after generation 2 (model w, $0.250000):' || char(10) || '  Use shuffles.' "
                                            "|| char(10) || '  lessons')");
   assert_true(first > 0);
   assert_true(service_number(run, "SELECT count(*) FROM call WHERE child = 67") == 2);
   snprintf(command, sizeof command, "SELECT count(*) FROM candidate WHERE note LIKE '%%; improve; variant %d;%%'", (int)first);
   const double with = service_number(run, command);
   assert_true(with >= 1 && prompts_with(run, "ask", "  Use shuffles.") >= with && prompts_with(run, "ask", "  Use shuffles.") < 6);
   /* The second variant's writer saw what the first one gave. */
   assert_true(service_number(run, "SELECT count(*) FROM call c JOIN document d ON d.hash = c.prompt_hash WHERE c.child = 67 AND instr(d.text, ' of them right') AND "
                                   "instr(d.text, '  Use shuffles.')") == 1);
   run_of_scripts("evolving2", writer, SOFTMAX "block_per_row.cu", "mode: improve, variants: 2", 6, again, sizeof again);
   snprintf(command, sizeof command, "%s diff %s %s > %s/diff", DIFF, run, again, folder);
   assert_int_equal(system(command), 0);
   run_of_scripts("still", writer, SOFTMAX "block_per_row.cu", "mode: improve", 3, run, sizeof run);
   assert_true(service_number(run, "SELECT count(*) FROM call") == 3 && prompts_with(run, "ask", "Use shuffles") == 0);
}

/* A kernel of another structure whose embedding is a known one's is asked for again; what comes then is new. */
static void an_embedding_tells_repetitions(void **state) {
   static const char writer[] = "p=$(cat); x='__syncthreads();'; case $p in *'in other words'*) x=$x$x$x;; *'candidate 2'*) x=$x$x;; esac; echo '```'; "
                                "sed 's/float total = 0.0f;/float total = 0.0f; '$x'/' " SOFTMAX "block_per_row.cu; echo '```'";
   char run[256];
   (void)state;
   run_of_scripts("embedded", writer, SOFTMAX "block_per_row.cu", "mode: explore, again: 2, embedding: e", 2, run, sizeof run);
   assert_true(asked_by(run, "w") == 3 && asked_by(run, "e") == 3);
   assert_true(service_number(run, "SELECT count(*) FROM call c JOIN document d ON d.hash = c.prompt_hash WHERE c.model = 'w' AND "
                                   "instr(d.text, 'repeated candidate 2 in other words, which is known already: accept')") == 1);
   assert_true(service_number(run, "SELECT count(*) FROM candidate WHERE note LIKE 'model w, $0.375000; explore' || char(10) || 'embedding by e: %'") == 1);
   assert_true(service_number(run, "SELECT count(*) FROM candidate WHERE note LIKE 'model w, $0.750000; explore; asked 2 times' || char(10) || 'embedding by e: %'") == 1);
   run_of_scripts("unlike", writer, SOFTMAX "block_per_row.cu", "mode: explore, again: 2", 2, run, sizeof run);
   assert_true(asked_by(run, "w") == 2 && asked_by(run, "e") == 0);
}

static int start(void **state) {
   (void)state;
   return mkdtemp(folder) ? 0 : -1;
}

static int stop(void **state) {
   char command[128];
   (void)state;
   snprintf(command, sizeof command, "rm -rf '%s'", folder);
   return system(command);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_whole_way),
      cmocka_unit_test(prompts_show_what_limits_the_parent),
      cmocka_unit_test(a_sampled_share_calibrates),
      cmocka_unit_test(lessons_are_distilled_and_seen),
      cmocka_unit_test(without_a_scratchpad_there_are_no_lessons),
      cmocka_unit_test(stock_survives_kills),
      cmocka_unit_test(workers_change_nothing),
      cmocka_unit_test(judges_are_calibrated),
      cmocka_unit_test(killed_and_resumed_it_buys_nothing_twice),
      cmocka_unit_test(a_repeated_answer_is_asked_again),
      cmocka_unit_test(a_near_copy_is_asked_again),
      cmocka_unit_test(documents_of_profilers_reach_prompts),
      cmocka_unit_test(others_plan_and_advise),
      cmocka_unit_test(a_share_of_prompts_is_lean),
      cmocka_unit_test(models_mend_their_own_rejects),
      cmocka_unit_test(prompts_evolve),
      cmocka_unit_test(an_embedding_tells_repetitions),
   };
   return cmocka_run_group_tests(tests, start, stop);
}
