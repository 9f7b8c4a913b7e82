/* Requests come into being: listed in the pipeline, or asked of the strategy until a limit is reached (requests.h). */
#include "run/requests.h"

#include "run/operator_jobs.h"
#include "run/run_state.h"
#include "llm/llm.h"

/* A search that has tried its whole space gives duplicates for ever, and duplicates count against no other limit. */
#define MOST_BARREN 256

void rkb_requests_propose(rkb_run_t *run) {
   rkb_request_row_t *row = &run->row;
   int64_t number = 0;
   for (uint32_t i = 0; i < run->pipeline->propose_count; i++)
      for (uint32_t j = 0; j < run->pipeline->entries[i].requests; j++) {
         rkb_run_request_t *request = rkb_request_row_add(row, run, RKB_SECTION_PROPOSE, number++);
         request->operator_entry = &run->pipeline->entries[i];
         request->answer = RKB_ANSWER_LISTED;
      }
   row->propose_count = row->count;
   for (uint32_t i = 0; i < row->propose_count && !run->ending.status; i++)
      if (rkb_strategy_record_ask(run, row->requests[i]))
         rkb_operator_jobs_serve(run, row->requests[i]);
}

/* Whether no money is left and every operator asks models.  If one operator is free of cost the search goes on. */
static bool only_paid_operators_left(const rkb_run_t *run) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   if (!run->runtime.llm || !rkb_llm_is_over_budget(run->runtime.llm))
      return false;
   for (uint32_t i = 0; i < pipeline->operator_count; i++)
      if (!(pipeline->entries[pipeline->first_operator + i].stage->flags & RKB_STAGE_WAITS))
         return false;
   return true;
}

static bool group_open(const rkb_run_t *run, int64_t number) {
   return run->pipeline->promotes && number % run->pipeline->promote_of != 0;
}

/* The number of answered model calls of all told requests.  The archive counts them, those of earlier processes included. */
static bool calls_used_up(rkb_run_t *run) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   const int64_t told = (int64_t)run->row.next_tell - (int64_t)run->row.propose_count;
   uint64_t answers = 0;
   rkb_error_t err = {0};
   if (!pipeline->limit_calls || !run->archive)
      return false;
   const int status = rkb_archive_count_answers(run->archive, told, &answers, &err);
   if (status != RKB_OK)
      rkb_run_break(run, status, "%s", err.message);
   return answers >= pipeline->limit_calls;
}

/* Limits depend on the results that the strategy has received.  These are the same at request `number`, whatever the speed. */
static bool limit_reached(rkb_run_t *run, int64_t number) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   const rkb_tally_t *tally = &run->tally;
   if (group_open(run, number))
      return false;
   if (pipeline->limit_candidates && tally->candidates >= pipeline->limit_candidates)
      rkb_run_end(run, RKB_ENDED_LIMIT,
                  "limits.candidates (%llu) reached; what was asked for before is tried too",
                  (unsigned long long)pipeline->limit_candidates);
   else if (calls_used_up(run))
      rkb_run_end(run, RKB_ENDED_LIMIT, "limits.calls (%llu) reached",
                  (unsigned long long)pipeline->limit_calls);
   else if (pipeline->limit_generations && (uint64_t)number >= pipeline->limit_generations * pipeline->window)
      rkb_run_end(run, RKB_ENDED_LIMIT, "limits.generations (%llu) reached",
                  (unsigned long long)pipeline->limit_generations);
   else if (pipeline->limit_stale && tally->stale >= pipeline->limit_stale)
      rkb_run_end(run, RKB_ENDED_LIMIT, "limits.stale (%llu): no better one in as many requests",
                  (unsigned long long)pipeline->limit_stale);
   else if (pipeline->limit_within >= 0 && tally->best_has_objective &&
            tally->best_objective <= (1 + pipeline->limit_within) * tally->best_least)
      rkb_run_end(run, RKB_ENDED_LIMIT,
                  "limits.within (%g): the best is %.1f %% above the least that it can be",
                  pipeline->limit_within, 100 * (tally->best_objective / tally->best_least - 1));
   else if (only_paid_operators_left(run))
      rkb_run_end(run, RKB_ENDED_COST, "limits.cost_usd: no question to a model fits under %.2f USD any more",
                  pipeline->limit_cost_usd);
   else if (tally->barren >= MOST_BARREN && tally->barren >= 4ull * pipeline->window)
      rkb_run_end(run, RKB_ENDED_LIMIT, "the search is exhausted: %llu requests in a row gave nothing new",
                  (unsigned long long)tally->barren);
   return run->ending.kind != 0;
}

static void note_end_of_search(rkb_run_t *run, const rkb_run_request_t *request) {
   if (request->answer == RKB_ANSWER_DONE)
      rkb_run_end(run, RKB_ENDED_DONE, "the search is exhausted");
   else if (run->search.waits >= run->pipeline->window)
      rkb_run_end(run, RKB_ENDED_STUCK,
                  run->numbered.count ? "the strategy waited for a whole window"
                                      : "there is no first candidate to search from");
}

static void ask(rkb_run_t *run) {
   int64_t number = (int64_t)(run->row.count - run->row.propose_count);
   /* When the run is ending, empty requests fill the open promote group, so that it closes. */
   bool filling = run->ending.kind != 0;
   if (filling ? !group_open(run, number) : limit_reached(run, number)) {
      rkb_run_stop_asking(run);
      return;
   }
   rkb_run_request_t *request = rkb_request_row_add(&run->row, run, RKB_SECTION_SEARCH, number);
   request->answer = RKB_ANSWER_FILL;
   if (!filling && !rkb_search_ask(run, request))
      return;
   if (!rkb_strategy_record_ask(run, request))
      return;
   note_end_of_search(run, request);
   rkb_operator_jobs_serve(run, request);
}

bool rkb_requests_ask_next(rkb_run_t *run) {
   const rkb_request_row_t *row = &run->row;
   if (run->ending.asking_over || row->next_tell < row->propose_count)
      return false;
   if (run->pipeline->strategy < 0) {
      rkb_run_stop_asking(run);
      rkb_run_end(run, RKB_ENDED_DONE, "there is no search");
      return true;
   }
   /* Request n is asked right after request n - window was told: neither sooner nor later. */
   if (row->count >= row->next_tell + run->pipeline->window)
      return false;
   ask(run);
   return true;
}
