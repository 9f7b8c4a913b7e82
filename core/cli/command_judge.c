/* rkb judge: runs verifiers over kernels with known labels (right or wrong), and measures how reliable each
 * verifier's verdicts are.  A sweep of rkb-run judges the kernels, so that ^C and a kill lose no verdict; the
 * figures come from its archives.  Only the main thread. */
#include <inttypes.h>
#include <stdio.h>
#include "base/units.h"
#include "cli/commands.h"
#include "cli/judge/judge_runs.h"
#include "cli/judge/judge_text.h"
#include "cli/judge/prompt_tuning.h"
#include "cli/shared/run_archive.h"

typedef struct judging {
   const rkb_arguments_t *arguments;
   rkb_labelled_corpus_t corpus;
   double cost_usd; /* negative: this command sets no limit */
} judging_t;

/* Reads an option with a number of at least `least` into *value, if the user gave it. */
static bool read_count(const rkb_arguments_t *arguments, const char *name, int64_t least, int64_t most,
                       int64_t *value) {
   const char *text = rkb_argument(arguments, name);
   if (!text || (rkb_parse_int(text, value) && *value >= least && *value <= most))
      return true;
   fprintf(stderr, "--%s wants a number from %" PRId64 " to %" PRId64 ", not '%s'\n", name, least, most,
           text);
   return false;
}

static bool read_cost(const rkb_arguments_t *arguments, double *cost) {
   const char *text = rkb_argument(arguments, "cost");
   *cost = -1;
   if (!text || (rkb_parse_real(text, cost) && *cost >= 0))
      return true;
   fprintf(stderr, "--cost wants an amount of USD, not '%s'\n", text);
   return false;
}

static int read_corpus(judging_t *judging, int64_t *seed) {
   const rkb_arguments_t *arguments = judging->arguments;
   rkb_error_t err;
   int64_t count = 0;
   if (!read_count(arguments, "sample", 1, UINT32_MAX, &count) ||
       !read_count(arguments, "seed", 0, INT64_MAX, seed) || !read_cost(arguments, &judging->cost_usd))
      return RKB_EXIT_USAGE;
   if (rkb_labelled_corpus_read(rkb_positional(arguments, 0), &judging->corpus, &err) != RKB_OK) {
      rkb_say_error(&err);
      return RKB_EXIT_USAGE;
   }
   if (count)
      rkb_labelled_corpus_sample(&judging->corpus, (uint32_t)count, (uint64_t)*seed);
   return RKB_EXIT_OK;
}

static int print_figures(const judging_t *judging, const rkb_judge_runs_t *runs) {
   rkb_error_t err;
   rkb_judge_tally_t *tally = rkb_judge_tally_new(&judging->corpus);
   int code = RKB_EXIT_OK, status = rkb_judge_runs_tally(runs, tally, &err);
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

static int judge(const judging_t *judging) {
   const rkb_judge_runs_t runs = {.arguments = judging->arguments,
                                  .pipeline = rkb_argument(judging->arguments, "pipeline"),
                                  .corpus = &judging->corpus,
                                  .directory = rkb_argument(judging->arguments, "out"),
                                  .cost_usd = judging->cost_usd};
   int code = rkb_judge_runs_go(&runs);
   if (code == RKB_EXIT_USAGE || !rkb_judge_runs_begun(&runs))
      return code;
   int printed = print_figures(judging, &runs);
   if (code == RKB_EXIT_INTERRUPTED || code == RKB_EXIT_BROKEN)
      fprintf(stderr, "continue with the same command\n");
   return printed != RKB_EXIT_OK ? printed : code;
}

static int tune(judging_t *judging, int64_t seed) {
   int64_t rounds = 3;
   const rkb_prompt_tuning_t tuning = {.arguments = judging->arguments,
                                       .corpus = &judging->corpus,
                                       .seed = (uint64_t)seed,
                                       .cost_usd = judging->cost_usd};
   if (!read_count(judging->arguments, "rounds", 1, RKB_TUNING_ROUNDS, &rounds))
      return RKB_EXIT_USAGE;
   return rkb_prompt_tuning_run(&tuning, (uint32_t)rounds);
}

static int run(const rkb_arguments_t *arguments) {
   judging_t judging = {.arguments = arguments};
   int64_t seed = 1;
   if (!rkb_argument(arguments, "out")) {
      fprintf(
         stderr,
         "rkb judge needs --out DIR: the directory in which it works, and goes on when it was interrupted\n");
      return RKB_EXIT_USAGE;
   }
   int code = read_corpus(&judging, &seed);
   if (code == RKB_EXIT_OK)
      code = rkb_argument(arguments, "tune") ? tune(&judging, seed) : judge(&judging);
   rkb_labelled_corpus_free(&judging.corpus);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"out", "DIR", "Where the runs are kept; the same command goes on with them.", false},
   {"pipeline", "FILE",
    "The verifiers: a pipeline whose propose entry is rkb.translator.seed with id corpus (default: judge.yaml).",
    false},
   {"sample", "N", "Judge N kernels of the corpus, chosen by --seed (default: all).", false},
   {"seed", "N", "Which kernels --sample chooses, and which of them tune (default: 1).", false},
   {"cost", "USD",
    "What all questions to models may cost together (default: the pipeline's limit, for every 64 kernels).",
    false},
   {"tune", "OPTION",
    "Choose a prompt for this option of the pipeline, e.g. screen.judge_memory.with.memory.", false},
   {"prompt", "FILE", "With --tune: a prompt to try; the first is what the others are compared with.", true},
   {"writer", "MODEL",
    "With --tune: the model of the pipeline that writes more prompts, from what the best one got wrong.",
    false},
   {"rounds", "N", "With --writer: how many prompts it writes, one after another (default: 3).", false},
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
      "CORPUS is a folder with right/*.cu, wrong/*.cu and wrong/KIND/*.cu, or a table, its columns separated by tabs and named by its first line: file (relative to the table),\n"
      "label (right or wrong), task, direction, and if you like kind (of fault) and part (tuned or kept).\n"
      "--tune judges the part tuned with each prompt, chooses the one with the best F1, and reports on the part kept.\n"
      "Exit: 0 judged, 2 usage or a wrong table, 3 a broken tool, 130 interrupted.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
