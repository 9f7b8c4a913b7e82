/* Recommendations and plans (recommendations.h).  A note reads "model quick, $0.002; improve\nadvice on
 * candidate 12 (model quick, $0.001):\n  1. ...".  Lines of advice begin with spaces, so that none passes for
 * another part of a note. */
#include "recommendations.h"

#include <stdlib.h>
#include <string.h>

#define HEAD "\nadvice on candidate "
#define FENCED true

/* Returns the advice on that candidate in a visible note, up to the next part of the note; owned by the
 * context, or NULL. */
static const char *known_advice(context_t *context, int64_t candidate) {
   const rkb_archive_api_t *archive = context->services->archive;
   const uint32_t count = archive && context->rows ? archive->rows_count(context->rows) : 0;
   for (uint32_t i = 0; i < count; i++) {
      const char *note = archive->rows_at(context->rows, i)->note;
      const char *advice = note && strncmp(note, "model ", 6) == 0 ? strstr(note, HEAD) : NULL;
      if (!advice || strtoll(advice + strlen(HEAD), NULL, 10) != candidate)
         continue;
      const char *begin = strchr(advice + 1, '\n'), *end = begin;
      while (end && strncmp(end, "\n  ", 3) == 0)
         end = strchr(end + 1, '\n') ? strchr(end + 1, '\n') : end + strlen(end);
      if (begin && end > begin)
         return context_format(context, "%.*s", (int)(end - begin - 1), begin + 1);
   }
   return NULL;
}

int advice_add(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question, int64_t candidate, char **note, rkb_error_t *err) {
   const char *advice = known_advice(context, candidate);
   side_answer_t answer = {0};
   int status = RKB_OK;
   *note = NULL;
   if (!advice) {
      status = side_question_ask(context, llm, question, &answer, err);
      advice = answer.text ? context_indented(context, answer.text) : NULL;
   }
   if (status == RKB_OK && answer.text &&
       asprintf(note, HEAD "%lld (model %s, $%.6f):\n%s", (long long)candidate, answer.model, answer.worth_usd, advice) < 0) {
      *note = NULL;
      status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   if (status == RKB_OK && advice) {
      context_add(context, "advice", "What another model recommends, from what was measured:", NULL, 1, false);
      context_add(context, "advice", advice, "recommendations", 0, FENCED);
   }
   free(answer.text);
   return status;
}

int plan_add(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question, double *worth_usd, rkb_error_t *err) {
   side_answer_t answer;
   int status = side_question_ask(context, llm, question, &answer, err);
   *worth_usd = answer.worth_usd;
   if (status == RKB_OK && answer.text) {
      context_add(context, "plan", "The plan that another model made for this change. Write the kernel that it describes, and leave out what would make it wrong:",
                  NULL, 1, false);
      context_add(context, "plan", context_format(context, "%s", answer.text), "plan", 0, FENCED);
   }
   free(answer.text);
   return status;
}
