/* Where a factor's elements lie in memory, and so how its tile can be copied (staging.h).  One thread. */
#include "generator/tile/staging.h"

#include <stdlib.h>
#include <string.h>

#define MOST_HELD 32  /* registers of a thread's share of one factor's tile */

/* Returns the permutation that decides a factor's order; RKB_NO_NODE: its order is the same in all cases. */
static uint32_t order_of(const rkb_graph_t *graph, uint32_t node) {
   for (;;) {
      const rkb_node_t *from = &graph->nodes[node];
      if (from->kind == RKB_NODE_PERMUTE && from->rank == 2 && !graph->sizes.list[from->integers[0]].constant)
         return node;
      if (!rkb_node_is_view(from) && !(from->kind == RKB_NODE_MAP && from->input_count == 1))
         return RKB_NO_NODE;
      node = from->inputs[0];
   }
}

uint32_t rkb_staging_layouts(const rkb_graph_t *graph, uint32_t product) {
   uint32_t layouts = 1;
   for (uint32_t i = 0; i < 2; i++)
      layouts *= order_of(graph, graph->nodes[product].inputs[i]) == RKB_NO_NODE ? 1 : 2;
   return layouts;
}

uint32_t rkb_staging_layout(const rkb_graph_t *graph, uint32_t product, uint32_t layout,
                            rkb_condition_t *conditions) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < 2; i++) {
      const uint32_t permute = order_of(graph, graph->nodes[product].inputs[i]);
      if (permute == RKB_NO_NODE)
         continue;
      /* The numbers of the dims are 0 and 1; an even number stands for 0. */
      conditions[count++] = (rkb_condition_t){.size = graph->nodes[permute].integers[layout & 1], .multiple = 2};
      layout >>= 1;
   }
   return count;
}

const rkb_index_t *rkb_staging_element(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at, bool picks,
                                        uint32_t *stored) {
   const rkb_graph_t *graph = writer->graph;
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *here[RKB_MAX_RANK], *inner[RKB_MAX_RANK];
   memcpy(here, at, graph->nodes[node].rank * sizeof *at);
   while (!writer->storage[node].name) {
      const rkb_node_t *from = &graph->nodes[node];
      if (!from->input_count)
         return NULL;
      const rkb_node_t *input = &graph->nodes[from->inputs[0]];
      memcpy(inner, here, sizeof inner);
      switch (from->kind) {
      case RKB_NODE_MAP:
         if (from->input_count != 1 || from->dtype != RKB_F32 ||
             (strcmp(from->operation, "convert") != 0 && strcmp(from->operation, "copy") != 0))
            return NULL;
         rkb_operand_at(writer, from, 0, here, inner);
         break;
      case RKB_NODE_EXPAND:
         rkb_operand_at(writer, from, 0, here, inner);
         break;
      case RKB_NODE_RESHAPE:
         if (picks) { /* the picked tensor may have more elements than any buffer */
            rkb_writer_reshape(writer, from, here, input, inner);
            break;
         }
         rkb_index_split(indices, input->rank, input->shape,
                         rkb_index_join(indices, from->rank, from->shape, here), inner);
         break;
      case RKB_NODE_PERMUTE:
         rkb_permuted_at(writer, from, here, inner);
         break;
      case RKB_NODE_SLICE:
         rkb_sliced_at(writer, from, here, inner);
         break;
      case RKB_NODE_GATHER:
         if (!picks)
            return NULL;
         rkb_gathered_at(writer, from, here, inner);
         break;
      default:
         return NULL;
      }
      node = from->inputs[0];
      memcpy(here, inner, sizeof here);
   }
   *stored = node;
   return rkb_index_join(indices, graph->nodes[node].rank, graph->nodes[node].shape, here);
}

/* A side's element, from the variables a (across) and k (depth), for a lane of a vector of so many elements along
 * the fast variable. */
typedef struct trial {
   const rkb_index_t *element, *base, *lane, *a, *k;
   bool guarded, varies; /* it exists under a condition; the condition differs between the lanes */
   uint32_t stored;
} trial_t;

static trial_t look_at(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                       uint32_t width) {
   rkb_indices_t *indices = &writer->indices;
   trial_t t = {.lane = rkb_index_variable(indices, "lane", rkb_index_constant(indices, width))};
   t.a = side->depth_fast ? rkb_index_variable(indices, "across", side->total)
                          : rkb_index_multiple(indices, "across", side->total, width);
   t.k = side->depth_fast ? rkb_index_multiple(indices, "depth", tile->total_depth, width)
                          : rkb_index_variable(indices, "depth", tile->total_depth);
   const rkb_index_t *at[RKB_MAX_RANK];
   rkb_writer_t copy;
   rkb_writer_try(writer, &copy);
   const rkb_index_t *a = side->depth_fast ? t.a : rkb_index_make(&copy.indices, RKB_INDEX_SUM, t.a, t.lane),
                     *k = side->depth_fast ? rkb_index_make(&copy.indices, RKB_INDEX_SUM, t.k, t.lane) : t.k;
   t.guarded = rkb_tile_operand(&copy, tile, side, a, k, at) != NULL;
   /* A convolution's conditions are about places in its input alone. */
   const uint32_t factor = tile->factor[side->which];
   for (uint32_t d = 2; d < writer->graph->nodes[factor].rank && t.guarded; d++)
      t.varies |= rkb_index_replace(&copy.indices, at[d], t.lane, rkb_index_constant(&copy.indices, 0)) != at[d];
   t.element =
      rkb_staging_element(&copy, factor, at, tile->listed, &t.stored);
   if (t.element)
      t.base = rkb_index_replace(&copy.indices, t.element, t.lane, rkb_index_constant(&copy.indices, 0));
   rkb_writer_tried(writer, &copy);
   return t;
}

const rkb_index_t *rkb_staging_side_element(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                                       const rkb_index_t *across, const rkb_index_t *depth, uint32_t *stored) {
   const rkb_index_t *at[RKB_MAX_RANK], *element;
   rkb_writer_t copy;
   rkb_writer_try(writer, &copy);
   element = rkb_tile_operand(&copy, tile, side, across, depth, at)
                ? NULL
                : rkb_staging_element(&copy, tile->factor[side->which], at, false, stored);
   rkb_writer_tried(writer, &copy);
   return element;
}

static bool is_together(rkb_writer_t *writer, const trial_t *t) {
   return t->element && !t->varies &&
          rkb_index_make(&writer->indices, RKB_INDEX_SUM, t->base, t->lane) == t->element;
}

static int64_t step_of(rkb_writer_t *writer, const rkb_index_t *element, const rkb_index_t *variable, uint32_t sample) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *next = rkb_index_replace(
      indices, element, variable, rkb_index_make(indices, RKB_INDEX_SUM, variable, rkb_index_constant(indices, 1)));
   return llabs(next->at[sample] - element->at[sample]);
}

/* Whether neighbours along one variable are nearer to each other in memory than those along another, in most
 * samples. */
static bool is_nearer(rkb_writer_t *writer, const rkb_index_t *element, const rkb_index_t *one, const rkb_index_t *other) {
   uint32_t nearer = 0;
   for (uint32_t s = 0; s < RKB_SAMPLES; s++)
      nearer += step_of(writer, element, one, s) <= step_of(writer, element, other, s);
   return nearer > RKB_SAMPLES / 2;
}

int64_t rkb_staging_items(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return (side->extent * tile->depth / side->width + tile->threads - 1) / tile->threads;
}

void rkb_staging_look(rkb_writer_t *writer, rkb_product_tile_t *tile, rkb_tile_side_t *side, uint32_t widest) {
   const rkb_fragment_type_t *type = rkb_fragment_type(tile->launch->decisions[RKB_TENSOR]);
   rkb_tile_look(writer, tile, side);
   const trial_t single = look_at(writer, tile, side, 1);
   side->raw = single.element && writer->storage[single.stored].dtype == type->dtype;
   if (side->raw && !side->end && !tile->lists_terms) /* listed rows and terms may be anywhere */
      side->depth_fast = is_nearer(writer, single.element, single.k, single.a);
   side->width = 1;
   if (!type->round && !side->raw)
      rkb_writer_fail(writer, "a factor of %s is not stored as %s takes it",
                      writer->graph->nodes[tile->product.node].name, type->name);
   for (uint32_t width = widest; width > 1 && side->width == 1; width /= 2) {
      const trial_t vector = look_at(writer, tile, side, width);
      if (side->raw && is_together(writer, &vector) && rkb_index_divides(vector.base, width))
         side->width = width;
   }
   if (!side->raw && widest > 1 && type->bytes == 4 && !single.guarded)
      side->width = 4; /* the writer loads vectors where it can */
   /* Single bytes go to shared memory along depth, whatever their order in memory: no load of fragments transposes
    * bytes. */
   side->rows_across = side->depth_fast || type->bytes == 1;
   if (!side->depth_fast && type->bytes == 1)
      side->width = 1;
   side->async = tile->launch->decisions[RKB_COPY] != RKB_COPY_PLAIN && side->raw && side->width * type->bytes >= 4;
   side->held = !side->async && rkb_staging_items(tile, side) * side->width * (side->raw && side->width > 1 ? type->bytes : 4) <= 4 * MOST_HELD;
}

bool rkb_staging_width(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                       uint32_t width, rkb_condition_t *condition) {
   const rkb_product_dims_t *dims = side->depth_fast ? &tile->product.depth : side->dims;
   const bool last_alone = side->channels_last && !side->depth_fast; /* neighbours belong to one tap */
   const uint32_t first_dim = last_alone ? dims->count - 1 : 0, dim_count = side->depth_fast && tile->taps.count ? 1 : dims->count;
   rkb_sizes_t *sizes = &writer->graph->sizes;
   const trial_t vector = look_at(writer, tile, side, width);
   int64_t at[RKB_PROBES];
   if (side->raw ? !is_together(writer, &vector) : vector.guarded)
      return false;
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      at[p] = 1;
   for (uint32_t d = first_dim; d < dim_count; d++)
      for (uint32_t p = 0; p < RKB_PROBES; p++) {
         const rkb_index_t *extent = dims->extent[d];
         if (extent->kind != RKB_INDEX_CONSTANT && extent->kind != RKB_INDEX_SIZE)
            return false;
         at[p] *= extent->kind == RKB_INDEX_CONSTANT ? extent->constant : sizes->list[extent->size].at[p];
      }
   *condition = (rkb_condition_t){.size = rkb_sizes_find(sizes, at), .multiple = width};
   return condition->size != UINT32_MAX;
}
