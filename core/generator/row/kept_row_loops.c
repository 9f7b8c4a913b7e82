/* The text of a thread's rounds over what it keeps of a row: see kept_row_loops.h.  One thread writes it. */
#include "generator/row/kept_row_loops.h"

bool rkb_kept_differs(const rkb_rows_t *rows, const struct rkb_kept *kept) {
   return rkb_index_mentions(kept->element, rows->row);
}

int64_t rkb_kept_bytes(const rkb_rows_t *rows, const struct rkb_kept *kept) {
   return rows->width * rkb_dtype_bytes(kept->dtype);
}

const rkb_index_t *rkb_rows_open_rounds(rkb_writer_t *writer, const rkb_rows_t *rows) {
   const char *item = rkb_writer_name(writer, "item"),
              *pack = rkb_writer_name(writer, rows->width > 1 ? "pack" : "place");
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int %s = 0; %s < %u; %s++)",
                  3 * (int)(writer->depth + 1), "", item, item, rows->keep, item);
   rkb_write(writer, "const index %s = %s * %s + %s;", pack, item, rows->step, rows->begin);
   rkb_write_open(writer, true, "if (%s < %s)", pack, rows->end);
   writer->keep_item = item;
   return rkb_writer_variable(writer, pack,
                              rkb_index_make(&writer->indices, RKB_INDEX_QUOTIENT, rows->length,
                                             rkb_index_constant(&writer->indices, rows->width)));
}

void rkb_rows_close_rounds(rkb_writer_t *writer) {
   rkb_write_close(writer);
   rkb_write_close(writer);
}

const rkb_index_t *rkb_rows_kept_element(rkb_writer_t *writer, const rkb_rows_t *rows,
                                         const struct rkb_kept *kept, const rkb_index_t *row,
                                         const rkb_index_t *round) {
   return rkb_index_replace(&writer->indices,
                            rkb_index_replace(&writer->indices, kept->element, kept->variable, round),
                            rows->row, row);
}

void rkb_rows_know_kept(rkb_writer_t *writer, const rkb_rows_t *rows) {
   for (uint32_t k = 0; k < rows->ahead_count; k++)
      writer->kept[writer->kept_count++] = rows->ahead[k];
}
