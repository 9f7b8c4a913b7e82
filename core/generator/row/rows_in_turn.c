/* The text of rows that a cluster owns one after the other: see rows_in_turn.h.  One thread writes it. */
#include "generator/row/rows_in_turn.h"

#include "generator/row/kept_row_loops.h"

void rkb_rows_plan_turns(rkb_rows_t *rows, rkb_writer_t *writer, const rkb_writer_t *trial) {
   for (uint32_t k = 0; k < trial->kept_count; k++) {
      const int64_t bytes = rkb_kept_bytes(rows, &trial->kept[k]);
      if (trial->kept[k].guarded || !rkb_kept_differs(rows, &trial->kept[k]) || rows->width == 1 ||
          (bytes != 4 && bytes != 8 && bytes != 16))
         return;
   }
   rows->in_turn = trial->kept_count > 0;
   for (uint32_t k = 0; k < trial->kept_count && rows->in_turn; k++) {
      rows->ahead[rows->ahead_count++] = trial->kept[k];
      writer->keep_bytes += rows->keep * trial->kept[k].threads * rkb_kept_bytes(rows, &trial->kept[k]);
   }
}

static void copy_kept(rkb_writer_t *writer, const rkb_rows_t *rows, const struct rkb_kept *kept,
                      const rkb_index_t *round) {
   rkb_write(writer, "copy_async<%lld>(&%s[%s * %lld], %s, true);", (long long)rkb_kept_bytes(rows, kept),
             kept->array, writer->keep_item, (long long)kept->threads,
             rkb_kept_address(writer, kept, rkb_rows_kept_element(writer, rows, kept, rows->next, round)));
}

void rkb_rows_open_turns(rkb_writer_t *writer, rkb_rows_t *rows) {
   const long long blocks = (long long)rows->launch->decisions[RKB_CLUSTER];
   int64_t first = 0;
   writer->keep_memory = "kept";
   rkb_write(writer, "extern __shared__ __align__(16) unsigned char kept[];");
   for (uint32_t k = 0; k < rows->ahead_count; k++) {
      const struct rkb_kept *kept = &rows->ahead[k];
      rkb_writer_know(writer, 0, (const rkb_index_t *const[RKB_MAX_RANK]){0},
                      kept->array); /* the name is taken */
      rkb_write(writer, "%s *const %s = (%s *)(kept + %lld) + threadIdx.x;", kept->type, kept->array,
                kept->type, (long long)first);
      first += rows->keep * kept->threads * rkb_kept_bytes(rows, kept);
   }
   rkb_write(writer, "index ahead = blockIdx.x / %lld;", blocks);
   rows->next = rkb_writer_variable(writer, "ahead", rows->count);
   const rkb_index_t *round = rkb_rows_open_rounds(writer, rows);
   for (uint32_t k = 0; k < rows->ahead_count; k++)
      copy_kept(writer, rows, &rows->ahead[k], round);
   rkb_rows_close_rounds(writer);
   rkb_write(writer, "copies_begun();");
   rkb_write(writer, "int turn = 0;");
   rkb_write_open(writer, false, "for (index row = blockIdx.x / %lld; row < %s; row += gridDim.x / %lld)",
                  blocks, rkb_writer_uniform(writer, rows->count), blocks);
   rkb_write(writer, "ahead += gridDim.x / %lld;", blocks);
   rkb_rows_know_kept(writer, rows);
}

void rkb_rows_copy_next(rkb_writer_t *writer, const rkb_rows_t *rows, const rkb_index_t *round) {
   for (uint32_t k = 0; k < rows->ahead_count; k++) {
      const struct rkb_kept *kept = &rows->ahead[k];
      const char *now = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_now", kept->buffer));
      rkb_write(writer, "const %s %s = %s[%s * %lld];", kept->type, now, kept->array, writer->keep_item,
                (long long)kept->threads);
      writer->kept[k].array = now;
      writer->kept[k].threads = -1;
   }
   rkb_write_open(writer, true, "if (ahead < %s)", rkb_writer_uniform(writer, rows->count));
   for (uint32_t k = 0; k < rows->ahead_count; k++)
      copy_kept(writer, rows, &rows->ahead[k], round);
   rkb_write_close(writer);
}

void rkb_rows_close_turns(rkb_writer_t *writer) {
   rkb_write(writer, "copies_begun();");
   rkb_write(writer, "turn ^= 1;");
   rkb_write_close(writer);
}
