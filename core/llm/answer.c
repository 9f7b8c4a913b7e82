/* Makes answers from replies, and computes what a reply is worth.  Any thread. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/utf8.h"
#include "llm/pending_question.h"

rkb_llm_answer_t *rkb_pending_answer(const rkb_pending_question_t *pending, uint32_t outcome,
                                     const rkb_text_t *text, const char *message) {
   rkb_llm_answer_t *answer = rkb_allocate(1, sizeof *answer);
   rkb_text_t clean;
   rkb_text_init(&clean, 3 * (size_t)RKB_ARCHIVE_MAX_REPLY);
   if (text)
      rkb_utf8_mend(rkb_text_get(text), text->length, &clean);
   char *copy = rkb_text_take(&clean), *said = rkb_duplicate(message ? message : "");
   rkb_keys_strip(pending->llm->keys, said, strlen(said));
   rkb_keys_strip(pending->llm->keys, copy, strlen(copy));
   *answer = (rkb_llm_answer_t){.size = sizeof *answer,
                                .outcome = outcome,
                                .text = copy,
                                .text_bytes = strlen(copy),
                                .message = said,
                                .input_tokens = -1,
                                .cached_tokens = -1,
                                .output_tokens = -1,
                                .reasoning_tokens = -1,
                                .paid_usd = pending->charged,
                                .estimated = pending->estimated,
                                .seconds = -1};
   return answer;
}

void rkb_llm_answer_free(rkb_llm_answer_t *answer) {
   if (!answer)
      return;
   free((char *)answer->text);
   free((char *)answer->message);
   free(answer);
}

uint32_t rkb_reply_outcome(const rkb_reply_t *reply) {
   return reply->refused     ? RKB_LLM_REFUSED
          : reply->filtered  ? RKB_LLM_FILTERED
          : reply->truncated ? RKB_LLM_TRUNCATED
                             : RKB_LLM_ANSWERED;
}

const char *rkb_run_result_message(uint32_t outcome) {
   switch (outcome) {
   case RKB_LLM_ANSWERED:
      return "";
   case RKB_LLM_REFUSED:
      return "the model refused";
   case RKB_LLM_FILTERED:
      return "the provider's content filter withheld the reply";
   case RKB_LLM_TRUNCATED:
      return "the reply was cut at the output limit";
   case RKB_LLM_CANCELLED:
      return "the job ended before the model had answered";
   default:
      return "the provider told of an error without a text";
   }
}

double rkb_reply_worth(const rkb_model_t *model, const rkb_reply_t *reply) {
   if (model->command)
      return model->cost_per_call > 0 ? model->cost_per_call : 0;
   if (!reply->usage_final)
      return 0;
   int64_t cached = reply->cached_tokens > 0 ? reply->cached_tokens : 0;
   cached = cached < reply->input_tokens ? cached : reply->input_tokens;
   return (double)(reply->input_tokens - cached) * model->face.input_usd +
          (double)cached * model->face.cached_usd +
          (double)(reply->output_tokens > 0 ? reply->output_tokens : 0) * model->face.output_usd;
}

void rkb_call_fill(rkb_call_record_t *call, const rkb_reply_t *reply, bool replied) {
   call->reply = !replied                                ? NULL
                 : reply->refused && !reply->text.length ? rkb_text_get(&reply->refusal)
                                                         : rkb_text_get(&reply->text);
   call->input_tokens = reply->input_tokens;
   call->cached_tokens = reply->cached_tokens;
   call->output_tokens = reply->output_tokens;
   call->reasoning_tokens = reply->reasoning_tokens;
   call->state = replied ? "finished" : "failed";
}

rkb_llm_answer_t *rkb_pending_answer_reply(const rkb_pending_question_t *pending, const rkb_reply_t *reply,
                                           const char *source, double worth, double seconds) {
   uint32_t outcome = rkb_reply_outcome(reply);
   const rkb_text_t *text = reply->refused && !reply->text.length ? &reply->refusal : &reply->text;
   rkb_llm_answer_t *answer = rkb_pending_answer(pending, outcome, text, rkb_run_result_message(outcome));
   answer->input_tokens = reply->input_tokens;
   answer->cached_tokens = reply->cached_tokens;
   answer->output_tokens = reply->output_tokens;
   answer->reasoning_tokens = reply->reasoning_tokens;
   answer->worth_usd = worth;
   answer->replayed = source != NULL;
   answer->seconds = seconds;
   return answer;
}
