/* The text of a softmax's statistics and of the element that is put into its gradient: see softmax_rows.h.  One thread writes it.
 *
 * If all powers were taken below the row's largest element, threads would wait for each other until it is known.  Instead each thread takes
 * powers below the largest of its own elements.  So no thread waits between the two passes, and the cluster exchanges both numbers at once. */
#include "generator/row/softmax_rows.h"

#include <string.h>
#include "generator/graph/row_scaling.h"
#include "generator/graph/needed_values.h"

static bool is_narrow(const rkb_graph_t *graph) {
   return strcmp(graph->precision, "bf16") == 0 || strcmp(graph->precision, "fp16") == 0;
}

void rkb_rows_find_powers(const rkb_writer_t *writer, rkb_rows_t *rows, const uint32_t *levels) {
   const rkb_launch_t *launch = rows->launch;
   const rkb_node_t *nodes = writer->graph->nodes;
   rows->powers = launch->anchor_count;
   if (launch->decisions[RKB_CLUSTER] == 1 || launch->decisions[RKB_SPLIT] > 1 || !is_narrow(writer->graph) ||
       launch->anchor_count < 2 || levels[0] != 0 || levels[1] != 1)
      return;
   const rkb_node_t *largest = &nodes[launch->anchors[0]], *sum = &nodes[launch->anchors[1]];
   if (largest->kind != RKB_NODE_REDUCE || strcmp(largest->operation, "amax") != 0 ||
       !rkb_is_sum_of_powers(writer->graph, launch->anchors[1]) ||
       !rkb_is_power(writer->graph, sum->inputs[0], largest->inputs[0], launch->anchors[0]))
      return;
   for (uint32_t a = 2; a < launch->anchor_count; a++)
      if (levels[a] < 2)
         return;
   rows->largest = 0;
   rows->powers = 1;
}

void rkb_rows_begin_powers(rkb_writer_t *writer, const rkb_rows_t *rows, const char *largest) {
   const char *own = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_own", largest));
   rkb_write(writer,
             "const float %s = %s == -INFINITY ? 0.0f : %s; /* of this thread: none waits for another yet */",
             own, largest, largest);
   rkb_writer_local(writer, rows->launch->anchors[rows->largest], own);
}

void rkb_rows_end_powers(rkb_writer_t *writer, const rkb_rows_t *rows, const char *largest, const char *sum) {
   const int64_t *d = rows->launch->decisions;
   rkb_writer_forget_local(writer, rows->launch->anchors[rows->largest]);
   rkb_write(writer, "row_powers<%lld>(%s, %s);", (long long)d[RKB_THREADS], largest, sum);
   rkb_write(writer, "cluster_powers<%lld>(%s, %s%s);", (long long)d[RKB_CLUSTER], largest, sum,
             rows->in_turn
                ? rkb_arena_format(writer->arena, ", row < gridDim.x / %lld, turn", (long long)d[RKB_CLUSTER])
                : "");
}

uint32_t rkb_rows_of_pairs(const rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t anchor) {
   const rkb_node_t *nodes = writer->graph->nodes, *node = &nodes[rows->launch->anchors[anchor]];
   if (rows->width % 2 != 0 || node->kind != RKB_NODE_REDUCE || strcmp(node->operation, "amax") != 0)
      return RKB_NO_NODE;
   uint32_t from = node->inputs[0];
   while (!writer->storage[from].name && rkb_is_operation(&nodes[from], "convert") &&
          rkb_dtype_holds(nodes[from].dtype, nodes[nodes[from].inputs[0]].dtype))
      from = nodes[from].inputs[0];
   return writer->storage[from].name && writer->storage[from].dtype == RKB_BF16 ? from : RKB_NO_NODE;
}

/* Whether a put adds an element to one place of each row. */
static bool is_put(const rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t number) {
   const rkb_node_t *node = &writer->graph->nodes[number],
                    *reduce = &writer->graph->nodes[rows->launch->anchors[0]],
                    *row = &writer->graph->nodes[reduce->inputs[0]];
   return node->kind == RKB_NODE_PUT && node->input_count == 2 && !writer->storage[number].name &&
          !rkb_node_overwrites(node) && node->rank == row->rank &&
          memcmp(node->shape, row->shape, row->rank * sizeof *row->shape) == 0 &&
          reduce->mask == UINT64_C(1) << writer->graph->sizes.list[node->integers[0]].at[0];
}

uint32_t rkb_rows_put(const rkb_writer_t *writer, const rkb_rows_t *rows) {
   const rkb_launch_t *launch = rows->launch;
   uint32_t found = RKB_NO_NODE;
   for (uint32_t n = 0; n < writer->graph->node_count; n++) {
      bool needed = false;
      for (uint32_t r = 0; r < launch->root_count; r++)
         needed |= rkb_value_needs(writer->graph, launch->roots[r], n);
      if (!needed || writer->graph->nodes[n].kind != RKB_NODE_PUT)
         continue;
      if (found != RKB_NO_NODE || !is_put(writer, rows, n))
         return RKB_NO_NODE;
      found = n;
   }
   return found;
}

/* The coordinates of a put's place in its row, and of its element and of the number that memory has for the place. */
static const rkb_index_t *place_of(rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t put,
                                   const rkb_index_t **at, const rkb_index_t **element) {
   const rkb_node_t *node = &writer->graph->nodes[put],
                    *reduce = &writer->graph->nodes[rows->launch->anchors[0]];
   const uint32_t dim = (uint32_t)writer->graph->sizes.list[node->integers[0]].at[0];
   rkb_row_at(writer, reduce, rows->row, rkb_index_constant(&writer->indices, 0), element);
   const rkb_term_t pick = rkb_write_value(writer, node->inputs[1], element);
   const rkb_index_t *place =
      rkb_writer_picked(writer, pick, rkb_index_size(&writer->indices, node->shape[dim]), "picked");
   rkb_row_at(writer, reduce, rows->row, place, at);
   return place;
}

void rkb_rows_load_put(rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t put) {
   const rkb_graph_t *graph = writer->graph;
   const rkb_node_t *node = &graph->nodes[put];
   const rkb_index_t *at[RKB_MAX_RANK], *element[RKB_MAX_RANK];
   place_of(writer, rows, put, at, element);
   for (uint32_t n = 0; n < graph->node_count && !writer->failed; n++) {
      const rkb_node_t *from = &graph->nodes[n];
      bool needed = false;
      for (uint32_t r = 0; r < rows->launch->root_count; r++)
         needed |= rkb_value_needs(graph, rows->launch->roots[r], n);
      if (needed && writer->storage[n].name && from->rank == node->rank &&
          memcmp(from->shape, node->shape, node->rank * sizeof *node->shape) == 0)
         rkb_write_value(writer, n, at);
   }
}

void rkb_rows_begin_put(rkb_writer_t *writer, uint32_t put) {
   rkb_writer_local(writer, put, "0.0f");
}

void rkb_rows_end_put(rkb_writer_t *writer, const rkb_rows_t *rows, uint32_t put, const rkb_launch_t *whole) {
   const rkb_node_t *node = &writer->graph->nodes[put],
                    *reduce = &writer->graph->nodes[rows->launch->anchors[0]];
   const rkb_index_t *at[RKB_MAX_RANK], *element[RKB_MAX_RANK];
   rkb_writer_forget_local(writer, put);
   const rkb_index_t *place = place_of(writer, rows, put, at, element);
   const char *text = rkb_writer_index(writer, place);
   rkb_write_open(writer, true, "if (%s / %u %% %s == %s)", text, rows->width, rows->step, rows->thread);
   rkb_writer_local(writer, put, rkb_write_float(writer, node->inputs[0], element).text);
   rkb_write_roots(writer, whole, reduce->inputs[0], at);
   rkb_writer_forget_local(writer, put);
   rkb_write_close(writer);
}
