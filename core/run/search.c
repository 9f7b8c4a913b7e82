/* Calls to the strategy (search.h).  It is a plugin, so nothing in its answers is taken on trust. */
#include "run/search.h"

#include <string.h>
#include "base/json.h"
#include "base/random.h"
#include "run/run_state.h"
#include "stage/current_stage.h"
#include "stage/extensions.h"

static const rkb_entry_t *entry_of(const rkb_run_t *run) {
   return &run->pipeline->entries[run->pipeline->strategy];
}

static const char *reason_of(const rkb_error_t *err) {
   return err->message[0] ? err->message : "it did not say why";
}

int rkb_search_open(rkb_run_t *run, rkb_error_t *err) {
   rkb_pipeline_t *pipeline = run->pipeline;
   if (pipeline->strategy < 0)
      return RKB_OK;
   const rkb_entry_t *entry = entry_of(run);
   rkb_error_t own = {0};
   rkb_owner_init(&run->search.owner, &run->runtime, entry, NULL);
   run->search.setup = (rkb_setup_t){.size = sizeof run->search.setup,
                                     .window = pipeline->window,
                                     .operators = pipeline->operators,
                                     .operator_count = pipeline->operator_count,
                                     .objective = pipeline->objective ? pipeline->objective : ""};
   rkb_random_t stream = rkb_random_stream(pipeline->seed, entry->node.id, -1, 0);
   int status = rkb_extensions_check(&run->runtime, entry->strategy->id, RKB_NEEDS(entry->strategy), &own);
   if (status == RKB_OK)
      status = entry->strategy->create(&run->search.owner.host, entry->config, &run->search.setup, stream,
                                       &run->search.self, &own);
   if (status == RKB_OK)
      return RKB_OK;
   return rkb_fail(err, status, "%.100s:%u:%u: %.60s could not be created: %.300s",
                   entry->node.place.file ? entry->node.place.file : "", entry->node.place.line,
                   entry->node.place.column, entry->node.id, reason_of(&own));
}

void rkb_search_close(rkb_run_t *run) {
   if (run->search.self)
      entry_of(run)->strategy->destroy(run->search.self);
}

/* A strategy may name only candidates of which it got the results, because which others exist depends on which worker was faster. */
static bool were_told(const rkb_run_t *run, const int64_t *numbers, uint32_t count) {
   for (uint32_t i = 0; i < count; i++) {
      const rkb_candidate_t *candidate = rkb_numbered_get(&run->numbered, numbers[i]);
      const rkb_run_request_t *owner = candidate ? candidate->owner : NULL;
      if (!owner || owner->state != RKB_TOLD)
         return false;
   }
   return true;
}

static bool is_json_object(const char *text) {
   rkb_error_t err;
   json_t *value = rkb_json_parse(text, strlen(text), &err);
   bool is_object = json_is_object(value);
   json_decref(value);
   return is_object;
}

/* The reason why the answer is refused, or NULL. */
static const char *fault_of(const rkb_run_t *run, const rkb_request_t *wanted) {
   if (wanted->operator_index >= run->pipeline->operator_count)
      return "it asked for an operator that is not listed";
   if (wanted->parent_count > RKB_MAX_PARENTS || wanted->inspiration_count > RKB_MAX_PARENTS)
      return "it named more than 8 parents or inspirations";
   if (!were_told(run, wanted->parents, wanted->parent_count) ||
       !were_told(run, wanted->inspirations, wanted->inspiration_count))
      return "it named a candidate that it was not told of";
   if (!memchr(wanted->hints, '\0', sizeof wanted->hints))
      return "its hints are not ended";
   if (wanted->hints[0] && !is_json_object(wanted->hints))
      return "its hints are not a JSON object";
   return NULL;
}

static bool take_answer(rkb_run_t *run, rkb_run_request_t *request, int answer) {
   static const uint32_t answers[] = {RKB_ANSWER_OK, RKB_ANSWER_WAIT, RKB_ANSWER_DONE};
   const rkb_pipeline_t *pipeline = run->pipeline;
   request->answer = answers[answer];
   run->search.waits = answer == RKB_ASK_WAIT ? run->search.waits + 1 : 0;
   if (answer != RKB_ASK_OK) {
      request->wanted = (rkb_request_t){.size = sizeof request->wanted};
      return true;
   }
   const char *fault = fault_of(run, &request->wanted);
   if (fault) {
      rkb_run_break(run, RKB_ERR_CONTRACT, "%s broke the contract: %s", entry_of(run)->node.use, fault);
      return false;
   }
   request->operator_entry = &pipeline->entries[pipeline->first_operator + request->wanted.operator_index];
   return true;
}

bool rkb_search_ask(rkb_run_t *run, rkb_run_request_t *request) {
   const rkb_entry_t *entry = entry_of(run);
   rkb_error_t err = {0};
   request->wanted.size = sizeof request->wanted;
   uint64_t began_ns = rkb_now_ns();
   const rkb_current_stage_t before =
      rkb_current_stage_set((rkb_current_stage_t){.stage = &entry->node, .doing = "asked for a request"});
   int answer = entry->strategy->ask(run->search.self, &request->wanted, &err);
   rkb_current_stage_set(before);
   rkb_run_times_add(run, entry->index, (double)(rkb_now_ns() - began_ns) * 1e-9);
   if (answer >= 0 && answer <= RKB_ASK_DONE)
      return take_answer(run, request, answer);
   rkb_run_break(run, answer < 0 ? answer : RKB_ERR_CONTRACT, "%s failed: %.300s", entry->strategy->id,
                 reason_of(&err));
   return false;
}

bool rkb_search_tell(rkb_run_t *run, const rkb_result_t *result) {
   const rkb_entry_t *entry = run->search.self ? entry_of(run) : NULL;
   rkb_error_t err = {0};
   if (!entry)
      return true;
   uint64_t began_ns = rkb_now_ns();
   const rkb_current_stage_t before =
      rkb_current_stage_set((rkb_current_stage_t){.stage = &entry->node, .doing = "told of a result"});
   int status = entry->strategy->tell(run->search.self, result, &err);
   rkb_current_stage_set(before);
   rkb_run_times_add(run, entry->index, (double)(rkb_now_ns() - began_ns) * 1e-9);
   rkb_event_strategy_told(run);
   if (status != RKB_OK)
      rkb_run_break(run, status, "%s failed: %.300s", entry->strategy->id, reason_of(&err));
   return status == RKB_OK;
}
