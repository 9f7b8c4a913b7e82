/* Additional questions (side_question.h). */
#include "side_question.h"

#include <stdlib.h>
#include <string.h>

/* Returns the reply as lines of printable text; "" when it is empty. */
static char *tidy(const rkb_llm_answer_t *answer, size_t most) {
   size_t used = 0, bytes = answer->text_bytes < most ? answer->text_bytes : most;
   char *out = malloc(bytes + 1);
   if (bytes < answer->text_bytes) /* keep whole lines */
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

int side_question_ask(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question, side_answer_t *answer, rkb_error_t *err) {
   rkb_llm_answer_t *reply = NULL;
   rkb_random_t stream = context->services->random->for_job(context->host, context->job, 2 * question->child);
   const choice_model_t *model =
      &question->models[choice_make(context, question->choice, question->models, question->model_count, &stream)];
   *answer = (side_answer_t){.model = model->model};
   int status = choice_ask(context, llm, question->prompt, question->child, model, &reply, err);
   if (status == RKB_OK && reply->outcome == RKB_LLM_CANCELLED) {
      status = rkb_fail(err, RKB_ERR_CANCELLED, "%s", reply->message);
   } else if (status == RKB_OK && (reply->outcome == RKB_LLM_ANSWERED || reply->outcome == RKB_LLM_TRUNCATED)) {
      answer->text = tidy(reply, question->most_bytes);
      answer->worth_usd = reply->worth_usd;
      if (!answer->text)
         status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   } else if (status == RKB_OK) {
      rkb_warn(context->host, "no %s: model %.60s, %s: %.200s", question->what, model->model, rkb_llm_outcome_name(reply->outcome),
               reply->message);
   }
   if (answer->text && !answer->text[0]) {
      free(answer->text);
      answer->text = NULL;
   }
   llm->free(reply);
   return status;
}
