/* Writes a schedule as a kernel file.  One thread for each graph. */
#include "generator/kernel/kernel_text.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/kernel/helper_text.h"
#include "generator/kernel/kernel_file.h"
#include "generator/kernel/same_kernels.h"
#include "generator/decisions/schedule_block.h"

#define MANY_LAUNCHES 20u /* a manifest has at most 64 entries, and a launch up to three of them */

/* How many launches, from this one on, share a kernel. */
static uint32_t group_at(const rkb_schedule_t *schedule, uint32_t first) {
   uint32_t end = first + 1;
   while (end < schedule->count && schedule->launches[end].decisions[RKB_BESIDE])
      end++;
   return end - first;
}

#define MOST_TEXT (256u << 10)
#define MOST_CODE (4u << 20)     /* before kernels that are equal become one */
#define MOST_HELPERS (96u << 10) /* the text of all helpers, with room to spare */

/* Whether the text fits, whatever helpers it has.  Looking for the helpers takes longer than writing most launches. */
static bool surely_fits(const rkb_kernel_file_t *file) {
   return file->scratch.length + file->maps.length + 2 * file->launches.length + file->code.length +
             MOST_HELPERS <
          MOST_TEXT;
}

static char *assemble(rkb_kernel_file_t *file, const rkb_schedule_t *schedule) {
   rkb_graph_t *graph = file->graph;
   const char *code = rkb_text_get(&file->code);
   rkb_text_t out;
   rkb_text_init(&out, MOST_TEXT);
   rkb_text_format(&out, "/* rkb-kernel: 1\ntask: %s\ndirection: %s\n", graph->task, graph->direction);
   if (file->scratch.length)
      rkb_text_format(&out, "scratch:\n%s", rkb_text_get(&file->scratch));
   if (file->maps.length)
      rkb_text_format(&out, "maps:\n%s", rkb_text_get(&file->maps));
   rkb_text_format(&out, "launches:\n%s", rkb_text_get(&file->launches));
   rkb_schedule_print(graph, schedule, &out);
   rkb_text_add(&out, "*/\n");
   if (strstr(code, "INFINITY"))
      rkb_text_add(&out, "#include <math.h>\n");
   if (strstr(code, "__half"))
      rkb_text_add(&out, "#include <cuda_fp16.h>\n");
   if (strstr(code, "__nv_bfloat16"))
      rkb_text_add(&out, "#include <cuda_bf16.h>\n");
   if (strstr(code, "__nv_fp8") || strstr(code, " to_e4m3(") || strstr(code, " to_e5m2("))
      rkb_text_add(&out, "#include <cuda_fp8.h>\n");
   rkb_text_add(&out, "\n");
   rkb_helpers_add(code, &out);
   rkb_text_add(&out, code);
   if (out.cut)
      snprintf(file->why, sizeof file->why, "the text would be too long");
   return rkb_text_take(&out);
}

/* Whether every output has a place.  False: the file's why says which has none. */
static bool has_outputs(rkb_kernel_file_t *file, const rkb_schedule_t *schedule) {
   const rkb_graph_t *graph = file->graph;
   for (uint32_t o = 0; o < graph->output_count; o++)
      if (!file->targets[graph->outputs[o].node].name) {
         if (schedule->count == RKB_MAX_SCHEDULE_LAUNCHES)
            snprintf(file->why, sizeof file->why, "the graph takes more than %u launches",
                     RKB_MAX_SCHEDULE_LAUNCHES);
         else
            snprintf(file->why, sizeof file->why, "no launch writes %s", graph->outputs[o].tensor);
         return false;
      }
   return true;
}

/* once: equal kernels are written once.  A caller that only asks whether there is a text needs this for long texts alone.
 * only: the launch that is written, on trial; RKB_NO_NODE: all are. */
static int write_kernel(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes, bool once,
                        uint32_t only, char **text, rkb_error_t *err) {
   rkb_kernel_file_t file = {
      .graph = graph, .schedule = schedule, .arena = rkb_arena_new(0), .shared_bytes = shared_bytes};
   bool through_scratch[RKB_MAX_TENSORS] = {0}, good = true;
   file.storage = rkb_arena_array(file.arena, graph->node_count + 1, sizeof *file.storage);
   file.targets = rkb_arena_array(file.arena, graph->node_count + 1, sizeof *file.targets);
   rkb_text_init(&file.code, MOST_CODE);
   rkb_text_init(&file.launches, MOST_TEXT);
   rkb_text_init(&file.scratch, MOST_TEXT);
   rkb_text_init(&file.maps, 64u << 10);
   for (uint32_t n = 0; n < graph->node_count; n++)
      if (graph->nodes[n].kind == RKB_NODE_INPUT)
         file.storage[n] = (rkb_storage_t){rkb_writer_beside(file.arena, graph->nodes[n].tensor),
                                           graph->nodes[n].tensor, graph->nodes[n].dtype};
   rkb_kernel_find_waits(graph, schedule, through_scratch);
   file.one_width = schedule->count > MANY_LAUNCHES;
   for (uint32_t l = 0, count = 0; good && l < schedule->count; l += count) {
      const rkb_launch_t *launches = &schedule->launches[l];
      count = group_at(schedule, l);
      const bool written = only == RKB_NO_NODE || (l <= only && only < l + count);
      file.only_places = !written;
      for (uint32_t i = 0; i < count; i++)
         rkb_kernel_set_targets(&file, &launches[i], through_scratch);
      const char *refused = written ? rkb_group_refused(launches, count) : NULL;
      if (refused)
         snprintf(file.why, sizeof file.why, "%s: %s", graph->nodes[launches[0].roots[0]].name, refused);
      good = !refused && (!written || (count == 1 ? rkb_kernel_write_one(&file, launches)
                                                  : rkb_kernel_are_apart(&file, launches, count) &&
                                                       rkb_kernel_write_group(&file, launches, count)));
      for (uint32_t i = 0; i < count; i++)
         for (uint32_t r = 0; r < launches[i].root_count; r++)
            file.storage[launches[i].roots[r]] = file.targets[launches[i].roots[r]];
   }
   good = good && has_outputs(&file, schedule);
   rkb_kernel_write_waiting(&file, through_scratch);
   const bool fits = !once && surely_fits(&file);
   if (good && !fits)
      rkb_kernels_once(graph, &file.code, &file.launches);
   *text = !good ? NULL : fits ? rkb_duplicate("") : assemble(&file, schedule);
   if (*text && file.why[0]) {
      free(*text);
      *text = NULL;
   }
   rkb_text_free(&file.code);
   rkb_text_free(&file.launches);
   rkb_text_free(&file.scratch);
   rkb_text_free(&file.maps);
   const int status = *text ? RKB_OK : rkb_fail(err, RKB_ERR_INVALID, "%s", file.why);
   rkb_arena_free(file.arena);
   return status;
}

int rkb_kernel_write(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes, char **text,
                     rkb_error_t *err) {
   return write_kernel(graph, schedule, shared_bytes, true, RKB_NO_NODE, text, err);
}

static bool is_legal(rkb_graph_t *graph, const rkb_schedule_t *schedule, uint32_t only,
                     int64_t shared_bytes) {
   char *text = NULL;
   rkb_error_t ignored;
   const bool legal = write_kernel(graph, schedule, shared_bytes, false, only, &text, &ignored) == RKB_OK;
   free(text);
   return legal;
}

bool rkb_schedule_is_legal(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes) {
   return is_legal(graph, schedule, RKB_NO_NODE, shared_bytes);
}

bool rkb_schedule_launch_is_legal(rkb_graph_t *graph, const rkb_schedule_t *schedule, uint32_t number,
                                  int64_t shared_bytes) {
   return is_legal(graph, schedule, number, shared_bytes);
}

bool rkb_schedule_has_tiles(rkb_graph_t *graph, rkb_schedule_t *schedule, uint32_t number,
                            int64_t shared_bytes) {
   rkb_launch_t *launch = &schedule->launches[number];
   const enum rkb_mapping mapping = launch->mapping;
   if ((mapping != RKB_MAP_ELEMENT && mapping != RKB_MAP_ROW) || !launch->anchor_count ||
       !rkb_node_is_product(&graph->nodes[launch->anchors[0]]))
      return true;
   launch->mapping = RKB_MAP_TILE;
   const bool legal = rkb_schedule_launch_is_legal(graph, schedule, number, shared_bytes);
   launch->mapping = mapping;
   return legal;
}
