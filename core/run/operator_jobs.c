/* Operators at work (operator_jobs.h). */
#include "run/operator_jobs.h"

#include <rkb/items.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/memory.h"
#include "stage/extensions.h"
#include "stage/item.h"
#include "run/run_state.h"

static bool add_references(const rkb_run_t *run, rkb_item_t *item, const char *role, const int64_t *numbers,
                           uint32_t count) {
   for (uint32_t i = 0; i < count; i++)
      if (rkb_item_add_reference(item, role, rkb_numbered_get(&run->numbered, numbers[i])->item) != RKB_OK)
         return false;
   return true;
}

/* The request as its operator sees it (rkb/items.h).  Each value was checked or made here, so an item takes it. */
static rkb_item_t *request_item(const rkb_run_t *run, const rkb_run_request_t *request) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_REQUEST);
   const rkb_request_t *wanted = &request->wanted;
   const char *section = request->section == RKB_SECTION_PROPOSE ? "propose" : "search";
   const char *objective = run->pipeline->objective ? run->pipeline->objective : "";
   bool ok = rkb_item_set_int(item, "number", request->number) == RKB_OK &&
             rkb_item_set_text(item, "section", section) == RKB_OK &&
             rkb_item_set_text(item, "operator", rkb_run_request_operator(request)) == RKB_OK &&
             rkb_item_set_text(item, "objective", objective) == RKB_OK;
   if (ok && wanted->hints[0])
      ok = rkb_item_set_json(item, "hints", wanted->hints) == RKB_OK;
   if (!ok || !add_references(run, item, "parent", wanted->parents, wanted->parent_count) ||
       !add_references(run, item, "inspiration", wanted->inspirations, wanted->inspiration_count))
      rkb_end_without_memory(0);
   return item;
}

static void identified(void *argument) {
   rkb_run_request_t *request = argument;
   rkb_run_t *run = request->run;
   if (run->runtime.stopping)
      return;
   request->state = RKB_GENERATED;
   run->changed(run);
}

static void identify_all(const rkb_run_request_t *request) {
   for (uint32_t i = 0; i < request->count; i++)
      rkb_candidate_identify(request->run->pipeline, request->candidates[i]);
}

static void identify_on_worker(void *argument) {
   rkb_run_request_t *request = argument;
   identify_all(request);
   rkb_runtime_returned(&request->run->runtime, identified, request);
}

/* Reading a kernel and splitting it into tokens may take milliseconds, so a worker does it.  Texts of a pipeline without a
 * task are only hashed. */
static void identify(rkb_run_t *run, rkb_run_request_t *request) {
   if (run->pipeline->task && request->count) {
      if (rkb_runtime_send(&run->runtime, rkb_request_rank(request->section, request->number), identify_on_worker, request) != RKB_OK)
         rkb_run_break(run, RKB_ERR_LIMIT, "the workers' queue is full");
      return;
   }
   identify_all(request);
   request->state = RKB_GENERATED;
   run->changed(run);
}

/* Notes the numbers of the candidate's parents, which the archive and the strategy use.  The item itself refers to the request's
 * items. */
static void name_parents(rkb_candidate_t *candidate) {
   uint32_t count = rkb_item_reference_count(candidate->made, "parent");
   candidate->parents = rkb_allocate(count + 1, sizeof *candidate->parents);
   for (uint32_t i = 0; i < count; i++) {
      const rkb_item_t *parent = rkb_item_reference(candidate->made, "parent", i);
      rkb_item_int(parent, "number", &candidate->parents[i]);
   }
   candidate->parent_count = count;
}

static void take_candidates(rkb_run_t *run, rkb_run_request_t *request, const rkb_ended_t *ended) {
   request->candidates = rkb_allocate(ended->item_count + 1, sizeof *request->candidates);
   for (uint32_t i = 0; i < ended->item_count; i++) {
      rkb_candidate_t *candidate =
         rkb_candidate_new(run->pipeline, run->runtime.sources, rkb_item_ref(ended->items[i]));
      candidate->section = request->section;
      candidate->request = request->number;
      candidate->child = i;
      candidate->operator_entry = request->operator_entry;
      candidate->owner = request;
      request->candidates[request->count++] = candidate;
      name_parents(candidate);
   }
}

/* A broken operator fails its request, not the run. */
static void note_failure(rkb_run_t *run, rkb_run_request_t *request, const rkb_ended_t *ended) {
   const char *reason = request->work.hung ? "tool.hang" : rkb_tool_reason(ended->status);
   request->failure = rkb_format("%s: %s", reason, ended->error.message);
   rkb_runtime_note(&run->runtime, rkb_run_request_operator(request), "request %lld gave nothing: %s: %s",
                 (long long)request->number, reason, ended->error.message);
}

static void operator_done(rkb_work_t *work, rkb_ended_t *ended) {
   rkb_run_request_t *request = work->owner;
   rkb_run_t *run = request->run;
   if (ended->status != RKB_OK && run->runtime.stopping)
      return;
   if (ended->status != RKB_OK)
      note_failure(run, request, ended);
   else
      take_candidates(run, request, ended);
   double seconds = (double)(ended->ended_ns - ended->started_ns) * 1e-9;
   rkb_run_times_add(run, request->operator_entry->index, work->attempts ? seconds : -1);
   rkb_event_operator_ended(run, request, seconds);
   identify(run, request);
}

static void operator_began(rkb_work_t *work) {
   const rkb_run_request_t *request = work->owner;
   rkb_event_operator_began(request->run, request);
}

void rkb_operator_jobs_serve(rkb_run_t *run, rkb_run_request_t *request) {
   rkb_event_request(run, RKB_EVENT_REQUEST, request);
   /* A request without an operator (the strategy waited, or was done) is in the archive too, and must not be stored twice. */
   const bool restored = rkb_resume_restore(run, request);
   if (restored || !request->operator_entry) {
      request->state = RKB_GENERATED;
      return;
   }
   request->item = request_item(run, request);
   request->work = (rkb_work_t){.in = request->item,
                                .scope = {.section = request->section, .request = request->number},
                                .began = operator_began,
                                .done = operator_done,
                                .owner = request};
   rkb_event_operator_waits(run, request);
   rkb_runtime_add(&run->runtime, request->operator_entry->index, &request->work);
}
