/* One proposal (proposal.h).  A reply that cannot be used becomes a candidate too: its text is stored like any other, its note has
 * the reason, and the screen rejects it. */
#include "proposal.h"

#include <stdlib.h>
#include <string.h>
#include "embedding.h"
#include "novelty.h"
#include "reply/reply_edits.h"
#include "reply/extract.h"

/* Numbers of a job's streams that make markers; those that pick models are below. */
#define MARKER_STREAM 4096

static int read_reply(const proposal_t *proposal, const rkb_llm_answer_t *answer, char **source,
                      rkb_error_t *why) {
   uint32_t edits;
   if (answer->outcome != RKB_LLM_ANSWERED)
      return rkb_fail(why, RKB_ERR_INVALID, "%s", answer->message);
   if (proposal->edited && edits_present(answer->text, answer->text_bytes))
      return edits_apply(proposal->edited, answer->text, answer->text_bytes, source, &edits, why);
   return extract_kernel(answer->text, answer->text_bytes, source, why);
}

/* Returns the reply's own words, cut to what a source may hold. */
static char *unusable(const rkb_llm_answer_t *answer) {
   size_t bytes = answer->text_bytes < EXTRACT_MOST_BYTES - 64 ? answer->text_bytes : EXTRACT_MOST_BYTES - 64;
   while (bytes && ((unsigned char)answer->text[bytes] & 0xc0) == 0x80)
      bytes--; /* cut off no part of a character */
   return bytes ? strndup(answer->text, bytes) : strdup("(the reply is empty)");
}

/* The results of a proposal's questions. */
typedef struct replies {
   rkb_llm_answer_t *answer; /* of the last question; owned */
   char *source;             /* from that answer, or NULL; owned */
   int read;                 /* RKB_OK, or why there is no source */
   rkb_error_t why;
   double worth_usd; /* of all answers */
   uint32_t asked;
   const rkb_archive_row_t *repeats; /* the candidate that the last answer repeats, or NULL */
   bool source_differs;              /* the repeated candidate's text is another one */
   bool embedded;                    /* likeness is the cosine of two embeddings */
   embedding_t embedding;            /* of the last answer, if it was asked for */
   double likeness;                  /* of the two structures; 1 also where the texts are the same */
} replies_t;

static int emit(context_t *context, const proposal_t *proposal, replies_t *replies, const char *model,
                rkb_error_t *err) {
   char head[704], again[64] = "", variant[32] = "", *note = NULL;
   if (replies->read != RKB_OK && replies->read != RKB_ERR_INVALID) {
      *err = replies->why;
      return replies->read;
   }
   if (!replies->source)
      replies->source = unusable(replies->answer);
   if (!replies->source)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (replies->asked > 1)
      snprintf(again, sizeof again, "; asked %u times", replies->asked);
   if (proposal->variant)
      snprintf(variant, sizeof variant, "; variant %lld", (long long)proposal->variant);
   snprintf(head, sizeof head, "model %.60s, $%.6f; %.100s%s%s%s%.300s", model, replies->worth_usd, proposal->what, variant, again,
            replies->read == RKB_OK ? "" : "; the reply cannot be used: ", replies->read == RKB_OK ? "" : replies->why.message);
   for (char *end = strpbrk(head, "\r\n"); end; end = strpbrk(end, "\r\n"))
      *end = ' '; /* makes it one line, so that nothing a reply quotes passes for lessons */
   if (asprintf(&note, "%s%s%s%s%s", head, replies->embedding.known ? embedding_note(context, proposal->embedding, &replies->embedding) : "", proposal->advice ? proposal->advice : "", proposal->guidance ? proposal->guidance : "", proposal->lessons ? proposal->lessons : "") < 0)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   int status = rkb_emit_candidate(context->host, context->job, replies->source, NULL, note, proposal->parents,
                                   proposal->parent_count);
   free(note);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "the candidate could not be emitted");
}

static bool worth_keeping(uint32_t outcome) {
   return outcome == RKB_LLM_ANSWERED || outcome == RKB_LLM_TRUNCATED || outcome == RKB_LLM_REFUSED ||
          outcome == RKB_LLM_FILTERED;
}

/* Returns what the next question adds, or "" when the last answer is new. */
static const char *told_again(context_t *context, const replies_t *replies) {
   const rkb_archive_row_t *row = replies->repeats;
   if (!row)
      return "";
   /* Leaves out its note, in which a model's words stand. */
   const bool reason = row->reason && row->reason[0];
   const char *how = "";
   if (replies->embedded)
      how = " in other words";
   else if (replies->source_differs && replies->likeness >= 1)
      how = " but for names and numbers";
   else if (replies->source_differs)
      how = context_format(context, " but for %.0f %% of its code", 100 * (1 - replies->likeness));
   return context_format(context,
                         "\n\nThe first answer to this repeated candidate %lld%s, which is known already: %s%s%s. Write a kernel that does "
                         "something else.\n",
                         (long long)row->number, how, row->standing, reason ? ", " : "", reason ? row->reason : "");
}

/* Asks for an embedding: what is new by its structure may still be the same by its meaning. */
static int embed(context_t *context, const rkb_llm_api_t *llm, const proposal_t *proposal, uint32_t child, replies_t *replies, rkb_error_t *err) {
   int status = embedding_ask(context, llm, proposal->embedding, replies->source, child, &replies->embedding, err);
   replies->worth_usd += replies->embedding.worth_usd;
   if (status == RKB_OK)
      replies->repeats = embedding_repeated(context, proposal->embedding, &replies->embedding, proposal->alike, &replies->likeness);
   replies->embedded = replies->repeats != NULL;
   return status;
}

static int ask_once(context_t *context, const rkb_llm_api_t *llm, const proposal_t *proposal, const choice_model_t *model,
                    const rkb_filled_prompt_t *filled, replies_t *replies, rkb_error_t *err) {
   const char *more = told_again(context, replies);
   const rkb_llm_question_t question = {.size = sizeof question,
                                        .child = proposal->child + PROPOSAL_MOST * replies->asked,
                                        .model = model->model,
                                        .system = filled->system,
                                        .user = *more ? context_format(context, "%s%s", filled->user, more) : filled->user,
                                        .provenance = filled->provenance,
                                        .temperature = model->temperature,
                                        .most_output_tokens = model->max_output_tokens};
   llm->free(replies->answer);
   free(replies->source);
   replies->answer = NULL;
   replies->source = NULL;
   replies->repeats = NULL;
   int status = llm->ask(context->host, context->job, &question, &replies->answer, err);
   if (status != RKB_OK)
      return status;
   replies->asked++;
   replies->worth_usd += replies->answer->worth_usd;
   replies->read = read_reply(proposal, replies->answer, &replies->source, &replies->why);
   if (replies->read == RKB_OK && proposal->again)
      replies->repeats =
         novelty_repeated(context, proposal->structures, replies->source, proposal->near, &replies->likeness);
   replies->source_differs = replies->repeats && replies->repeats != context_same(context, replies->source);
   replies->embedding = (embedding_t){0};
   replies->embedded = false;
   return replies->read == RKB_OK && !replies->repeats && proposal->again && proposal->embedding && proposal->embedding[0]
             ? embed(context, llm, proposal, question.child, replies, err)
             : RKB_OK;
}

static int report(context_t *context, const proposal_t *proposal, replies_t *replies, const choice_model_t *model,
                  uint32_t *result, rkb_error_t *err) {
   const rkb_llm_answer_t *answer = replies->answer;
   if (answer->outcome == RKB_LLM_CANCELLED)
      return rkb_fail(err, RKB_ERR_CANCELLED, "%s", answer->message);
   if (worth_keeping(answer->outcome)) {
      *result = PROPOSAL_MADE;
      return emit(context, proposal, replies, model->model, err);
   }
   rkb_fail(err, RKB_ERR_LIMIT, "model %.60s, %s: %.300s", model->model,
            rkb_llm_outcome_name(answer->outcome), answer->message);
   return RKB_OK;
}

int proposal_make(context_t *context, const rkb_llm_api_t *llm, const proposal_t *proposal, uint32_t *result,
                  rkb_error_t *err) {
   rkb_random_t stream =
      context->services->random->for_job(context->host, context->job, MARKER_STREAM + proposal->child);
   const choice_model_t *model =
      &proposal
          ->models[choice_make(context, proposal->choice, proposal->models, proposal->model_count, &stream)];
   rkb_filled_prompt_t *filled = NULL;
   replies_t replies = {.worth_usd = proposal->worth_usd};
   *result = PROPOSAL_NONE;
   int status = context_fill(context, proposal->prompt, proposal->child, &filled, err);
   if (status != RKB_OK)
      return status;
   do
      status = ask_once(context, llm, proposal, model, filled, &replies, err);
   while (status == RKB_OK && replies.repeats && replies.asked <= proposal->again);
   if (status == RKB_OK)
      status = report(context, proposal, &replies, model, result, err);
   llm->free(replies.answer);
   free(replies.source);
   context->services->prompt->free(filled);
   return status;
}
