/* The second tile of a product (second_tile.h). */
#include "generator/kernel/second_tile.h"

#include "generator/tile/convolution_extent.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/tile/product_tile.h"
#include "generator/decisions/warpgroup_start.h"

bool rkb_launch_has_second_tile(const rkb_launch_t *launch) {
   return launch->mapping == RKB_MAP_TENSOR && launch->decisions[RKB_OTHER_M] > 0;
}

rkb_launch_t rkb_second_tile_launch(const rkb_graph_t *graph, const rkb_launch_t *launch,
                                    int64_t shared_bytes) {
   rkb_launch_t other = *launch;
   int64_t *d = other.decisions;
   d[RKB_TILE_M] = d[RKB_OTHER_M];
   d[RKB_TILE_N] = d[RKB_OTHER_N] ? d[RKB_OTHER_N] : d[RKB_TILE_N];
   d[RKB_SPLIT] = d[RKB_OTHER_SPLIT];
   d[RKB_OTHER_M] = d[RKB_OTHER_N] = 0;
   d[RKB_OTHER_SPLIT] = 1;
   rkb_tensor_settle(graph, shared_bytes, &other);
   return other;
}

const char *rkb_second_tile_refused(const rkb_graph_t *graph, const rkb_launch_t *launch,
                                    int64_t shared_bytes) {
   const int64_t *d = launch->decisions;
   if (d[RKB_COPY] != RKB_COPY_TENSOR || d[RKB_SMALL] || d[RKB_BESIDE] ||
       rkb_convolution_is_tiled(graph, launch))
      return "a second tile is for products of warpgroups by themselves";
   const rkb_launch_t other = rkb_second_tile_launch(graph, launch, shared_bytes);
   if (other.decisions[RKB_TILE_M] == d[RKB_TILE_M] && other.decisions[RKB_TILE_N] == d[RKB_TILE_N] &&
       other.decisions[RKB_SPLIT] == d[RKB_SPLIT])
      return "the second tile is the first one again";
   return rkb_launch_refused(graph, &other, shared_bytes);
}

int64_t rkb_tile_time(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   return (int64_t)((double)(d[RKB_TILE_M] * d[RKB_TILE_N]) / rkb_warpgroup_share(d) / 100);
}

/* If the second tile has more parts than the first, a case takes it only if each part of a sum has at least so
 * many steps.  Then small shapes take the first tile, so that the checking machine executes both tiles. */
#define LEAST_STEPS 16

/* A case with more tiles than this may take a second tile of as many parts.  So small shapes take the first tile. */
#define MOST_FIRST_TILES 2

/* Cases of at most so many terms and a few tiles are cheap to execute. */
#define MOST_REACHED_TERMS 4096

/* For a weight with several taps, two numbers of tiles count as few: this one, and that of the smallest weight, with 64 channels and nine
 * taps. */
#define FEW_TILES_OF_TAPS 4
#define LEAST_COLUMNS_OF_TAPS (64 * 9)

/* Terms of a sum in small shapes. */
#define SMALL_TERMS 64

/* Whether a case with few tiles and this many terms takes the second tile: then small shapes take it too. */
static bool suits_few(const rkb_launch_t *launch, const rkb_launch_t *other, int64_t terms) {
   const int64_t first = launch->decisions[RKB_SPLIT], second = other->decisions[RKB_SPLIT];
   return terms <= MOST_REACHED_TERMS && rkb_tile_time(other) * ((terms + second - 1) / second) <
                                            rkb_tile_time(launch) * ((terms + first - 1) / first);
}

/* How many tiles of a launch, without their parts, are few. */
static int64_t few_tiles(const rkb_writer_t *writer, const rkb_launch_t *launch) {
   const int64_t columns = launch->decisions[RKB_TILE_N],
                 least = (LEAST_COLUMNS_OF_TAPS + columns - 1) / columns;
   if (writer->graph->nodes[launch->anchors[0]].kind != RKB_NODE_CONVOLUTION_WEIGHT)
      return 1;
   return least > FEW_TILES_OF_TAPS ? least : FEW_TILES_OF_TAPS;
}

/* How many tiles a case has. */
static const char *count_text(rkb_writer_t *writer, const rkb_launch_t *launch) {
   rkb_product_tile_t tile;
   rkb_launch_t own = *launch;
   own.decisions[RKB_VECTOR] = 1;
   own.decisions[RKB_TAPS] = 0;
   rkb_tile_open(writer, &own, &tile);
   rkb_tile_count_blocks(writer, &tile);
   return rkb_index_manifest(&writer->indices, rkb_tile_count(writer, &tile));
}

/* How long a case takes with a launch's tile: rounds of the multiprocessors, times what a tile takes.  depth: the terms of a sum, or NULL
 * where both tiles have as many parts. */
static const char *time_text(rkb_writer_t *writer, const rkb_launch_t *launch, const char *depth) {
   const char *time = rkb_arena_format(writer->arena, "ceildiv(%s, multiprocessors) * %lld",
                                       count_text(writer, launch), (long long)rkb_tile_time(launch));
   return depth ? rkb_arena_format(writer->arena, "%s * ceildiv(%s, %lld)", time, depth,
                                   (long long)launch->decisions[RKB_SPLIT])
                : time;
}

const char *rkb_second_tile_when(rkb_kernel_file_t *file, const rkb_launch_t *launch,
                                 const rkb_launch_t *other) {
   const int64_t split = other->decisions[RKB_SPLIT],
                 terms = LEAST_STEPS * split * other->decisions[RKB_TILE_K];
   rkb_writer_t writer;
   const char *when = NULL;
   if (rkb_writer_open(&writer, file->graph, file->arena, file->storage, NULL, 0)) {
      rkb_product_t product;
      rkb_product_of(&writer, launch->anchors[0], &product);
      const char *all = rkb_index_manifest(&writer.indices, product.depth.total),
                 *depth = split != launch->decisions[RKB_SPLIT] ? all : NULL;
      when = rkb_arena_format(file->arena, "%s < %s", time_text(&writer, other, depth),
                              time_text(&writer, launch, depth));
      if (split > launch->decisions[RKB_SPLIT])
         when = rkb_arena_format(file->arena, "%s and %s >= %lld", when, all, (long long)terms);
      else
         when = rkb_arena_format(file->arena, "%s and %s > %d", when, count_text(&writer, other),
                                 MOST_FIRST_TILES * (split < launch->decisions[RKB_SPLIT] ? 1 : (int)split));
      /* If only large cases would take the second tile, cases of few tiles take it too, because these are executed whole. */
      const int64_t parts = launch->decisions[RKB_SPLIT];
      if (!suits_few(launch, other, split > parts ? terms : split < parts ? SMALL_TERMS : 1)) {
         const int64_t few = few_tiles(&writer, other);
         /* A bench case may have as few tiles of taps as this, but it has more terms. */
         const char *small = few > FEW_TILES_OF_TAPS
                                ? rkb_arena_format(file->arena, " and %s <= %d", all, MOST_REACHED_TERMS)
                                : "";
         when = rkb_arena_format(file->arena, "(%s or %s <= %lld%s)", when, count_text(&writer, other),
                                 (long long)(split * few), small);
      }
   }
   if (writer.failed)
      snprintf(file->why, sizeof file->why, "a second tile: %s", writer.why);
   const bool failed = writer.failed;
   rkb_writer_close(&writer);
   return failed ? NULL : when;
}
