/* How a factor's tile comes to shared memory for tensor cores.  One thread. */
#include "generator/staging.h"

#include <stdlib.h>
#include <string.h>

#define MOST_HELD 32 /* registers of a thread's share of one factor's tile */

static const rkb_fragment_type_t *type_of(const rkb_product_tile_t *tile) {
   return rkb_fragment_type(tile->launch->decisions[RKB_TENSOR]);
}

static int64_t slots_of(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return side->extent * tile->depth / side->width;
}

static int64_t items_of(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return (slots_of(tile, side) + tile->threads - 1) / tile->threads;
}

/* The permutation that a factor's order hangs on; RKB_NO_NODE: its order is the same in all cases. */
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
      /* The dims' numbers are 0 and 1, so that the even one is 0. */
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
         if (picks) { /* what is picked may have more elements than any buffer */
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

/* A side's element as the variables a (across) and k (depth) give it, of the lane in a vector of so many along the fast one. */
typedef struct trial {
   const rkb_index_t *element, *base, *lane, *a, *k;
   bool guarded;
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
   t.element =
      rkb_staging_element(&copy, writer->graph->nodes[tile->product.node].inputs[side->which], at, false, &t.stored);
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
                : rkb_staging_element(&copy, writer->graph->nodes[tile->product.node].inputs[side->which], at, false, stored);
   rkb_writer_tried(writer, &copy);
   return element;
}

static bool is_together(rkb_writer_t *writer, const trial_t *t) {
   return t->element && !t->guarded &&
          rkb_index_make(&writer->indices, RKB_INDEX_SUM, t->base, t->lane) == t->element;
}

static int64_t step_of(rkb_writer_t *writer, const rkb_index_t *element, const rkb_index_t *variable, uint32_t sample) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *next = rkb_index_replace(
      indices, element, variable, rkb_index_make(indices, RKB_INDEX_SUM, variable, rkb_index_constant(indices, 1)));
   return llabs(next->at[sample] - element->at[sample]);
}

/* Whether neighbours along one variable lie nearer to each other in memory than those along another, in most samples. */
static bool is_nearer(rkb_writer_t *writer, const rkb_index_t *element, const rkb_index_t *one, const rkb_index_t *other) {
   uint32_t nearer = 0;
   for (uint32_t s = 0; s < RKB_SAMPLES; s++)
      nearer += step_of(writer, element, one, s) <= step_of(writer, element, other, s);
   return nearer > RKB_SAMPLES / 2;
}

void rkb_staging_look(rkb_writer_t *writer, rkb_product_tile_t *tile, rkb_tile_side_t *side, uint32_t widest) {
   const rkb_fragment_type_t *type = type_of(tile);
   rkb_tile_look(writer, tile, side);
   const trial_t single = look_at(writer, tile, side, 1);
   side->raw = single.element && writer->storage[single.stored].dtype == type->dtype;
   if (side->raw)
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
   /* Single bytes are put along depth, however they lie in memory: there is no fragment load that transposes bytes. */
   side->rows_across = side->depth_fast || type->bytes == 1;
   if (!side->depth_fast && type->bytes == 1)
      side->width = 1;
   side->async = tile->launch->decisions[RKB_COPY] != RKB_COPY_PLAIN && side->raw && side->width * type->bytes >= 4;
   side->held = !side->async && items_of(tile, side) * side->width * (side->raw && side->width > 1 ? type->bytes : 4) <= 4 * MOST_HELD;
}

bool rkb_staging_width(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                       uint32_t width, rkb_condition_t *condition) {
   const rkb_product_dims_t *dims = side->depth_fast ? &tile->product.depth : side->dims;
   const uint32_t dim_count = side->depth_fast && tile->taps.count ? 1 : dims->count;
   rkb_sizes_t *sizes = &writer->graph->sizes;
   const trial_t vector = look_at(writer, tile, side, width);
   int64_t at[RKB_PROBES];
   if (side->raw ? !is_together(writer, &vector) : vector.guarded)
      return false;
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      at[p] = 1;
   for (uint32_t d = 0; d < dim_count; d++)
      for (uint32_t p = 0; p < RKB_PROBES; p++) {
         const rkb_index_t *extent = dims->extent[d];
         if (extent->kind != RKB_INDEX_CONSTANT && extent->kind != RKB_INDEX_SIZE)
            return false;
         at[p] *= extent->kind == RKB_INDEX_CONSTANT ? extent->constant : sizes->list[extent->size].at[p];
      }
   *condition = (rkb_condition_t){.size = rkb_sizes_find(sizes, at), .multiple = width};
   return condition->size != UINT32_MAX;
}

int64_t rkb_staging_columns(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return side->rows_across ? tile->depth : side->extent;
}

/* The C++ type that moves so many bytes. */
static const char *access_type(uint32_t bytes) {
   return bytes == 16 ? "uint4" : bytes == 8 ? "uint2" : bytes == 4 ? "uint1" : bytes == 2 ? "ushort1" : "uchar1";
}

void rkb_staging_declare(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   const rkb_fragment_type_t *type = type_of(tile);
   if (!side->held)
      return;
   if (side->raw)
      rkb_write(writer, "%s %s[%lld];", access_type(side->width * type->bytes), side->brought,
                (long long)items_of(tile, side));
   else
      rkb_write(writer, "%s %s[%lld];", type->storage, side->brought, (long long)(items_of(tile, side) * side->width));
}

/* Where a slot's first element lies in shared memory. */
static const char *place_of(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                            const char *across, const char *depth) {
   const rkb_fragment_type_t *type = type_of(tile);
   const long long columns = (long long)rkb_staging_columns(tile, side);
   const char *row = side->rows_across ? across : depth, *column = side->rows_across ? depth : across;
   return type->bytes == 4 && !side->rows_across
             ? rkb_arena_format(writer->arena, "(%s) * %lld + %s", row, columns + RKB_WORDS_PADDING, column)
             : rkb_arena_format(writer->arena, "swizzled<%lld, %u>(%s, %s)", columns, type->bytes, row, column);
}

static int64_t fast_slots(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return (side->depth_fast ? tile->depth : side->extent) / side->width;
}

/* Whether a thread has one place along the fast dim, whatever the item. */
static bool is_fixed(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return tile->threads % fast_slots(tile, side) == 0;
}

/* A slot's place in the tile, as texts. */
static void slot_texts(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                       const char *slot, const char **across, const char **depth) {
   const long long fast = (long long)fast_slots(tile, side);
   const bool fixed = is_fixed(tile, side);
   const char *quotient = fixed ? rkb_arena_format(writer->arena, "item * %lld + (int)threadIdx.x / %lld",
                                                   (long long)tile->threads / fast, fast)
                                : rkb_arena_format(writer->arena, "%s / %lld", slot, fast),
              *remainder = rkb_arena_format(writer->arena, side->width > 1 ? "%s %% %lld * %u" : "%s %% %lld",
                                            fixed ? "(int)threadIdx.x" : slot, fast, side->width);
   *across = side->depth_fast ? quotient : remainder;
   *depth = side->depth_fast ? remainder : quotient;
}

/* Whether threads of the last item have no slot left. */
static bool has_rest(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return slots_of(tile, side) % tile->threads != 0;
}

/* Opens the loop over a thread's slots.  The name of the slot. */
static const char *open_slots(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                              const rkb_tile_side_t *side) {
   const char *item = rkb_writer_name(writer, "item"), *slot = rkb_writer_name(writer, "slot");
   /* Of direct loads so many are on their way at once.  The pragma is part of the head: what the body hoists comes before both. */
   rkb_write_open(writer, false, "%s\n%*sfor (int %s = 0; %s < %lld; %s++)",
                  side->async || side->held ? "#pragma unroll" : "#pragma unroll 4", 3 * (int)(writer->depth + 1), "", item, item,
                  (long long)items_of(tile, side), item);
   if (!is_fixed(tile, side) || has_rest(tile, side))
      rkb_write(writer, "const int %s = %s * %lld + threadIdx.x;", slot, item, (long long)tile->threads);
   return slot;
}

static void fetch_raw(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                      const rkb_index_t *a, const rkb_index_t *k, const char *inside, const char *slot,
                      const char *to) {
   const rkb_fragment_type_t *type = type_of(tile);
   const rkb_index_t *at[RKB_MAX_RANK];
   uint32_t stored = 0;
   const char *guard = rkb_tile_operand(writer, tile, side, a, k, at);
   const rkb_index_t *element =
      rkb_staging_element(writer, writer->graph->nodes[tile->product.node].inputs[side->which], at, false, &stored);
   const rkb_storage_t *storage = &writer->storage[stored];
   if (!element) {
      rkb_writer_fail(writer, "a factor's place is not found");
      return;
   }
   const char *from =
      rkb_arena_format(writer->arena, "%s + %s", rkb_writer_buffer(writer, storage->name, storage->dtype, false),
                       rkb_writer_index(writer, element));
   if (guard)
      inside = rkb_arena_format(writer->arena, "%s && %s", inside, guard);
   const char *across, *depth, *access = access_type(side->width * type->bytes);
   if (side->held) {
      rkb_write(writer, "%s[item] = {};", side->brought);
      rkb_write(writer, "if (%s)", inside);
      rkb_write(writer, "   %s[item] = *(const %s *)(%s);", side->brought, access, from);
      return;
   }
   slot_texts(writer, tile, side, slot, &across, &depth);
   if (has_rest(tile, side))
      rkb_write(writer, "if (%s < %lld)", slot, (long long)slots_of(tile, side));
   if (!side->async) {
      rkb_write(writer, "%s*(%s *)(%s + %s) = %s ? *(const %s *)(%s) : %s{};", has_rest(tile, side) ? "   " : "", access, to,
                place_of(writer, tile, side, across, depth), inside, access, from, access);
      return;
   }
   /* Without branches: the conditions are cheap, and those that items share are evaluated once. */
   char *all = rkb_arena_format(writer->arena, "%s", inside);
   for (char *and = strstr(all, "&&"); and; and = strstr(and, "&&"))
      memmove(and, and + 1, strlen(and));
   inside = all;
   rkb_write(writer, "%scopy_async<%u>(%s + %s, %s, %s);", has_rest(tile, side) ? "   " : "",
             side->width * type->bytes, to, place_of(writer, tile, side, across, depth), from, inside);
}

static void fetch_computed(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                           const rkb_index_t *a, const rkb_index_t *k, const char *inside, const char *slot,
                           const char *to) {
   const rkb_fragment_type_t *type = type_of(tile);
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *across, *depth, *here;
   slot_texts(writer, tile, side, slot, &across, &depth);
   if (!side->held) {
      const char *fast = rkb_arena_format(writer->arena, side->width > 1 ? "%s + lane" : "%s", side->depth_fast ? depth : across);
      here = rkb_arena_format(writer->arena, "%s[%s]", to,
                              place_of(writer, tile, side, side->depth_fast ? across : fast, side->depth_fast ? fast : depth));
      if (has_rest(tile, side))
         rkb_write_open(writer, true, "if (%s < %lld)", slot, (long long)slots_of(tile, side));
   } else
      here = rkb_arena_format(writer->arena, side->width > 1 ? "%s[item * %u + lane]" : "%s[item]", side->brought, side->width);
   const char *zero = rkb_arena_format(writer->arena, type->round, "0.0f");
   if (side->width > 1)
      rkb_write(writer, "for (int lane = 0; lane < %u; lane++)", side->width);
   rkb_write(writer, "%s%s = %s;", side->width > 1 ? "   " : "", here, zero);
   rkb_write_open(writer, true, "if (%s)", inside);
   const rkb_index_t *lane = rkb_open_lanes(writer, side->width);
   if (side->width > 1 && side->depth_fast)
      k = rkb_index_make(indices, RKB_INDEX_SUM, k, lane);
   else if (side->width > 1)
      a = rkb_index_make(indices, RKB_INDEX_SUM, a, lane);
   const char *guard = rkb_tile_operand(writer, tile, side, a, k, at);
   if (guard)
      rkb_write_open(writer, true, "if (%s)", guard);
   const rkb_term_t term =
      rkb_write_float(writer, writer->graph->nodes[tile->product.node].inputs[side->which], at);
   rkb_write(writer, "%s = %s;", here, rkb_arena_format(writer->arena, type->round, term.text));
   if (guard)
      rkb_write_close(writer);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   if (!side->held && has_rest(tile, side))
      rkb_write_close(writer);
}

void rkb_staging_fetch(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                       const char *to) {
   rkb_indices_t *indices = &writer->indices;
   const char *m = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_here", side->variable)),
              *k = rkb_writer_name(writer, "k"), *across, *depth;
   const bool vector = side->width > 1; /* the fast one is a multiple of the width: an access is aligned */
   const rkb_index_t *a = vector && !side->depth_fast ? rkb_index_multiple(indices, m, side->total, side->width)
                                                      : rkb_index_variable(indices, m, side->total);
   const rkb_index_t *in_depth = vector && side->depth_fast
                                    ? rkb_index_multiple(indices, k, tile->total_depth, side->width)
                                    : rkb_index_variable(indices, k, tile->total_depth);
   const char *slot = "slot";
   slot_texts(writer, tile, side, slot, &across, &depth);
   const uint32_t inner = writer->depth;
   /* A thread's one place is found once: across, before all steps. */
   for (uint32_t s = 0; s < 2; s++) {
      const bool of_depth = s == 1, fixed = is_fixed(tile, side) && of_depth == side->depth_fast;
      if (!fixed)
         continue;
      writer->depth = of_depth ? inner : 0;
      rkb_write(writer, "const index %s = %s + %s;", of_depth ? k : m,
                of_depth ? "k_first" : rkb_arena_format(writer->arena, "%s_first", side->variable), of_depth ? depth : across);
      rkb_writer_known_variable(writer, of_depth ? in_depth : a);
      writer->depth = inner;
   }
   slot = open_slots(writer, tile, side);
   for (uint32_t s = 0; s < 2; s++) {
      const bool of_depth = s == 1, fixed = is_fixed(tile, side) && of_depth == side->depth_fast;
      if (fixed)
         continue;
      rkb_write(writer, "const index %s = %s + %s;", of_depth ? k : m,
                of_depth ? "k_first" : rkb_arena_format(writer->arena, "%s_first", side->variable), of_depth ? depth : across);
      rkb_writer_known_variable(writer, of_depth ? in_depth : a);
   }
   const char *inside = rkb_arena_format(writer->arena, "%s < %s && %s < %s", m, rkb_writer_uniform(writer, side->total), k,
                                         tile->taps.count ? rkb_writer_uniform(writer, tile->total_depth) : "end");
   if (has_rest(tile, side) && side->held)
      inside = rkb_arena_format(writer->arena, "%s && %s < %lld", inside, slot, (long long)slots_of(tile, side));
   if (side->raw)
      fetch_raw(writer, tile, side, a, in_depth, inside, slot, to);
   else
      fetch_computed(writer, tile, side, a, in_depth, inside, slot, to);
   rkb_write_close(writer);
}

void rkb_staging_put(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                     const char *to) {
   const rkb_fragment_type_t *type = type_of(tile);
   const char *slot = open_slots(writer, tile, side), *across, *depth;
   slot_texts(writer, tile, side, slot, &across, &depth);
   const char *place = place_of(writer, tile, side, across, depth);
   if (has_rest(tile, side))
      rkb_write_open(writer, true, "if (%s < %lld)", slot, (long long)slots_of(tile, side));
   if (side->raw)
      rkb_write(writer, "*(%s *)(%s + %s) = %s[item];", access_type(side->width * type->bytes), to, place,
                side->brought);
   else if (side->width > 1)
      rkb_write(writer, "*(Pack<%u> *)(%s + %s) = *(const Pack<%u> *)(%s + item * %u);", side->width, to, place,
                side->width, side->brought, side->width);
   else
      rkb_write(writer, "%s[%s] = %s[item];", to, place, side->brought);
   if (has_rest(tile, side))
      rkb_write_close(writer);
   rkb_write_close(writer);
}
