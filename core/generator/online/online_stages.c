/* Tiles of factors for tensor cores: those of the block's own rows, and stages of those that it streams over.  One thread.
 *
 * Elements of two bytes lie in rows whose chunks of 16 bytes trade places, so that ldmatrix, plain or transposed, meets no bank twice.
 * Floats lie in rows with four floats of padding.  So eight rows of one chunk lie in different banks; the words of eight rows (two apart)
 * by eight columns do too. */
#include "generator/online/online.h"

#include "generator/tile/staging.h"

int64_t rkb_online_write_stages(rkb_writer_t *writer, rkb_online_t *o) {
   for (uint32_t b = 0; b < o->brought_count; b++) {
      rkb_brought_t *tile = &o->brought[b];
      int64_t *all = tile->own ? &o->own_elements : &o->stage_elements;
      if (tile->width & (tile->width - 1))
         rkb_writer_fail(writer, "rows of fragments have a power of two of elements");
      tile->first = *all;
      *all += tile->rows * rkb_online_pitch(o, tile);
   }
   rkb_write(writer, "extern __shared__ __align__(128) unsigned char stages[];");
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (o->brought[b].own)
         rkb_write(writer, "%s *const %s = (%s *)stages + %lld;", o->tensor->storage, o->brought[b].name, o->tensor->storage,
                   (long long)o->brought[b].first);
   const int64_t tiles = (o->own_elements + o->launch->decisions[RKB_STAGES] * o->stage_elements) * o->tensor->bytes,
                 parts = o->stream_tile / o->warp_n * 4 * o->own_tile,
                 sums = o->nodes.out_count ? 4 * o->own_tile * (o->head + RKB_ONLINE_SUMS_PADDING) : parts;
   return tiles > sums ? tiles : sums > parts ? sums : parts;
}

/* Writes a pointer to a tile in a stage. */
static void write_pointer(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, bool written) {
   rkb_write(writer, "%s%s *const %s = (%s *)stages + %lld + stage * %lld;", written ? "" : "const ", o->tensor->storage, tile->name,
             o->tensor->storage, (long long)(o->own_elements + tile->first), (long long)o->stage_elements);
}

/* Finds the coordinates of a tile's element from the own or streamed number `place` and from inner. */
static void find_element(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, const rkb_index_t *place,
                         const rkb_index_t *inner, const rkb_index_t **at) {
   const uint32_t rank = writer->graph->nodes[tile->node].rank;
   for (uint32_t d = 0; d < rank; d++)
      at[d] = rkb_index_replace(&writer->indices, rkb_index_replace(&writer->indices, tile->at[d], tile->own ? o->own : o->stream, place),
                                tile->inner, inner);
}

/* Makes quotients and remainders of a row's number by each size, as rows in pages need them.  Equal expressions are
 * one object, the first one made, so these short forms are used later. */
static void find_parts(rkb_writer_t *writer, const rkb_index_t *place) {
   const rkb_graph_t *graph = writer->graph;
   for (uint32_t n = 0; n < graph->node_count; n++)
      for (uint32_t d = 0; graph->nodes[n].kind == RKB_NODE_INPUT && d < graph->nodes[n].rank; d++) {
         const rkb_index_t *size = rkb_index_size(&writer->indices, graph->nodes[n].shape[d]);
         if (size->kind == RKB_INDEX_CONSTANT)
            continue;
         rkb_index_make(&writer->indices, RKB_INDEX_QUOTIENT, place, size);
         rkb_index_make(&writer->indices, RKB_INDEX_REMAINDER, place, size);
      }
}

/* Whether so many neighbours are side by side and aligned, in the type in which they are multiplied. */
static bool is_raw(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, const rkb_index_t *place, const rkb_index_t *inner,
                   int64_t width) {
   rkb_indices_t *indices = &writer->indices;
   rkb_writer_t trial;
   const rkb_index_t *at[RKB_MAX_RANK], *lane = rkb_index_variable(indices, "lane", rkb_index_constant(indices, width)),
                     *const variables[] = {place, inner, lane, o->group_total};
   uint32_t stored = 0;
   find_parts(writer, place);
   rkb_writer_try(writer, &trial);
   for (uint32_t v = 0; v < sizeof variables / sizeof variables[0]; v++)
      if (variables[v]->kind == RKB_INDEX_VARIABLE)
         rkb_writer_known_variable(&trial, variables[v]);
   /* The first lane's place is computed before the others', so that its text does not contain another lane. */
   find_element(&trial, o, tile, place, inner, at);
   const rkb_index_t *base = rkb_staging_element(&trial, tile->node, at, true, &stored), *element = NULL;
   if (base) {
      find_element(&trial, o, tile, place, rkb_index_make(&trial.indices, RKB_INDEX_SUM, inner, lane), at);
      element = rkb_staging_element(&trial, tile->node, at, true, &stored);
   }
   const bool raw = element && !trial.failed && writer->storage[stored].dtype == o->tensor->dtype &&
                    rkb_index_make(&trial.indices, RKB_INDEX_SUM, base, lane) == element && rkb_index_divides(base, width);
   rkb_writer_tried(writer, &trial);
   return raw;
}

/* Copies a tile's rows as they are stored, or computes and rounds their elements; rows that do not exist become zeros. */
static void write_bring(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile) {
   rkb_indices_t *indices = &writer->indices;
   const int64_t width = 16 / o->tensor->bytes, packs = tile->width / width;
   const rkb_index_t *at[RKB_MAX_RANK], *total = tile->own ? o->own_total : o->stream_total;
   const char *number = tile->own ? "m" : "n", *to = rkb_online_place(writer, o, tile, "row", "u");
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int slot = threadIdx.x; slot < %lld; slot += %lld)", 3 * (int)(writer->depth + 1), "",
                  (long long)(tile->rows * packs), (long long)o->threads);
   rkb_write(writer, "const int row = slot / %lld, u = slot %% %lld * %lld;", (long long)packs, (long long)packs, (long long)width);
   rkb_write(writer, "const index %s = %s_first + row;", number, number);
   const rkb_index_t *place = rkb_writer_variable(writer, number, total),
                     *inner = rkb_writer_known_variable(writer, rkb_index_multiple(indices, "u", rkb_index_constant(indices, tile->width), width));
   const bool raw = is_raw(writer, o, tile, place, inner, width);
   if (!raw)
      rkb_write(writer, "Pack<%lld, %s> brought = {};", (long long)width, o->tensor->storage);
   rkb_write_open(writer, true, "if (%s < %s)", number, rkb_writer_uniform(writer, total));
   if (raw) {
      uint32_t stored = 0;
      find_element(writer, o, tile, place, inner, at);
      const rkb_index_t *element = rkb_staging_element(writer, tile->node, at, true, &stored);
      const rkb_storage_t *storage = &writer->storage[stored];
      const char *buffer = rkb_writer_buffer(writer, storage->name, storage->dtype, false), *where = rkb_writer_index(writer, element);
      if (o->launch->decisions[RKB_COPY] == RKB_COPY_ASYNC)
         rkb_write(writer, "copy_async<16>(%s + %s, %s + %s, true);", tile->name, to, buffer, where);
      else
         rkb_write(writer, "*(uint4 *)(%s + %s) = *(const uint4 *)(%s + %s);", tile->name, to, buffer, where);
      rkb_write_close_with(writer, "} else");
      rkb_write(writer, "   *(uint4 *)(%s + %s) = uint4{};", tile->name, to);
   } else {
      const rkb_index_t *lane = rkb_open_lanes(writer, (uint32_t)width);
      find_element(writer, o, tile, place, rkb_index_make(indices, RKB_INDEX_SUM, inner, lane), at);
      rkb_write(writer, "brought.at[%s] = %s;", lane->name,
                rkb_arena_format(writer->arena, o->tensor->round, rkb_write_float(writer, tile->node, at).text));
      rkb_close_lanes(writer);
      rkb_write_close(writer);
      rkb_write(writer, "*(Pack<%lld, %s> *)(%s + %s) = brought;", (long long)width, o->tensor->storage, tile->name, to);
   }
   rkb_write_close(writer);
}

void rkb_online_bring_own(rkb_writer_t *writer, rkb_online_t *o) {
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (o->brought[b].own)
         write_bring(writer, o, &o->brought[b]);
}

void rkb_online_open_stream(rkb_writer_t *writer, rkb_online_t *o) {
   const long long stages = (long long)o->launch->decisions[RKB_STAGES], columns = (long long)o->stream_tile;
   const bool async = o->launch->decisions[RKB_COPY] == RKB_COPY_ASYNC;
   rkb_write_open(writer, false, "auto bring = [&](index n_first, int stage)");
   rkb_write(writer, "/* Brings the rows from n_first on to a stage. */");
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (!o->brought[b].own) {
         write_pointer(writer, o, &o->brought[b], true);
         write_bring(writer, o, &o->brought[b]);
      }
   rkb_write_close_with(writer, "};");
   if (stages > 1) {
      rkb_write(writer, "#pragma unroll 1");
      rkb_write_open(writer, false, "for (int ahead = 0; ahead < %lld; ahead++)", stages - 1);
      rkb_write(writer, "if (begin + ahead * %lld < end)", columns);
      rkb_write(writer, "   bring(begin + ahead * %lld, ahead);", columns);
      if (async)
         rkb_write(writer, "copies_begun();");
      rkb_write_close(writer);
   }
   if (o->keeps) {
      if (async) { /* they come together with the first stage */
         if (stages == 1)
            rkb_write(writer, "copies_begun();");
         rkb_write(writer, "copies_done<%lld>();", stages > 1 ? stages - 2 : 0);
      }
      rkb_online_keep_own(writer, o);
   }
   rkb_write(writer, "int stage = 0;");
   rkb_write_open(writer, false, "for (index n_first = begin; n_first < end; n_first += %lld)", columns);
   if (stages == 1) {
      rkb_write(writer, "__syncthreads(); /* the tiles before are used up */");
      rkb_write(writer, "bring(n_first, 0);");
      if (async)
         rkb_write(writer, "copies_begun();");
   }
   if (async)
      rkb_write(writer, "copies_done<%lld>();", stages > 1 ? stages - 2 : 0);
   rkb_write(writer, "__syncthreads();");
   if (stages > 1) {
      rkb_write(writer, "if (n_first + %lld < end)", (stages - 1) * columns);
      rkb_write(writer, "   bring(n_first + %lld, stage == 0 ? %lld : stage - 1);", (stages - 1) * columns, stages - 1);
      if (async)
         rkb_write(writer, "copies_begun();");
   }
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (!o->brought[b].own)
         write_pointer(writer, o, &o->brought[b], false);
}

void rkb_online_close_stream(rkb_writer_t *writer, const rkb_online_t *o) {
   const long long stages = (long long)o->launch->decisions[RKB_STAGES];
   if (stages > 1)
      rkb_write(writer, "stage = stage == %lld ? 0 : stage + 1;", stages - 1);
   rkb_write_close(writer);
   if (o->launch->decisions[RKB_COPY] == RKB_COPY_ASYNC)
      rkb_write(writer, "copies_done<0>(); /* of the own rows too, where nothing was seen */");
}
