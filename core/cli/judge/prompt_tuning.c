/* Tunes a judge's prompt (prompt_tuning.h). */
#include "cli/judge/prompt_tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "cli/judge/judge_runs.h"
#include "cli/judge/prompt_variant.h"
#include "cli/judge/prompt_writer.h"
#include "cli/shared/run_archive.h"

enum { MAX_PROMPT = 1 << 20, MAX_KERNEL = 256 << 10, MISTAKES = 8 };
/* Cost limit for writing a prompt: as much as judging this many kernels. */
enum { KERNELS_A_PROMPT = 16 };

typedef struct tuning {
   const rkb_prompt_tuning_t *given;
   const char *option; /* "screen.judge_memory.with.memory" */
   char *judge;        /* "judge_memory" */
   const char *out;
   char *folder; /* folder of the prompts */
   rkb_labelled_corpus_t tuned, kept;
   rkb_prompt_variant_t prompts[RKB_TUNING_PROMPTS + RKB_TUNING_ROUNDS];
   uint32_t count, best;
   double cost_a_kernel;             /* negative: no limit */
   rkb_mistake_t mistakes[MISTAKES]; /* mistakes of the best prompt, on the part that tunes */
   uint32_t mistake_count;
} tuning_t;

/* The prompts ----------------------------------------------------------------------------------------------------------------- */

/* Adds a prompt; takes ownership of text.  *added NULL: the prompt is there already. */
static int add_prompt(tuning_t *tuning, const char *origin, char *text, rkb_prompt_variant_t **added,
                      rkb_error_t *err) {
   rkb_prompt_variant_t *prompt = &tuning->prompts[tuning->count];
   int status = rkb_prompt_variant_make(tuning->folder, origin, text, prompt, err);
   bool known = false;
   for (uint32_t i = 0; i < tuning->count; i++)
      known = known || strcmp(tuning->prompts[i].hash, prompt->hash) == 0;
   *added = status == RKB_OK && !known ? prompt : NULL;
   if (*added)
      tuning->count++;
   else
      rkb_prompt_variant_free(prompt);
   return status;
}

static int read_prompts(tuning_t *tuning, rkb_error_t *err) {
   const char *const *files = rkb_argument_list(tuning->given->arguments, "prompt");
   int status = RKB_OK;
   for (uint32_t i = 0; files && files[i] && status == RKB_OK; i++) {
      rkb_prompt_variant_t *added;
      char *text = NULL, *shipped = rkb_path_exists(files[i]) ? NULL : rkb_find_data("pipelines");
      char *path = shipped ? rkb_path_join(shipped, files[i]) : rkb_duplicate(files[i]);
      size_t length;
      if (i == RKB_TUNING_PROMPTS)
         status = rkb_fail(err, RKB_ERR_LIMIT, "at most %d prompts can be compared", RKB_TUNING_PROMPTS);
      if (status == RKB_OK)
         status = rkb_file_read(path, MAX_PROMPT, &text, &length, err);
      if (status == RKB_OK)
         status = add_prompt(tuning, files[i], text, &added, err);
      free(path);
      free(shipped);
   }
   if (status == RKB_OK && tuning->count == 0)
      status = rkb_fail(err, RKB_ERR_INVALID,
                        "--tune needs --prompt FILE: the prompt that the judge has now, and others to try");
   if (status == RKB_OK && tuning->count == 1 && !rkb_argument(tuning->given->arguments, "writer"))
      status = rkb_fail(err, RKB_ERR_INVALID,
                        "--tune needs something to compare: a second --prompt FILE, or --writer MODEL");
   return status;
}

/* Judging --------------------------------------------------------------------------------------------------------------------- */

static json_t *counts_of(const json_t *figures, const char *name) {
   const json_t *judges = json_object_get(figures, "judges"), *judge;
   size_t index;
   json_array_foreach(judges, index, judge) {
      if (strcmp(json_string_value(json_object_get(judge, "judge")), name) == 0)
         return json_incref(json_object_get(judge, "all"));
   }
   return NULL;
}

/* Judges one part with a prompt.  The caller frees the tally; when it is NULL, code says why. */
static rkb_judge_tally_t *judge_part(const tuning_t *tuning, const rkb_prompt_variant_t *prompt, bool kept,
                                     json_t **counts, int *code) {
   const rkb_labelled_corpus_t *corpus = kept ? &tuning->kept : &tuning->tuned;
   char *directory = rkb_format("%s/%s-%s", tuning->out, kept ? "kept" : "tuned", prompt->hash);
   const rkb_judge_runs_t runs = {.arguments = tuning->given->arguments,
                                  .pipeline = rkb_argument(tuning->given->arguments, "pipeline"),
                                  .corpus = corpus,
                                  .directory = directory,
                                  .option = tuning->option,
                                  .value = prompt->path,
                                  .cost_usd =
                                     tuning->cost_a_kernel < 0 ? -1 : tuning->cost_a_kernel * corpus->count};
   rkb_judge_tally_t *tally = NULL;
   rkb_error_t err;
   *counts = NULL;
   *code = rkb_judge_runs_go(&runs);
   if (*code == RKB_EXIT_OK) {
      tally = rkb_judge_tally_new(corpus);
      rkb_judge_tally_follow(tally, tuning->judge);
      if (rkb_judge_runs_tally(&runs, tally, &err) == RKB_OK) {
         json_t *figures = rkb_judge_tally_json(tally);
         *counts = counts_of(figures, tuning->judge);
         json_decref(figures);
         if (!*counts)
            rkb_fail(&err, RKB_ERR_INVALID,
                     "%s gave no verdict: is it a verifier of the pipeline with shadow: true?",
                     tuning->judge);
      }
      if (!*counts) {
         *code = rkb_say_error(&err);
         rkb_judge_tally_free(tally);
         tally = NULL;
      }
   }
   free(directory);
   return tally;
}

static void forget_mistakes(tuning_t *tuning) {
   for (uint32_t i = 0; i < tuning->mistake_count; i++) {
      free(tuning->mistakes[i].label);
      free(tuning->mistakes[i].text);
   }
   tuning->mistake_count = 0;
}

static bool is_good(const rkb_labelled_kernel_t *kernel, const rkb_judge_word_t *word) {
   return kernel->wrong == word->rejected;
}

/* Chooses the mistakes that the writer is shown: equal numbers of wrong kernels that were accepted and right
 * kernels that were rejected, if there are enough. */
static int keep_mistakes(tuning_t *tuning, const rkb_judge_tally_t *tally, rkb_error_t *err) {
   forget_mistakes(tuning);
   for (uint32_t round = 0; round < 2; round++)
      for (uint32_t i = 0, taken[2] = {0}; i < tuning->tuned.count && tuning->mistake_count < MISTAKES; i++) {
         const rkb_labelled_kernel_t *kernel = &tuning->tuned.list[i];
         const rkb_judge_word_t *word = rkb_judge_tally_word(tally, i);
         if (!word->asked || is_good(kernel, word))
            continue;
         /* The first round takes half of each kind, the second round fills up with the others. */
         if ((taken[kernel->wrong]++ < MISTAKES / 2) != (round == 0))
            continue;
         char *text = NULL;
         size_t length;
         int status = rkb_file_read(kernel->path, MAX_KERNEL, &text, &length, err);
         if (status != RKB_OK)
            return status;
         tuning->mistakes[tuning->mistake_count++] = (rkb_mistake_t){
            .label = rkb_format("task %s %s: the kernel is %s (%s); the judge: %.300s", kernel->task,
                                kernel->direction, kernel->wrong ? "wrong" : "right",
                                kernel->wrong ? kernel->kind : "no fault", word->message),
            .text = text};
      }
   return RKB_OK;
}

/* Judges the part that tunes.  If the prompt has the best figures so far, makes it the best one. */
static int try_prompt(tuning_t *tuning, rkb_prompt_variant_t *prompt) {
   rkb_error_t err;
   int code;
   rkb_judge_tally_t *tally = judge_part(tuning, prompt, false, &prompt->tuned, &code);
   if (!tally)
      return code;
   prompt->f1 = json_number_value(json_object_get(prompt->tuned, "f1")); /* 0 for null */
   if (prompt == tuning->prompts || prompt->f1 > tuning->prompts[tuning->best].f1) {
      tuning->best = (uint32_t)(prompt - tuning->prompts);
      if (keep_mistakes(tuning, tally, &err) != RKB_OK)
         code = rkb_say_error(&err);
   }
   rkb_judge_tally_free(tally);
   return code;
}

static int report_prompt(tuning_t *tuning, rkb_prompt_variant_t *prompt) {
   int code;
   rkb_judge_tally_t *tally = prompt->kept ? NULL : judge_part(tuning, prompt, true, &prompt->kept, &code);
   if (prompt->kept && !tally)
      return RKB_EXIT_OK; /* the first one is the best one */
   if (!tally)
      return code;
   prompt->kept_good = rkb_allocate(tuning->kept.count, sizeof *prompt->kept_good);
   prompt->kept_asked = rkb_allocate(tuning->kept.count, sizeof *prompt->kept_asked);
   for (uint32_t i = 0; i < tuning->kept.count; i++) {
      const rkb_judge_word_t *word = rkb_judge_tally_word(tally, i);
      prompt->kept_asked[i] = word->asked;
      prompt->kept_good[i] = is_good(&tuning->kept.list[i], word);
   }
   rkb_judge_tally_free(tally);
   return code;
}

/* Rounds of the writer -------------------------------------------------------------------------------------------------------- */

/* Keeps a prompt that a round has written, so that the same call does not ask for it again. */
static int write_prompt(const tuning_t *tuning, uint32_t round, uint32_t rounds, char **text,
                        rkb_error_t *err) {
   char *path = rkb_format("%s/round-%u.md", tuning->out, round),
        *directory = rkb_path_join(tuning->out, "writer");
   char *pipeline = rkb_find_named("pipelines", rkb_argument(tuning->given->arguments, "pipeline"));
   const double cost = tuning->cost_a_kernel < 0 ? -1 : tuning->cost_a_kernel * KERNELS_A_PROMPT * rounds;
   const rkb_prompt_writer_t writer = {.pipeline = pipeline,
                                       .model = rkb_argument(tuning->given->arguments, "writer"),
                                       .directory = directory,
                                       .seed = tuning->given->seed,
                                       .cost_usd = cost};
   size_t length;
   int status = RKB_OK;
   if (rkb_path_exists(path)) {
      status = rkb_file_read(path, MAX_PROMPT, text, &length, err);
   } else {
      status = rkb_prompt_writer_ask(&writer, round, tuning->prompts[tuning->best].text, tuning->mistakes,
                                     tuning->mistake_count, text, err);
      if (status == RKB_OK)
         status = rkb_file_write(path, *text, strlen(*text), err);
   }
   free(pipeline);
   free(directory);
   free(path);
   return status;
}

static int run_rounds(tuning_t *tuning, uint32_t rounds) {
   for (uint32_t round = 1; round <= rounds && tuning->mistake_count; round++) {
      rkb_prompt_variant_t *added = NULL;
      char *text = NULL, origin[40];
      rkb_error_t err;
      snprintf(origin, sizeof origin, "written in round %u", round);
      int status = write_prompt(tuning, round, rounds, &text, &err);
      if (status == RKB_ERR_UNAVAILABLE) {
         fprintf(stderr, "round %u: %s\n", round, err.message);
         continue;
      }
      if (status == RKB_OK)
         status = add_prompt(tuning, origin, text, &added, &err);
      else
         free(text);
      if (status != RKB_OK)
         return rkb_say_error(&err);
      if (!added) {
         fprintf(stderr, "round %u: the writer repeated a prompt\n", round);
         continue;
      }
      int code = try_prompt(tuning, added);
      if (code != RKB_EXIT_OK)
         return code;
   }
   return RKB_EXIT_OK;
}

static int print_figures(tuning_t *tuning) {
   const rkb_prompt_variants_t variants = {.judge = tuning->judge,
                                           .option = tuning->option,
                                           .list = tuning->prompts,
                                           .count = tuning->count,
                                           .best = tuning->best,
                                           .tuned_count = tuning->tuned.count,
                                           .kept_count = tuning->kept.count};
   if (rkb_argument_given(tuning->given->arguments, "json"))
      return rkb_print_json(rkb_prompt_variants_json(&variants));
   rkb_prompt_variants_print(&variants);
   return RKB_EXIT_OK;
}

/* ----------------------------------------------------------------------------------------------------------------------------- */

/* Reads the judge's name from an option such as "screen.judge_memory.with.memory". */
static int read_option(tuning_t *tuning, rkb_error_t *err) {
   static const char section[] = "screen.";
   const char *name = tuning->option + sizeof section - 1, *end = strstr(tuning->option, ".with.");
   if (strncmp(tuning->option, section, sizeof section - 1) != 0 || !end || end <= name || !end[6] ||
       memchr(name, '.', (size_t)(end - name)))
      return rkb_fail(
         err, RKB_ERR_INVALID,
         "--tune wants a prompt's option of a judge, as in screen.judge_memory.with.memory, not '%.200s'",
         tuning->option);
   tuning->judge = rkb_duplicate_part(name, (size_t)(end - name));
   return RKB_OK;
}

static int check_part(const rkb_labelled_corpus_t *part, const char *name, rkb_error_t *err) {
   uint32_t wrong = 0;
   for (uint32_t i = 0; i < part->count; i++)
      wrong += part->list[i].wrong;
   if (wrong && wrong < part->count)
      return RKB_OK;
   return rkb_fail(
      err, RKB_ERR_INVALID,
      "the part %s of the corpus has %u wrong kernels and %u right ones; tuning needs both in both parts",
      name, wrong, part->count - wrong);
}

static int prepare(tuning_t *tuning, uint32_t rounds, rkb_error_t *err) {
   int status = read_option(tuning, err);
   if (status == RKB_OK && !rkb_argument(tuning->given->arguments, "pipeline"))
      status = rkb_fail(err, RKB_ERR_INVALID, "--tune needs --pipeline FILE, with the judge in it");
   if (status == RKB_OK)
      status = check_part(&tuning->tuned, "tuned", err);
   if (status == RKB_OK)
      status = check_part(&tuning->kept, "kept", err);
   if (status == RKB_OK)
      status = read_prompts(tuning, err);
   const double written = rkb_argument(tuning->given->arguments, "writer") ? rounds : 0;
   const double kernels =
      (tuning->count + written) * tuning->tuned.count + 2.0 * tuning->kept.count + written * KERNELS_A_PROMPT;
   tuning->cost_a_kernel = tuning->given->cost_usd < 0 ? -1 : tuning->given->cost_usd / fmax(kernels, 1);
   return status;
}

static void release(tuning_t *tuning) {
   for (uint32_t i = 0; i < tuning->count; i++)
      rkb_prompt_variant_free(&tuning->prompts[i]);
   forget_mistakes(tuning);
   free(tuning->folder);
   free(tuning->judge);
   free(tuning->tuned.list);
   free(tuning->kept.list);
   free(tuning);
}

int rkb_prompt_tuning_run(const rkb_prompt_tuning_t *given, uint32_t rounds) {
   tuning_t *tuning = rkb_allocate(1, sizeof *tuning);
   rkb_error_t err;
   tuning->given = given;
   tuning->option = rkb_argument(given->arguments, "tune");
   tuning->out = rkb_argument(given->arguments, "out");
   tuning->folder = rkb_path_join(tuning->out, "prompts");
   rkb_labelled_corpus_divide(given->corpus, given->seed);
   tuning->tuned = rkb_labelled_corpus_part(given->corpus, false);
   tuning->kept = rkb_labelled_corpus_part(given->corpus, true);
   int code = RKB_EXIT_OK;
   if (prepare(tuning, rounds, &err) != RKB_OK) {
      rkb_say_error(&err);
      code = RKB_EXIT_USAGE;
   }
   const uint32_t given_prompts = tuning->count;
   for (uint32_t i = 0; i < given_prompts && code == RKB_EXIT_OK; i++)
      code = try_prompt(tuning, &tuning->prompts[i]);
   if (code == RKB_EXIT_OK && rkb_argument(given->arguments, "writer"))
      code = run_rounds(tuning, rounds);
   if (code == RKB_EXIT_OK)
      code = report_prompt(tuning, &tuning->prompts[0]);
   if (code == RKB_EXIT_OK)
      code = report_prompt(tuning, &tuning->prompts[tuning->best]);
   if (code == RKB_EXIT_OK)
      code = print_figures(tuning);
   if (code == RKB_EXIT_INTERRUPTED || code == RKB_EXIT_BROKEN)
      fprintf(stderr, "continue with the same command\n");
   release(tuning);
   return code;
}
