/* The scratchpad (lessons.h).  A note reads "model quick, $0.002; improve\nlessons of generation 4 (model
 * quick, $0.001):\n...".  proposal.c writes the first line, and makes sure that no other line begins there. */
#include "lessons.h"

#include <stdlib.h>
#include <string.h>
#include "side_question.h"

#define HEAD "\nlessons of generation "
#define BEST 6
#define VERDICTS 16

/* Returns the lessons of the newest visible candidate that has some; *generation is how many generations it
 * saw. */
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
   if (lessons) /* rows may go before the prompt is filled, so the text is copied */
      context_add(context, "lessons", context_format(context, "%s", lessons), "lessons", 0, true);
}

int64_t lessons_generations(const context_t *context, int64_t *window) {
   const rkb_archive_api_t *archive = context->services->archive;
   *window = 1;
   return archive ? (archive->horizon(context->host, context->job, window) + 1) / *window : 0;
}

bool lessons_due(const context_t *context, int64_t number, int64_t every) {
   int64_t window, generation, seen = lessons_generations(context, &window);
   if (every <= 0 || seen < every)
      return false;
   newest(context, &generation);
   int64_t due = seen / every * every;
   /* The first request that sees a new generation distils.  The request a window later sees whether it did,
    * and else distils itself. */
   return generation < due && (number + 1) % window == 0;
}

int lessons_distil(const context_t *context, const rkb_llm_api_t *llm, const rkb_prompt_t *prompt,
                   const choice_model_t *models, uint32_t model_count, const char *choice,
                   const char *objective, char **note, rkb_error_t *err) {
   context_t *own = malloc(sizeof *own);
   side_answer_t answer;
   *note = NULL;
   if (!own)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   context_open(own, context->host, context->job, context->services);
   context_add_task(own);
   lessons_add(own);
   own->profile = context->profile;
   own->objective = objective;
   context_add_best(own, objective, BEST);
   context_add_verdicts(own, VERDICTS);
   const side_question_t question = {.prompt = prompt,
                                     .models = models,
                                     .model_count = model_count,
                                     .choice = choice,
                                     .child = SIDE_LESSONS,
                                     .what = "lessons",
                                     .most_bytes = LESSONS_MOST_BYTES};
   int status = side_question_ask(own, llm, &question, &answer, err);
   int64_t window, seen = lessons_generations(own, &window);
   if (status == RKB_OK && answer.text &&
       asprintf(note, HEAD "%lld (model %s, $%.6f):\n%s", (long long)seen, answer.model, answer.worth_usd, answer.text) < 0) {
      *note = NULL;
      status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   free(answer.text);
   context_close(own);
   free(own);
   return status;
}
