/* Guidance that evolves (evolving_guidance.h).  A note reads "model quick, $0.002; improve; variant 14\nguidance after
 * generation 4 (model quick, $0.001):\n  ...".  Lines of guidance begin with spaces, so that none passes for
 * another part of a note. */
#include "evolving_guidance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lessons.h"

#define HEAD "\nguidance after generation "
#define MADE_WITH "; variant "

typedef struct variant {
   const rkb_archive_row_t *row; /* the row whose note holds it; NULL: variant 0 */
   bandit_arm_t arm;
} variant_t;

static bool is_models(const rkb_archive_row_t *row) {
   return row->note && strncmp(row->note, "model ", 6) == 0;
}

/* Returns the generation after which a row's variant was written; -1 when the row holds none. */
static int64_t generation_of(const rkb_archive_row_t *row) {
   const char *head = is_models(row) ? strstr(row->note, HEAD) : NULL;
   return head ? strtoll(head + strlen(HEAD), NULL, 10) : -1;
}

/* Returns the variant that a row was made with, from the first line of its note. */
static int64_t made_with(const rkb_archive_row_t *row) {
   const char *end = strchrnul(row->note, '\n'), *with = strstr(row->note, MADE_WITH);
   return with && with < end ? strtoll(with + strlen(MADE_WITH), NULL, 10) : 0;
}

/* Finds the variants that are drawn from, variant 0 first, and what was gained with each: the logarithm of
 * how many times a candidate was better than all before it, and a little for each right one, as in the bandit
 * over models. */
static uint32_t find_variants(const context_t *context, variant_t *variants) {
   const rkb_archive_api_t *archive = context->services->archive;
   const uint32_t rows = archive && context->rows ? archive->rows_count(context->rows) : 0;
   uint32_t count = 1;
   memset(variants, 0, (VARIANTS_MOST + 1) * sizeof *variants);
   for (uint32_t i = 0; i < rows; i++) {
      const rkb_archive_row_t *row = archive->rows_at(context->rows, i);
      if (generation_of(row) < 0)
         continue;
      if (count == VARIANTS_MOST + 1)
         memmove(&variants[1], &variants[2], (--count - 1) * sizeof *variants);
      variants[count++] = (variant_t){.row = row};
   }
   double best = INFINITY;
   for (uint32_t i = 0; i < rows; i++) {
      const rkb_archive_row_t *row = archive->rows_at(context->rows, i);
      const bool accepted = strcmp(row->standing, RKB_ACCEPT) == 0 && row->has_objective && row->objective > 0;
      const int64_t with = is_models(row) ? made_with(row) : -1;
      for (uint32_t j = 0; j < count; j++)
         if (with == (variants[j].row ? variants[j].row->number : 0))
            bandit_reward(&variants[j].arm, 1, accepted, row->objective, best);
      if (accepted && row->objective < best)
         best = row->objective;
   }
   return count;
}

/* Returns the guidance in a row's note, unchanged; owned by the context. */
static const char *text_of(context_t *context, const rkb_archive_row_t *row) {
   const char *begin = strchrnul(strstr(row->note, HEAD) + 1, '\n'), *end = begin;
   while (strncmp(end, "\n  ", 3) == 0)
      end = strchrnul(end + 1, '\n');
   return end > begin ? context_format(context, "%.*s", (int)(end - begin - 1), begin + 1) : "";
}

/* Slot "outcomes" of the question for another variant: what was gained with each variant. */
static void add_outcomes(context_t *context, const variant_t *variants, uint32_t count) {
   for (uint32_t i = 0; i < count; i++) {
      const variant_t *variant = &variants[i];
      const char *text = variant->row ? text_of(context, variant->row) : "  (no guidance)";
      context_add(context, "outcomes",
                  context_format(context, "%u kernels, %u of them right, gain %.3f a kernel:\n%s", variant->arm.tries, variant->arm.accepted,
                                 variant->arm.tries ? variant->arm.gain / variant->arm.tries : 0.0, text),
                  context_format(context, "variant %lld", variant->row ? (long long)variant->row->number : 0), (int32_t)i, true);
   }
}

/* Whether this request is to write a variant: the first that sees so many generations, unless one was written since. */
static bool is_due(const context_t *context, const variant_t *variants, uint32_t count, int64_t number, int64_t every, int64_t *seen) {
   int64_t window, newest = -1;
   *seen = lessons_generations(context, &window);
   for (uint32_t i = 1; i < count; i++)
      newest = generation_of(variants[i].row) > newest ? generation_of(variants[i].row) : newest;
   return *seen >= every && newest < *seen / every * every && (number + 1) % window == 0;
}

static int write_variant(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question, int64_t seen, char **note,
                         rkb_error_t *err) {
   side_answer_t answer;
   int status = side_question_ask(context, llm, question, &answer, err);
   if (status == RKB_OK && answer.text &&
       asprintf(note, HEAD "%lld (model %s, $%.6f):\n%s", (long long)seen, answer.model, answer.worth_usd,
                context_indented(context, answer.text)) < 0) {
      *note = NULL;
      status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   free(answer.text);
   return status;
}

int evolving_guidance_add(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question,
                          int64_t number, int64_t every, variants_told_t *told, rkb_error_t *err) {
   variant_t variants[VARIANTS_MOST + 1];
   bandit_arm_t arms[VARIANTS_MOST + 1];
   int64_t seen;
   *told = (variants_told_t){0};
   if (every <= 0)
      return RKB_OK;
   const uint32_t count = find_variants(context, variants);
   for (uint32_t i = 0; i < count; i++) {
      arms[i] = variants[i].arm;
      arms[i].cost = arms[i].tries; /* a rate for each kernel, since prompts cost alike */
   }
   const variant_t *drawn = &variants[bandit_ucb(arms, count)];
   if (drawn->row) {
      told->variant = drawn->row->number;
      context_add(context, "guidance", "What has helped in such changes, in a model's words:", NULL, 1, false);
      context_add(context, "guidance", text_of(context, drawn->row), "guidance", 0, true);
   }
   if (!is_due(context, variants, count, number, every, &seen))
      return RKB_OK;
   add_outcomes(context, variants, count);
   return write_variant(context, llm, question, seen, &told->note, err);
}
