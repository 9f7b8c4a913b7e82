/* What each entry of the pipeline and the run as a whole took: summed while it runs, kept as the fact "times" after every
 * generation and at the end, read back on resume.  For reports; nothing is decided by it.  Loop thread. */
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "run/run_state.h"

enum { MOST_BESTS = 4096 };

void rkb_times_add(rkb_run_t *run, uint32_t entry, double seconds) {
   rkb_spent_t *spent = &run->spent[entry];
   if (seconds < 0) /* never handed over */
      return;
   spent->jobs++;
   spent->seconds += seconds;
   spent->longest = seconds > spent->longest ? seconds : spent->longest;
}

double rkb_times_elapsed(const rkb_run_t *run) {
   return run->earlier_seconds + (double)(rkb_now_ns() - run->started_ns) * 1e-9;
}

/* On resume what the strategy was told is told again: the first time counts. */
void rkb_times_best(rkb_run_t *run, int64_t candidate) {
   for (uint32_t i = 0; i < run->best_count; i++)
      if (run->bests[i].candidate == candidate)
         return;
   if (run->best_count == run->best_room && run->best_room < MOST_BESTS) {
      const uint32_t room = run->best_room ? 2 * run->best_room : 16;
      rkb_best_t *larger = realloc(run->bests, room * sizeof *larger);
      if (!larger)
         return; /* a report then does not know when */
      run->bests = larger;
      run->best_room = room;
   }
   if (run->best_count < run->best_room)
      run->bests[run->best_count++] = (rkb_best_t){candidate, rkb_times_elapsed(run)};
}

static json_t *write_bests(const rkb_run_t *run) {
   json_t *bests = json_array();
   for (uint32_t i = 0; i < run->best_count; i++)
      json_array_append_new(bests, json_pack("{s:I, s:f}", "candidate", (json_int_t)run->bests[i].candidate,
                                             "elapsed", run->bests[i].elapsed));
   return bests;
}

void rkb_times_store(rkb_run_t *run) {
   rkb_error_t err = {0};
   if (!run->archive)
      return;
   json_t *stages = json_array();
   for (uint32_t i = 0; i < run->pipeline->entry_count; i++) {
      const rkb_graph_node_t *node = &run->pipeline->entries[i].node;
      const rkb_spent_t *spent = &run->spent[i];
      if (spent->jobs > 0)
         json_array_append_new(stages, json_pack("{s:s, s:s, s:I, s:f, s:f}", "id", node->id, "section",
                                                 rkb_pipeline_section_name(node->section), "jobs",
                                                 (json_int_t)spent->jobs, "total", spent->seconds, "longest",
                                                 spent->longest));
   }
   json_t *times = json_pack("{s:f, s:o, s:o}", "elapsed", rkb_times_elapsed(run), "bests", write_bests(run),
                             "stages", stages);
   char *text = times ? rkb_json_canonical(times) : NULL;
   json_decref(times);
   int status = text ? rkb_archive_set_fact(run->archive, "times", text, &err)
                     : rkb_fail(&err, RKB_ERR_NOMEM, "out of memory");
   free(text);
   if (status != RKB_OK)
      rkb_run_break(run, status, "%s", err.message);
}

void rkb_times_load(rkb_run_t *run) {
   rkb_error_t err;
   char *text = rkb_archive_get_fact(run->archive, "times");
   json_t *times = text ? rkb_json_parse(text, strlen(text), &err) : NULL;
   const json_t *stages = json_object_get(times, "stages"), *stage, *best;
   size_t index;
   run->earlier_seconds = json_number_value(json_object_get(times, "elapsed"));
   json_array_foreach(stages, index, stage) {
      const char *id = json_string_value(json_object_get(stage, "id"));
      int32_t entry = id ? rkb_pipeline_find(run->pipeline, id) : -1;
      if (entry >= 0)
         run->spent[entry] =
            (rkb_spent_t){.jobs = (uint64_t)json_integer_value(json_object_get(stage, "jobs")),
                          .seconds = json_number_value(json_object_get(stage, "total")),
                          .longest = json_number_value(json_object_get(stage, "longest"))};
   }
   json_array_foreach(json_object_get(times, "bests"), index, best) {
      rkb_times_best(run, json_integer_value(json_object_get(best, "candidate")));
      if (run->best_count > 0)
         run->bests[run->best_count - 1].elapsed = json_number_value(json_object_get(best, "elapsed"));
   }
   json_decref(times);
   free(text);
}
