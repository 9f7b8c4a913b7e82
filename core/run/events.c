/* Counts and events (events.h). */
#include "run/events.h"

#include <rkb/items.h>
#include <string.h>
#include "stage/item.h"
#include "run/run_state.h"
#include "llm/llm.h"

void rkb_event_send(rkb_run_t *run, rkb_event_t *event) {
   if (!run->options.observe)
      return;
   event->entry = event->entry ? event->entry : "";
   event->standing = event->standing ? event->standing : "";
   event->reason = event->reason ? event->reason : "";
   event->text = event->text ? event->text : "";
   event->stages = run->progress.entries;
   event->stage_count = run->pipeline->entry_count;
   event->candidates = run->numbered.count - run->numbered.duplicates;
   event->duplicates = run->numbered.duplicates;
   event->told = run->tally.requests;
   event->elapsed_seconds = (double)(rkb_now_ns() - run->times.started_ns) * 1e-9;
   event->cost_usd = event->reserved_usd = 0;
   if (run->runtime.llm)
      rkb_llm_money(run->runtime.llm, &event->cost_usd, &event->reserved_usd);
   run->options.observe(run->options.argument, event);
}

void rkb_event_candidate_end(rkb_run_t *run, const rkb_candidate_t *candidate) {
   const rkb_item_t *decided = NULL;
   if (!run->options.observe)
      return;
   rkb_event_t event = {.kind = RKB_EVENT_CANDIDATE_END,
                        .section = candidate->section,
                        .request = candidate->request,
                        .candidate = candidate->number,
                        .duplicate_of = candidate->duplicate_of,
                        .standing = rkb_candidate_standing(run->pipeline, candidate, ~0ull, &decided)};
   event.reason = decided ? rkb_item_text(decided, "reason") : "";
   event.has_objective = rkb_candidate_objective(run->pipeline, candidate, &event.objective);
   rkb_event_send(run, &event);
}

void rkb_event_request(rkb_run_t *run, uint32_t kind, const rkb_run_request_t *request) {
   rkb_event_send(run, &(rkb_event_t){.kind = kind,
                                      .section = request->section,
                                      .request = request->number,
                                      .entry = rkb_run_request_operator(request)});
}

void rkb_event_operator_waits(rkb_run_t *run, const rkb_run_request_t *request) {
   run->progress.entries[request->operator_entry->index].waiting++;
}

void rkb_event_operator_began(rkb_run_t *run, const rkb_run_request_t *request) {
   rkb_stage_progress_t *progress = &run->progress.entries[request->operator_entry->index];
   progress->waiting--;
   progress->running++;
   rkb_event_request(run, RKB_EVENT_STAGE_START, request);
}

void rkb_event_operator_ended(rkb_run_t *run, const rkb_run_request_t *request, double seconds) {
   rkb_stage_progress_t *progress = &run->progress.entries[request->operator_entry->index];
   if (request->work.attempts)
      progress->running--;
   else
      progress->waiting--; /* the job ended before it was given to its stage */
   progress->done++;
   progress->passed += request->count;
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_STAGE_END,
                                      .section = request->section,
                                      .request = request->number,
                                      .entry = rkb_run_request_operator(request),
                                      .attempts = request->work.attempts,
                                      .seconds = seconds});
}

void rkb_event_strategy_told(rkb_run_t *run) {
   run->progress.entries[run->pipeline->strategy].done++;
}

static void added(void *owner, const rkb_entry_t *entry) {
   ((rkb_run_t *)owner)->progress.entries[entry->index].waiting++;
}

static void began(void *owner, rkb_candidate_t *candidate, const rkb_entry_t *entry) {
   rkb_run_t *run = owner;
   run->progress.entries[entry->index].waiting--;
   run->progress.entries[entry->index].running++;
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_STAGE_START,
                                      .section = candidate->section,
                                      .request = candidate->request,
                                      .candidate = candidate->number,
                                      .entry = entry->node.id});
}

static void ended(void *owner, rkb_candidate_t *candidate, const rkb_entry_t *entry) {
   rkb_run_t *run = owner;
   rkb_stage_progress_t *progress = &run->progress.entries[entry->index];
   const rkb_stage_result_t *result = &candidate->results[entry->index];
   const char *standing = result->verdict ? rkb_item_text(result->verdict, "standing") : "";
   if (result->work.done && !result->work.attempts)
      progress->waiting--; /* the job ended before it was given to its stage */
   else
      progress->running--;
   progress->done++;
   rkb_run_times_add(run, entry->index, result->seconds);
   progress->rejected += strcmp(standing, RKB_REJECT) == 0;
   progress->unknown += strcmp(standing, RKB_UNKNOWN) == 0;
   progress->passed += strcmp(standing, RKB_REJECT) != 0;
   rkb_event_send(run,
                  &(rkb_event_t){.kind = RKB_EVENT_STAGE_END,
                                 .section = candidate->section,
                                 .request = candidate->request,
                                 .candidate = candidate->number,
                                 .entry = entry->node.id,
                                 .standing = standing,
                                 .reason = result->verdict ? rkb_item_text(result->verdict, "reason") : "",
                                 .text = result->verdict ? rkb_item_text(result->verdict, "message") : "",
                                 .seconds = result->seconds,
                                 .attempts = result->attempts});
   rkb_contracts_note(run, entry, result->verdict ? rkb_item_text(result->verdict, "reason") : "",
                      result->verdict ? rkb_item_text(result->verdict, "message") : "");
}

static void note(void *argument, const char *entry, const char *text) {
   rkb_run_t *run = argument;
   rkb_error_t err = {0};
   rkb_event_send(run, &(rkb_event_t){.kind = RKB_EVENT_NOTE, .entry = entry, .text = text});
   if (run->archive)
      rkb_archive_put_event(run->archive, RKB_LOG_WARN, entry, "tool", 0, text, NULL, &err);
}

void rkb_event_hooks(rkb_run_t *run) {
   run->screening.added = added;
   run->screening.began = began;
   run->screening.ended = ended;
   run->runtime.note = note;
   run->runtime.note_argument = run;
   for (uint32_t i = 0; i < run->pipeline->entry_count; i++) {
      run->progress.entries[i].id = run->pipeline->entries[i].node.id;
      run->progress.entries[i].section = run->pipeline->entries[i].node.section;
   }
}
