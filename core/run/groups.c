/* Promote groups (groups.h).  The best candidates of a group of requests go on to the evaluation once all its requests
 * are screened; the rest are finished. */
#include "run/groups.h"

#include <stdlib.h>
#include "base/memory.h"
#include "run/run_record.h"
#include "run/run_state.h"

typedef struct ranked {
   rkb_candidate_t *candidate;
   uint32_t rank;
   bool has_value;
   double value; /* lower is better */
} ranked_t;

/* Requests first .. first + count - 1 of the row, and their candidates that passed the screen, best first. */
typedef struct group {
   uint32_t first, count;
   ranked_t *list;
   uint32_t found, kept; /* of the list; the first kept ones are promoted */
} group_t;

static group_t group_of(const rkb_run_t *run, const rkb_run_request_t *request) {
   uint32_t of = run->pipeline->promote_of;
   if (request->section == RKB_SECTION_PROPOSE)
      return (group_t){.first = 0, .count = run->row.propose_count};
   return (group_t){.first = run->row.propose_count + (uint32_t)(request->number / of) * of, .count = of};
}

static bool is_screened(const rkb_run_t *run, const group_t *group) {
   for (uint32_t i = group->first; i < group->first + group->count; i++)
      if (i >= run->row.count || run->row.requests[i]->state != RKB_SCREENED)
         return false;
   return true;
}

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

static ranked_t rank_candidate(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate) {
   const char *standing = rkb_candidate_standing(pipeline, candidate, pipeline->screen, NULL);
   ranked_t ranked = {.candidate = candidate, .rank = rkb_standing_rank(standing)};
   bool higher = false;
   ranked.has_value =
      pipeline->promote_by &&
      rkb_candidate_measurement(pipeline, candidate, pipeline->promote_by, &ranked.value, &higher);
   if (higher)
      ranked.value = -ranked.value;
   return ranked;
}

/* Fills the group's list. */
static void rank_group(const rkb_run_t *run, group_t *group) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   rkb_run_request_t *const *requests = run->row.requests + group->first;
   uint32_t room = 1;
   for (uint32_t i = 0; i < group->count; i++)
      room += requests[i]->count;
   group->list = rkb_allocate(room, sizeof *group->list);
   for (uint32_t i = 0; i < group->count; i++)
      for (uint32_t j = 0; j < requests[i]->count; j++)
         if (rkb_candidate_passed(requests[i]->candidates[j], pipeline->screen))
            group->list[group->found++] = rank_candidate(pipeline, requests[i]->candidates[j]);
   qsort(group->list, group->found, sizeof *group->list, better_first);
   group->kept = group->found < pipeline->promote_keep ? group->found : pipeline->promote_keep;
}

static uint32_t promotion_of(const group_t *group, uint32_t index) {
   return index < group->kept ? RKB_PROMOTION_PASSED : RKB_PROMOTION_NOT;
}

/* An earlier process closed this group.  It is ranked again here and must come out the same. */
static bool promoted_as_before(rkb_run_t *run, const group_t *group) {
   for (uint32_t i = 0; i < group->found; i++) {
      const rkb_candidate_t *candidate = group->list[i].candidate;
      if (candidate->promotion == promotion_of(group, i))
         continue;
      rkb_run_break(run, RKB_ERR_INVALID,
                    "this run cannot be resumed: the promotion of candidate %lld differs from what "
                    "was recorded",
                    (long long)candidate->number);
      return false;
   }
   return true;
}

static bool record_group(rkb_run_t *run, const rkb_run_request_t *request, const group_t *group) {
   if (!run->archive || !group->found)
      return true;
   if (group->list[0].candidate->promotion != RKB_PROMOTION_OPEN)
      return promoted_as_before(run, group);
   int64_t *numbers = rkb_allocate(group->found, sizeof *numbers);
   for (uint32_t i = 0; i < group->found; i++)
      numbers[i] = group->list[i].candidate->number;
   bool recorded = rkb_record_group(run, request, numbers, group->found, group->kept);
   free(numbers);
   return recorded;
}

static void finish_request(rkb_run_t *run, rkb_run_request_t *request) {
   request->state = RKB_FINISHED;
   rkb_record_finished(run, request);
}

static void promote(const group_t *group) {
   for (uint32_t i = 0; i < group->found; i++) {
      rkb_candidate_t *candidate = group->list[i].candidate;
      candidate->promotion = promotion_of(group, i);
      if (candidate->promotion == RKB_PROMOTION_NOT)
         rkb_candidate_settle(candidate);
   }
}

static bool evaluated_before(const rkb_run_t *run, const rkb_candidate_t *candidate) {
   return (candidate->settled & run->pipeline->evaluate) == run->pipeline->evaluate;
}

/* Begins the evaluation of what was promoted; a request without such candidates is finished. */
static void evaluate(rkb_run_t *run, const group_t *group) {
   for (uint32_t i = 0; i < group->kept; i++) {
      rkb_run_request_t *owner = group->list[i].candidate->owner;
      if (!evaluated_before(run, group->list[i].candidate))
         owner->open++;
   }
   for (uint32_t i = group->first; i < group->first + group->count; i++)
      if (!run->row.requests[i]->open)
         finish_request(run, run->row.requests[i]);
   for (uint32_t i = 0; i < group->kept && !run->ending.status; i++)
      if (!evaluated_before(run, group->list[i].candidate))
         rkb_screening_begin(&run->screening, group->list[i].candidate, run->pipeline->evaluate);
}

static void close_group(rkb_run_t *run, const rkb_run_request_t *request, group_t *group) {
   rank_group(run, group);
   if (record_group(run, request, group)) {
      promote(group);
      rkb_event_send(run,
                     &(rkb_event_t){.kind = RKB_EVENT_GROUP,
                                    .section = request->section,
                                    .request = run->row.requests[group->first + group->count - 1]->number,
                                    .count = group->kept});
      evaluate(run, group);
   }
   free(group->list);
}

static void screened(rkb_run_t *run, rkb_run_request_t *request) {
   bool promotes = run->pipeline->promotes;
   request->state = promotes ? RKB_SCREENED : RKB_FINISHED;
   for (uint32_t i = 0; i < request->count && !promotes; i++)
      request->candidates[i]->promotion = RKB_PROMOTION_NONE;
   if (!request->screened_before && !rkb_record_screened(run, request, !promotes))
      return;
   group_t group = promotes ? group_of(run, request) : (group_t){0};
   if (promotes && is_screened(run, &group))
      close_group(run, request, &group);
}

bool rkb_groups_next(rkb_run_t *run) {
   rkb_run_request_t *request = rkb_request_row_take_settled(&run->row);
   if (!request)
      return false;
   if (request->state == RKB_SCREENING)
      screened(run, request);
   else
      finish_request(run, request);
   return true;
}
