/* The text of loads before the passes of a row: see rows_ahead.h.  One thread writes it. */
#include "generator/rows_ahead.h"

#include "generator/sums_over_rows.h"

void rkb_rows_plan_ahead(rkb_rows_t *rows, const rkb_writer_t *trial) {
   for (uint32_t k = 0; k < trial->kept_count; k++)
      if (!trial->kept[k].guarded)
         rows->ahead[rows->ahead_count++] = trial->kept[k];
}

/* The rounds of a thread over what it keeps; returns the variable. */
static const rkb_index_t *open_rounds(rkb_writer_t *writer, const rkb_rows_t *rows) {
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

static void close_rounds(rkb_writer_t *writer) {
   rkb_write_close(writer);
   rkb_write_close(writer);
}

/* The element of a kept load, of a row and a round. */
static const rkb_index_t *element_of(rkb_writer_t *writer, const rkb_rows_t *rows,
                                     const struct rkb_kept *kept, const rkb_index_t *row,
                                     const rkb_index_t *round) {
   return rkb_index_replace(&writer->indices,
                            rkb_index_replace(&writer->indices, kept->element, kept->variable, round),
                            rows->row, row);
}

static bool differs(const rkb_rows_t *rows, const struct rkb_kept *kept) {
   return rkb_index_mentions(kept->element, rows->row);
}

/* Where a load of the next row waits for its turn. */
static const char *waiting(rkb_writer_t *writer, const struct rkb_kept *kept) {
   return rkb_arena_format(writer->arena, "%s_next", kept->buffer);
}

static void write_loads(rkb_writer_t *writer, const rkb_rows_t *rows, const rkb_index_t *row,
                        const rkb_index_t *round, bool differ, bool next) {
   for (uint32_t k = 0; k < rows->ahead_count; k++)
      if (differs(rows, &rows->ahead[k]) == differ)
         rkb_write(
            writer, "%s[%s] = %s;", next ? waiting(writer, &rows->ahead[k]) : rows->ahead[k].array,
            writer->keep_item,
            rkb_kept_load(writer, &rows->ahead[k], element_of(writer, rows, &rows->ahead[k], row, round)));
}

/* Says to later passes what is kept. */
static void know_kept(rkb_writer_t *writer, const rkb_rows_t *rows) {
   for (uint32_t k = 0; k < rows->ahead_count; k++)
      writer->kept[writer->kept_count++] = rows->ahead[k];
}

static void declare(rkb_writer_t *writer, const rkb_rows_t *rows, bool next) {
   for (uint32_t k = 0; k < rows->ahead_count; k++) {
      const struct rkb_kept *kept = &rows->ahead[k];
      rkb_writer_know(writer, 0, (const rkb_index_t *const[RKB_MAX_RANK]){0},
                      kept->array); /* the name is taken */
      if (next && differs(rows, kept))
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
   const rkb_index_t *round = open_rounds(writer, rows);
   write_loads(writer, rows, rows->next, round, false, false);
   rkb_write_open(writer, true, "if (ahead < %s)", rkb_writer_uniform(writer, rows->count));
   write_loads(writer, rows, rows->next, round, true, true);
   rkb_write_close(writer);
   close_rounds(writer);
}

void rkb_rows_load_ahead(rkb_writer_t *writer, rkb_rows_t *rows) {
   const int64_t stretches = rows->launch->decisions[RKB_STRETCHES];
   if (!stretches)
      declare(writer, rows, false);
   else
      rkb_write(writer, "ahead = row + %s;", rkb_stretches_step(writer, rows->launch));
   const rkb_index_t *round = open_rounds(writer, rows);
   if (stretches) {
      for (uint32_t k = 0; k < rows->ahead_count; k++)
         if (differs(rows, &rows->ahead[k]))
            rkb_write(writer, "%s[%s] = %s[%s];", rows->ahead[k].array, writer->keep_item,
                      waiting(writer, &rows->ahead[k]), writer->keep_item);
      rkb_write_open(writer, true, "if (ahead < %s)", rkb_writer_uniform(writer, rows->count));
      write_loads(writer, rows, rows->next, round, true, true);
      rkb_write_close(writer);
   } else {
      write_loads(writer, rows, rows->row, round, false, false);
      write_loads(writer, rows, rows->row, round, true, false);
   }
   close_rounds(writer);
   know_kept(writer, rows);
}
