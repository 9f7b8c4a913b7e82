/* Answers questions without asking a provider, from the archive, a cassette or the cache.  Stores new replies there. */
#include <string.h>
#include "llm/pending_question.h"
#include "llm/cassette.h"
#include "llm/reply_cache.h"

static rkb_cassette_question_t cassette_question(const rkb_pending_question_t *pending) {
   return (rkb_cassette_question_t){.key = pending->draw_key,
                                    .stage = pending->asker->stage,
                                    .system = pending->question->system,
                                    .user = pending->question->user,
                                    .request = pending->asker->request,
                                    .child = pending->asker->child};
}

/* Stores a replayed reply, which costs nothing.  Its row has its source and the cost that it would have had. */
static int keep_replay(rkb_pending_question_t *pending, const rkb_reply_t *reply, const char *source,
                       rkb_llm_answer_t **answer, rkb_error_t *err) {
   uint32_t room = 0;
   int64_t id = 0;
   pending->call.reserved_usd = 0;
   pending->call.source = source;
   pending->call.attempt = 1;
   int status = rkb_ledger_reserve(pending->llm->ledger, &pending->call, NULL, NULL, &room, &id, err);
   rkb_call_record_t call = pending->call;
   rkb_call_fill(&call, reply, true);
   call.outcome = rkb_llm_outcome_name(rkb_reply_outcome(reply));
   call.worth_usd = rkb_reply_worth(pending->model, reply);
   call.seconds = -1;
   if (status == RKB_OK && room == RKB_LEDGER_RESERVED) /* if the limit is now below what was spent, not even a free row is added */
      status = rkb_ledger_finish(pending->llm->ledger, id, &call, err);
   if (status == RKB_OK)
      *answer = rkb_pending_answer_reply(pending, reply, source, call.worth_usd, -1);
   return status;
}

rkb_llm_answer_t *rkb_pending_answer_found(const rkb_pending_question_t *pending,
                                           const rkb_call_found_t *found) {
   rkb_reply_t reply;
   rkb_reply_init(&reply);
   rkb_text_add(&reply.text, found->reply);
   reply.input_tokens = found->input_tokens;
   reply.cached_tokens = found->cached_tokens;
   reply.output_tokens = found->output_tokens;
   reply.reasoning_tokens = found->reasoning_tokens;
   reply.refused = found->outcome && strcmp(found->outcome, rkb_llm_outcome_name(RKB_LLM_REFUSED)) == 0;
   reply.filtered = found->outcome && strcmp(found->outcome, rkb_llm_outcome_name(RKB_LLM_FILTERED)) == 0;
   reply.truncated = found->outcome && strcmp(found->outcome, rkb_llm_outcome_name(RKB_LLM_TRUNCATED)) == 0;
   rkb_llm_answer_t *answer =
      rkb_pending_answer_reply(pending, &reply, "archive", found->worth_usd, found->seconds);
   rkb_reply_free(&reply);
   return answer;
}

/* *answered is false when neither the cassette nor the cache has the question. */
int rkb_pending_try_replays(rkb_pending_question_t *pending, bool *answered, rkb_llm_answer_t **answer,
                            rkb_error_t *err) {
   const rkb_model_t *model = pending->model;
   rkb_cassette_question_t question = cassette_question(pending);
   rkb_reply_t reply;
   int status = RKB_OK;
   const char *source = NULL;
   rkb_reply_init(&reply);
   if (model->replay && rkb_cassette_play(model->replay, &question, &reply))
      source = "cassette";
   else if (!model->replay && model->cache != RKB_CACHE_OFF &&
            rkb_reply_cache_read(pending->draw_key, &reply))
      source = "cache";
   *answered = source || model->replay;
   if (source)
      status = keep_replay(pending, &reply, source, answer, err);
   else if (model->replay)
      *answer = rkb_pending_answer(pending, RKB_LLM_REJECTED, NULL,
                                   "the cassette holds no exchange that fits this question");
   rkb_reply_free(&reply);
   return status;
}

void rkb_pending_keep(const rkb_pending_question_t *pending, const rkb_reply_t *reply) {
   rkb_error_t err = {0};
   rkb_cassette_question_t question = cassette_question(pending);
   if (pending->model->record &&
       rkb_cassette_record(pending->model->record, pending->model, &question, reply, &err) != RKB_OK)
      rkb_log_printf(pending->llm->options.log, RKB_LOG_WARN, pending->asker->stage, "%s", err.message);
   if (pending->model->cache == RKB_CACHE_READ_WRITE &&
       rkb_reply_cache_write(pending->draw_key, reply, &err) != RKB_OK)
      rkb_log_printf(pending->llm->options.log, RKB_LOG_WARN, pending->asker->stage, "%s", err.message);
}
