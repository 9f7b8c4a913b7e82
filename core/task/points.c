/* Only what is needed: the cone of a few output elements, and a memory of the costly points met on the way
 * (sums, matrix products, softmax rows), so that a row's statistics are computed once.  One thread at a time.
 */
#include "task/evaluate.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PIECE (UINT64_C(1) << 20)
#define MOST_ATTEMPTS 3

/* Open addressing by (value, element); never more than half full. */
typedef struct entry {
   int64_t element; /* -1: free */
   uint32_t value;
   uint32_t flags;
   double number, hard, variance;
} entry_t;

struct rkb_memory {
   entry_t *entries;
   uint64_t room, used, limit; /* in entries; room is a power of two */
   rkb_block_t *stored;        /* by value: whole inputs that were asked for often */
   uint64_t *asked;            /* by value: elements of inputs read so far */
   uint32_t value_count;
   uint64_t held, most_held; /* bytes of whole inputs */
};

rkb_memory_t *rkb_memory_new(uint32_t value_count, uint64_t limit_bytes) {
   rkb_memory_t *memory = calloc(1, sizeof *memory);
   if (!memory)
      return NULL;
   memory->stored = calloc(value_count + 1, sizeof *memory->stored);
   memory->asked = calloc(value_count + 1, sizeof *memory->asked);
   memory->value_count = value_count;
   memory->most_held = limit_bytes / 2;
   memory->limit = limit_bytes / 2 / sizeof *memory->entries;
   if (!memory->stored || !memory->asked) {
      rkb_memory_free(memory);
      return NULL;
   }
   return memory;
}

void rkb_memory_free(rkb_memory_t *memory) {
   if (!memory)
      return;
   for (uint32_t i = 0; memory->stored && i < memory->value_count; i++)
      free(memory->stored[i].value);
   free(memory->entries);
   free(memory->stored);
   free(memory->asked);
   free(memory);
}

static uint64_t slot_of(const rkb_memory_t *memory, uint32_t value, int64_t element) {
   uint64_t mixed =
      ((uint64_t)element + 1) * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)value * UINT64_C(0xC2B2AE3D27D4EB4F);
   return (mixed ^ mixed >> 29) & (memory->room - 1);
}

static entry_t *find(const rkb_memory_t *memory, uint32_t value, int64_t element) {
   if (memory->room == 0)
      return NULL;
   uint64_t slot = slot_of(memory, value, element);
   while (memory->entries[slot].element >= 0) {
      if (memory->entries[slot].element == element && memory->entries[slot].value == value)
         return &memory->entries[slot];
      slot = (slot + 1) & (memory->room - 1);
   }
   return NULL;
}

static void place(rkb_memory_t *memory, entry_t entry) {
   uint64_t slot = slot_of(memory, entry.value, entry.element);
   while (memory->entries[slot].element >= 0)
      slot = (slot + 1) & (memory->room - 1);
   memory->entries[slot] = entry;
   memory->used++;
}

static int make_room(rkb_memory_t *memory, uint64_t more) {
   uint64_t room = memory->room ? memory->room : 1024;
   while (room < 2 * (memory->used + more))
      room *= 2;
   if (room == memory->room)
      return RKB_OK;
   if (room > memory->limit && memory->used) { /* forget, rather than grow past the budget */
      for (uint64_t i = 0; i < memory->room; i++)
         memory->entries[i].element = -1;
      memory->used = 0;
      return make_room(memory, more);
   }
   if (room > memory->limit)
      return RKB_ERR_LIMIT;
   entry_t *old = memory->entries;
   uint64_t old_room = memory->room;
   entry_t *entries = malloc(room * sizeof *entries);
   if (!entries)
      return RKB_ERR_NOMEM;
   for (uint64_t i = 0; i < room; i++)
      entries[i].element = -1;
   memory->entries = entries;
   memory->room = room;
   memory->used = 0;
   for (uint64_t i = 0; i < old_room; i++)
      if (old[i].element >= 0)
         place(memory, old[i]);
   free(old);
   return RKB_OK;
}

int rkb_memory_note(rkb_reader_t *reader, uint32_t value, uint64_t count) {
   rkb_memory_t *memory = reader->memory;
   uint64_t elements = reader->program->values[value].elements, bytes = elements * sizeof(double);
   if (memory->stored[value].value)
      return RKB_OK;
   memory->asked[value] += count;
   if (memory->asked[value] < elements / 2 || bytes > memory->most_held - memory->held)
      return RKB_OK;
   int status = rkb_load_input(reader, value, &memory->stored[value].value);
   memory->held += status == RKB_OK ? bytes : 0;
   return status;
}

static int ascending(const void *a, const void *b) {
   int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
   return (left > right) - (left < right);
}

/* Computes what of index is not known yet (each once), and remembers it. */
static int learn(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index) {
   rkb_memory_t *memory = reader->memory;
   int64_t *missing = malloc(count * sizeof *missing);
   rkb_block_t block;
   if (!missing)
      return RKB_ERR_NOMEM;
   uint64_t found = 0;
   for (uint64_t i = 0; i < count; i++)
      if ((i == 0 || index[i] != index[i - 1]) && !find(memory, node->output, index[i]))
         missing[found++] = index[i];
   int status = RKB_OK;
   if (found == 0)
      goto out_missing;
   qsort(missing, found, sizeof *missing, ascending);
   uint64_t kept = 0;
   for (uint64_t i = 0; i < found; i++)
      if (i == 0 || missing[i] != missing[i - 1])
         missing[kept++] = missing[i];
   status = RKB_ERR_NOMEM;
   if (!rkb_block_new(&block, kept))
      goto out_missing;
   status = rkb_compute(reader, node, kept, missing, &block);
   if (status == RKB_OK)
      status = make_room(memory, kept);
   for (uint64_t i = 0; status == RKB_OK && i < kept; i++)
      place(memory, (entry_t){missing[i], node->output, block.flags[i], block.value[i], block.hard[i],
                              block.variance[i]});
   rkb_block_free(&block);
out_missing:
   free(missing);
   return status;
}

/* Copies known points out; false at the first one that is not there. */
static bool copy_out(const rkb_memory_t *memory, uint32_t value, uint64_t count, const int64_t *index,
                     rkb_block_t *out) {
   for (uint64_t i = 0; i < count; i++) {
      const entry_t *entry = find(memory, value, index[i]);
      if (!entry)
         return false;
      rkb_block_put(out, i, (rkb_point_t){entry->number, entry->hard, entry->variance, entry->flags});
   }
   return true;
}

int rkb_memory_read(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                    const int64_t *index, rkb_block_t *out) {
   /* In pieces, so that what one piece needs is still there when it is copied out; a full memory may have
    * been cleared meanwhile, and then what is missing is computed again. */
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
   if (!rkb_block_new(&block, count))
      return RKB_ERR_NOMEM;
   int status = rkb_read(reader, value, count, index, &block);
   rkb_block_free(&block);
   return status;
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
   int status = rkb_read(&reader, value, count, index, out);
   if (status == RKB_OK)
      return RKB_OK;
   return rkb_fail(err, status,
                   status == RKB_ERR_LIMIT
                      ? "the cone of these elements is too large: it passes the budget of memory or work"
                   : status == RKB_ERR_NOMEM ? "out of memory"
                                             : "the reference could not be evaluated");
}
