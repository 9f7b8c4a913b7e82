/* Evaluates only what is needed: the cone of a few output elements.  Costly points in it (sums, matrix products, softmax rows) stay
 * remembered (reader.c).  One thread at a time. */
#include "reference/point_memory.h"

#include <string.h>
#include "base/memory.h"

bool rkb_reader_in_points(const rkb_reader_t *reader) {
   return reader->memory != NULL;
}

int rkb_prefetch(rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index) {
   rkb_block_t block;
   if (!reader->memory || count == 0 || reader->program->values[value].node < 0)
      return RKB_OK;
   if (!rkb_reader_block(reader, &block, count))
      return RKB_ERR_NOMEM;
   int status = rkb_read(reader, value, count, index, &block);
   rkb_reader_block_free(reader, &block);
   return status;
}

int rkb_keep_points(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index, const rkb_block_t *block) {
   const uint64_t elements = reader->program->values[node->output].elements;
   const int status = rkb_memory_place(reader->memory, node->output, elements, count, index, block);
   return status == RKB_ERR_LIMIT ? RKB_OK
                                  : status; /* without these points there is only more to compute later */
}

bool rkb_row_recall(const rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t row, void *finding,
                    size_t bytes) {
   const void *kept = reader->memory ? rkb_row_memory_find(reader->memory->rows, node->output, row) : NULL;
   if (kept)
      memcpy(finding, kept, bytes);
   return kept != NULL;
}

void rkb_row_keep(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t row, const void *finding,
                  size_t bytes) {
   void *kept = reader->memory ? rkb_row_memory_make(&reader->memory->rows, node->output, row) : NULL;
   if (kept)
      memcpy(kept, finding, bytes);
}

int rkb_evaluate_points(const rkb_program_t *program, const rkb_precision_t *precision,
                        const rkb_source_t *source, rkb_memory_t *memory, double most_work, uint32_t value,
                        uint64_t count, const int64_t *index, rkb_block_t *out, rkb_error_t *err) {
   rkb_reader_t reader = {.most_work = most_work,
                          .program = program,
                          .precision = precision,
                          .source = *source,
                          .stored = memory->stored,
                          .memory = memory};
   /* The bounds of a deep graph come from whole evaluations. */
   int status = precision->passes > 0 || rkb_points_pass_limit(program, memory, most_work, value, count, index)
                   ? RKB_ERR_LIMIT
                   : rkb_read(&reader, value, count, index, out);
   rkb_memory_free_spare(memory);
   if (status == RKB_OK)
      return RKB_OK;
   if (status == RKB_ERR_NOMEM)
      return rkb_fail_memory(err, 0);
   return rkb_fail(err, status,
                   status == RKB_ERR_LIMIT
                      ? "the cone of these elements is too large: it passes the budget of memory or work"
                      : "the reference could not be evaluated");
}
