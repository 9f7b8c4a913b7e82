/* Passes the results of its requests to the strategy (strategy_outcomes.h). */
#include "run/strategy_outcomes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rkb/items.h>
#include "stage/item.h"
#include "run/run_state.h"

/* A duplicate has the summary of the candidate that it repeats, which is earlier in the row and has been told. */
static const rkb_candidate_t *original_of(const rkb_run_t *run, const rkb_candidate_t *candidate) {
   const rkb_candidate_t *first = rkb_numbered_get(&run->numbered, candidate->duplicate_of);
   return first ? first : candidate;
}

static void sum_up(rkb_run_t *run, rkb_candidate_t *candidate) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   const rkb_item_t *decided = NULL;
   rkb_summary_t *summary = &candidate->summary;
   if (candidate->duplicate_of) {
      *summary = original_of(run, candidate)->summary;
      return;
   }
   const char *standing = rkb_candidate_standing(pipeline, candidate, ~0ull, &decided);
   static const char *const names[] = {RKB_ACCEPT, RKB_SUSPECT, RKB_UNKNOWN, "none", RKB_REJECT};
   summary->standing = names[rkb_standing_rank(standing)];
   snprintf(summary->reason, sizeof summary->reason, "%s", decided ? rkb_item_text(decided, "reason") : "");
   summary->has_objective = rkb_candidate_objective(pipeline, candidate, &summary->objective);
   summary->promoted =
      candidate->promotion == RKB_PROMOTION_PASSED || candidate->promotion == RKB_PROMOTION_NONE;
}

/* All measurements of a candidate by full name; the names live in the arena.  A measurement of one case is left out: the
 * strategy gets one number a name. */
static void list_measurements(const rkb_run_t *run, const rkb_candidate_t *candidate, rkb_arena_t *arena,
                              rkb_told_t *told) {
   uint32_t room = 0;
   for (uint32_t i = 0; i < run->pipeline->entry_count; i++)
      room += candidate->results[i].shadow ? 0 : candidate->results[i].measurement_count;
   const char **names = rkb_arena_array(arena, room + 1, sizeof *names);
   double *values = rkb_arena_array(arena, room + 1, sizeof *values);
   for (uint32_t i = 0; i < run->pipeline->entry_count; i++) {
      const rkb_stage_result_t *result = &candidate->results[i];
      for (uint32_t j = 0; !result->shadow && j < result->measurement_count; j++) {
         if (rkb_item_text(result->measurements[j], "case"))
            continue;
         names[told->measurement_count] = rkb_arena_format(arena, "%s.%s", run->pipeline->entries[i].node.id,
                                                           rkb_item_text(result->measurements[j], "name"));
         rkb_item_real(result->measurements[j], "value", &values[told->measurement_count++]);
      }
   }
   told->measurement_names = names;
   told->measurement_values = values;
}

static rkb_told_t *make_told(const rkb_run_t *run, const rkb_candidate_t *candidate, rkb_arena_t *arena) {
   const rkb_summary_t *summary = &candidate->summary;
   rkb_told_t *told = rkb_arena_alloc(arena, sizeof *told);
   *told = (rkb_told_t){.size = sizeof *told,
                        .number = candidate->number,
                        .standing = strcmp(summary->standing, "none") == 0 ? RKB_UNKNOWN : summary->standing,
                        .reason = summary->reason,
                        .duplicate_of = candidate->duplicate_of,
                        .promoted = summary->promoted,
                        .has_objective = summary->has_objective,
                        .objective = summary->objective,
                        .source_hash = candidate->source_hash,
                        .tune = candidate->tune,
                        .tune_space = candidate->tune_space,
                        .parents = candidate->parents,
                        .parent_count = candidate->parent_count};
   list_measurements(run, candidate, arena, told);
   return told;
}

static const rkb_result_t *make_result(const rkb_run_t *run, const rkb_run_request_t *request,
                                       rkb_arena_t *arena) {
   rkb_result_t *result = rkb_arena_alloc(arena, sizeof *result);
   const rkb_told_t **list = rkb_arena_array(arena, request->count + 1, sizeof *list);
   for (uint32_t i = 0; i < request->count; i++)
      list[i] = make_told(run, request->candidates[i], arena);
   /* Requests of the propose section have the numbers up to -1, so that they stand before search request 0. */
   bool propose = request->section == RKB_SECTION_PROPOSE;
   *result = (rkb_result_t){.size = sizeof *result,
                            .candidate_count = request->count,
                            .request = propose ? request->number - run->row.propose_count : request->number,
                            .operator_id = rkb_run_request_operator(request),
                            .candidates = list};
   return result;
}

/* Past a limit, or after the wall limit or an interrupt, the strategy is not asked again.  A run that is resumed from here, perhaps
 * with a higher limit, asks before it tells this request.  If this run told it now, it would not be a prefix of the longer run and
 * could not be resumed. */
static bool past_the_last_ask(const rkb_run_t *run) {
   uint32_t kind = run->ending.kind;
   return kind && kind != RKB_ENDED_DONE && kind != RKB_ENDED_STUCK;
}

static bool tell_strategy(rkb_run_t *run, const rkb_run_request_t *request) {
   rkb_arena_t *arena = rkb_arena_new(0);
   const rkb_result_t *result = make_result(run, request, arena);
   bool ok = true;
   if (!past_the_last_ask(run))
      ok = rkb_strategy_record_tell(run, request, result) && rkb_search_tell(run, result);
   rkb_arena_free(arena);
   return ok;
}

static bool improves(const rkb_run_t *run, const rkb_summary_t *summary) {
   if (strcmp(summary->standing, RKB_ACCEPT) != 0 || !summary->promoted)
      return false;
   if (run->pipeline->objective && !summary->has_objective)
      return false;
   return !run->tally.best || (summary->has_objective && summary->objective < run->tally.best_objective);
}

static double candidate_least(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate) {
   double least = NAN;
   bool higher;
   if (pipeline->objective_least)
      rkb_candidate_measurement(pipeline, candidate, pipeline->objective_least, &least, &higher);
   return least;
}

static void note_best(rkb_run_t *run, const rkb_run_request_t *request, const rkb_candidate_t *candidate) {
   const rkb_summary_t *summary = &candidate->summary;
   run->tally.best = candidate->number;
   run->tally.best_has_objective = summary->has_objective;
   run->tally.best_objective = summary->objective;
   run->tally.best_least = candidate_least(run->pipeline, candidate);
   if (request->section == RKB_SECTION_PROPOSE && summary->has_objective)
      run->tally.first_objective = summary->objective;
   rkb_run_times_best(run, candidate->number);
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_BEST,
                                      .section = request->section,
                                      .request = request->number,
                                      .candidate = candidate->number,
                                      .entry = rkb_run_request_operator(request),
                                      .standing = summary->standing,
                                      .has_objective = summary->has_objective,
                                      .objective = summary->objective});
}

static void count_told(rkb_run_t *run, const rkb_run_request_t *request) {
   rkb_tally_t *tally = &run->tally;
   bool better = false, fresh = false;
   for (uint32_t i = 0; i < request->count; i++) {
      const rkb_candidate_t *candidate = request->candidates[i];
      if (candidate->duplicate_of)
         continue;
      fresh = true;
      tally->candidates++;
      tally->by_standing[rkb_standing_rank(candidate->summary.standing)]++;
      if (!improves(run, &candidate->summary))
         continue;
      better = true;
      note_best(run, request, candidate);
   }
   if (request->section == RKB_SECTION_SEARCH) {
      tally->stale = better ? 0 : tally->stale + 1;
      tally->barren = fresh ? 0 : tally->barren + 1;
   }
}

/* A told candidate may still be a parent, so its text and its summary stay; what the stages found is in the archive. */
static void put_away(rkb_run_t *run, rkb_run_request_t *request) {
   for (uint32_t i = 0; i < request->count; i++) {
      rkb_candidate_t *candidate = request->candidates[i];
      rkb_candidate_settle(candidate);
      rkb_candidate_refresh(run->pipeline, candidate, ~0ull);
      rkb_candidate_forget(run->pipeline, candidate);
   }
   rkb_item_unref(request->item);
   request->item = NULL;
}

bool rkb_telling_next(rkb_run_t *run) {
   rkb_run_request_t *request = rkb_request_row_take_to_tell(&run->row);
   if (!request)
      return false;
   for (uint32_t i = 0; i < request->count; i++)
      sum_up(run, request->candidates[i]);
   if (!tell_strategy(run, request))
      return true;
   count_told(run, request);
   request->state = RKB_TOLD;
   run->tally.requests++;
   rkb_event_request(run, RKB_EVENT_REQUEST_END, request);
   put_away(run, request);
   if (run->pipeline->window && run->tally.requests % run->pipeline->window == 0)
      rkb_run_times_store(run);
   return true;
}
