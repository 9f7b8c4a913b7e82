/* The scratchpad (lessons.h).  A note reads "model quick, $0.002; improve\nlessons of generation 4 (model quick, $0.001):\n...";
 * what stands before the first line's end is proposal.c's, which lets no other line begin. */
#include "lessons.h"

#include <stdlib.h>
#include <string.h>

#define HEAD "\nlessons of generation "
#define BEST 6
#define VERDICTS 16

/* The newest visible candidate that has lessons; *generation is how many it saw. */
static const char *newest(const context_t *context, int64_t *generation) {
   const rkb_archive_api_t *archive = context->services->archive;
   uint32_t rows = archive && context->rows ? archive->rows_count(context->rows) : 0;
   const char *found = NULL;
   *generation = 0;
   for (uint32_t i = 0; i < rows; i++) {
      const char *note = archive->rows_at(context->rows, i)->note;
      const char *lessons = note && strncmp(note, "model ", 6) == 0 ? strstr(note, HEAD) : NULL;
      long long seen = lessons ? strtoll(lessons + strlen(HEAD), NULL, 10) : 0;
      if (lessons && seen >= *generation) {
         *generation = seen;
         found = lessons + 1;
      }
   }
   return found;
}

void lessons_add(context_t *context) {
   int64_t generation;
   const char *lessons = newest(context, &generation);
   if (lessons) /* rows may go before the prompt is filled: a copy */
      context_add(context, "lessons", context_format(context, "%s", lessons), "lessons", 0, true);
}

/* Whole generations that the job sees. */
static int64_t generations_seen(const context_t *context, int64_t *window) {
   const rkb_archive_api_t *archive = context->services->archive;
   *window = 1;
   return archive ? (archive->horizon(context->host, context->job, window) + 1) / *window : 0;
}

bool lessons_due(const context_t *context, int64_t number, int64_t every) {
   int64_t window, generation, seen = generations_seen(context, &window);
   if (every <= 0 || seen < every)
      return false;
   newest(context, &generation);
   int64_t due = seen / every * every;
   /* The first request that sees this many generations, and then each that sees whether the one before it distilled. */
   return generation < due && (number + 1) % window == 0;
}

/* The reply as lines of printable text; "" when there is nothing in it. */
static char *tidy(const rkb_llm_answer_t *answer) {
   size_t used = 0, bytes = answer->text_bytes < LESSONS_MOST_BYTES ? answer->text_bytes : LESSONS_MOST_BYTES;
   char *out = malloc(bytes + 1);
   if (bytes < answer->text_bytes) /* whole lines */
      while (bytes && answer->text[bytes - 1] != '\n')
         bytes--;
   for (size_t i = 0; out && i < bytes; i++)
      if ((unsigned char)answer->text[i] >= ' ' || (answer->text[i] == '\n' && used && out[used - 1] != '\n'))
         out[used++] = answer->text[i];
   while (out && used && (out[used - 1] == '\n' || out[used - 1] == ' '))
      used--;
   if (out)
      out[used] = '\0';
   return out;
}

static int ask(context_t *own, const rkb_llm_api_t *llm, const rkb_prompt_t *prompt,
               const choice_model_t *model, rkb_llm_answer_t **answer, rkb_error_t *err) {
   rkb_filled_prompt_t *filled = NULL;
   int status = context_fill(own, prompt, LESSONS_CHILD, &filled, err);
   if (status != RKB_OK)
      return status;
   rkb_llm_question_t question = {.size = sizeof question,
                                  .child = LESSONS_CHILD,
                                  .model = model->model,
                                  .system = filled->system,
                                  .user = filled->user,
                                  .provenance = filled->provenance,
                                  .temperature = model->temperature,
                                  .most_output_tokens = model->max_output_tokens};
   status = llm->ask(own->host, own->job, &question, answer, err);
   own->services->prompt->free(filled);
   return status;
}

int lessons_distil(const context_t *context, const rkb_llm_api_t *llm, const rkb_prompt_t *prompt,
                   const choice_model_t *models, uint32_t model_count, const char *choice,
                   const char *objective, char **note, rkb_error_t *err) {
   context_t *own = malloc(sizeof *own);
   rkb_llm_answer_t *answer = NULL;
   *note = NULL;
   if (!own)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   context_open(own, context->host, context->job, context->services);
   context_add_task(own);
   lessons_add(own);
   context_add_best(own, objective, BEST);
   context_add_verdicts(own, VERDICTS);
   rkb_random_t stream = own->services->random->for_job(own->host, own->job, 2 * LESSONS_CHILD);
   const choice_model_t *model = &models[choice_make(own, choice, models, model_count, &stream)];
   int status = ask(own, llm, prompt, model, &answer, err);
   if (status == RKB_OK && answer->outcome == RKB_LLM_CANCELLED) {
      status = rkb_fail(err, RKB_ERR_CANCELLED, "%s", answer->message);
   } else if (status == RKB_OK &&
              (answer->outcome == RKB_LLM_ANSWERED || answer->outcome == RKB_LLM_TRUNCATED)) {
      int64_t window, seen = generations_seen(own, &window);
      char *lessons = tidy(answer);
      if (!lessons || (lessons[0] && asprintf(note, HEAD "%lld (model %s, $%.6f):\n%s", (long long)seen,
                                              model->model, answer->worth_usd, lessons) < 0)) {
         *note = NULL;
         status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
      }
      free(lessons);
   } else if (status == RKB_OK) {
      rkb_warn(own->host, "no lessons: model %.60s, %s: %.200s", model->model,
               rkb_llm_outcome_name(answer->outcome), answer->message);
   }
   llm->free(answer);
   context_close(own);
   free(own);
   return status;
}
