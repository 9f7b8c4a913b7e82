/* Answers questions without asking a provider, from the archive, a cassette or the cache; and stores new replies there. */
#include <string.h>
#include "llm/asking.h"
#include "llm/cassette.h"
#include "llm/reply_cache.h"

static rkb_cassette_question_t cassette_question(const rkb_asking_t *asking) {
   return (rkb_cassette_question_t){.key = asking->draw_key,
                                    .stage = asking->asker->stage,
                                    .system = asking->question->system,
                                    .user = asking->question->user,
                                    .request = asking->asker->request,
                                    .child = asking->asker->child};
}

/* Stores a replayed reply, which costs nothing.  Its row has its source and the cost that it would have had. */
static int keep_replay(rkb_asking_t *asking, const rkb_reply_t *reply, const char *source,
                       rkb_llm_answer_t **answer, rkb_error_t *err) {
   uint32_t room = 0;
   int64_t id = 0;
   asking->call.reserved_usd = 0;
   asking->call.source = source;
   asking->call.attempt = 1;
   int status = rkb_ledger_reserve(asking->llm->ledger, &asking->call, NULL, NULL, &room, &id, err);
   rkb_call_record_t call = asking->call;
   rkb_call_fill(&call, reply, true);
   call.outcome = rkb_llm_outcome_name(rkb_reply_outcome(reply));
   call.worth_usd = rkb_reply_worth(asking->model, reply);
   call.seconds = -1;
   if (status == RKB_OK && room == RKB_LEDGER_RESERVED) /* if the limit is now below what was spent, not even a free row is added */
      status = rkb_ledger_finish(asking->llm->ledger, id, &call, err);
   if (status == RKB_OK)
      *answer = rkb_asking_answer_reply(asking, reply, source, call.worth_usd, -1);
   return status;
}

rkb_llm_answer_t *rkb_asking_answer_found(const rkb_asking_t *asking, const rkb_call_found_t *found) {
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
      rkb_asking_answer_reply(asking, &reply, "archive", found->worth_usd, found->seconds);
   rkb_reply_free(&reply);
   return answer;
}

/* *answered is false when neither the cassette nor the cache has the question. */
int rkb_asking_try_replays(rkb_asking_t *asking, bool *answered, rkb_llm_answer_t **answer,
                           rkb_error_t *err) {
   const rkb_model_t *model = asking->model;
   rkb_cassette_question_t question = cassette_question(asking);
   rkb_reply_t reply;
   int status = RKB_OK;
   const char *source = NULL;
   rkb_reply_init(&reply);
   if (model->replay && rkb_cassette_play(model->replay, &question, &reply))
      source = "cassette";
   else if (!model->replay && model->cache != RKB_CACHE_OFF && rkb_reply_cache_read(asking->draw_key, &reply))
      source = "cache";
   *answered = source || model->replay;
   if (source)
      status = keep_replay(asking, &reply, source, answer, err);
   else if (model->replay)
      *answer = rkb_asking_answer(asking, RKB_LLM_REJECTED, NULL,
                                  "the cassette holds no exchange that fits this question");
   rkb_reply_free(&reply);
   return status;
}

void rkb_asking_keep(const rkb_asking_t *asking, const rkb_reply_t *reply) {
   rkb_error_t err = {0};
   rkb_cassette_question_t question = cassette_question(asking);
   if (asking->model->record &&
       rkb_cassette_record(asking->model->record, asking->model, &question, reply, &err) != RKB_OK)
      rkb_log_printf(asking->llm->options.log, RKB_LOG_WARN, asking->asker->stage, "%s", err.message);
   if (asking->model->cache == RKB_CACHE_READ_WRITE &&
       rkb_reply_cache_write(asking->draw_key, reply, &err) != RKB_OK)
      rkb_log_printf(asking->llm->options.log, RKB_LOG_WARN, asking->asker->stage, "%s", err.message);
}
