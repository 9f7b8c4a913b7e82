/* Judges a corpus with rkb-run (judge_runs.h). */
#include "cli/judge/judge_runs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/shared/run_archive.h"
#include "sweep/sweep_plan.h"

/* Files per run: rkb.translator.seed takes this many for one request. */
enum { KERNELS_A_RUN = 64, MAX_SWEEP_BYTES = 64 << 20 };

static char *sweep_directory(const rkb_judge_runs_t *runs) {
   return rkb_path_join(runs->directory, "runs");
}

bool rkb_judge_runs_begun(const rkb_judge_runs_t *runs) {
   char *directory = sweep_directory(runs);
   const bool begun = rkb_is_sweep(directory);
   free(directory);
   return begun;
}

/* Adds a YAML scalar.  JSON's strings are valid YAML. */
static void add_string(rkb_text_t *text, const char *word) {
   json_t *value = json_string(word);
   char *written = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
   rkb_text_add(text, written ? written : "\"\"");
   free(written);
   json_decref(value);
}

static bool same_subject(const rkb_labelled_kernel_t *a, const rkb_labelled_kernel_t *b) {
   return strcmp(a->task, b->task) == 0 && strcmp(a->direction, b->direction) == 0;
}

/* Adds an arm with kernels of one task and direction, from `first` on.  Returns their number. */
static uint32_t add_arm(const rkb_judge_runs_t *runs, uint32_t number, uint32_t first, rkb_text_t *text) {
   const rkb_labelled_kernel_t *list = &runs->corpus->list[first];
   const uint32_t left = runs->corpus->count - first;
   uint32_t count = 0;
   rkb_text_format(text, "  part_%u: {task: ", number);
   add_string(text, list->task);
   rkb_text_format(text, ", direction: %s, ", list->direction);
   if (runs->option) {
      add_string(text, runs->option);
      rkb_text_add(text, ": ");
      add_string(text, runs->value);
      rkb_text_add(text, ", ");
   }
   rkb_text_add(text, "propose.corpus.with.files: [");
   for (; count < KERNELS_A_RUN && count < left && same_subject(list, &list[count]); count++) {
      rkb_text_add(text, count ? ", " : "");
      add_string(text, list[count].path);
   }
   rkb_text_add(text, "]");
   if (runs->cost_usd >= 0)
      rkb_text_format(text, ", limits.cost_usd: %.9f", runs->cost_usd * count / runs->corpus->count);
   rkb_text_add(text, "}\n");
   return count;
}

static int write_sweep(const rkb_judge_runs_t *runs, const char *pipeline, const char *path,
                       rkb_error_t *err) {
   char *absolute = realpath(pipeline, NULL);
   rkb_text_t text;
   uint32_t arms = 0;
   rkb_text_init(&text, MAX_SWEEP_BYTES);
   rkb_text_add(&text,
                "# Written by rkb judge: the kernels of a labelled corpus, 64 a run.\nrkb: 1\nextends: ");
   add_string(&text, absolute ? absolute : pipeline);
   rkb_text_add(&text, "\nname: judge\narms:\n");
   for (uint32_t i = 0; i < runs->corpus->count;)
      i += add_arm(runs, ++arms, i, &text);
   int status = text.cut
                   ? rkb_fail(err, RKB_ERR_LIMIT, "the list of kernels takes more than 64 MiB: use --sample")
                   : rkb_file_write(path, rkb_text_get(&text), text.length, err);
   rkb_text_free(&text);
   free(absolute);
   return status;
}

/* Starts the rkb-run beside this program and waits for it.  ^C reaches both: the run ends as ^C ends a run,
 * and this program continues. */
static int call_rkb_run(char *const *arguments) {
   char *program = rkb_find_program("rkb-run");
   int state = 0;
   if (!program) {
      fprintf(stderr, "rkb-run is not beside this program\n");
      return RKB_EXIT_BROKEN;
   }
   struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
   sigaction(SIGINT, &ignore, &before);
   const pid_t child = fork();
   if (child == 0) {
      sigaction(SIGINT, &before, NULL);
      dup2(STDERR_FILENO, STDOUT_FILENO);
      execv(program, arguments);
      _exit(127);
   }
   pid_t waited = child;
   while (child > 0 && (waited = waitpid(child, &state, 0)) < 0 && errno == EINTR)
      ;
   sigaction(SIGINT, &before, NULL);
   free(program);
   if (waited < 0) {
      fprintf(stderr, "rkb-run could not be started: %s\n", strerror(errno));
      return RKB_EXIT_BROKEN;
   }
   return WIFEXITED(state) ? WEXITSTATUS(state) : RKB_EXIT_BROKEN;
}

static int run_sweep(const rkb_judge_runs_t *runs, const char *directory, const char *sweep_file) {
   static const char *const passed[] = {"cells", "jobs", "secret"};
   const bool begun = rkb_is_sweep(directory);
   char *list[16] = {"rkb-run"};
   int count = 1;
   list[count++] = begun ? "--resume" : "--sweep";
   list[count++] = (char *)(begun ? directory : sweep_file);
   if (!begun) {
      list[count++] = "--out";
      list[count++] = (char *)directory;
   }
   const int first = count;
   for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
      const char *value = rkb_argument(runs->arguments, passed[i]);
      if (!value || (begun && strcmp(passed[i], "secret") == 0))
         continue;
      list[count++] = rkb_format("--%s", passed[i]);
      list[count++] = (char *)value;
   }
   const int last = count;
   if (rkb_argument_given(runs->arguments, "quiet"))
      list[count++] = "--quiet";
   int code = call_rkb_run(list);
   for (int i = first; i < last; i += 2)
      free(list[i]);
   return code;
}

int rkb_judge_runs_go(const rkb_judge_runs_t *runs) {
   char *directory = sweep_directory(runs), *sweep_file = rkb_path_join(runs->directory, "corpus-sweep.yaml");
   rkb_error_t err;
   int status = RKB_OK, code;
   if (!rkb_is_sweep(directory)) {
      char *named = runs->pipeline ? rkb_find_named("pipelines", runs->pipeline)
                                   : rkb_find_shipped("pipelines", "judge");
      status = named ? rkb_make_directories(runs->directory, &err)
                     : rkb_fail(&err, RKB_ERR_INVALID,
                                "the shipped pipelines/judge.yaml is not there; give --pipeline FILE");
      if (status == RKB_OK)
         status = write_sweep(runs, named, sweep_file, &err);
      free(named);
   }
   if (status != RKB_OK) {
      code = rkb_say_error(&err);
   } else {
      /* A run that accepts nothing ends with 1; every run with only shadow stages accepts nothing. */
      code = run_sweep(runs, directory, sweep_file);
      if (!rkb_is_sweep(directory) && code == RKB_EXIT_OK)
         code = RKB_EXIT_BROKEN;
      code = code == RKB_EXIT_NOTHING ? RKB_EXIT_OK : code;
   }
   free(sweep_file);
   free(directory);
   return code;
}

int rkb_judge_runs_tally(const rkb_judge_runs_t *runs, rkb_judge_tally_t *tally, rkb_error_t *err) {
   char *directory = sweep_directory(runs);
   rkb_sweep_t *sweep = NULL;
   int status = rkb_sweep_open(directory, &sweep, err);
   for (uint32_t i = 0; status == RKB_OK && i < sweep->count; i++) {
      char *cell = rkb_sweep_path_cell(sweep, i), *database = rkb_path_join(cell, "run.sqlite");
      rkb_archive_t *archive = NULL;
      if (rkb_path_exists(database)) {
         status = rkb_archive_open(cell, &archive, err);
         if (status == RKB_OK)
            status = rkb_judge_tally_add(tally, archive, err);
         rkb_archive_close(archive);
      }
      free(database);
      free(cell);
   }
   rkb_sweep_free(sweep);
   free(directory);
   return status;
}
