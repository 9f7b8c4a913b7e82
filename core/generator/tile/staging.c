/* Writes how a factor's tile is copied to shared memory for tensor cores (staging.h).  One thread. */
#include "generator/tile/staging.h"

#include <string.h>

/* Places of a convolution's pixels that a thread keeps, in about three registers each. */
#define MOST_PIXELS 8
/* Most copies of a thread that are written out one after the other.  With 512, ptxas takes more than a minute. */
#define MOST_UNROLLED 64

static const rkb_fragment_type_t *type_of(const rkb_product_tile_t *tile) {
   return rkb_fragment_type(tile->launch->decisions[RKB_TENSOR]);
}

static int64_t slots_of(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return side->extent * tile->depth / side->width;
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
                (long long)rkb_staging_items(tile, side));
   else
      rkb_write(writer, "%s %s[%lld];", type->storage, side->brought, (long long)(rkb_staging_items(tile, side) * side->width));
}

/* Elements from one row of a tile to the next, where chunks stay in their places. */
static long long pitch_of(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   const rkb_fragment_type_t *type = type_of(tile);
   const int64_t layout = tile->launch->decisions[RKB_SHARED_LAYOUT], columns = rkb_staging_columns(tile, side);
   if (layout == RKB_LAYOUT_PLAIN)
      return (long long)columns;
   return (long long)(columns + (type->bytes == 4 && !side->rows_across ? RKB_WORDS_PADDING : RKB_ROW_PADDING / type->bytes));
}

const char *rkb_staging_place(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                              const rkb_tile_side_t *side, const char *row, const char *column) {
   const rkb_fragment_type_t *type = type_of(tile);
   const bool words = type->bytes == 4 && !side->rows_across;
   return words || tile->launch->decisions[RKB_SHARED_LAYOUT] != RKB_LAYOUT_SWIZZLED
             ? rkb_arena_format(writer->arena, "(%s) * %lld + %s", row, pitch_of(tile, side), column)
             : rkb_arena_format(writer->arena, "swizzled<%lld, %u>(%s, %s)",
                                (long long)rkb_staging_columns(tile, side), type->bytes, row, column);
}

/* The place of a slot's first element in shared memory. */
static const char *place_of(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                            const char *across, const char *depth) {
   return rkb_staging_place(writer, tile, side, side->rows_across ? across : depth, side->rows_across ? depth : across);
}

static int64_t fast_slots(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return (side->depth_fast ? tile->depth : side->extent) / side->width;
}

/* Whether a thread has one place along the fast dim, for all items. */
static bool is_fixed(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return tile->threads % fast_slots(tile, side) == 0;
}

/* One of a thread's places in a tile, as texts: its number among the thread's, and its number among all. */
typedef struct slot {
   const char *item, *number;
} slot_t;

/* Finds a slot's place in the tile, as texts. */
static void slot_texts(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                       slot_t slot, const char **across, const char **depth) {
   const long long fast = (long long)fast_slots(tile, side);
   const bool fixed = is_fixed(tile, side);
   const char *quotient = fixed ? rkb_arena_format(writer->arena, "%s * %lld + (int)threadIdx.x / %lld", slot.item,
                                                   (long long)tile->threads / fast, fast)
                                : rkb_arena_format(writer->arena, "%s / %lld", slot.number, fast),
              *remainder = rkb_arena_format(writer->arena, side->width > 1 ? "%s %% %lld * %u" : "%s %% %lld",
                                            fixed ? "(int)threadIdx.x" : slot.number, fast, side->width);
   *across = side->depth_fast ? quotient : remainder;
   *depth = side->depth_fast ? remainder : quotient;
}

/* Whether some threads have no slot in the last item. */
static bool has_rest(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return slots_of(tile, side) % tile->threads != 0;
}

/* Opens the loop over a thread's slots. */
static slot_t open_slots(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                              const rkb_tile_side_t *side) {
   const char *item = rkb_writer_name(writer, "item"), *slot = rkb_writer_name(writer, "slot");
   const bool many = side->async && rkb_staging_items(tile, side) > MOST_UNROLLED;
   /* So many direct loads are in flight at once.  The pragma belongs to the head: what the body hoists comes
    * before both. */
   rkb_write_open(writer, false, "%s\n%*sfor (int %s = 0; %s < %lld; %s++)",
                  many                        ? "#pragma unroll 16"
                  : side->async || side->held ? "#pragma unroll"
                                              : "#pragma unroll 4",
                  3 * (int)(writer->depth + 1), "", item, item, (long long)rkb_staging_items(tile, side),
                  item);
   if (!is_fixed(tile, side) || has_rest(tile, side))
      rkb_write(writer, "const int %s = %s * %lld + threadIdx.x;", slot, item, (long long)tile->threads);
   return (slot_t){item, slot};
}

static void fetch_raw(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                      const rkb_index_t *a, const rkb_index_t *k, const char *inside, slot_t slot,
                      const char *to) {
   const rkb_fragment_type_t *type = type_of(tile);
   const rkb_index_t *at[RKB_MAX_RANK];
   uint32_t stored = 0;
   const char *guard = rkb_tile_operand(writer, tile, side, a, k, at);
   const rkb_index_t *element =
      rkb_staging_element(writer, tile->factor[side->which], at, tile->listed, &stored);
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
      rkb_write(writer, "%s[%s] = {};", side->brought, slot.item);
      rkb_write(writer, "if (%s)", inside);
      rkb_write(writer, "   %s[%s] = *(const %s *)(%s);", side->brought, slot.item, access, from);
      return;
   }
   slot_texts(writer, tile, side, slot, &across, &depth);
   if (has_rest(tile, side))
      rkb_write(writer, "if (%s < %lld)", slot.number, (long long)slots_of(tile, side));
   if (!side->async) {
      rkb_write(writer, "%s*(%s *)(%s + %s) = %s ? *(const %s *)(%s) : %s{};", has_rest(tile, side) ? "   " : "", access, to,
                place_of(writer, tile, side, across, depth), inside, access, from, access);
      return;
   }
   /* There are no branches: the conditions are cheap, and conditions that items share are evaluated once. */
   char *all = rkb_arena_format(writer->arena, "%s", inside);
   for (char *and = strstr(all, "&&"); and; and = strstr(and, "&&"))
      memmove(and, and + 1, strlen(and));
   inside = all;
   rkb_write(writer, "%scopy_async<%u>(%s + %s, %s, %s);", has_rest(tile, side) ? "   " : "",
             side->width * type->bytes, to, place_of(writer, tile, side, across, depth), from, inside);
}

static void fetch_computed(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                           const rkb_index_t *a, const rkb_index_t *k, const char *inside, slot_t slot,
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
         rkb_write_open(writer, true, "if (%s < %lld)", slot.number, (long long)slots_of(tile, side));
   } else
      here = rkb_arena_format(writer->arena, side->width > 1 ? "%s[%s * %u + lane]" : "%s[%s]", side->brought, slot.item, side->width);
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
   const rkb_term_t term = rkb_write_float(writer, tile->factor[side->which], at);
   rkb_write(writer, "%s = %s;", here, rkb_arena_format(writer->arena, type->round, term.text));
   if (guard)
      rkb_write_close(writer);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   if (!side->held && has_rest(tile, side))
      rkb_write_close(writer);
}

/* A row or column of a slot, or a term. */
typedef struct place {
   const char *name;
   const rkb_index_t *index;
} place_t;

/* Writes its variable in the innermost block. */
static void write_place(rkb_writer_t *writer, const rkb_tile_side_t *side, bool of_depth, place_t place, const char *text) {
   rkb_write(writer, "const index %s = %s + %s;", place.name,
             of_depth ? "k_first" : rkb_arena_format(writer->arena, "%s_first", side->variable), text);
   rkb_writer_known_variable(writer, place.index);
}

static void fetch_slot(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side, place_t a, place_t k,
                       slot_t slot, const char *to) {
   const char *inside =
      rkb_arena_format(writer->arena, "%s < %s && %s < %s", a.name, side->end ? side->end : rkb_writer_uniform(writer, side->total), k.name,
                       tile->taps.count ? rkb_writer_uniform(writer, tile->total_depth) : "end");
   if (has_rest(tile, side) && side->held)
      inside = rkb_arena_format(writer->arena, "%s && %s < %lld", inside, slot.number, (long long)slots_of(tile, side));
   if (side->raw)
      fetch_raw(writer, tile, side, a.index, k.index, inside, slot, to);
   else
      fetch_computed(writer, tile, side, a.index, k.index, inside, slot, to);
}

/* Writes a variable for the row or column of a slot, or for its term.  The fast of the two is a multiple of the
 * width, so that accesses are aligned. */
static place_t place_of_slots(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side, bool of_depth) {
   const rkb_index_t *extent = of_depth ? tile->total_depth : side->total;
   const char *name = rkb_writer_name(writer, of_depth ? "k" : rkb_arena_format(writer->arena, "%s_here", side->variable));
   return (place_t){name, side->width > 1 && of_depth == side->depth_fast ? rkb_index_multiple(&writer->indices, name, extent, side->width)
                                                                         : rkb_index_variable(&writer->indices, name, extent)};
}

/* Whether a thread finds its few pixels before all steps: their places need divisions, and terms are neighbours in
 * memory.  The same holds for listed rows, whose numbers are loaded. */
static bool finds_pixels(const rkb_product_tile_t *tile, const rkb_tile_side_t *side) {
   return ((tile->taps.count && side->dims->count > 1) || side->end) && side->depth_fast && is_fixed(tile, side) && !has_rest(tile, side) &&
          rkb_staging_items(tile, side) <= MOST_PIXELS;
}

void rkb_staging_fetch(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                       const char *to) {
   const uint32_t inner = writer->depth;
   const char *across, *depth;
   const bool pixels = finds_pixels(tile, side), fixed = is_fixed(tile, side);
   place_t a = {0}, k;
   if (!pixels)
      a = place_of_slots(writer, tile, side, false);
   k = place_of_slots(writer, tile, side, true);
   slot_t slot = {"item", "slot"};
   slot_texts(writer, tile, side, slot, &across, &depth);
   if (fixed && side->depth_fast)
      write_place(writer, side, true, k, depth);
   else if (fixed) { /* a thread's only place across is found once, before all steps */
      writer->depth = 0;
      write_place(writer, side, false, a, across);
      writer->depth = inner;
   }
   for (int64_t i = 0; pixels && i < rkb_staging_items(tile, side); i++) {
      slot.item = rkb_arena_format(writer->arena, "%lld", (long long)i);
      slot_texts(writer, tile, side, slot, &across, &depth);
      a = place_of_slots(writer, tile, side, false);
      writer->depth = 0;
      write_place(writer, side, false, a, across);
      if (side->end)
         rkb_tile_listed_row(writer, tile, a.index);
      writer->depth = inner;
      fetch_slot(writer, tile, side, a, k, slot, to);
   }
   if (pixels)
      return;
   slot = open_slots(writer, tile, side);
   slot_texts(writer, tile, side, slot, &across, &depth);
   if (!(fixed && !side->depth_fast))
      write_place(writer, side, false, a, across);
   if (!(fixed && side->depth_fast))
      write_place(writer, side, true, k, depth);
   fetch_slot(writer, tile, side, a, k, slot, to);
   rkb_write_close(writer);
}

void rkb_staging_put(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                     const char *to) {
   const rkb_fragment_type_t *type = type_of(tile);
   const slot_t slot = open_slots(writer, tile, side);
   const char *across, *depth;
   slot_texts(writer, tile, side, slot, &across, &depth);
   const char *place = place_of(writer, tile, side, across, depth);
   if (has_rest(tile, side))
      rkb_write_open(writer, true, "if (%s < %lld)", slot.number, (long long)slots_of(tile, side));
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
