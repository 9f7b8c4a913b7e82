/* One candidate through a pipeline's screen: what `rkb check` does.  The same core and graph as a run, without requests and
 * without an archive. */
#include <rkb/items.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "stage/item.h"
#include "run/check_candidate.h"
#include "run/screening.h"
#include "kernel/kernel.h"

typedef struct check {
   rkb_runtime_t runtime;
   rkb_pipeline_t *pipeline;
   rkb_screening_t screening;
   rkb_candidate_t *candidate;
   uv_signal_t signals[2];
   bool signalling, over, interrupted;
} check_t;

/* The result and all its texts, in one arena. */
typedef struct result {
   rkb_check_result_t face; /* first */
   rkb_arena_t *arena;
} result_t;

static void section_over(void *owner, rkb_candidate_t *candidate, uint64_t entries) {
   check_t *check = owner;
   (void)candidate;
   (void)entries;
   check->over = true;
   rkb_loop_stop(check->runtime.loop);
}

static void built(void *owner, rkb_candidate_t *candidate) {
   rkb_screening_built(&((check_t *)owner)->screening, candidate); /* there is no other candidate, so it cannot be a duplicate */
}

static void signalled(uv_signal_t *signal, int number) {
   check_t *check = signal->data;
   if (check->runtime.stopping)
      _exit(128 + number);
   check->interrupted = true;
   rkb_runtime_cancel(&check->runtime);
   rkb_loop_stop(check->runtime.loop);
}

static void catch_signals(check_t *check) {
   static const int numbers[] = {SIGINT, SIGTERM};
   for (int i = 0; i < 2; i++) {
      uv_signal_init(rkb_loop_uv(check->runtime.loop), &check->signals[i]);
      check->signals[i].data = check;
      uv_signal_start(&check->signals[i], signalled, numbers[i]);
   }
   check->signalling = true;
}

static int make_candidate(check_t *check, const rkb_check_options_t *options, rkb_error_t *err) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_CANDIDATE);
   int status = rkb_item_set_text(item, "source", options->source);
   if (status == RKB_OK)
      status = rkb_item_set_json(item, "tune", options->tune ? options->tune : "{}");
   if (status == RKB_ERR_INVALID)
      rkb_fail(err, status, "the tune assignment is not a JSON object");
   else if (status == RKB_ERR_NOMEM)
      rkb_fail_memory(err, 0);
   else if (status != RKB_OK)
      rkb_fail(err, status, "the source is too long");
   if (status != RKB_OK) {
      rkb_item_unref(item);
      return status;
   }
   check->candidate = rkb_candidate_new(check->pipeline, check->runtime.sources, item);
   check->candidate->section = options->section ? options->section : RKB_SECTION_SEARCH;
   check->candidate->request = options->request;
   check->candidate->child = options->child;
   check->candidate->number = 1;
   rkb_candidate_identify(check->pipeline, check->candidate);
   rkb_candidate_refresh(check->pipeline, check->candidate, check->pipeline->screen);
   return RKB_OK;
}

static const char *copy(rkb_arena_t *arena, const char *text) {
   return text ? rkb_arena_text(arena, text, strlen(text)) : NULL;
}

static void add_verdict(rkb_arena_t *arena, rkb_check_result_t *face, rkb_check_verdict_t *at,
                        const rkb_entry_t *entry, const rkb_stage_result_t *result) {
   *at = (rkb_check_verdict_t){.stage = copy(arena, entry->node.id),
                               .standing = copy(arena, rkb_item_text(result->verdict, "standing")),
                               .reason = copy(arena, rkb_item_text(result->verdict, "reason")),
                               .message = copy(arena, rkb_item_text(result->verdict, "message")),
                               .evidence = copy(arena, rkb_item_json(result->verdict, "evidence")),
                               .certificate = copy(arena, rkb_item_json(result->verdict, "certificate")),
                               .shadow = result->shadow,
                               .executes = entry->node.flags & RKB_STAGE_EXECUTES,
                               .seconds = result->seconds};
   face->verified_by_execution |= at->executes && !at->shadow;
}

static void add_measurement(rkb_arena_t *arena, rkb_check_measurement_t *at, const rkb_entry_t *entry,
                            const rkb_item_t *item) {
   *at = (rkb_check_measurement_t){
      .name = rkb_arena_format(arena, "%s.%s", entry->node.id, rkb_item_text(item, "name")),
      .unit = copy(arena, rkb_item_text(item, "unit")),
      .better = copy(arena, rkb_item_text(item, "better")),
      .method = copy(arena, rkb_item_text(item, "method")),
      .case_name = copy(arena, rkb_item_text(item, "case")),
      .detail = copy(arena, rkb_item_json(item, "detail")),
      .spread = -1};
   rkb_item_real(item, "value", &at->value);
   rkb_item_real(item, "spread", &at->spread);
}

static rkb_check_result_t *make_result(const check_t *check) {
   const rkb_pipeline_t *pipeline = check->pipeline;
   const rkb_candidate_t *candidate = check->candidate;
   const rkb_item_t *decided;
   uint32_t room = 1;
   for (uint32_t i = 0; i < pipeline->entry_count; i++)
      room += candidate->results[i].measurement_count;
   rkb_arena_t *arena = rkb_arena_new(0);
   result_t *result = rkb_arena_alloc(arena, sizeof *result);
   rkb_check_verdict_t *verdicts = rkb_arena_array(arena, pipeline->entry_count + 1, sizeof *verdicts);
   rkb_check_measurement_t *measurements = rkb_arena_array(arena, room, sizeof *measurements);
   result->arena = arena;
   rkb_check_result_t *face = &result->face;
   face->secret = check->runtime.secret;
   for (uint32_t i = 0; i < pipeline->entry_count; i++) {
      const rkb_stage_result_t *found = &candidate->results[i];
      if (found->verdict)
         add_verdict(arena, face, &verdicts[face->verdict_count++], &pipeline->entries[i], found);
      for (uint32_t j = 0; j < found->measurement_count; j++)
         add_measurement(arena, &measurements[face->measurement_count++], &pipeline->entries[i],
                         found->measurements[j]);
   }
   face->verdicts = verdicts;
   face->measurements = measurements;
   face->standing = copy(arena, rkb_candidate_standing(pipeline, candidate, ~0ull, &decided));
   face->reason = copy(arena, decided ? rkb_item_text(decided, "reason") : "");
   face->tune = copy(arena, candidate->tune);
   return face;
}

void rkb_check_result_free(rkb_check_result_t *face) {
   if (face)
      rkb_arena_free(((result_t *)face)->arena);
}

static int work(check_t *check, const rkb_check_options_t *options, rkb_error_t *err) {
   int status = make_candidate(check, options, err);
   if (status == RKB_OK && check->pipeline->build >= 0) {
      rkb_compilers_config_t config = {.processes = check->runtime.worker_count,
                                       .cpu_limit_ns = check->pipeline->limit_compile_ns};
      status = rkb_compilers_open(&config, &check->runtime.compilers, err);
   }
   if (status == RKB_OK)
      status = rkb_runtime_start(&check->runtime, check->pipeline->screen, err);
   if (status != RKB_OK)
      return status;
   if (options->catch_signals)
      catch_signals(check);
   check->screening =
      (rkb_screening_t){.runtime = &check->runtime, .owner = check, .finished = section_over, .built = built};
   rkb_screening_begin(&check->screening, check->candidate, check->pipeline->screen);
   while (!check->over && !check->interrupted)
      rkb_loop_run(check->runtime.loop);
   return check->over ? RKB_OK : rkb_fail(err, RKB_ERR_CANCELLED, "interrupted");
}

int rkb_check(rkb_pipeline_t *pipeline, const rkb_check_options_t *options, rkb_check_result_t **result,
              rkb_error_t *err) {
   *result = NULL;
   check_t *check = rkb_allocate(1, sizeof *check);
   check->pipeline = pipeline;
   int status = rkb_runtime_open(&check->runtime, pipeline, options->log, options->jobs, err);
   if (status != RKB_OK) {
      free(check);
      return status;
   }
   if (options->secret)
      check->runtime.secret = *options->secret;
   else
      status = rkb_secret_draw(&check->runtime.secret, err);
   check->runtime.devices = options->devices;
   check->runtime.devices_lent = options->devices != NULL;
   if (status == RKB_OK)
      status = work(check, options, err);
   if (status == RKB_OK)
      *result = make_result(check);
   for (int i = 0; check->signalling && i < 2; i++)
      uv_close((uv_handle_t *)&check->signals[i], NULL);
   rkb_runtime_close(&check->runtime);
   rkb_compilers_close(check->runtime.compilers);
   if (check->runtime.hung) {
      if (*result)
         (*result)->must_exit_hard = true;
      return status; /* threads may still use all of it */
   }
   rkb_candidate_free(pipeline, check->candidate);
   free(check);
   return status;
}
