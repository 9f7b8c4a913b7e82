/* The strategy's asks and tells as hashes (strategy_record.h).  A strategy keeps no files.  A resumed run repeats all asks and
 * tells, which restores the strategy's state.  It compares each with the recorded hash, so a strategy that does not repeat itself is
 * found. */
#include "run/strategy_record.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"
#include "run/run_record.h"
#include "run/run_state.h"

typedef struct line {
   uint32_t what, section;
   int64_t request;
   char hash[RKB_HASH_TEXT];
} line_t;

struct rkb_replay {
   line_t *lines;
   uint64_t count, room, at;
   bool pending; /* the last tell is not stored yet: the next ask is stored in one transaction with it */
   line_t told;
};

static int keep(void *argument, const rkb_strategy_record_record_t *record) {
   struct rkb_replay *replay = argument;
   if (replay->count == replay->room) {
      uint64_t room = replay->room ? replay->room * 2 : 256;
      replay->lines = rkb_grow(replay->lines, room, sizeof *replay->lines);
      replay->room = room;
   }
   line_t *line = &replay->lines[replay->count++];
   *line = (line_t){.what = record->what, .section = record->section, .request = record->request};
   snprintf(line->hash, sizeof line->hash, "%s", record->hash);
   return RKB_OK;
}

int rkb_strategy_record_open(rkb_run_t *run, rkb_error_t *err) {
   run->replay = rkb_allocate(1, sizeof *run->replay);
   if (!run->archive || !run->options.resume)
      return RKB_OK;
   return rkb_archive_each_dialogue(run->archive, keep, run->replay, err);
}

void rkb_strategy_record_close(rkb_run_t *run) {
   if (!run->replay)
      return;
   free(run->replay->lines);
   free(run->replay);
   run->replay = NULL;
}

/* True when nothing is recorded for this step; otherwise *same says whether the record is equal to it. */
static bool is_new(rkb_run_t *run, uint32_t what, uint32_t section, int64_t request, const char *hash,
                   bool *same) {
   struct rkb_replay *replay = run->replay;
   *same = true;
   if (replay->at == replay->count)
      return true;
   const line_t *line = &replay->lines[replay->at++];
   *same = line->what == what && line->section == section && line->request == request &&
           strcmp(line->hash, hash) == 0;
   if (!*same)
      rkb_run_break(
         run, RKB_ERR_CONTRACT,
         "this run cannot be resumed: step %llu of the search, %s request %lld, differs from what was "
         "recorded; "
         "the strategy does not depend on its seed and results alone, or a recorded result was changed",
         (unsigned long long)replay->at, what == RKB_DIALOGUE_ASK ? "asking" : "telling", (long long)request);
   return false;
}

static void add_int(rkb_hasher_t *hasher, int64_t value) {
   rkb_hasher_add(hasher, &value, sizeof value);
}

/* The results are committed already.  This stores only that the strategy received them.  If the process is killed before this
 * point, the next one tells them again. */
bool rkb_strategy_record_flush(rkb_run_t *run) {
   struct rkb_replay *replay = run->replay;
   rkb_error_t err = {0};
   if (!replay->pending)
      return true;
   replay->pending = false;
   int status =
      rkb_archive_put_tell(run->archive, replay->told.section, replay->told.request, replay->told.hash, &err);
   if (status != RKB_OK)
      rkb_run_break(run, status, "%s", err.message);
   return status == RKB_OK;
}

static bool store_ask(rkb_run_t *run, const rkb_run_request_t *request, const char *hash) {
   struct rkb_replay *replay = run->replay;
   rkb_strategy_record_record_t told = {.what = RKB_DIALOGUE_TELL,
                                 .section = replay->told.section,
                                 .request = replay->told.request,
                                 .hash = replay->told.hash};
   bool pending = replay->pending;
   replay->pending = false;
   return rkb_record_new_ask(run, request, hash, pending ? &told : NULL);
}

bool rkb_strategy_record_ask(rkb_run_t *run, const rkb_run_request_t *request) {
   const rkb_request_t *wanted = &request->wanted;
   char hash[RKB_HASH_TEXT];
   bool same;
   if (!run->archive)
      return true;
   rkb_hasher_t *hasher = rkb_hasher_new();
   add_int(hasher, request->answer);
   rkb_hasher_add_text(hasher, rkb_run_request_operator(request));
   rkb_hasher_add(hasher, wanted->parents, wanted->parent_count * sizeof wanted->parents[0]);
   rkb_hasher_add(hasher, wanted->inspirations, wanted->inspiration_count * sizeof wanted->inspirations[0]);
   rkb_hasher_add_text(hasher, wanted->hints);
   rkb_hasher_finish(hasher, hash);
   if (is_new(run, RKB_DIALOGUE_ASK, request->section, request->number, hash, &same))
      return store_ask(run, request, hash);
   return same;
}

/* An objective that differs from run to run, such as a time on a GPU, is left out of the hash: rkb diff compares the
 * dialogues of two runs as well. */
static bool objective_repeats(const rkb_pipeline_t *pipeline) {
   const char *name = pipeline->objective;
   for (uint32_t i = 0; name && i < pipeline->entry_count; i++) {
      size_t length = strlen(pipeline->entries[i].node.id);
      if (strncmp(pipeline->entries[i].node.id, name, length) == 0 && name[length] == '.')
         return pipeline->entries[i].node.flags & RKB_STAGE_DETERMINISTIC;
   }
   return false;
}

bool rkb_strategy_record_tell(rkb_run_t *run, const rkb_run_request_t *request, const rkb_result_t *result) {
   char hash[RKB_HASH_TEXT];
   bool same;
   if (!run->archive)
      return true;
   rkb_hasher_t *hasher = rkb_hasher_new();
   rkb_hasher_add_text(hasher, result->operator_id);
   for (uint32_t i = 0; i < result->candidate_count; i++) {
      const rkb_told_t *told = result->candidates[i];
      add_int(hasher, told->number);
      add_int(hasher, told->duplicate_of);
      add_int(hasher, told->promoted);
      rkb_hasher_add_text(hasher, told->standing);
      rkb_hasher_add_text(hasher, told->reason);
      rkb_hasher_add_text(hasher, told->source_hash);
      rkb_hasher_add_text(hasher, told->tune);
      rkb_hasher_add(hasher, told->parents, told->parent_count * sizeof told->parents[0]);
      if (told->has_objective && objective_repeats(run->pipeline))
         rkb_hasher_add(hasher, &told->objective, sizeof told->objective);
   }
   rkb_hasher_finish(hasher, hash);
   if (!is_new(run, RKB_DIALOGUE_TELL, request->section, request->number, hash, &same))
      return same;
   if (!rkb_strategy_record_flush(run))
      return false;
   run->replay->told =
      (line_t){.what = RKB_DIALOGUE_TELL, .section = request->section, .request = request->number};
   memcpy(run->replay->told.hash, hash, sizeof hash);
   run->replay->pending = true;
   return true;
}
