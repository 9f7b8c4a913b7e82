/* Makes the archive's records from the run's state (run_record.h).  A record borrows its texts from the items for the length
 * of one call. */
#include "run/run_record.h"
#include "kernel/kernel.h"

#include <rkb/items.h>
#include <string.h>
#include "stage/item.h"
#include "run/run_state.h"

static bool stored(rkb_run_t *run, int status, const rkb_error_t *err) {
   if (status != RKB_OK)
      rkb_run_break(run, status, "%s", err->message);
   return status == RKB_OK;
}

static int64_t group_number(const rkb_run_t *run, const rkb_run_request_t *request) {
   return request->section == RKB_SECTION_PROPOSE ? 0 : request->number / run->pipeline->promote_of;
}

static rkb_request_record_t request_record(const rkb_run_t *run, const rkb_run_request_t *request,
                                           uint32_t state) {
   const rkb_request_t *wanted = &request->wanted;
   return (rkb_request_record_t){.section = request->section,
                                 .answer = request->answer,
                                 .state = state,
                                 .number = request->number,
                                 .group = run->pipeline->promotes ? group_number(run, request) : -1,
                                 .operator_id = rkb_run_request_operator(request),
                                 .hints = wanted->hints[0] ? wanted->hints : NULL,
                                 .failure = request->failure,
                                 .parent_count = wanted->parent_count,
                                 .inspiration_count = wanted->inspiration_count,
                                 .parents = wanted->parents,
                                 .inspirations = wanted->inspirations};
}

bool rkb_record_new_ask(rkb_run_t *run, const rkb_run_request_t *request, const char *hash,
                        const rkb_strategy_record_record_t *told) {
   rkb_error_t err = {0};
   rkb_request_record_t record = request_record(run, request, RKB_REQUEST_OPEN);
   return stored(run, rkb_archive_put_turn(run->archive, told, &record, hash, &err), &err);
}

static bool reproducible(const rkb_entry_t *entry, const rkb_stage_result_t *result) {
   return (entry->node.flags & RKB_STAGE_DETERMINISTIC) && !result->near_limit;
}

/* The results of a set of entries, in the pipeline's order; the lists live in the arena. */
typedef struct found {
   rkb_verdict_record_t *verdicts;
   rkb_measurement_record_t *measurements;
   uint32_t verdict_count, measurement_count;
} found_t;

static void add_verdict(found_t *found, const rkb_entry_t *entry, const rkb_stage_result_t *result) {
   found->verdicts[found->verdict_count++] =
      (rkb_verdict_record_t){.stage = entry->node.id,
                             .standing = rkb_item_text(result->verdict, "standing"),
                             .reason = rkb_item_text(result->verdict, "reason"),
                             .message = rkb_item_text(result->verdict, "message"),
                             .evidence = rkb_item_json(result->verdict, "evidence"),
                             .certificate = rkb_item_json(result->verdict, "certificate"),
                             .shadow = result->shadow,
                             .executes = entry->node.flags & RKB_STAGE_EXECUTES,
                             .reproducible = reproducible(entry, result),
                             .attempts = result->attempts,
                             .seconds = result->seconds};
}

static void add_measurement(found_t *found, rkb_arena_t *arena, const rkb_entry_t *entry,
                            const rkb_stage_result_t *result, const rkb_item_t *item) {
   rkb_measurement_record_t *record = &found->measurements[found->measurement_count++];
   *record = (rkb_measurement_record_t){
      .name = rkb_arena_format(arena, "%s.%s", entry->node.id, rkb_item_text(item, "name")),
      .spread = -1,
      .unit = rkb_item_text(item, "unit"),
      .better = rkb_item_text(item, "better"),
      .method = rkb_item_text(item, "method"),
      .case_name = rkb_item_text(item, "case"),
      .detail = rkb_item_json(item, "detail"),
      .shadow = result->shadow,
      .reproducible = reproducible(entry, result)};
   rkb_item_real(item, "value", &record->value);
   rkb_item_real(item, "spread", &record->spread);
}

static void gather(const rkb_run_t *run, const rkb_candidate_t *candidate, uint64_t entries,
                   rkb_arena_t *arena, found_t *found) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   uint32_t room = 1;
   for (uint32_t i = 0; i < pipeline->entry_count; i++)
      room += candidate->results[i].measurement_count;
   found->verdicts = rkb_arena_array(arena, pipeline->entry_count + 1, sizeof *found->verdicts);
   found->measurements = rkb_arena_array(arena, room, sizeof *found->measurements);
   for (uint32_t i = 0; i < pipeline->entry_count; i++) {
      const rkb_stage_result_t *result = &candidate->results[i];
      if (!(entries & (1ull << i)) || result->state != RKB_RAN)
         continue;
      if (result->verdict)
         add_verdict(found, &pipeline->entries[i], result);
      for (uint32_t j = 0; j < result->measurement_count; j++)
         add_measurement(found, arena, &pipeline->entries[i], result, result->measurements[j]);
   }
}

static const char *or_null(const char *hash) {
   return hash[0] ? hash : NULL;
}

static rkb_candidate_record_t *candidate_record(const rkb_run_t *run, const rkb_candidate_t *candidate,
                                                rkb_arena_t *arena) {
   const rkb_pipeline_t *pipeline = run->pipeline;
   const rkb_pipeline_facts_t facts = rkb_pipeline_facts(pipeline);
   rkb_candidate_record_t *record = rkb_arena_alloc(arena, sizeof *record);
   rkb_parent_record_t *parents = rkb_arena_array(arena, candidate->parent_count + 1, sizeof *parents);
   found_t found = {0};
   const rkb_item_t *decided;
   gather(run, candidate, ~0ull, arena, &found);
   for (uint32_t i = 0; i < candidate->parent_count; i++)
      parents[i] = (rkb_parent_record_t){.number = candidate->parents[i], .role = "parent"};
   *record =
      (rkb_candidate_record_t){.number = candidate->number,
                               .section = candidate->section,
                               .promotion = candidate->promotion,
                               .request = candidate->request,
                               .child = candidate->child,
                               .source = candidate->source,
                               .hash = candidate->hash,
                               .source_hash = candidate->source_hash,
                               .token_hash = candidate->token_hash,
                               .ptx_hash = or_null(candidate->ptx_hash),
                               .plan_hash = or_null(candidate->plan_hash),
                               .cubin_hash = or_null(candidate->cubin_hash),
                               .tune = candidate->tune,
                               .operator_id = candidate->operator_entry->node.id,
                               .task = facts.task,
                               .direction = facts.direction,
                               .note = rkb_item_text(candidate->made, "note"),
                               .standing = rkb_candidate_standing(pipeline, candidate, ~0ull, &decided),
                               .duplicate_of = candidate->duplicate_of,
                               .parents = parents,
                               .parent_count = candidate->parent_count,
                               .verdicts = found.verdicts,
                               .verdict_count = found.verdict_count,
                               .measurements = found.measurements,
                               .measurement_count = found.measurement_count};
   record->reason = decided ? rkb_item_text(decided, "reason") : "";
   record->has_objective = rkb_candidate_objective(pipeline, candidate, &record->objective);
   return record;
}

static bool put_screened(rkb_run_t *run, const rkb_run_request_t *request, uint32_t state) {
   rkb_arena_t *arena = rkb_arena_new(0);
   const rkb_candidate_record_t **list = rkb_arena_array(arena, request->count + 1, sizeof *list);
   rkb_request_record_t record = request_record(run, request, state);
   rkb_error_t err = {0};
   for (uint32_t i = 0; i < request->count; i++)
      list[i] = candidate_record(run, request->candidates[i], arena);
   int status = rkb_archive_put_screened(run->archive, &record, list, request->count, &err);
   rkb_arena_free(arena);
   return stored(run, status, &err);
}

bool rkb_record_generated(rkb_run_t *run, const rkb_run_request_t *request) {
   return !run->archive || put_screened(run, request, RKB_REQUEST_OPEN);
}

bool rkb_record_screened(rkb_run_t *run, const rkb_run_request_t *request, bool finished) {
   return !run->archive || put_screened(run, request, finished ? RKB_REQUEST_FINISHED : RKB_REQUEST_SCREENED);
}

bool rkb_record_group(rkb_run_t *run, const rkb_run_request_t *request, const int64_t *numbers,
                      uint32_t count, uint32_t kept) {
   rkb_error_t err = {0};
   if (!run->archive)
      return true;
   return stored(run,
                 rkb_archive_put_group(run->archive, request->section, group_number(run, request), numbers,
                                       count, numbers, kept, &err),
                 &err);
}

bool rkb_record_evaluated(rkb_run_t *run, const rkb_candidate_t *candidate) {
   rkb_error_t err = {0};
   const rkb_item_t *decided;
   found_t found = {0};
   if (!run->archive)
      return true;
   rkb_arena_t *arena = rkb_arena_new(0);
   gather(run, candidate, run->pipeline->evaluate, arena, &found);
   rkb_result_record_t record = {.candidate = candidate->number,
                                 .standing =
                                    rkb_candidate_standing(run->pipeline, candidate, ~0ull, &decided),
                                 .verdicts = found.verdicts,
                                 .verdict_count = found.verdict_count,
                                 .measurements = found.measurements,
                                 .measurement_count = found.measurement_count};
   record.reason = decided ? rkb_item_text(decided, "reason") : "";
   record.has_objective = rkb_candidate_objective(run->pipeline, candidate, &record.objective);
   int status = rkb_archive_put_result(run->archive, &record, &err);
   rkb_arena_free(arena);
   return stored(run, status, &err);
}

bool rkb_record_finished(rkb_run_t *run, const rkb_run_request_t *request) {
   rkb_error_t err = {0};
   if (!run->archive)
      return true;
   return stored(run,
                 rkb_archive_set_request_state(run->archive, request->section, request->number,
                                               RKB_REQUEST_FINISHED, &err),
                 &err);
}

bool rkb_record_ending(rkb_run_t *run) {
   static const char *const names[] = {"", "done", "limit", "stuck", "wall", "cost", "interrupted"};
   const rkb_run_ending_t *ending = &run->ending;
   rkb_error_t err = {0};
   if (!run->archive)
      return true;
   int status =
      rkb_archive_set_fact(run->archive, "ended", ending->status ? "broken" : names[ending->kind], &err);
   if (status == RKB_OK)
      status = rkb_archive_set_fact(run->archive, "ended_because", ending->status ? "" : ending->text, &err);
   if (status == RKB_OK && run->runtime.compilers && rkb_compilers_layers(run->runtime.compilers)[0])
      status = rkb_archive_set_fact(run->archive, "compiler_sandbox", rkb_compilers_layers(run->runtime.compilers), &err);
   if (status == RKB_OK && rkb_runtime_layers(&run->runtime)[0])
      status = rkb_archive_set_fact(run->archive, "machine_sandbox", rkb_runtime_layers(&run->runtime), &err);
   return stored(run, status, &err);
}
