/* Restores what an earlier process left (resume.h).  Screened requests come back with their candidates and verdicts, generated
 * ones with their candidates; all others begin again under their old number.  The rest equals that of a fresh run. */
#include "run/resume.h"

#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "stage/item.h"
#include "run/run_state.h"

typedef struct stored {
   uint32_t section, state, answer;
   int64_t number;
   char *failure;
} stored_t;

struct rkb_restored {
   stored_t *requests; /* propose first, then search, by number */
   uint32_t count, room;
};

static int keep(void *argument, const rkb_request_record_t *record) {
   struct rkb_restored *restored = argument;
   if (restored->count == restored->room) {
      uint32_t room = restored->room ? restored->room * 2 : 256;
      restored->requests = rkb_grow(restored->requests, room, sizeof *restored->requests);
      restored->room = room;
   }
   stored_t *stored = &restored->requests[restored->count++];
   *stored = (stored_t){
      .section = record->section, .state = record->state, .answer = record->answer, .number = record->number};
   if (record->failure)
      stored->failure = rkb_duplicate(record->failure);
   return RKB_OK;
}

int rkb_resume_load(rkb_run_t *run, rkb_error_t *err) {
   run->restored = rkb_allocate(1, sizeof *run->restored);
   return rkb_archive_each_request(run->archive, keep, run->restored, err);
}

void rkb_resume_free(rkb_run_t *run) {
   if (!run->restored)
      return;
   for (uint32_t i = 0; i < run->restored->count; i++)
      free(run->restored->requests[i].failure);
   free(run->restored->requests);
   free(run->restored);
   run->restored = NULL;
}

static stored_t *find(const rkb_run_t *run, const rkb_run_request_t *request) {
   /* The archive stores requests in the order of the row, so the ordinal is where this one should be. */
   struct rkb_restored *restored = run->restored;
   if (request->ordinal < restored->count &&
       restored->requests[request->ordinal].section == request->section &&
       restored->requests[request->ordinal].number == request->number)
      return &restored->requests[request->ordinal];
   for (uint32_t i = 0; i < restored->count; i++)
      if (restored->requests[i].section == request->section &&
          restored->requests[i].number == request->number)
         return &restored->requests[i];
   return NULL;
}

static rkb_item_t *made_again(const rkb_run_t *run, const rkb_candidate_record_t *record) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_CANDIDATE);
   bool ok = rkb_item_set_text(item, "source", record->source) == RKB_OK &&
             rkb_item_set_json(item, "tune", record->tune) == RKB_OK &&
             (!record->note || rkb_item_set_text(item, "note", record->note) == RKB_OK);
   for (uint32_t i = 0; ok && i < record->parent_count; i++) {
      const rkb_candidate_t *parent = rkb_numbered_get(&run->numbered, record->parents[i].number);
      ok = parent && (strcmp(record->parents[i].role, "parent") != 0 ||
                      rkb_item_add_reference(item, "parent", parent->item) == RKB_OK);
   }
   if (ok)
      return item;
   rkb_item_unref(item);
   return NULL;
}

static rkb_item_t *verdict_again(const rkb_verdict_record_t *record) {
   rkb_item_t *item = rkb_verdict_new(record->standing, record->reason, record->message);
   if (item && record->evidence)
      rkb_item_set_json(item, "evidence", record->evidence);
   if (item && record->certificate)
      rkb_item_set_json(item, "certificate", record->certificate);
   return item;
}

static rkb_item_t *measurement_again(const rkb_measurement_record_t *record, const char *name) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_MEASUREMENT);
   bool ok = rkb_item_set_text(item, "name", name) == RKB_OK &&
             rkb_item_set_real(item, "value", record->value) == RKB_OK &&
             rkb_item_set_text(item, "unit", record->unit) == RKB_OK &&
             rkb_item_set_text(item, "better", record->better) == RKB_OK &&
             rkb_item_set_text(item, "method", record->method) == RKB_OK;
   if (ok && record->spread >= 0)
      ok = rkb_item_set_real(item, "spread", record->spread) == RKB_OK;
   if (ok && record->case_name)
      ok = rkb_item_set_text(item, "case", record->case_name) == RKB_OK;
   if (ok && record->detail)
      ok = rkb_item_set_json(item, "detail", record->detail) == RKB_OK;
   if (ok)
      return item;
   rkb_item_unref(item);
   return NULL;
}

static bool restore_verdicts(const rkb_run_t *run, rkb_candidate_t *candidate,
                             const rkb_candidate_record_t *record) {
   for (uint32_t i = 0; i < record->verdict_count; i++) {
      int32_t at = rkb_pipeline_find(run->pipeline, record->verdicts[i].stage);
      if (at < 0)
         return false;
      rkb_stage_result_t *result = &candidate->results[at];
      result->verdict = verdict_again(&record->verdicts[i]);
      result->shadow = record->verdicts[i].shadow;
      result->attempts = record->verdicts[i].attempts;
      result->seconds = record->verdicts[i].seconds;
      result->state = RKB_RAN;
      if (!result->verdict)
         return false;
   }
   return true;
}

static bool restore_measurements(const rkb_run_t *run, rkb_candidate_t *candidate,
                                 const rkb_candidate_record_t *record) {
   for (uint32_t i = 0; i < record->measurement_count; i++) {
      const char *name = record->measurements[i].name, *dot = strchr(name, '.');
      char *id = dot ? rkb_duplicate_part(name, (size_t)(dot - name)) : NULL;
      int32_t at = id ? rkb_pipeline_find(run->pipeline, id) : -1;
      free(id);
      if (at < 0)
         return false;
      rkb_stage_result_t *result = &candidate->results[at];
      rkb_item_t *measurement = measurement_again(&record->measurements[i], dot + 1);
      if (!measurement)
         return false;
      result->measurements =
         rkb_grow(result->measurements, result->measurement_count + 1, sizeof *result->measurements);
      result->measurements[result->measurement_count++] = measurement;
      result->shadow = record->measurements[i].shadow;
      result->state = RKB_RAN;
   }
   return true;
}

/* The whole section is over.  An entry without a record was skipped or blocked; what follows treats both alike. */
static void restore_section(const rkb_run_t *run, rkb_candidate_t *candidate, uint64_t entries) {
   candidate->begun |= entries;
   candidate->settled |= entries;
   for (uint32_t i = 0; i < run->pipeline->entry_count; i++) {
      rkb_stage_result_t *result = &candidate->results[i];
      if (!(entries & (1ull << i)))
         continue;
      if (result->state == RKB_NOT_REACHED)
         result->state = RKB_SKIPPED;
      if (!result->verdict || result->shadow)
         continue;
      const char *standing = rkb_item_text(result->verdict, "standing");
      if (strcmp(standing, RKB_REJECT) == 0 ||
          (strcmp(standing, RKB_UNKNOWN) == 0 && run->pipeline->entries[i].node.stops_unknown))
         candidate->blocking |= 1ull << i;
   }
}

static bool any_ran(const rkb_candidate_t *candidate, const rkb_pipeline_t *pipeline, uint64_t entries) {
   for (uint32_t i = 0; i < pipeline->entry_count; i++)
      if ((entries & (1ull << i)) && candidate->results[i].state == RKB_RAN)
         return true;
   return false;
}

static bool restore_results(const rkb_run_t *run, rkb_candidate_t *candidate,
                            const rkb_candidate_record_t *record, uint32_t state) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   if (record->duplicate_of < 0 || (record->duplicate_of && record->duplicate_of >= record->number)) /* it would be told by itself */
      return false;
   if (!restore_verdicts(run, candidate, record) || !restore_measurements(run, candidate, record))
      return false;
   candidate->promotion = record->promotion;
   candidate->duplicate_of = record->duplicate_of;
   restore_section(run, candidate, pipeline->screen);
   if (pipeline->evaluate &&
       (state == RKB_REQUEST_FINISHED || any_ran(candidate, pipeline, pipeline->evaluate)))
      restore_section(run, candidate, pipeline->evaluate);
   return true;
}

static void copy_hash(char out[RKB_HASH_TEXT], const char *hash) {
   snprintf(out, RKB_HASH_TEXT, "%s", hash ? hash : "");
}

static rkb_candidate_t *restore_candidate(rkb_run_t *run, rkb_run_request_t *request,
                                          const rkb_candidate_record_t *record, uint32_t state) {
   rkb_item_t *made = made_again(run, record);
   if (!made)
      return NULL;
   rkb_candidate_t *candidate = rkb_candidate_new(run->pipeline, run->runtime.sources, made);
   candidate->section = request->section;
   candidate->request = request->number;
   candidate->child = record->child;
   candidate->operator_entry = request->operator_entry;
   candidate->owner = request;
   candidate->number = record->number;
   candidate->tune = rkb_duplicate(record->tune);
   rkb_candidate_find_tune_space(run->pipeline, candidate);
   copy_hash(candidate->hash, record->hash);
   copy_hash(candidate->source_hash, record->source_hash);
   copy_hash(candidate->token_hash, record->token_hash);
   copy_hash(candidate->ptx_hash, record->ptx_hash);
   copy_hash(candidate->plan_hash, record->plan_hash);
   copy_hash(candidate->cubin_hash, record->cubin_hash);
   candidate->parents = rkb_allocate(record->parent_count + 1, sizeof *candidate->parents);
   for (uint32_t i = 0; i < record->parent_count; i++)
      candidate->parents[candidate->parent_count++] = record->parents[i].number;
   if (state == RKB_REQUEST_OPEN || restore_results(run, candidate, record, state))
      return candidate;
   rkb_candidate_free(run->pipeline, candidate);
   return NULL;
}

static void restore_candidates(rkb_run_t *run, rkb_run_request_t *request, const int64_t *numbers,
                               uint32_t count, uint32_t state) {
   rkb_error_t err = {0};
   request->candidates = rkb_allocate(count + 1, sizeof *request->candidates);
   for (uint32_t i = 0; i < count; i++) {
      rkb_candidate_record_t *record = NULL;
      int status = rkb_archive_load_candidate(run->archive, numbers[i], &record, &err);
      rkb_candidate_t *candidate = status == RKB_OK ? restore_candidate(run, request, record, state) : NULL;
      rkb_candidate_record_free(record);
      if (!candidate) {
         rkb_run_break(run, RKB_ERR_INVALID,
                       "this run cannot be resumed: candidate %lld could not be read back%s%s",
                       (long long)numbers[i], err.message[0] ? ": " : "", err.message);
         return;
      }
      request->candidates[request->count++] = candidate;
   }
}

bool rkb_resume_restore(rkb_run_t *run, rkb_run_request_t *request) {
   stored_t *stored = run->restored ? find(run, request) : NULL;
   rkb_error_t err = {0};
   int64_t *numbers = NULL;
   uint32_t count = 0;
   if (!stored)
      return false;
   int status =
      rkb_archive_candidates(run->archive, request->section, request->number, &numbers, &count, &err);
   if (status != RKB_OK) {
      rkb_run_break(run, status, "%s", err.message);
      return true;
   }
   /* For an open request without candidates the operator had not answered, so it is asked again. */
   bool begins_again = stored->state == RKB_REQUEST_OPEN && !count;
   if (!begins_again) {
      request->restored = true;
      request->screened_before = stored->state != RKB_REQUEST_OPEN;
      request->failure = stored->failure;
      stored->failure = NULL;
      restore_candidates(run, request, numbers, count, stored->state);
   }
   free(numbers);
   return !begins_again;
}
