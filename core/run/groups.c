/* What happens after screening: duplicates among builds, promotion by groups, evaluation, and telling the strategy, each in
 * the row's order (run_state.h). */
#include <math.h>
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "stage/item.h"
#include "run/run_state.h"

/* Builds: whether the candidate's build is decided, as far as the graph has come. */
static bool build_decided(const rkb_run_t *run, const rkb_candidate_t *candidate) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   uint32_t state = candidate->results ? candidate->results[pipeline->build].state : RKB_RAN;
   if (candidate->duplicate_of || state == RKB_RAN || state == RKB_SKIPPED || state == RKB_BLOCKED)
      return true;
   /* A build that belongs to evaluation is not made for what does not get there. */
   bool in_evaluate = pipeline->evaluate & (1ull << pipeline->build);
   bool screened = (candidate->settled & pipeline->screen) == pipeline->screen;
   return in_evaluate && screened &&
          (!rkb_candidate_passed(candidate, pipeline->screen) || candidate->promotion == RKB_PROMOTION_NOT);
}

void rkb_groups_builds(rkb_run_t *run) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   if (pipeline->build < 0 || run->deciding)
      return;
   run->deciding = true;
   while (run->next_build < run->candidate_count && !run->status) {
      rkb_candidate_t *candidate = run->candidates[run->next_build];
      bool arrived = candidate->results && candidate->results[pipeline->build].state == RKB_RUNNING &&
                     candidate->results[pipeline->build].verdict;
      if (!arrived && !build_decided(run, candidate))
         break;
      run->next_build++;
      if (candidate->ptx_hash[0] && candidate->plan_hash[0] && !candidate->duplicate_of) {
         int64_t first =
            rkb_identity_claim(run->by_ptx, candidate->ptx_hash, candidate->plan_hash, candidate->number);
         if (first > 0 && arrived) {
            candidate->duplicate_of = first;
            run->duplicates++;
         }
      }
      if (arrived)
         rkb_screening_built(&run->screening, candidate);
   }
   run->deciding = false;
}

/* Groups ------------------------------------------------------------------------------------------------------------- */

static void group_of(const rkb_run_t *run, const rkb_asked_t *asked, uint32_t *first, uint32_t *count) {
   if (asked->section == RKB_SECTION_PROPOSE) {
      *first = 0;
      *count = run->propose_count;
   } else {
      uint32_t of = run->pipeline->promote_of;
      *first = run->propose_count + (uint32_t)(asked->number / of) * of;
      *count = of;
   }
}

typedef struct ranked {
   rkb_candidate_t *candidate;
   uint32_t rank;
   bool has_value;
   double value;
} ranked_t;

static int better_first(const void *left, const void *right) {
   const ranked_t *a = left, *b = right;
   if (a->rank != b->rank)
      return a->rank < b->rank ? -1 : 1;
   if (a->has_value != b->has_value)
      return a->has_value ? -1 : 1;
   if (a->has_value && a->value != b->value)
      return a->value < b->value ? -1 : 1;
   return a->candidate->number < b->candidate->number ? -1 : 1;
}

/* Members of a group that passed the screen, best first. */
static ranked_t *rank_group(const rkb_run_t *run, uint32_t first, uint32_t count, uint32_t *found) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   uint32_t room = 1;
   for (uint32_t i = first; i < first + count; i++)
      room += run->asked[i]->count;
   ranked_t *list = calloc(room, sizeof *list);
   *found = 0;
   for (uint32_t i = first; list && i < first + count; i++)
      for (uint32_t j = 0; j < run->asked[i]->count; j++) {
         rkb_candidate_t *candidate = run->asked[i]->candidates[j];
         bool higher = false;
         if (!rkb_candidate_passed(candidate, pipeline->screen))
            continue;
         ranked_t *at = &list[(*found)++];
         at->candidate = candidate;
         at->rank = rkb_standing_rank(rkb_candidate_standing(pipeline, candidate, pipeline->screen, NULL));
         at->has_value =
            pipeline->promote_by &&
            rkb_candidate_measurement(pipeline, candidate, pipeline->promote_by, &at->value, &higher);
         if (higher)
            at->value = -at->value;
      }
   if (list)
      qsort(list, *found, sizeof *list, better_first);
   return list;
}

static bool record_group(rkb_run_t *run, const rkb_asked_t *asked, const ranked_t *list, uint32_t found,
                         uint32_t kept) {
   if (!run->archive || !found)
      return true;
   if (list[0].candidate->promotion != RKB_PROMOTION_OPEN) {
      /* An earlier process closed this group; the ranking is computed again and must come out the same. */
      for (uint32_t i = 0; i < found; i++)
         if (list[i].candidate->promotion != (i < kept ? RKB_PROMOTION_PASSED : RKB_PROMOTION_NOT)) {
            rkb_run_break(run, RKB_ERR_INVALID,
                          "this run cannot be resumed: the promotion of candidate %lld differs from what "
                          "was recorded",
                          (long long)list[i].candidate->number);
            return false;
         }
      return true;
   }
   rkb_error_t err = {0};
   int64_t *numbers = calloc(found, sizeof *numbers);
   int status = numbers ? RKB_OK : rkb_fail(&err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t i = 0; numbers && i < found; i++)
      numbers[i] = list[i].candidate->number;
   int64_t group = asked->section == RKB_SECTION_PROPOSE ? 0 : asked->number / run->pipeline->promote_of;
   if (status == RKB_OK)
      status =
         rkb_archive_put_group(run->archive, asked->section, group, numbers, found, numbers, kept, &err);
   free(numbers);
   if (status != RKB_OK)
      rkb_run_break(run, status, "%s", err.message);
   return status == RKB_OK;
}

static void finish_request(rkb_run_t *run, rkb_asked_t *asked) {
   asked->state = RKB_FINISHED;
   rkb_record_finished(run, asked);
}

static bool evaluated_already(const rkb_run_t *run, const rkb_candidate_t *candidate) {
   return (candidate->settled & run->pipeline->evaluate) == run->pipeline->evaluate;
}

static void close_group(rkb_run_t *run, rkb_asked_t *asked, uint32_t first, uint32_t count) {
   uint32_t found;
   ranked_t *list = rank_group(run, first, count, &found);
   if (!list) {
      rkb_run_break(run, RKB_ERR_NOMEM, "out of memory");
      return;
   }
   uint32_t kept = found < run->pipeline->promote_keep ? found : run->pipeline->promote_keep;
   if (!record_group(run, asked, list, found, kept)) {
      free(list);
      return;
   }
   for (uint32_t i = 0; i < found; i++) {
      list[i].candidate->promotion = i < kept ? RKB_PROMOTION_PASSED : RKB_PROMOTION_NOT;
      if (i >= kept)
         rkb_candidate_settle(list[i].candidate);
   }
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_GROUP,
                                      .section = asked->section,
                                      .request = run->asked[first + count - 1]->number,
                                      .count = kept,
                                      .entry = ""});
   for (uint32_t i = 0; i < kept; i++)
      if (!evaluated_already(run, list[i].candidate))
         ((rkb_asked_t *)list[i].candidate->owner)->open++;
   for (uint32_t i = first; i < first + count; i++)
      if (!run->asked[i]->open)
         finish_request(run, run->asked[i]);
   for (uint32_t i = 0; i < kept && !run->status; i++)
      if (!evaluated_already(run, list[i].candidate))
         rkb_screening_begin(&run->screening, list[i].candidate, run->pipeline->evaluate);
   free(list);
   rkb_groups_builds(run);
   rkb_groups_tell(run);
}

static bool group_screened(const rkb_run_t *run, uint32_t first, uint32_t count) {
   for (uint32_t i = first; i < first + count; i++)
      if (i >= run->asked_count || run->asked[i]->state != RKB_SCREENED)
         return false;
   return true;
}

void rkb_groups_screened(rkb_run_t *run, rkb_asked_t *asked) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   bool promotes = pipeline->promotes;
   asked->state = promotes ? RKB_SCREENED : RKB_FINISHED;
   for (uint32_t i = 0; i < asked->count; i++)
      if (!promotes)
         asked->candidates[i]->promotion = RKB_PROMOTION_NONE;
   if (!asked->screened_before && !rkb_record_screened(run, asked, !promotes))
      return;
   if (!promotes) {
      rkb_groups_tell(run);
      return;
   }
   uint32_t first, count;
   group_of(run, asked, &first, &count);
   if (group_screened(run, first, count))
      close_group(run, asked, first, count);
}

void rkb_groups_evaluated(rkb_run_t *run, rkb_candidate_t *candidate) {
   rkb_asked_t *asked = candidate->owner;
   if (!rkb_record_evaluated(run, candidate))
      return;
   if (--asked->open == 0) {
      finish_request(run, asked);
      rkb_groups_tell(run);
   }
}

/* Telling ------------------------------------------------------------------------------------------------------------ */

/* A duplicate stands as the one it repeats; that came earlier in the row, so it has been told. */
static const rkb_candidate_t *original(const rkb_run_t *run, const rkb_candidate_t *candidate) {
   const rkb_candidate_t *first =
      candidate->duplicate_of ? rkb_run_candidate(run, candidate->duplicate_of) : candidate;
   return first ? first : candidate;
}

static void sum_up(rkb_run_t *run, rkb_candidate_t *candidate) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   const rkb_item_t *decided = NULL;
   rkb_summary_t *summary = &candidate->summary;
   if (candidate->duplicate_of) {
      *summary = original(run, candidate)->summary;
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

/* All measurements of a candidate, by full name; the names live in the arena. */
static void list_measurements(const rkb_run_t *run, const rkb_candidate_t *candidate, rkb_arena_t *arena,
                              rkb_told_t *told) {
   uint32_t room = 0;
   for (uint32_t i = 0; i < run->pipeline->entry_count; i++)
      room += candidate->results[i].shadow ? 0 : candidate->results[i].measurement_count;
   const char **names = rkb_arena_array(arena, room + 1, sizeof *names);
   double *values = rkb_arena_array(arena, room + 1, sizeof *values);
   for (uint32_t i = 0; names && values && i < run->pipeline->entry_count; i++) {
      const rkb_stage_result_t *result = &candidate->results[i];
      for (uint32_t j = 0; !result->shadow && j < result->measurement_count; j++) {
         if (rkb_item_text(result->measurements[j], "case"))
            continue; /* the strategy gets one number a name */
         names[told->measurement_count] = rkb_arena_format(arena, "%s.%s", run->pipeline->entries[i].node.id,
                                                           rkb_item_text(result->measurements[j], "name"));
         rkb_item_real(result->measurements[j], "value", &values[told->measurement_count++]);
      }
   }
   told->measurement_names = names;
   told->measurement_values = values;
}

static const rkb_result_t *make_result(rkb_run_t *run, const rkb_asked_t *asked, rkb_arena_t *arena) {
   rkb_result_t *result = rkb_arena_alloc(arena, sizeof *result);
   const rkb_told_t **list = rkb_arena_array(arena, asked->count + 1, sizeof *list);
   for (uint32_t i = 0; result && list && i < asked->count; i++) {
      const rkb_candidate_t *candidate = asked->candidates[i];
      const rkb_summary_t *summary = &candidate->summary;
      rkb_told_t *told = rkb_arena_alloc(arena, sizeof *told);
      if (!told)
         return NULL;
      *told =
         (rkb_told_t){.size = sizeof *told,
                      .number = candidate->number,
                      .standing = strcmp(summary->standing, "none") == 0 ? RKB_UNKNOWN : summary->standing,
                      .reason = summary->reason,
                      .duplicate_of = candidate->duplicate_of,
                      .promoted = summary->promoted,
                      .has_objective = summary->has_objective,
                      .objective = summary->objective,
                      .source_hash = candidate->source_hash,
                      .tune = candidate->tune,
                      .parents = candidate->parents,
                      .parent_count = candidate->parent_count};
      list_measurements(run, candidate, arena, told);
      list[i] = told;
   }
   if (!result || !list)
      return NULL;
   /* In propose the numbers run up to -1, so that they stand before search request 0. */
   *result = (rkb_result_t){
      .size = sizeof *result,
      .candidate_count = asked->count,
      .request = asked->section == RKB_SECTION_PROPOSE ? asked->number - run->propose_count : asked->number,
      .operator_id = asked->operator? asked->operator->node.id : "",
      .candidates = list };
   return result;
}

static bool tell_strategy(rkb_run_t *run, const rkb_asked_t *asked) {
   rkb_arena_t *arena = rkb_arena_new(0);
   const rkb_result_t *result = arena ? make_result(run, asked, arena) : NULL;
   bool ok = result != NULL;
   if (!ok)
      rkb_run_break(run, RKB_ERR_NOMEM, "out of memory");
   /* Past a limit, and once a run is cut off by its wall time or by hand, nothing is asked any more.  A run that goes on from
    * here, or has a higher limit, asks before it tells this, so telling it now would keep this run from being a prefix of
    * that one: what ended between the cut and the end of the loop made such a run impossible to resume. */
   if (run->ending && run->ending != RKB_ENDED_DONE && run->ending != RKB_ENDED_STUCK) {
      rkb_arena_free(arena);
      return ok;
   }
   ok = ok && rkb_dialogue_tell(run, asked, result);
   if (ok && run->strategy) {
      const rkb_strategy_t *strategy = run->pipeline->entries[run->pipeline->strategy].strategy;
      rkb_error_t err = {0};
      uint64_t began_ns = rkb_now_ns();
      int status = strategy->tell(run->strategy, result, &err);
      rkb_times_add(run, (uint32_t)run->pipeline->strategy, (double)(rkb_now_ns() - began_ns) * 1e-9);
      run->progress[run->pipeline->strategy].done++;
      ok = status == RKB_OK;
      if (!ok)
         rkb_run_break(run, status, "%s failed: %.300s", strategy->id,
                       err.message[0] ? err.message : "it did not say why");
   }
   rkb_arena_free(arena);
   return ok;
}

static bool improves(const rkb_run_t *run, const rkb_summary_t *summary) {
   if (strcmp(summary->standing, RKB_ACCEPT) != 0 || !summary->promoted)
      return false;
   if (run->pipeline->objective && !summary->has_objective)
      return false;
   return !run->best || (summary->has_objective && summary->objective < run->best_objective);
}

static void count_told(rkb_run_t *run, const rkb_asked_t *asked) {
   bool better = false, fresh = false;
   for (uint32_t i = 0; i < asked->count; i++) {
      const rkb_candidate_t *candidate = asked->candidates[i];
      const rkb_summary_t *summary = &candidate->summary;
      if (candidate->duplicate_of)
         continue;
      fresh = true;
      run->told_candidates++;
      run->by_standing[rkb_standing_rank(summary->standing)]++;
      if (!improves(run, summary))
         continue;
      better = true;
      run->best = candidate->number;
      run->best_has_objective = summary->has_objective;
      run->best_objective = summary->objective;
      if (asked->section == RKB_SECTION_PROPOSE && summary->has_objective)
         run->first_objective = summary->objective;
      rkb_times_best(run, candidate->number);
      rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_BEST,
                                         .section = asked->section,
                                         .request = asked->number,
                                         .candidate = candidate->number,
                                         .entry = asked->operator->node.id,
                                         .standing = summary->standing,
                                         .has_objective = summary->has_objective,
                                         .objective = summary->objective});
   }
   if (asked->section == RKB_SECTION_SEARCH) {
      run->stale = better ? 0 : run->stale + 1;
      run->barren = fresh ? 0 : run->barren + 1;
   }
}

/* What was told stays as a parent: its text and its summary; the stages' records are in the archive. */
static void put_away(rkb_run_t *run, rkb_asked_t *asked) {
   for (uint32_t i = 0; i < asked->count; i++) {
      rkb_candidate_t *candidate = asked->candidates[i];
      rkb_candidate_settle(candidate);
      if (!rkb_candidate_refresh(run->pipeline, candidate, ~0ull))
         abort();
      rkb_candidate_forget(run->pipeline, candidate);
   }
   rkb_item_unref(asked->item);
   asked->item = NULL;
}

static void tell_next(rkb_run_t *run, rkb_asked_t *asked) {
   for (uint32_t i = 0; i < asked->count; i++)
      sum_up(run, asked->candidates[i]);
   if (!tell_strategy(run, asked))
      return;
   count_told(run, asked);
   asked->state = RKB_TOLD;
   run->told++;
   run->next_tell++;
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_REQUEST_END,
                                      .section = asked->section,
                                      .request = asked->number,
                                      .entry = asked->operator ? asked->operator->node.id : ""});
   put_away(run, asked);
   if (run->pipeline->window && run->told % run->pipeline->window == 0)
      rkb_times_store(run);
   if (run->next_tell >= run->propose_count)
      rkb_requests_ask(run);
}

void rkb_groups_tell(rkb_run_t *run) {
   if (run->telling)
      return;
   run->telling = true;
   while (!run->status && run->next_tell < run->asked_count &&
          run->asked[run->next_tell]->state == RKB_FINISHED)
      tell_next(run, run->asked[run->next_tell]);
   run->telling = false;
   if (!run->status && !rkb_dialogue_flush(run))
      return;
   if (run->asking_over && run->next_tell == run->asked_count)
      rkb_loop_stop(run->core.loop);
}
