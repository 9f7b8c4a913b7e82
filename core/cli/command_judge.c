/* rkb judge: runs verifiers over kernels of which it is known whether they are right, and says what each verifier's verdicts are worth.  A
 * sweep of rkb-run judges the kernels, so that ^C and a kill lose nothing; the figures come from its archives.  The main thread alone. */
#include <errno.h>
#include <inttypes.h>
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
#include "base/units.h"
#include "cli/commands.h"
#include "cli/judge/judge_tally.h"
#include "cli/judge/judge_text.h"
#include "cli/run_archive.h"
#include "cli/run_directory.h"
#include "sweep/sweep_plan.h"

/* Files of one run: rkb.translator.seed takes as many for one request. */
enum { KERNELS_A_RUN = 64, MAX_SWEEP_BYTES = 64 << 20 };

typedef struct judging {
   const rkb_arguments_t *arguments;
   rkb_labelled_corpus_t corpus;
   char *directory;  /* of the whole */
   char *sweep_file; /* in it */
   char *runs;       /* the sweep's directory, in it */
} judging_t;

static int read_corpus(judging_t *judging) {
   const char *path = rkb_positional(judging->arguments, 0),
              *sample = rkb_argument(judging->arguments, "sample");
   const char *seed_text = rkb_argument(judging->arguments, "seed");
   rkb_error_t err;
   int64_t count = 0, seed = 1;
   if ((sample && (!rkb_parse_int(sample, &count) || count < 1 || count > UINT32_MAX)) ||
       (seed_text && (!rkb_parse_int(seed_text, &seed) || seed < 0))) {
      fprintf(stderr, "--sample wants a number from 1 on, and --seed one from 0 on\n");
      return RKB_EXIT_USAGE;
   }
   if (rkb_labelled_corpus_read(path, &judging->corpus, &err) != RKB_OK) {
      rkb_say_error(&err);
      return RKB_EXIT_USAGE;
   }
   if (sample)
      rkb_labelled_corpus_sample(&judging->corpus, (uint32_t)count, (uint64_t)seed);
   return RKB_EXIT_OK;
}

/* A YAML scalar: JSON's strings are YAML. */
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

/* The sweep: an arm for every 64 kernels of a task and direction. */
static int write_sweep(const judging_t *judging, const char *pipeline, rkb_error_t *err) {
   const rkb_labelled_corpus_t *corpus = &judging->corpus;
   char *absolute = realpath(pipeline, NULL);
   rkb_text_t text;
   uint32_t arm = 0;
   rkb_text_init(&text, MAX_SWEEP_BYTES);
   rkb_text_add(&text,
                "# Written by rkb judge: the kernels of a labelled corpus, 64 a run.\nrkb: 1\nextends: ");
   add_string(&text, absolute ? absolute : pipeline);
   rkb_text_add(&text, "\nname: judge\narms:\n");
   for (uint32_t i = 0; i < corpus->count;) {
      const rkb_labelled_kernel_t *first = &corpus->list[i];
      rkb_text_format(&text, "  part_%u: {task: ", ++arm);
      add_string(&text, first->task);
      rkb_text_format(&text, ", direction: %s, propose.corpus.with.files: [", first->direction);
      for (uint32_t n = 0; n < KERNELS_A_RUN && i < corpus->count && same_subject(first, &corpus->list[i]);
           n++, i++) {
         rkb_text_add(&text, n ? ", " : "");
         add_string(&text, corpus->list[i].path);
      }
      rkb_text_add(&text, "]}\n");
   }
   int status = text.cut
                   ? rkb_fail(err, RKB_ERR_LIMIT, "the list of kernels takes more than 64 MiB: use --sample")
                   : rkb_file_write(judging->sweep_file, rkb_text_get(&text), text.length, err);
   rkb_text_free(&text);
   free(absolute);
   return status;
}

/* rkb-run beside this program; waits for it.  ^C reaches both: the run ends as ^C ends a run, and this program goes on. */
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

static int run_sweep(const judging_t *judging) {
   static const char *const passed[] = {"cells", "jobs", "secret"};
   const bool begun = rkb_is_sweep(judging->runs);
   char *list[16] = {"rkb-run"};
   int count = 1;
   if (begun) {
      list[count++] = "--resume";
      list[count++] = judging->runs;
   } else {
      list[count++] = "--sweep";
      list[count++] = judging->sweep_file;
      list[count++] = "--out";
      list[count++] = judging->runs;
   }
   for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
      const char *value = rkb_argument(judging->arguments, passed[i]);
      if (!value || (begun && strcmp(passed[i], "secret") == 0))
         continue;
      list[count++] = rkb_format("--%s", passed[i]);
      list[count++] = (char *)value;
   }
   if (rkb_argument_given(judging->arguments, "quiet"))
      list[count++] = "--quiet";
   int code = call_rkb_run(list);
   for (int i = begun ? 3 : 5; i < count; i += 2)
      if (strcmp(list[i], "--quiet") != 0)
         free(list[i]);
   return code;
}

/* Reads every archive of the sweep; a cell that has none yet adds nothing. */
static int tally_runs(const judging_t *judging, rkb_judge_tally_t *tally, rkb_error_t *err) {
   rkb_sweep_t *sweep = NULL;
   int status = rkb_sweep_open(judging->runs, &sweep, err);
   for (uint32_t i = 0; status == RKB_OK && i < sweep->count; i++) {
      char *directory = rkb_sweep_path_cell(sweep, i), *database = rkb_path_join(directory, "run.sqlite");
      rkb_archive_t *archive = NULL;
      if (rkb_path_exists(database)) {
         status = rkb_archive_open(directory, &archive, err);
         if (status == RKB_OK)
            status = rkb_judge_tally_add(tally, archive, err);
         rkb_archive_close(archive);
      }
      free(database);
      free(directory);
   }
   rkb_sweep_free(sweep);
   return status;
}

static int print_figures(const judging_t *judging) {
   rkb_error_t err;
   rkb_judge_tally_t *tally = rkb_judge_tally_new(&judging->corpus);
   int code = RKB_EXIT_OK, status = tally_runs(judging, tally, &err);
   json_t *figures = status == RKB_OK ? rkb_judge_tally_json(tally) : NULL;
   if (status != RKB_OK)
      code = rkb_say_error(&err);
   else if (rkb_argument_given(judging->arguments, "json"))
      code = rkb_print_json(json_incref(figures));
   else
      rkb_judge_text_print(figures);
   json_decref(figures);
   rkb_judge_tally_free(tally);
   return code;
}

static int judge(judging_t *judging) {
   char *named = NULL;
   const char *pipeline = rkb_argument(judging->arguments, "pipeline");
   rkb_error_t err;
   int status = RKB_OK;
   if (!rkb_is_sweep(judging->runs)) {
      named = pipeline ? rkb_find_named("pipelines", pipeline) : rkb_find_shipped("pipelines", "judge");
      status = named ? rkb_make_directories(judging->directory, &err)
                     : rkb_fail(&err, RKB_ERR_INVALID,
                                "the shipped pipelines/judge.yaml is not there; give --pipeline FILE");
      if (status == RKB_OK)
         status = write_sweep(judging, named, &err);
      free(named);
   }
   if (status != RKB_OK)
      return rkb_say_error(&err);
   /* A run that accepts nothing, as every run of shadows does, ends with 1. */
   int code = run_sweep(judging);
   if (code == RKB_EXIT_USAGE || !rkb_is_sweep(judging->runs))
      return code == RKB_EXIT_OK ? RKB_EXIT_BROKEN : code;
   int printed = print_figures(judging);
   if (code == RKB_EXIT_INTERRUPTED || code == RKB_EXIT_BROKEN)
      fprintf(stderr, "continue with the same command\n");
   return printed != RKB_EXIT_OK ? printed : code == RKB_EXIT_NOTHING ? RKB_EXIT_OK : code;
}

static int run(const rkb_arguments_t *arguments) {
   const char *out = rkb_argument(arguments, "out");
   judging_t judging = {.arguments = arguments};
   if (!out) {
      fprintf(
         stderr,
         "rkb judge needs --out DIR: the directory in which it works, and goes on when it was interrupted\n");
      return RKB_EXIT_USAGE;
   }
   judging.directory = rkb_duplicate(out);
   judging.sweep_file = rkb_path_join(out, "corpus-sweep.yaml");
   judging.runs = rkb_path_join(out, "runs");
   int code = read_corpus(&judging);
   if (code == RKB_EXIT_OK)
      code = judge(&judging);
   rkb_labelled_corpus_free(&judging.corpus);
   free(judging.runs);
   free(judging.sweep_file);
   free(judging.directory);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"out", "DIR", "Where the runs are kept; the same command goes on with them.", false},
   {"pipeline", "FILE",
    "The verifiers: a pipeline whose propose entry is rkb.translator.seed with id corpus (default: judge.yaml).",
    false},
   {"sample", "N", "Judge N kernels of the corpus, chosen by --seed (default: all).", false},
   {"seed", "N", "Which kernels --sample chooses (default: 1).", false},
   {"secret", "HEX",
    "What decides which blocks, inputs and shapes are sampled: 64 hex digits (default: drawn).", false},
   {"cells", "N", "Runs at the same time (default: 1).", false},
   {"jobs", "N", "Threads of all runs together (default: the cores).", false},
   {"json", NULL, "Print one JSON object.", false},
   {"quiet", NULL, "No progress on standard error.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_judge = {
   .name = "judge",
   .arguments = "CORPUS",
   .summary = "Say what verifiers' verdicts are worth, on kernels with known answers.",
   .details =
      "CORPUS is a table, its columns separated by tabs and named by its first line: file (relative to the table),\n"
      "label (right or wrong), task, direction, and if you like kind (of fault) and part (tuned or kept).\n"
      "Exit: 0 judged, 2 usage or a wrong table, 3 a broken tool, 130 interrupted.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
