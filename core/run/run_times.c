/* Times (run_times.h).  The archive's fact "times" is written after every generation and at the end. */
#include "run/run_times.h"

#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/memory.h"
#include "run/run_state.h"

enum { MOST_BESTS = 4096 };

void rkb_run_times_begin(rkb_run_t *run) {
   run->times.started_ns = rkb_now_ns();
}

void rkb_run_times_free(rkb_run_t *run) {
   free(run->times.bests);
}

void rkb_run_times_add(rkb_run_t *run, uint32_t entry, double seconds) {
   rkb_spent_t *spent = &run->times.spent[entry];
   if (seconds < 0)
      return;
   spent->jobs++;
   spent->seconds += seconds;
   spent->longest = seconds > spent->longest ? seconds : spent->longest;
}

double rkb_run_times_elapsed(const rkb_run_t *run) {
   return run->times.earlier_seconds + (double)(rkb_now_ns() - run->times.started_ns) * 1e-9;
}

/* A resumed run repeats all tells, so a candidate may occur twice; its first time counts. */
void rkb_run_times_best(rkb_run_t *run, int64_t candidate) {
   rkb_run_times_t *times = &run->times;
   for (uint32_t i = 0; i < times->best_count; i++)
      if (times->bests[i].candidate == candidate)
         return;
   if (times->best_count == times->best_room && times->best_room < MOST_BESTS) {
      const uint32_t room = times->best_room ? 2 * times->best_room : 16;
      times->bests = rkb_grow(times->bests, room, sizeof *times->bests);
      times->best_room = room;
   }
   if (times->best_count < times->best_room)
      times->bests[times->best_count++] = (rkb_best_t){candidate, rkb_run_times_elapsed(run)};
}

static json_t *write_bests(const rkb_run_times_t *times) {
   json_t *bests = json_array();
   for (uint32_t i = 0; i < times->best_count; i++)
      json_array_append_new(bests, json_pack("{s:I, s:f}", "candidate", (json_int_t)times->bests[i].candidate,
                                             "elapsed", times->bests[i].elapsed));
   return bests;
}

void rkb_run_times_store(rkb_run_t *run) {
   rkb_error_t err = {0};
   if (!run->archive)
      return;
   json_t *stages = json_array();
   for (uint32_t i = 0; i < run->pipeline->entry_count; i++) {
      const rkb_graph_node_t *node = &run->pipeline->entries[i].node;
      const rkb_spent_t *spent = &run->times.spent[i];
      if (spent->jobs > 0)
         json_array_append_new(stages, json_pack("{s:s, s:s, s:I, s:f, s:f}", "id", node->id, "section",
                                                 rkb_pipeline_section_name(node->section), "jobs",
                                                 (json_int_t)spent->jobs, "total", spent->seconds, "longest",
                                                 spent->longest));
   }
   json_t *times = json_pack("{s:f, s:o, s:o}", "elapsed", rkb_run_times_elapsed(run), "bests",
                             write_bests(&run->times), "stages", stages);
   char *text = times ? rkb_json_canonical(times) : NULL;
   json_decref(times);
   int status = text ? rkb_archive_set_fact(run->archive, "times", text, &err) : rkb_fail_memory(&err, 0);
   free(text);
   if (status != RKB_OK)
      rkb_run_break(run, status, "%s", err.message);
}

void rkb_run_times_load(rkb_run_t *run) {
   rkb_error_t err;
   if (!run->archive)
      return;
   char *text = rkb_archive_get_fact(run->archive, "times");
   json_t *times = text ? rkb_json_parse(text, strlen(text), &err) : NULL;
   const json_t *stages = json_object_get(times, "stages"), *stage, *best;
   size_t index;
   run->times.earlier_seconds = json_number_value(json_object_get(times, "elapsed"));
   json_array_foreach(stages, index, stage) {
      const char *id = json_string_value(json_object_get(stage, "id"));
      int32_t entry = id ? rkb_pipeline_find(run->pipeline, id) : -1;
      if (entry >= 0)
         run->times.spent[entry] =
            (rkb_spent_t){.jobs = (uint64_t)json_integer_value(json_object_get(stage, "jobs")),
                          .seconds = json_number_value(json_object_get(stage, "total")),
                          .longest = json_number_value(json_object_get(stage, "longest"))};
   }
   json_array_foreach(json_object_get(times, "bests"), index, best) {
      rkb_run_times_best(run, json_integer_value(json_object_get(best, "candidate")));
      if (run->times.best_count > 0)
         run->times.bests[run->times.best_count - 1].elapsed =
            json_number_value(json_object_get(best, "elapsed"));
   }
   json_decref(times);
   free(text);
}
