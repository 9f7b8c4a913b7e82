/* The text of loads before the passes of a row: see rows_ahead.h.  One thread writes it. */
#include "generator/row/rows_ahead.h"

#include "generator/row/kept_row_loops.h"
#include "generator/row/row_range_sums.h"
#include "generator/row/sums_over_rows.h"

#define MULTIPROCESSOR_BYTES (228 << 10) /* shared memory of a multiprocessor of sm_90 */
#define BLOCK_BYTES (2 << 10) /* the part of shared memory that a block needs for its sums and that the system takes */
#define STAGED_THREADS                                                                                       \
   1024 /* threads of a multiprocessor; each has 64 registers, which suffice because it keeps its rows in shared memory */

/* Whether `cp.async` can bring what differs from row to row. */
static bool can_stage(const rkb_rows_t *rows) {
   bool can = false;
   for (uint32_t k = 0; k < rows->ahead_count; k++) {
      if (!rkb_kept_differs(rows, &rows->ahead[k]))
         continue;
      if (rows->width == 1 || rkb_kept_bytes(rows, &rows->ahead[k]) % 4 != 0)
         return false;
      can = true;
   }
   return can;
}

/* A thread's packs lie as far apart as the block has threads; each load has a part of the stage. */
static void plan_stages(rkb_rows_t *rows, rkb_writer_t *writer) {
   const int64_t *d = rows->launch->decisions;
   rows->stages = d[RKB_STAGES];
   for (uint32_t k = 0; k < rows->ahead_count; k++)
      if (rkb_kept_differs(rows, &rows->ahead[k])) {
         rows->ahead[k].threads = d[RKB_THREADS];
         rows->stage_bytes += rows->keep * d[RKB_THREADS] * rkb_kept_bytes(rows, &rows->ahead[k]);
      }
   writer->keep_memory = "kept";
   writer->keep_bytes = rows->stages * rows->stage_bytes;
}

void rkb_rows_plan_ahead(rkb_rows_t *rows, rkb_writer_t *writer, const rkb_writer_t *trial) {
   for (uint32_t k = 0; k < trial->kept_count; k++)
      if (!trial->kept[k].guarded)
         rows->ahead[rows->ahead_count++] = trial->kept[k];
   if (rkb_rows_are_staged(rows->launch) && can_stage(rows))
      plan_stages(rows, writer);
}

/* Where a load of the next row waits for its turn. */
static const char *waiting(rkb_writer_t *writer, const struct rkb_kept *kept) {
   return rkb_arena_format(writer->arena, "%s_next", kept->buffer);
}

static void write_loads(rkb_writer_t *writer, const rkb_rows_t *rows, const rkb_index_t *row,
                        const rkb_index_t *round, bool differ, bool next) {
   for (uint32_t k = 0; k < rows->ahead_count; k++)
      if (rkb_kept_differs(rows, &rows->ahead[k]) == differ)
         rkb_write(writer, "%s[%s] = %s;", next ? waiting(writer, &rows->ahead[k]) : rows->ahead[k].array,
                   writer->keep_item,
                   rkb_kept_load(writer, &rows->ahead[k],
                                 rkb_rows_kept_element(writer, rows, &rows->ahead[k], row, round)));
}

/* Where a load's packs begin in a stage: after the given number of bytes. */
static const char *part_of(rkb_writer_t *writer, const rkb_rows_t *rows, const char *stage, int64_t first) {
   const char *begin =
      rkb_arena_format(writer->arena, "kept + %s * %lld", stage, (long long)rows->stage_bytes);
   return first ? rkb_arena_format(writer->arena, "%s + %lld", begin, (long long)first) : begin;
}

/* Begins the copies of a row to a stage, and ends their group; the row's number is `ahead`.  A group is empty where there is no such row. */
static void write_copies(rkb_writer_t *writer, const rkb_rows_t *rows, const char *stage) {
   int64_t first = 0;
   rkb_write_open(writer, true, "if (ahead < %s)", rkb_writer_uniform(writer, rows->count));
   const rkb_index_t *round = rkb_rows_open_rounds(writer, rows);
   for (uint32_t k = 0; k < rows->ahead_count; k++) {
      const struct rkb_kept *kept = &rows->ahead[k];
      const int64_t bytes = rkb_kept_bytes(rows, kept), piece = bytes > 16 ? 16 : bytes;
      if (!rkb_kept_differs(rows, kept))
         continue;
      const char *from = rkb_kept_address(writer, kept,
                                          rkb_rows_kept_element(writer, rows, kept, rows->next, round)),
                 *to = rkb_arena_format(writer->arena, "%s + (%s * %lld + thread) * %lld",
                                        part_of(writer, rows, stage, first), writer->keep_item,
                                        (long long)kept->threads, (long long)bytes);
      for (int64_t at = 0; at < bytes; at += piece)
         if (at)
            rkb_write(writer, "copy_async<%lld>(%s + %lld, (const char *)(%s) + %lld, true);",
                      (long long)piece, to, (long long)at, from, (long long)at);
         else
            rkb_write(writer, "copy_async<%lld>(%s, %s, true);", (long long)piece, to, from);
      first += rows->keep * kept->threads * bytes;
   }
   rkb_rows_close_rounds(writer);
   rkb_write_close(writer);
   rkb_write(writer, "copies_begun();");
   rkb_write(writer, "ahead += (index)gridDim.x;");
}

/* The stages of all rows but the last one are filled. */
static void write_first_copies(rkb_writer_t *writer, const rkb_rows_t *rows) {
   rkb_write(writer, "extern __shared__ __align__(16) unsigned char kept[];");
   rkb_write_open(writer, false, "for (int first = 0; first < %lld; first++)", (long long)rows->stages - 1);
   write_copies(writer, rows, "first");
   rkb_write_close(writer);
   rkb_write(writer, "int stage = 0;");
}

/* Fills again the stage that the previous row has left; the copies of the present row have come. */
static void write_next_copies(rkb_writer_t *writer, const rkb_rows_t *rows) {
   int64_t first = 0;
   rkb_write(writer, "const int left = stage == 0 ? %lld : stage - 1;", (long long)rows->stages - 1);
   write_copies(writer, rows, "left");
   rkb_write(writer, "copies_done<%lld>();", (long long)rows->stages - 1);
   for (uint32_t k = 0; k < rows->ahead_count; k++) {
      const struct rkb_kept *kept = &rows->ahead[k];
      if (!rkb_kept_differs(rows, kept))
         continue;
      rkb_write(writer, "const %s *const %s = (const %s *)(%s) + thread;", kept->type, kept->array,
                kept->type, part_of(writer, rows, "stage", first));
      first += rows->keep * kept->threads * rkb_kept_bytes(rows, kept);
   }
}

void rkb_rows_end_ahead(rkb_writer_t *writer, const rkb_rows_t *rows) {
   if (rows->stages)
      rkb_write(writer, "stage = stage == %lld ? 0 : stage + 1;", (long long)rows->stages - 1);
}

static void declare(rkb_writer_t *writer, const rkb_rows_t *rows, bool next) {
   for (uint32_t k = 0; k < rows->ahead_count; k++) {
      const struct rkb_kept *kept = &rows->ahead[k];
      rkb_writer_know(writer, 0, (const rkb_index_t *const[RKB_MAX_RANK]){0},
                      kept->array); /* the name is taken */
      if (kept->threads)
         continue;
      if (next && rkb_kept_differs(rows, kept))
         rkb_write(writer, "%s %s[%u], %s[%u];", kept->type, kept->array, rows->keep, waiting(writer, kept),
                   rows->keep);
      else
         rkb_write(writer, "%s %s[%u];", kept->type, kept->array, rows->keep);
   }
}

void rkb_rows_load_first(rkb_writer_t *writer, rkb_rows_t *rows) {
   declare(writer, rows, true);
   rkb_write(writer, "index ahead = blockIdx.x;");
   rows->next = rkb_writer_variable(writer, "ahead", rows->count);
   const rkb_index_t *round = rkb_rows_open_rounds(writer, rows);
   write_loads(writer, rows, rows->next, round, false, false);
   if (rows->stages) {
      rkb_rows_close_rounds(writer);
      write_first_copies(writer, rows);
      return;
   }
   rkb_write_open(writer, true, "if (ahead < %s)", rkb_writer_uniform(writer, rows->count));
   write_loads(writer, rows, rows->next, round, true, true);
   rkb_write_close(writer);
   rkb_rows_close_rounds(writer);
}

void rkb_rows_load_ahead(rkb_writer_t *writer, rkb_rows_t *rows) {
   const int64_t stretches = rows->launch->decisions[RKB_STRETCHES];
   if (rows->stages) {
      write_next_copies(writer, rows);
      rkb_rows_know_kept(writer, rows);
      return;
   }
   if (!stretches)
      declare(writer, rows, false);
   else
      rkb_write(writer, "ahead = row + (index)gridDim.x;");
   const rkb_index_t *round = rkb_rows_open_rounds(writer, rows);
   if (stretches) {
      for (uint32_t k = 0; k < rows->ahead_count; k++)
         if (rkb_kept_differs(rows, &rows->ahead[k]))
            rkb_write(writer, "%s[%s] = %s[%s];", rows->ahead[k].array, writer->keep_item,
                      waiting(writer, &rows->ahead[k]), writer->keep_item);
      rkb_write_open(writer, true, "if (ahead < %s)", rkb_writer_uniform(writer, rows->count));
      write_loads(writer, rows, rows->next, round, true, true);
      rkb_write_close(writer);
   } else {
      write_loads(writer, rows, rows->row, round, false, false);
      write_loads(writer, rows, rows->row, round, true, false);
   }
   rkb_rows_close_rounds(writer);
   rkb_rows_know_kept(writer, rows);
}

uint32_t rkb_rows_staged_blocks(int64_t threads, int64_t bytes) {
   const int64_t by_memory = MULTIPROCESSOR_BYTES / (bytes + BLOCK_BYTES),
                 by_threads = STAGED_THREADS / threads,
                 blocks = by_memory < by_threads ? by_memory : by_threads;
   return blocks > 1 ? (uint32_t)blocks : 1;
}
