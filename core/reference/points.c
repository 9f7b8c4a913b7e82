/* Computes only what is needed: the cone of a few output elements.  Remembers the costly points in it (sums, matrix products,
 * softmax rows), so that a row's statistics are computed once.  One thread at a time. */
#include "reference/point_memory.h"

#include <stdlib.h>
#include "base/memory.h"
#include "reference/dtype.h"

#define MOST_PIECE (UINT64_C(1) << 20)
#define MOST_ATTEMPTS 3

#define LOAD_PIECE (UINT64_C(1) << 20) /* long enough that the source can use several threads */

/* Loads a whole input, if a float holds each of its numbers exactly. */
static int load_single(rkb_reader_t *reader, uint32_t value, float **out) {
   const rkb_program_value_t *info = &reader->program->values[value];
   uint64_t most = info->elements < LOAD_PIECE ? info->elements : LOAD_PIECE;
   float *data = rkb_try_uncleared(info->elements + 1, sizeof *data, NULL);
   double *piece = rkb_try_uncleared(most + 1, sizeof *piece, NULL);
   int64_t *index = rkb_try_uncleared(most + 1, sizeof *index, NULL);
   int status = data && piece && index ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t first = 0; status == RKB_OK && first < info->elements; first += most) {
      uint64_t count = info->elements - first < most ? info->elements - first : most;
      for (uint64_t i = 0; i < count; i++)
         index[i] = (int64_t)(first + i);
      status = reader->source.fill(reader->source.argument, (uint32_t)info->tensor, count, index, piece);
#pragma omp parallel for schedule(static) if (status == RKB_OK && count == LOAD_PIECE)
      for (uint64_t i = 0; i < count; i++)
         data[first + i] = status == RKB_OK ? (float)piece[i] : 0;
   }
   free(index);
   free(piece);
   *out = status == RKB_OK ? data : NULL;
   if (status != RKB_OK)
      free(data);
   return status;
}

int rkb_memory_note(rkb_reader_t *reader, uint32_t value, uint64_t count) {
   rkb_memory_t *memory = reader->memory;
   const rkb_program_value_t *info = &reader->program->values[value];
   bool narrow = info->dtype == RKB_F32 || rkb_dtype_narrow(info->dtype) || rkb_dtype_bytes(info->dtype) == 1;
   uint64_t bytes = info->elements * (narrow ? sizeof(float) : sizeof(double));
   if (memory->stored[value].value || memory->single[value])
      return RKB_OK;
   memory->asked[value] += count;
   if (memory->asked[value] < info->elements / 2 || bytes > memory->most_held - memory->held)
      return RKB_OK;
   int status = narrow ? load_single(reader, value, &memory->single[value])
                       : rkb_load_input(reader, value, &memory->stored[value].value);
   memory->held += status == RKB_OK ? bytes : 0;
   return status;
}

static int ascending(const void *a, const void *b) {
   int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
   return (left > right) - (left < right);
}

/* Computes the listed elements that are not known yet, each once, and remembers them. */
static int learn(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index) {
   rkb_memory_t *memory = reader->memory;
   int64_t *missing = rkb_try_uncleared(count, sizeof *missing, NULL);
   rkb_block_t block;
   if (!missing)
      return RKB_ERR_NOMEM;
   uint64_t found = 0;
   bool sorted = true; /* whole rows and neighbours are sorted */
   for (uint64_t i = 0; i < count; i++)
      if ((i == 0 || index[i] != index[i - 1]) && !rkb_memory_find(memory, node->output, index[i])) {
         sorted &= found == 0 || missing[found - 1] < index[i];
         missing[found++] = index[i];
      }
   int status = RKB_OK;
   if (found == 0)
      goto out_missing;
   uint64_t kept = sorted ? found : 0;
   if (!sorted)
      qsort(missing, found, sizeof *missing, ascending);
   for (uint64_t i = 0; i < found && !sorted; i++)
      if (i == 0 || missing[i] != missing[i - 1])
         missing[kept++] = missing[i];
   status = RKB_ERR_NOMEM;
   if (!rkb_reader_block(reader, &block, kept))
      goto out_missing;
   status = rkb_compute(reader, node, kept, missing, &block);
   if (status == RKB_OK)
      status = rkb_memory_place(memory, node->output, reader->program->values[node->output].elements, kept,
                                missing, &block);
   rkb_reader_block_free(reader, &block);
out_missing:
   free(missing);
   return status;
}

/* Copies known points; false at the first unknown one. */
static bool copy_out(const rkb_memory_t *memory, uint32_t value, uint64_t count, const int64_t *index,
                     rkb_block_t *out) {
   for (uint64_t i = 0; i < count; i++) {
      const rkb_page_t *page = rkb_memory_find(memory, value, index[i]);
      if (!page)
         return false;
      uint64_t at = (uint64_t)index[i] % RKB_PAGE_POINTS;
      rkb_block_put(out, i,
                    (rkb_point_t){page->value[at], page->hard[at], page->variance[at], page->flags[at]});
   }
   return true;
}

int rkb_memory_read(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                    const int64_t *index, rkb_block_t *out) {
   /* Work in pieces, so that the points of a piece are still remembered when they are copied.  A full memory may be
    * cleared in between; missing points are then computed again. */
   for (uint64_t first = 0; first < count; first += MOST_PIECE) {
      uint64_t piece = count - first < MOST_PIECE ? count - first : MOST_PIECE;
      rkb_block_t part = rkb_block_from(out, first);
      bool copied = false;
      for (int attempt = 0; attempt < MOST_ATTEMPTS && !copied; attempt++) {
         int status = learn(reader, node, piece, index + first);
         if (status != RKB_OK)
            return status;
         copied = copy_out(reader->memory, node->output, piece, index + first, &part);
      }
      if (!copied)
         return RKB_ERR_LIMIT;
   }
   return RKB_OK;
}

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
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* without them there is more to compute later */
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
