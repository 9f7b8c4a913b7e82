/* One proposal (proposal.h).  A reply that cannot be used becomes a candidate all the same: its text is kept
 * where people and later prompts look, its note says what is wrong, and the screen rejects it. */
#include "proposal.h"

#include <stdlib.h>
#include <string.h>
#include "reply/reply_edits.h"
#include "reply/extract.h"

#define MARKER_STREAM 4096 /* children of a job's stream that pick models, beside those that make markers */

static int read_reply(const proposal_t *proposal, const rkb_llm_answer_t *answer, char **source,
                      rkb_error_t *why) {
   uint32_t edits;
   if (answer->outcome != RKB_LLM_ANSWERED)
      return rkb_fail(why, RKB_ERR_INVALID, "%s", answer->message);
   if (proposal->edited && edits_present(answer->text, answer->text_bytes))
      return edits_apply(proposal->edited, answer->text, answer->text_bytes, source, &edits, why);
   return extract_kernel(answer->text, answer->text_bytes, source, why);
}

/* The words themselves, cut to what a source may hold. */
static char *unusable(const rkb_llm_answer_t *answer) {
   size_t bytes = answer->text_bytes < EXTRACT_MOST_BYTES - 64 ? answer->text_bytes : EXTRACT_MOST_BYTES - 64;
   while (bytes && ((unsigned char)answer->text[bytes] & 0xc0) == 0x80)
      bytes--; /* no half characters */
   return bytes ? strndup(answer->text, bytes) : strdup("(the reply is empty)");
}

static int emit(const context_t *context, const proposal_t *proposal, const rkb_llm_answer_t *answer,
                const char *model, rkb_error_t *err) {
   rkb_error_t why = {0};
   char head[640], *note = NULL, *source = NULL;
   int read = read_reply(proposal, answer, &source, &why);
   if (read != RKB_OK && read != RKB_ERR_INVALID) {
      *err = why;
      return read;
   }
   if (!source)
      source = unusable(answer);
   if (!source)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   snprintf(head, sizeof head, "model %.60s, $%.6f; %.100s%s%.300s", model, answer->worth_usd, proposal->what,
            read == RKB_OK ? "" : "; the reply cannot be used: ", read == RKB_OK ? "" : why.message);
   for (char *end = strpbrk(head, "\r\n"); end; end = strpbrk(end, "\r\n"))
      *end = ' '; /* one line: what a reply quotes cannot pass for lessons */
   if (asprintf(&note, "%s%s", head, proposal->lessons ? proposal->lessons : "") < 0) {
      free(source);
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   int status = rkb_emit_candidate(context->host, context->job, source, NULL, note, proposal->parents,
                                   proposal->parent_count);
   free(source);
   free(note);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "the candidate could not be emitted");
}

static bool worth_keeping(uint32_t outcome) {
   return outcome == RKB_LLM_ANSWERED || outcome == RKB_LLM_TRUNCATED || outcome == RKB_LLM_REFUSED ||
          outcome == RKB_LLM_FILTERED;
}

int proposal_make(context_t *context, const rkb_llm_api_t *llm, const proposal_t *proposal, uint32_t *result,
                  rkb_error_t *err) {
   rkb_random_t stream =
      context->services->random->for_job(context->host, context->job, MARKER_STREAM + proposal->child);
   const choice_model_t *model =
      &proposal
          ->models[choice_make(context, proposal->choice, proposal->models, proposal->model_count, &stream)];
   rkb_filled_prompt_t *filled = NULL;
   rkb_llm_answer_t *answer = NULL;
   *result = PROPOSAL_NONE;
   int status = context_fill(context, proposal->prompt, proposal->child, &filled, err);
   if (status != RKB_OK)
      return status;
   rkb_llm_question_t question = {.size = sizeof question,
                                  .child = proposal->child,
                                  .model = model->model,
                                  .system = filled->system,
                                  .user = filled->user,
                                  .provenance = filled->provenance,
                                  .temperature = model->temperature,
                                  .most_output_tokens = model->max_output_tokens};
   status = llm->ask(context->host, context->job, &question, &answer, err);
   if (status == RKB_OK && answer->outcome == RKB_LLM_CANCELLED) {
      status = rkb_fail(err, RKB_ERR_CANCELLED, "%s", answer->message);
   } else if (status == RKB_OK && worth_keeping(answer->outcome)) {
      status = emit(context, proposal, answer, model->model, err);
      *result = PROPOSAL_MADE;
   } else if (status == RKB_OK) {
      rkb_fail(err, answer->outcome == RKB_LLM_OVER_BUDGET ? RKB_OK : RKB_ERR_LIMIT,
               "model %.60s, %s: %.300s", model->model, rkb_llm_outcome_name(answer->outcome),
               answer->message);
   }
   llm->free(answer);
   context->services->prompt->free(filled);
   return status;
}
