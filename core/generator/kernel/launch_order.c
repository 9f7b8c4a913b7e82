/* The order of launches: which outputs must wait until their inputs were read, and which launches may run at the same time.  One thread for
 * each graph. */
#include "generator/kernel/kernel_file.h"

#include <stdlib.h>
#include <string.h>

static bool reads(const rkb_graph_t *graph, const rkb_storage_t *storage, uint32_t node, uint32_t input,
                  bool *seen) {
   if (node == input)
      return true;
   if (seen[node] || storage[node].name)
      return false;
   seen[node] = true;
   for (uint32_t i = 0; i < graph->nodes[node].input_count; i++)
      if (reads(graph, storage, graph->nodes[node].inputs[i], input, seen))
         return true;
   return false;
}

void rkb_kernel_find_waits(const rkb_graph_t *graph, const rkb_schedule_t *schedule, bool *through_scratch) {
   for (uint32_t o = 0; o < graph->output_count; o++) {
      uint32_t input = RKB_NO_NODE;
      bool written = false;
      rkb_storage_t *storage = rkb_allocate(graph->node_count + 1, sizeof *storage);
      for (uint32_t n = 0; n < graph->node_count; n++)
         if (graph->nodes[n].kind == RKB_NODE_INPUT &&
             strcmp(graph->nodes[n].tensor, graph->outputs[o].tensor) == 0)
            input = n;
      for (uint32_t l = 0; graph->outputs[o].in_place && input != RKB_NO_NODE && l < schedule->count; l++) {
         const rkb_launch_t *launch = &schedule->launches[l];
         bool seen[RKB_MAX_GRAPH_NODES] = {0};
         for (uint32_t r = 0; r < launch->root_count; r++) {
            through_scratch[o] |= written && reads(graph, storage, launch->roots[r], input, seen);
            if (launch->roots[r] == graph->outputs[o].node)
               through_scratch[o] |= launch->mapping != RKB_MAP_ELEMENT || launch->anchor_count > 0;
         }
         for (uint32_t r = 0; r < launch->root_count; r++) {
            written |= launch->roots[r] == graph->outputs[o].node;
            storage[launch->roots[r]].name = "stored";
         }
      }
      free(storage);
   }
}

bool rkb_kernel_are_apart(rkb_kernel_file_t *file, const rkb_launch_t *launches, uint32_t count) {
   const rkb_graph_t *graph = file->graph;
   for (uint32_t i = 0; i < count; i++)
      for (uint32_t j = 0; j < count; j++)
         for (uint32_t r = 0; i != j && r < launches[i].root_count; r++)
            for (uint32_t k = 0; k < launches[j].root_count; k++) {
               bool seen[RKB_MAX_GRAPH_NODES] = {0};
               if (!reads(graph, file->storage, launches[j].roots[k], launches[i].roots[r], seen))
                  continue;
               snprintf(file->why, sizeof file->why, "%s needs %s, which a launch beside it writes",
                        graph->nodes[launches[j].roots[k]].name, graph->nodes[launches[i].roots[r]].name);
               return false;
            }
   for (uint32_t o = 0; o < graph->output_count; o++)
      for (uint32_t i = 0; i < count; i++)
         for (uint32_t r = 0; r < launches[i].root_count; r++)
            if (graph->outputs[o].in_place && launches[i].roots[r] == graph->outputs[o].node) {
               snprintf(file->why, sizeof file->why, "%s replaces an input: no launch may be beside its own",
                        graph->outputs[o].tensor);
               return false;
            }
   return true;
}

void rkb_kernel_write_waiting(rkb_kernel_file_t *file, const bool *through_scratch) {
   for (uint32_t o = 0; o < file->graph->output_count; o++) {
      const rkb_output_t *output = &file->graph->outputs[o];
      if (!through_scratch[o])
         continue;
      const char *elements = rkb_kernel_elements_text(file, output->node),
                 *name = file->graph->nodes[output->node].name, *type = rkb_storage_type(output->dtype);
      rkb_text_format(
         &file->code,
         "/* %s was still read: only now it takes its new values. */\n"
         "__global__ void __launch_bounds__(256) %s_after(const %s *__restrict__ from, %s *to, long long elements) {\n"
         "   const long long i = (long long)blockIdx.x * 256 + threadIdx.x;\n   if (i < elements)\n      to[i] = from[i];\n}\n\n",
         output->tensor, output->tensor, type, type);
      rkb_text_format(
         &file->launches,
         "  - kernel: %s_after\n    grid: \"ceildiv(%s, 256)\"\n    block: 256\n    args: \"%s, %s, %s\"\n",
         output->tensor, elements, name, output->tensor, elements);
   }
}
