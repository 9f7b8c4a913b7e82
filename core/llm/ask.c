/* Asks one question until it is answered: reserves money, makes attempts, and stores the result (llm.h).  Any
 * thread except the loop's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"
#include "llm/pending_question.h"
#include "llm/attempt.h"

#define MOST_BACKOFF_NS 60000000000ull
#define MOST_TROUBLE 640

static bool give_up(void *argument) {
   const rkb_llm_asker_t *asker = ((const rkb_pending_question_t *)argument)->asker;
   return (asker->deadline_ns && rkb_now_ns() >= asker->deadline_ns) ||
          (asker->cancelled && asker->cancelled(asker->argument));
}

/* Money
 * ------------------------------------------------------------------------------------------------------------------
 */

static double most_of(const rkb_pending_question_t *pending, int64_t *tokens) {
   const rkb_model_t *model = pending->model;
   int64_t input = rkb_model_most_input(strlen(pending->body), 2),
           output = rkb_question_output(model, pending->question);
   double dearest = fmax(model->face.input_usd, model->face.cached_usd);
   *tokens = input + output;
   if (model->command)
      return model->cost_per_call > 0 ? model->cost_per_call : 0;
   return (double)input * dearest + (double)output * model->face.output_usd;
}

/* No token is longer than this: the longest in known vocabularies are runs of 128 blanks. */
#define MOST_TOKEN_BYTES 1024
/* And the tokens of a question, which are words and code, are much shorter on average. */
#define MOST_QUESTION_TOKEN_BYTES 512

static int64_t least_tokens(size_t bytes, size_t longest) {
   return (int64_t)((bytes + longest - 1) / longest);
}

/* Whether a report of usage is possible for this question and this reply: a token has at least one byte, so
 * no text has more tokens than bytes. */
static bool usage_is_possible(const rkb_pending_question_t *pending, const rkb_reply_t *reply) {
   const int64_t most_input = rkb_model_most_input(strlen(pending->body), 2),
                 most_output = rkb_question_output(pending->model, pending->question),
                 least_output = least_tokens(reply->text.length, MOST_TOKEN_BYTES),
                 least_input =
                    least_tokens((pending->question->system ? strlen(pending->question->system) : 0) +
                                    strlen(pending->question->user),
                                 MOST_QUESTION_TOKEN_BYTES);
   return reply->input_tokens > 0 && reply->input_tokens >= least_input &&
          reply->input_tokens <= most_input && reply->cached_tokens <= reply->input_tokens &&
          (reply->output_tokens < 0 || pending->model->provider->no_output ||
           reply->output_tokens >= least_output) &&
          (most_output <= 0 || reply->output_tokens <= most_output);
}

/* Discards an implausible report and tells the user.  Then this program's own count bounds the cost, not the
 * server's report. */
static void doubt_usage(const rkb_pending_question_t *pending, rkb_reply_t *reply) {
   if (pending->model->command || !reply->usage_final || usage_is_possible(pending, reply))
      return;
   rkb_log_printf(
      pending->llm->options.log, RKB_LOG_WARN, pending->asker->stage,
      "model '%s' reported usage that this question and reply cannot have (%lld tokens in, %lld of them cached, %lld "
      "out): what was reserved is charged",
      pending->model->face.name, (long long)reply->input_tokens, (long long)reply->cached_tokens,
      (long long)reply->output_tokens);
   reply->usage_final = false;
   reply->input_tokens = reply->cached_tokens = reply->output_tokens = reply->reasoning_tokens = -1;
}

/* The cost of an attempt.  It is nothing if the provider never saw the attempt or answered with an error
 * status.  Otherwise it follows from the usage that the provider reported.  Without a plausible report it is
 * the whole reservation, which is an upper bound by this program's own count. */
static void charge(const rkb_pending_question_t *pending, const rkb_attempt_t *attempt,
                   rkb_call_record_t *call) {
   const rkb_reply_t *reply = &attempt->reply;
   bool free_of_charge = attempt->unsent || attempt->unbilled;
   call->estimated =
      !free_of_charge && !pending->model->command && !reply->usage_final && call->reserved_usd > 0;
   call->cost_usd = free_of_charge    ? 0
                    : call->estimated ? call->reserved_usd
                                      : rkb_reply_worth(pending->model, reply);
   call->worth_usd = call->cost_usd;
   if (call->estimated && attempt->end == RKB_ATTEMPT_REPLIED)
      rkb_log_printf(
         pending->llm->options.log, RKB_LOG_INFO, pending->asker->stage,
         "model '%s': the reply has no usable report of its tokens; the %.6f USD that were reserved are charged",
         pending->model->face.name, call->reserved_usd);
}

/* Attempts
 * ------------------------------------------------------------------------------------------------------------------
 */

static uint64_t backoff(const rkb_pending_question_t *pending, const rkb_attempt_t *attempt, int64_t retry) {
   uint64_t wait = pending->model->backoff_ns;
   for (int64_t i = 0; i < retry && wait < MOST_BACKOFF_NS; i++)
      wait *= 2;
   if (wait > MOST_BACKOFF_NS)
      wait = MOST_BACKOFF_NS;
   /* Random jitter, so that questions that failed at the same time are not repeated at the same time.  It affects nothing that is
    * recorded. */
   wait = wait / 2 + (rkb_hash64(pending->draw_key, sizeof pending->draw_key, rkb_now_ns()) % (wait / 2 + 1));
   return attempt->retry_after_ns > wait ? attempt->retry_after_ns : wait;
}

static void strip(const rkb_llm_t *llm, rkb_text_t *text) {
   if (text->data)
      rkb_keys_strip(llm->keys, text->data, text->length);
}

/* Reserves, sends, charges and stores one attempt.  Sets *answer when the question is finished. */
static int try_once(rkb_pending_question_t *pending, int64_t number, int64_t retry, bool *again,
                    uint64_t *pause, rkb_llm_answer_t **answer, rkb_error_t *err) {
   rkb_llm_t *llm = pending->llm;
   const rkb_model_t *model = pending->model;
   rkb_attempt_t attempt = {.model = model,
                            .key = rkb_keys_of(llm->keys, model),
                            .body = pending->body,
                            .question = pending->question,
                            .deadline_ns = pending->asker->deadline_ns,
                            .give_up = give_up,
                            .argument = pending};
   int64_t tokens, id = 0;
   uint32_t room;
   *again = false;
   pending->call.reserved_usd = most_of(pending, &tokens);
   pending->call.attempt = number;
   if (!rkb_limits_take(llm->limits, model, tokens, give_up, pending)) {
      *answer =
         rkb_pending_answer(pending, RKB_LLM_CANCELLED, NULL, "the job ended while it waited for its turn");
      return RKB_OK;
   }
   int status = rkb_ledger_reserve(llm->ledger, &pending->call, give_up, pending, &room, &id, err);
   if (status != RKB_OK || room != RKB_LEDGER_RESERVED) {
      rkb_limits_give(llm->limits, model, tokens, 0);
      if (status != RKB_OK)
         return status;
      if (room == RKB_LEDGER_GIVEN_UP) {
         *answer = rkb_pending_answer(pending, RKB_LLM_CANCELLED, NULL,
                                      "the job ended while it waited for money that others had reserved");
         return RKB_OK;
      }
      rkb_llm_tell_over_budget(llm, model, pending->call.reserved_usd);
      *answer = rkb_pending_answer(pending, RKB_LLM_OVER_BUDGET, NULL,
                                   "its reservation does not fit under limits.cost_usd");
      return RKB_OK;
   }
   if (model->command)
      rkb_attempt_command(&attempt);
   else
      rkb_attempt_http(llm->options.loop, llm->options.http, &attempt);
   rkb_reply_t *reply = &attempt.reply;
   doubt_usage(pending, reply);
   rkb_limits_give(llm->limits, model, tokens,
                   reply->usage_final ? reply->input_tokens + reply->output_tokens : -1);

   bool replied = attempt.end == RKB_ATTEMPT_REPLIED;
   bool retries = attempt.end == RKB_ATTEMPT_FAILED && retry < model->retries;
   uint32_t outcome = replied                                 ? rkb_reply_outcome(reply)
                      : attempt.end == RKB_ATTEMPT_REJECTED   ? RKB_LLM_REJECTED
                      : attempt.end == RKB_ATTEMPT_UNREADABLE ? RKB_LLM_UNREADABLE
                      : attempt.end == RKB_ATTEMPT_CANCELLED  ? RKB_LLM_CANCELLED
                                                              : RKB_LLM_UNREACHABLE;
   char trouble[MOST_TROUBLE + 1];
   strip(llm, &reply->text);
   strip(llm, &reply->refusal);
   strip(llm, &reply->trouble); /* before cutting: half a key would not be recognised as a key */
   snprintf(trouble, sizeof trouble, "%s",
            reply->trouble.length ? rkb_text_get(&reply->trouble) : rkb_run_result_message(outcome));
   rkb_call_record_t call = pending->call;
   rkb_call_fill(&call, reply, replied);
   charge(pending, &attempt, &call);
   call.outcome = rkb_llm_outcome_name(outcome);
   call.error = replied ? NULL : trouble;
   call.seconds = attempt.seconds;
   pending->charged += call.cost_usd;
   pending->estimated |= call.estimated;
   status = rkb_ledger_finish(llm->ledger, id, &call, err);
   if (status == RKB_OK && replied) {
      rkb_pending_keep(pending, reply);
      *answer = rkb_pending_answer_reply(pending, reply, NULL, call.worth_usd, attempt.seconds);
   } else if (status == RKB_OK && retries) {
      *again = true;
      *pause = backoff(pending, &attempt, retry);
      rkb_log_printf(llm->options.log, RKB_LOG_INFO, pending->asker->stage,
                     "model '%s', attempt %lld: %s; again in %.1f s", model->face.name, (long long)number,
                     trouble, (double)*pause * 1e-9);
   } else if (status == RKB_OK) {
      *answer = rkb_pending_answer(pending, outcome, &reply->text, trouble);
   }
   rkb_reply_free(reply);
   return status;
}

static int buy(rkb_pending_question_t *pending, int64_t made, rkb_llm_answer_t **answer, rkb_error_t *err) {
   bool again = true;
   uint64_t pause = 0;
   int status = RKB_OK;
   if (!pending->model->command && !pending->llm->options.http) {
      *answer = rkb_pending_answer(pending, RKB_LLM_REJECTED, NULL,
                                   "this build has no HTTP client (RKB_HTTP is off): only command: and "
                                   "replay: models answer");
      return RKB_OK;
   }
   for (int64_t retry = 0; status == RKB_OK && again; retry++) {
      if (retry && !rkb_limits_pause(pause, give_up, pending)) {
         *answer = rkb_pending_answer(pending, RKB_LLM_CANCELLED, NULL, "the job ended between two attempts");
         return RKB_OK;
      }
      status = try_once(pending, made + retry + 1, retry, &again, &pause, answer, err);
   }
   return status;
}

/* The question
 * ----------------------------------------------------------------------------------------------------------------
 */

static int write_question(rkb_pending_question_t *pending, rkb_error_t *err) {
   const rkb_model_t *model = pending->model;
   const rkb_llm_question_t *question = pending->question;
   json_t *body = model->provider->body(model, question);
   rkb_hasher_t *hasher = rkb_hasher_new();
   pending->body = body ? rkb_json_canonical(body) : NULL;
   json_decref(body);
   pending->prompt = question->system && question->system[0]
                        ? rkb_format("# system\n%s\n# user\n%s", question->system, question->user)
                        : rkb_duplicate(question->user);
   if (!pending->body) {
      rkb_hasher_drop(hasher);
      return rkb_fail(
         err, RKB_ERR_INVALID,
         "the question cannot be written as JSON: its text is not UTF-8, or there is no memory left");
   }
   rkb_hasher_add_text(hasher, model->face.provider);
   rkb_hasher_add_text(hasher, model->base_url ? model->base_url : "");
   rkb_hasher_add_text(hasher, model->face.model);
   rkb_hasher_add_text(hasher, pending->body);
   rkb_hasher_finish(hasher, pending->key);
   return RKB_OK;
}

static void name_draw(rkb_pending_question_t *pending, int64_t draw) {
   char text[RKB_HASH_TEXT + 32];
   pending->call.draw = draw;
   snprintf(text, sizeof text, "%s/%lld", pending->key, (long long)draw);
   rkb_hash_text(text, strlen(text), pending->draw_key);
}

int rkb_llm_ask(rkb_llm_t *llm, const rkb_llm_asker_t *asker, const rkb_llm_question_t *question,
                rkb_llm_answer_t **answer, rkb_error_t *err) {
   rkb_pending_question_t pending = {.llm = llm, .asker = asker, .question = question};
   rkb_call_found_t found = {0};
   bool answered = false;
   *answer = NULL;
   pending.model = (const rkb_model_t *)rkb_models_find(llm->options.models, question->model);
   if (!pending.model)
      return rkb_fail(err, RKB_ERR_INVALID, "the pipeline lists no model '%.100s'",
                      question->model ? question->model : "");
   if (pending.model->unused)
      return rkb_fail(err, RKB_ERR_INVALID, "no option of type model names '%.100s', so its key was not read",
                      question->model);
   if (!question->user)
      return rkb_fail(err, RKB_ERR_INVALID, "a question needs a text");
   int status = write_question(&pending, err);
   if (status != RKB_OK)
      goto done;
   double temperature = rkb_question_temperature(pending.model, question);
   pending.call = (rkb_call_record_t){.section = asker->section,
                                      .request = asker->request,
                                      .child = asker->child,
                                      .stage = asker->stage,
                                      .model = pending.model->face.name,
                                      .prompt = pending.prompt,
                                      .provider = pending.model->face.provider,
                                      .key = pending.key,
                                      .provenance = question->provenance,
                                      .source = "bought",
                                      .input_tokens = -1,
                                      .temperature = temperature < 0 ? NAN : temperature,
                                      .cached_tokens = -1,
                                      .output_tokens = -1,
                                      .reasoning_tokens = -1,
                                      .seconds = -1};
   status = rkb_ledger_find(llm->ledger, &pending.call, &found, err);
   if (status != RKB_OK)
      goto done;
   pending.charged = found.cost_usd;
   pending.estimated = found.estimated;
   name_draw(&pending, found.draw);
   if (found.replied)
      *answer = rkb_pending_answer_found(&pending, &found);
   else
      status = rkb_pending_try_replays(&pending, &answered, answer, err);
   if (status == RKB_OK && !*answer)
      status = buy(&pending, found.attempts, answer, err);
done:
   rkb_call_found_clear(&found);
   free(pending.body);
   free(pending.prompt);
   return status;
}
