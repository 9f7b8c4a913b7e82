/* Runs a candidate through the entries of a section (screening.h).  Whether an entry runs depends only on the entries that it
 * needs, so the record does not depend on which of two stages was faster. */
#include "run/screening.h"

#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "run/build_step.h"
#include "stage/extensions.h"
#include "stage/item.h"

static void advance(rkb_screening_t *screening, rkb_candidate_t *candidate);

static uint64_t bit(const rkb_entry_t *entry) {
   return 1ull << entry->index;
}

/* Notes that an entry is over; its verdict may stop every entry that needs it. */
static void settle(rkb_candidate_t *candidate, const rkb_entry_t *entry, uint32_t state) {
   rkb_stage_result_t *result = &candidate->results[entry->index];
   result->state = state;
   candidate->settled |= bit(entry);
   if (!result->verdict || result->shadow)
      return;
   const char *standing = rkb_item_text(result->verdict, "standing");
   if (strcmp(standing, RKB_REJECT) == 0 || (strcmp(standing, RKB_UNKNOWN) == 0 && entry->node.stops_unknown))
      candidate->blocking |= bit(entry);
}

static void keep_items(rkb_stage_result_t *result, rkb_ended_t *ended) {
   uint32_t kept = 0;
   for (uint32_t i = 0; i < ended->item_count; i++) {
      rkb_item_t *item = ended->items[i];
      if (strcmp(rkb_item_type(item), RKB_ITEM_VERDICT) == 0)
         result->verdict = item;
      else
         ended->items[kept++] = item; /* in place: kept never passes i */
   }
   result->measurements = ended->items;
   result->measurement_count = kept;
   ended->items = NULL;
   ended->item_count = 0;
}

static void stage_done(rkb_work_t *work, rkb_ended_t *ended) {
   rkb_screening_t *screening = work->owner;
   rkb_candidate_t *candidate = work->scope.candidate;
   rkb_runtime_t *runtime = screening->runtime;
   rkb_stage_result_t *result = (rkb_stage_result_t *)((char *)work - offsetof(rkb_stage_result_t, work));
   const rkb_entry_t *entry = &runtime->pipeline->entries[result - candidate->results];
   candidate->pinned |= work->hung;
   if (ended->status != RKB_OK && runtime->stopping)
      return; /* the run ends first; a resumed run begins this stage again */
   result->attempts = work->attempts ? work->attempts : 1;
   result->seconds = ended->started_ns ? (double)(ended->ended_ns - ended->started_ns) * 1e-9 : -1;
   if (ended->status == RKB_OK) {
      keep_items(result, ended);
   } else {
      const char *reason = work->hung ? "tool.hang" : rkb_tool_reason(ended->status);
      result->verdict = rkb_verdict_new(RKB_UNKNOWN, reason, ended->error.message);
      rkb_log_printf(runtime->log, RKB_LOG_WARN, entry->node.id, "candidate %lld: %s: %s",
                     (long long)candidate->number, reason, ended->error.message);
   }
   settle(candidate, entry, RKB_RAN);
   if (screening->ended)
      screening->ended(screening->owner, candidate, entry);
   advance(screening, candidate);
}

static void stage_began(rkb_work_t *work) {
   rkb_screening_t *screening = work->owner;
   rkb_candidate_t *candidate = work->scope.candidate;
   rkb_stage_result_t *result = (rkb_stage_result_t *)((char *)work - offsetof(rkb_stage_result_t, work));
   if (screening->began)
      screening->began(screening->owner, candidate,
                       &screening->runtime->pipeline->entries[result - candidate->results]);
}

static void build_done(void *argument, rkb_candidate_t *candidate) {
   rkb_screening_t *screening = argument;
   const rkb_entry_t *entry = &screening->runtime->pipeline->entries[screening->runtime->pipeline->build];
   if (screening->ended)
      screening->ended(screening->owner, candidate, entry);
   screening->built(screening->owner, candidate);
}

/* Records that the user left an entry out.  For a verifier the result says so, which the candidate's standing then shows; a
 * profiler has no verdict. */
static void skip(rkb_screening_t *screening, rkb_candidate_t *candidate, const rkb_entry_t *entry) {
   const bool verifies = entry->stage && entry->stage->kind == RKB_VERIFIER;
   if (verifies)
      candidate->results[entry->index].verdict =
         rkb_verdict_new(RKB_UNKNOWN, "tool.skipped", "left out by --skip-stage; nothing is known of the kernel");
   candidate->results[entry->index].attempts = verifies;
   candidate->results[entry->index].seconds = -1;
   if (screening->added && verifies)
      screening->added(screening->owner, entry);
   settle(candidate, entry, verifies ? RKB_RAN : RKB_SKIPPED);
   if (screening->ended && verifies)
      screening->ended(screening->owner, candidate, entry);
}

static void run_entry(rkb_screening_t *screening, rkb_candidate_t *candidate, const rkb_entry_t *entry) {
   rkb_runtime_t *runtime = screening->runtime;
   rkb_stage_result_t *result = &candidate->results[entry->index];
   result->state = RKB_RUNNING;
   if (screening->added)
      screening->added(screening->owner, entry);
   if (entry->is_build) {
      if (screening->began)
         screening->began(screening->owner, candidate, entry);
      rkb_build_step_start(runtime, candidate, build_done, screening);
      return;
   }
   rkb_candidate_refresh(runtime->pipeline, candidate, entry->before);
   result->work = (rkb_work_t){.in = candidate->item,
                               .scope = {.section = candidate->section,
                                         .request = candidate->request,
                                         .child = candidate->child,
                                         .candidate = candidate},
                               .began = stage_began,
                               .done = stage_done,
                               .owner = screening};
   rkb_runtime_add(runtime, entry->index, &result->work);
}

/* Of the candidates that `only:` leaves out, whether this one is in the share `sample:` that runs in shadow. */
static bool sampled(const rkb_runtime_t *runtime, rkb_candidate_t *candidate, const rkb_entry_t *entry) {
   rkb_random_t stream = rkb_random_stream(runtime->pipeline->seed, entry->node.id,
                                           rkb_request_key(candidate->section, candidate->request),
                                           0x80000000u | candidate->child);
   if (!(rkb_random_real(&stream) < entry->node.sample))
      return false;
   candidate->results[entry->index].shadow = true;
   return true;
}

/* The same for rejected candidates: a judge that never sees a wrong kernel cannot be calibrated.  A candidate that was not
 * given to the compiler is left out, because there is no finding to compare the judge with. */
static bool sampled_though_rejected(const rkb_runtime_t *runtime, rkb_candidate_t *candidate,
                                    const rkb_entry_t *entry) {
   int32_t build = runtime->pipeline->build;
   return entry->only && build >= 0 && (entry->before & (1ull << build)) &&
          candidate->results[build].state == RKB_RAN && sampled(runtime, candidate, entry);
}

/* Whether only: or sample: lets the entry run. */
static bool wanted(const rkb_runtime_t *runtime, rkb_candidate_t *candidate, const rkb_entry_t *entry) {
   if (!entry->only)
      return true;
   const char *standing = rkb_candidate_standing(runtime->pipeline, candidate, entry->before, NULL);
   uint32_t rank = rkb_standing_rank(standing);
   if (rank < 3 && (entry->only & (1u << rank)))
      return true;
   return sampled(runtime, candidate, entry);
}

/* Whether the entry needs a build and there is none.  The build step has given its verdict on that already. */
static bool lacks_build(const rkb_candidate_t *candidate, const rkb_entry_t *entry) {
   return (entry->node.flags & RKB_STAGE_NEEDS_BUILD) && !candidate->build;
}

static void built_again(void *argument, rkb_candidate_t *candidate) {
   advance(argument, candidate);
}

/* A candidate from the archive has no build in memory.  It is fetched from the cache or made again. */
static bool fetches_build(rkb_screening_t *screening, rkb_candidate_t *candidate, const rkb_entry_t *entry) {
   if (!lacks_build(candidate, entry) || !candidate->plan_hash[0] || candidate->built_again)
      return false;
   if (!candidate->fetching) {
      candidate->fetching = true;
      rkb_build_step_again(screening->runtime, candidate, built_again, screening);
   }
   return true;
}

static bool consider(rkb_screening_t *screening, rkb_candidate_t *candidate, const rkb_entry_t *entry) {
   rkb_stage_result_t *result = &candidate->results[entry->index];
   if (result->state != RKB_NOT_REACHED || (entry->needs & ~candidate->settled))
      return false;
   bool behind_duplicate = candidate->duplicate_of && screening->runtime->pipeline->build >= 0 &&
                           (entry->before & (1ull << screening->runtime->pipeline->build));
   result->shadow = entry->node.shadow;
   bool blocked = (candidate->blocking & entry->before) || behind_duplicate;
   if (!blocked && fetches_build(screening, candidate, entry))
      return false;
   if (blocked && !behind_duplicate && !lacks_build(candidate, entry) &&
       sampled_though_rejected(screening->runtime, candidate, entry))
      run_entry(screening, candidate, entry);
   else if (blocked)
      settle(candidate, entry, RKB_BLOCKED);
   else if (lacks_build(candidate, entry) || !wanted(screening->runtime, candidate, entry))
      settle(candidate, entry, RKB_SKIPPED);
   else if (screening->runtime->skipped & bit(entry))
      skip(screening, candidate, entry);
   else
      run_entry(screening, candidate, entry);
   return true;
}

static void advance(rkb_screening_t *screening, rkb_candidate_t *candidate) {
   const rkb_pipeline_t *pipeline = screening->runtime->pipeline;
   if (candidate->advancing)
      return; /* a stage answered before it returned; the loop below, further out, sees the answer */
   candidate->advancing = true;
   bool moved = true;
   while (moved) {
      moved = false;
      for (uint32_t i = 0; i < pipeline->entry_count; i++)
         if (candidate->begun & (1ull << i))
            moved |= consider(screening, candidate, &pipeline->entries[i]);
   }
   candidate->advancing = false;
   uint64_t section = (candidate->begun & pipeline->evaluate) ? pipeline->evaluate : pipeline->screen;
   if ((candidate->settled & section) == section) {
      screening->candidates--;
      screening->finished(screening->owner, candidate, section);
   }
}

void rkb_screening_begin(rkb_screening_t *screening, rkb_candidate_t *candidate, uint64_t entries) {
   candidate->begun |= entries;
   screening->candidates++;
   advance(screening, candidate);
}

void rkb_screening_built(rkb_screening_t *screening, rkb_candidate_t *candidate) {
   settle(candidate, &screening->runtime->pipeline->entries[screening->runtime->pipeline->build], RKB_RAN);
   advance(screening, candidate);
}
