/* Reads elements of a value: from memory, from the source of an input, or by computing them.  Computed points
 * stay remembered, so that a row's statistics are computed once.  A whole evaluation uses the calling thread,
 * with OpenMP helpers inside one node; points use one thread at a time. */
#include "reference/point_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/dtype.h"

#define MOST_DEPTH 400u /* operations between an output and an input, when points are computed */
#define POINTS_CHUNK (UINT64_C(1) << 18) /* large, so that the products it reads see many elements at once */
#define MOST_PIECE (UINT64_C(1) << 20)
#define MOST_ATTEMPTS 3
#define LOAD_CHUNK RKB_SHARED_ELEMENTS /* long enough that the source can use several threads */
/* The source keeps what it drew lately, in runs of neighbours.  So it gives a run nearly as fast as memory does, if the whole input fits.  A row of a large
 * input is read a few times before a second copy of the input pays; a small copy pays at once. */
#define RUN_LEAST RKB_CHUNK
#define RUN_INPUT_LEAST (UINT64_C(1) << 20) /* elements */
#define RUN_INPUT_MOST (UINT64_C(1) << 22)
#define RUN_SHARE 8u

/* Reads are split into parts of this size for several threads.  Most reads are a few elements inside a region that is already
 * parallel; there, opening another parallel region, even for one thread, costs more than the read. */
#define SHARED_PART (UINT64_C(1) << 14)

const rkb_precision_t *rkb_reader_precision(const rkb_reader_t *reader) {
   return reader->precision;
}

const rkb_program_t *rkb_reader_program(const rkb_reader_t *reader) {
   return reader->program;
}

/* Input values are exact, except that a kernel may read subnormal numbers as zero. */
static void exact_part(const rkb_precision_t *precision, uint64_t first, uint64_t end, rkb_block_t *out) {
   const double *restrict value = out->value, tiny = precision->tiny;
   double *restrict hard = out->hard;
   for (uint64_t i = first; i < end; i++) {
      const double size = fabs(value[i]);
      hard[i] = size < tiny ? size : 0;
   }
   memset(out->variance + first, 0, (end - first) * sizeof *out->variance);
   memset(out->flags + first, 0, end - first);
}

static uint64_t end_of_part(uint64_t first, uint64_t count) {
   return count - first < SHARED_PART ? count : first + SHARED_PART;
}

static void exact_points(const rkb_precision_t *precision, uint64_t count, rkb_block_t *out) {
   if (count < RKB_SHARED_ELEMENTS) {
      exact_part(precision, 0, count, out);
      return;
   }
#pragma omp parallel for schedule(static)
   for (uint64_t first = 0; first < count; first += SHARED_PART)
      exact_part(precision, first, end_of_part(first, count), out);
}

static void take_part(const double *restrict from, uint64_t first, uint64_t end,
                      const int64_t *restrict index, double *restrict out) {
   for (uint64_t i = first; i < end; i++)
      out[i] = index[i] < 0 ? 0 : from[index[i]];
}

static void take(const double *from, uint64_t count, const int64_t *index, double *out) {
   if (count < RKB_SHARED_ELEMENTS) {
      take_part(from, 0, count, index, out);
      return;
   }
#pragma omp parallel for schedule(static)
   for (uint64_t first = 0; first < count; first += SHARED_PART)
      take_part(from, first, end_of_part(first, count), index, out);
}

static void take_single_part(const float *from, uint64_t first, uint64_t end, const int64_t *index,
                             double *out) {
   for (uint64_t i = first; i < end; i++)
      out[i] = index[i] < 0 ? 0 : (double)from[index[i]];
}

static void take_single(const float *from, uint64_t count, const int64_t *index, double *out) {
   if (count < RKB_SHARED_ELEMENTS) {
      take_single_part(from, 0, count, index, out);
      return;
   }
#pragma omp parallel for schedule(static)
   for (uint64_t first = 0; first < count; first += SHARED_PART)
      take_single_part(from, first, end_of_part(first, count), index, out);
}

static void gather(const rkb_precision_t *precision, const rkb_block_t *from, uint64_t count,
                   const int64_t *index, rkb_block_t *out) {
   take(from->value, count, index, out->value);
   if (!from->hard) {
      exact_points(precision, count, out);
      return;
   }
   take_part(from->hard, 0, count, index, out->hard);
   take_part(from->variance, 0, count, index, out->variance);
   const uint8_t *restrict flags = from->flags;
   uint8_t *restrict own = out->flags;
   for (uint64_t i = 0; i < count; i++)
      own[i] = index[i] < 0 ? 0 : flags[index[i]];
}

bool rkb_reader_view(const rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index,
                     rkb_block_t *view) {
   const rkb_block_t *stored = &reader->stored[value];
   if (!stored->value || !stored->hard || count == 0 || index[0] < 0 ||
       index[count - 1] != index[0] + (int64_t)count - 1)
      return false;
   for (uint64_t i = 1; i < count; i++)
      if (index[i] != index[0] + (int64_t)i)
         return false;
   *view = rkb_block_from(stored, (uint64_t)index[0]);
   return true;
}

/* Whether a node's result is rounded when it is stored: it is stored in a narrow type, and its elements were
 * not stored in that type before. */
static bool rounds_storage(const rkb_program_t *program, const rkb_program_node_t *node) {
   uint32_t dtype = program->values[node->output].dtype;
   if (!rkb_dtype_narrow(dtype) || node->operation->converts)
      return false;
   return !node->operation->moves || rkb_program_kept_type(program, node->inputs[0]) != dtype;
}

/* Storing in a type narrower than the arithmetic rounds once more, by half a unit or half the least subnormal
 * number, and overflows earlier.  A rounding of random sign that later sums may average out enters the
 * variance as other roundings do.  The rounding of an output, which is judged alone, enters at its largest
 * size: 8 standard deviations are 8 of the other errors plus this rounding. */
void rkb_round_storage(const rkb_program_t *program, const rkb_program_node_t *node, uint64_t count,
                       rkb_block_t *block) {
   if (!rounds_storage(program, node))
      return;
   const rkb_program_value_t *value = &program->values[node->output];
   const rkb_narrow_t *type = rkb_dtype_narrow(value->dtype);
   const double unit = ldexp(1, -type->bits), least = ldexp(1, type->least_exponent - 1);
   for (uint64_t i = 0; i < count; i++) {
      if (isinf(block->value[i]) || rkb_point_is_nan(rkb_block_get(block, i)) ||
          (block->hard[i] == 0 && rkb_dtype_round(value->dtype, block->value[i]) == block->value[i]))
         continue;
      double rounding = fmax(unit * (fabs(block->value[i]) + block->hard[i]), least);
      double sigma = sqrt(block->variance[i]),
             alone = sigma + fmax(unit * (fabs(block->value[i]) + 8 * sigma), least) / 8;
      block->hard[i] += rounding;
      block->variance[i] = value->read ? block->variance[i] + rounding * rounding / 3 : alone * alone;
      if (!(fabs(block->value[i]) + block->hard[i] < type->largest))
         block->flags[i] |= RKB_POINT_DONT_CARE;
   }
}

int rkb_compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                rkb_block_t *out) {
   /* A costly operation shares work between its elements, so compute them all at once. */
   uint64_t most = node->operation->costly ? count : reader->memory ? POINTS_CHUNK : RKB_CHUNK;
   for (uint64_t first = 0; first < count; first += most) {
      uint64_t piece = count - first < most ? count - first : most;
      rkb_block_t part = rkb_block_from(out, first);
      int status = node->operation->compute(reader, node, piece, index + first, &part);
      if (status != RKB_OK)
         return status;
   }
   rkb_round_storage(reader->program, node, count, out);
   return RKB_OK;
}

int rkb_load_input(rkb_reader_t *reader, uint32_t value, double **out) {
   const rkb_program_value_t *info = &reader->program->values[value];
   const uint64_t most = info->elements < LOAD_CHUNK ? info->elements : LOAD_CHUNK;
   double *data = rkb_try_uncleared(info->elements, sizeof *data, NULL);
   int64_t *index = rkb_try_uncleared(most, sizeof *index, NULL);
   int status = data && index ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t first = 0; status == RKB_OK && first < info->elements; first += most) {
      uint64_t piece = info->elements - first < most ? info->elements - first : most;
      for (uint64_t i = 0; i < piece; i++)
         index[i] = (int64_t)(first + i);
      status =
         reader->source.fill(reader->source.argument, (uint32_t)info->tensor, piece, index, data + first);
   }
   free(index);
   if (status != RKB_OK) {
      free(data);
      return status;
   }
   *out = data;
   return RKB_OK;
}

/* Loads a whole input, if a float holds each of its numbers exactly. */
static int load_single(rkb_reader_t *reader, uint32_t value, float **out) {
   const rkb_program_value_t *info = &reader->program->values[value];
   uint64_t most = info->elements < LOAD_CHUNK ? info->elements : LOAD_CHUNK;
   float *data = rkb_try_uncleared(info->elements + 1, sizeof *data, NULL);
   double *piece = rkb_try_uncleared(most + 1, sizeof *piece, NULL);
   int64_t *index = rkb_try_uncleared(most + 1, sizeof *index, NULL);
   int status = data && piece && index ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t first = 0; status == RKB_OK && first < info->elements; first += most) {
      uint64_t count = info->elements - first < most ? info->elements - first : most;
      for (uint64_t i = 0; i < count; i++)
         index[i] = (int64_t)(first + i);
      status = reader->source.fill(reader->source.argument, (uint32_t)info->tensor, count, index, piece);
#pragma omp parallel for schedule(static) if (status == RKB_OK && count == LOAD_CHUNK)
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

static bool is_run(uint64_t count, const int64_t *index) {
   return count >= RUN_LEAST && index[0] >= 0 && index[count - 1] == index[0] + (int64_t)count - 1;
}

/* Counts a read of an input.  Once half of the input was asked for, the whole input is kept in memory if it fits. */
static int note_read(rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index) {
   rkb_memory_t *memory = reader->memory;
   const rkb_program_value_t *info = &reader->program->values[value];
   bool narrow = info->dtype == RKB_F32 || rkb_dtype_narrow(info->dtype) || rkb_dtype_bytes(info->dtype) == 1;
   uint64_t bytes = info->elements * (narrow ? sizeof(float) : sizeof(double));
   if (memory->stored[value].value || memory->single[value])
      return RKB_OK;
   const bool is_large = info->elements >= RUN_INPUT_LEAST && info->elements <= RUN_INPUT_MOST;
   memory->asked[value] += is_large && is_run(count, index) ? count / RUN_SHARE : count;
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

#define FEW_NUMBERS 256u
#define DIGIT_BITS 11u

/* Sorts numbers that are not negative: digit by digit, from the lowest, where they are many. */
static void sort_numbers(uint64_t count, int64_t *numbers) {
   int64_t *other = count > FEW_NUMBERS ? rkb_try_uncleared(count, sizeof *other, NULL) : NULL,
           *from = numbers, *to = other;
   uint64_t different = 0;
   if (!other) {
      qsort(numbers, count, sizeof *numbers, ascending);
      return;
   }
   for (uint64_t i = 0; i < count; i++)
      different |= (uint64_t)(numbers[i] ^ numbers[0]);
   for (uint32_t shift = 0; shift < 63; shift += DIGIT_BITS) {
      const uint64_t mask = (UINT64_C(1) << DIGIT_BITS) - 1;
      uint64_t begins[1u << DIGIT_BITS] = {0}, before = 0;
      if (!(different >> shift & mask))
         continue;
      for (uint64_t i = 0; i < count; i++)
         begins[(uint64_t)from[i] >> shift & mask]++;
      for (uint32_t digit = 0; digit <= mask; digit++) {
         const uint64_t own = begins[digit];
         begins[digit] = before;
         before += own;
      }
      for (uint64_t i = 0; i < count; i++)
         to[begins[(uint64_t)from[i] >> shift & mask]++] = from[i];
      int64_t *sorted = to;
      to = from;
      from = sorted;
   }
   if (from != numbers)
      memcpy(numbers, from, count * sizeof *numbers);
   free(other);
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
      sort_numbers(found, missing);
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

/* Computes elements of a value that is not in memory.  An index of -1 means zero. */
static int read_computed(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                         const int64_t *index, rkb_block_t *out) {
   bool holes = false;
   for (uint64_t i = 0; i < count && !holes; i++)
      holes = index[i] < 0;
   if (!holes)
      return node->operation->costly && reader->memory ? rkb_memory_read(reader, node, count, index, out)
                                                       : rkb_compute(reader, node, count, index, out);
   int64_t *dense = rkb_try_uncleared(count + 1, sizeof *dense, NULL);
   if (!dense)
      return RKB_ERR_NOMEM;
   uint64_t kept = 0;
   for (uint64_t i = 0; i < count; i++)
      if (index[i] >= 0)
         dense[kept++] = index[i];
   int status = kept ? read_computed(reader, node, kept, dense, out) : RKB_OK;
   free(dense);
   for (uint64_t i = count; i-- > 0;) /* spread in place, from the back */
      rkb_block_put(out, i, index[i] < 0 ? (rkb_point_t){0} : rkb_block_get(out, --kept));
   return status;
}

bool rkb_reader_holds(const rkb_reader_t *reader, uint32_t value) {
   return reader->stored[value].value || (reader->memory && reader->memory->single[value]);
}

int rkb_reader_work(rkb_reader_t *reader, double work) {
   reader->work += work;
   return reader->most_work > 0 && reader->work > reader->most_work ? RKB_ERR_LIMIT : RKB_OK;
}

int rkb_read(rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index, rkb_block_t *out) {
   const rkb_program_value_t *info = &reader->program->values[value];
   int status = reader->memory ? rkb_reader_work(reader, (double)count) : RKB_OK;
   if (status == RKB_OK && reader->memory && info->node < 0)
      status = note_read(reader, value, count, index);
   if (status != RKB_OK)
      return status;
   if (reader->stored[value].value) {
      gather(reader->precision, &reader->stored[value], count, index, out);
      return RKB_OK;
   }
   const float *single = reader->memory ? reader->memory->single[value] : NULL;
   if (single) {
      take_single(single, count, index, out->value);
      exact_points(reader->precision, count, out);
      return RKB_OK;
   }
   if (info->node >= 0) {
      /* Points are computed by recursion, and a graph with a thousand operations in a row would need a deep
       * stack. */
      if (!reader->memory)
         return read_computed(reader, &reader->program->nodes[info->node], count, index, out);
      if (reader->depth >= MOST_DEPTH)
         return RKB_ERR_LIMIT;
      reader->depth++;
      status = read_computed(reader, &reader->program->nodes[info->node], count, index, out);
      reader->depth--;
      return status;
   }
   status = reader->source.fill(reader->source.argument, (uint32_t)info->tensor, count, index, out->value);
   exact_points(reader->precision, count, out);
   return status;
}
