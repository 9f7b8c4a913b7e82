/* Kernels that find the largest (or smallest) elements of rows in one pass.  Each thread keeps the first few
 * elements of its part of a row, in order.  In each turn the block takes the first among all threads' first
 * elements.  In rare cases a thread has no kept elements left; its warp then looks through that part again.
 * Elements are compared as unsigned numbers of the same order.  One thread writes them. */
#include <string.h>
#include "generator/row/ranks.h"

/* Opens the loop over some packs of a row, with the key and the place of each element. */
static void open_part(rkb_writer_t *writer, rkb_ranks_t *ranks, const char *first, const char *step) {
   rkb_indices_t *indices = &writer->indices;
   const int64_t width = ranks->launch->decisions[RKB_VECTOR];
   const rkb_index_t *vector = rkb_index_constant(indices, width), *at[RKB_MAX_RANK];
   const rkb_index_t *packs = rkb_index_make(indices, RKB_INDEX_QUOTIENT, ranks->length, vector);
   const char *name = rkb_writer_name(writer, width > 1 ? "pack" : "place");
   rkb_write_unroll(writer, "#pragma unroll 4"); /* so many loads are in flight at once */
   rkb_write_open(writer, true, "for (index %s = %s; %s < %s; %s += %s)", name, first, name,
                  rkb_writer_uniform(writer, packs), name, step);
   const rkb_index_t *number = rkb_writer_variable(writer, name, packs),
                     *lane = rkb_open_lanes(writer, (uint32_t)width);
   const rkb_index_t *place =
      width > 1 ? rkb_index_make(indices, RKB_INDEX_SUM,
                                 rkb_index_make(indices, RKB_INDEX_PRODUCT, number, vector), lane)
                : number;
   rkb_line_at(writer, ranks->from, ranks->dim, ranks->line, place, at);
   const char *element = rkb_write_float(writer, ranks->node->inputs[0], at).text;
   rkb_write(writer, "const unsigned key_here = %srank_key(%s);", ranks->descending ? "" : "~", element);
   rkb_write(writer, "const int place_here = (int)%s;", rkb_writer_index(writer, place));
}

static void close_part(rkb_writer_t *writer) {
   rkb_close_lanes(writer);
   rkb_write_close(writer);
}

/* Writes the search for the next element of a thread that has none left: all lanes of its warp look through
 * its part. */
static void write_refill(rkb_writer_t *writer, rkb_ranks_t *ranks, int64_t sharing) {
   rkb_write(writer,
             "const unsigned empty_lanes = __ballot_sync(0xffffffffu, is_found && kept_keys[0] == 0);");
   rkb_write_open(writer, true, "if (empty_lanes)");
   rkb_write(writer, "const int asking = thread / 32 * 32 + __ffs(empty_lanes) - 1;");
   rkb_write(writer, "unsigned next_key = 0;");
   rkb_write(writer, "int next_place = 0x7fffffff;");
   open_part(writer, ranks,
             rkb_arena_format(writer->arena, "asking + threadIdx.x %% 32 * %lld", (long long)sharing),
             rkb_arena_format(writer->arena, "%lld", 32 * (long long)sharing));
   rkb_write(
      writer,
      "if (key_here > next_key && (key_here < best_key || (key_here == best_key && place_here > best_place))) {");
   rkb_write(writer, "   next_key = key_here;");
   rkb_write(writer, "   next_place = place_here;");
   rkb_write(writer, "}");
   close_part(writer);
   rkb_write(writer, "first_of_warp(next_key, next_place);");
   rkb_write(writer, "if (is_found) {");
   rkb_write(writer, "   kept_keys[0] = next_key;");
   rkb_write(writer, "   kept_places[0] = next_place;");
   rkb_write(writer, "}");
   rkb_write_close(writer);
}

void rkb_write_rank_kept_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions, keep = d[RKB_KEEP];
   const bool warps = d[RKB_ROWS] > 1;
   const int64_t sharing = warps ? 32 : d[RKB_THREADS], threads = warps ? 32 * d[RKB_ROWS] : d[RKB_THREADS];
   rkb_indices_t *indices = &writer->indices;
   rkb_ranks_t ranks = rkb_ranks_of(writer, launch);
   if (rkb_sizes_most(&writer->graph->sizes, rkb_index_manifest(indices, ranks.length)) >= 2147483647.0)
      rkb_writer_fail(writer, "rows of %s may have more places than 32 bits count", ranks.from->name);
   if (warps) {
      rkb_write(writer, "const int thread = threadIdx.x %% 32;");
      rkb_write(writer, "const index line = (index)blockIdx.x * %lld + threadIdx.x / 32;",
                (long long)d[RKB_ROWS]);
      rkb_write(writer, "if (line >= %s)", rkb_writer_uniform(writer, ranks.count));
      rkb_write(writer, "   return;");
   } else {
      rkb_write(writer, "const int thread = threadIdx.x;");
      rkb_write(writer, "const index line = blockIdx.x;");
   }
   ranks.line = rkb_writer_variable(writer, "line", ranks.count);
   rkb_write(writer, "unsigned kept_keys[%lld];", (long long)keep);
   rkb_write(writer, "int kept_places[%lld];", (long long)keep);
   rkb_write(writer, "keep_none<%lld>(kept_keys, kept_places);", (long long)keep);
   open_part(writer, &ranks, "thread", rkb_arena_format(writer->arena, "%lld", (long long)sharing));
   rkb_write(writer, "keep_first<%lld>(kept_keys, kept_places, key_here, place_here);", (long long)keep);
   close_part(writer);
   rkb_write_open(writer, false, "for (index turn = 0; turn < %s; turn++)",
                  rkb_writer_uniform(writer, ranks.turns));
   const rkb_index_t *turn = rkb_writer_variable(writer, "turn", ranks.turns);
   rkb_write(writer, "unsigned best_key = kept_keys[0];");
   rkb_write(writer, "int best_place = kept_places[0];");
   rkb_write(writer, "first_of_warp(best_key, best_place);");
   if (!warps)
      rkb_write(writer, "first_of_warps<%lld>(best_key, best_place, turn %% 2);", (long long)threads / 32);
   rkb_write_open(writer, true, "if (thread == 0)");
   rkb_ranks_write_found(writer, &ranks, turn,
                         ranks.descending ? "rank_element(best_key)" : "rank_element(~best_key)",
                         "(long long)best_place");
   rkb_write_close(writer);
   rkb_write(writer, "const bool is_found = kept_places[0] == best_place;");
   rkb_write(writer, "if (is_found)");
   rkb_write(writer, "   take_first<%lld>(kept_keys, kept_places);", (long long)keep);
   write_refill(writer, &ranks, sharing);
   rkb_write_close(writer);
   *shape = (rkb_kernel_shape_t){
      .grid =
         warps ? rkb_ceildiv(writer, ranks.count, d[RKB_ROWS]) : rkb_index_manifest(indices, ranks.count),
      .threads = threads,
      .when = warps ? rkb_arena_format(writer->arena, "%s <= %d", rkb_index_manifest(indices, ranks.length),
                                       RKB_RANKED_BY_WARP)
                    : NULL,
      .owns = rkb_arena_format(
         writer->arena,
         "A %s owns a row of %s; its threads keep the first of their parts, and the first of these is found in each turn.",
         warps ? "warp" : "block", ranks.node->name)};
}

void rkb_rank_kept_helpers(const char *code, rkb_text_t *out) {
   if (!strstr(code, "keep_first<"))
      return;
   rkb_text_add(
      out,
      "/* An unsigned number with a float's place in the order of floats; both zeros are one, NaN is above\n"
      " * all, and 0, or all bits where the order is turned, is no element's. */\n"
      "__device__ __forceinline__ unsigned rank_key(float element) {\n"
      "   const unsigned bits = __float_as_uint(element + 0.0f);\n"
      "   return element != element ? 0xfffffffeu : bits ^ ((unsigned)((int)bits >> 31) | 0x80000000u);\n"
      "}\n\n"
      "__device__ __forceinline__ float rank_element(unsigned key) {\n"
      "   return __uint_as_float(key >> 31 ? key & 0x7fffffffu : ~key);\n"
      "}\n\n"
      "template <int count> __device__ __forceinline__ void keep_none(unsigned *keys, int *places) {\n"
      "   #pragma unroll\n"
      "   for (int i = 0; i < count; i++) {\n"
      "      keys[i] = 0;\n"
      "      places[i] = 0x7fffffff;\n"
      "   }\n"
      "}\n\n"
      "/* Puts an element after those of the same key, and the last falls out: elements come in the order of their places. */\n"
      "template <int count> __device__ __forceinline__ void keep_first(unsigned *keys, int *places, unsigned key, int place) {\n"
      "   #pragma unroll\n"
      "   for (int i = count - 1; i >= 0; i--)\n"
      "      if (key > keys[i]) {\n"
      "         if (i + 1 < count) {\n"
      "            keys[i + 1] = keys[i];\n"
      "            places[i + 1] = places[i];\n"
      "         }\n"
      "         keys[i] = key;\n"
      "         places[i] = place;\n"
      "      }\n"
      "}\n\n"
      "template <int count> __device__ __forceinline__ void take_first(unsigned *keys, int *places) {\n"
      "   #pragma unroll\n"
      "   for (int i = 0; i < count; i++) {\n"
      "      keys[i] = i + 1 < count ? keys[i + 1] : 0;\n"
      "      places[i] = i + 1 < count ? places[i + 1] : 0x7fffffff;\n"
      "   }\n"
      "}\n\n"
      "/* Every lane gets what comes first of what the lanes have: the largest key, and of equal ones the first place. */\n"
      "__device__ __forceinline__ void first_of_warp(unsigned &key, int &place) {\n"
      "   const unsigned largest = __reduce_max_sync(0xffffffffu, key);\n"
      "   place = __reduce_min_sync(0xffffffffu, key == largest ? place : 0x7fffffff);\n"
      "   key = largest;\n"
      "}\n\n");
   if (strstr(code, "first_of_warps<"))
      rkb_text_add(
         out,
         "/* Every thread gets what comes first of what the warps have.  Two calls that follow each other have different rooms. */\n"
         "template <int warps> __device__ void first_of_warps(unsigned &key, int &place, int room) {\n"
         "   __shared__ unsigned keys[2][warps];\n"
         "   __shared__ int places[2][warps];\n"
         "   const int lane = threadIdx.x % 32;\n"
         "   if (lane == 0) {\n"
         "      keys[room][threadIdx.x / 32] = key;\n"
         "      places[room][threadIdx.x / 32] = place;\n"
         "   }\n"
         "   __syncthreads();\n"
         "   key = lane < warps ? keys[room][lane] : 0;\n"
         "   place = lane < warps ? places[room][lane] : 0x7fffffff;\n"
         "   first_of_warp(key, place);\n"
         "}\n\n");
}
