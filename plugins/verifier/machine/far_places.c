/* Finds that no block of a launch writes the far part of an output, where the step from block to block does not tell (wrapped_offsets.c): several ranges of
 * blocks write the output, or its places are permuted.  If every drawn block that writes to the output writes one run of bytes, and all runs are as long,
 * then the output has a certain number of places, and each belongs to one block.  So of enough drawn blocks some write behind each of the limits at which
 * offsets overflow.  If none does, the blocks there write elsewhere, or nothing.  The launch may leave the far part to few blocks that write longer runs.
 * Blocks may also draw their places from a word in memory.  So the kernel is suspect only if the launch has no atomic operations, and if the grid has just one block for each place, or if as many drawn blocks write to the output as all places have.
 * docs/verdicts.md.  One worker thread a candidate. */
#include "bench_values.h"

#include <math.h>
#include <stdlib.h>

#define FAR_BYTES (UINT64_C(1) << 31)
#define CHUNK 16u            /* blocks of a run */
#define MOST_EXECUTED 256u   /* of a launch, for one output */
#define BY_CHANCE 1e-9       /* that the drawn blocks of a right launch all lie before a limit */
#define LIMITS 4u

struct places {
   struct sample part;
   uint32_t launch, buffer;
   rkb_random_t stream;
   uint64_t total, once; /* blocks; bytes that each of them writes */
   uint64_t furthest;    /* byte at which an executed block begins to write */
   uint32_t executed, wrote; /* drawn blocks, and those that wrote to the output */
   uint32_t needed[LIMITS]; /* executed blocks that tell; 0: nothing can lie behind the limit */
   bool even;               /* each block that wrote anything wrote one run, all as long */
   rkb_machine_blocks_t *lists;
};

static uint64_t limit_of(const struct places *p, uint32_t n) {
   const rkb_plan_buffer_t *b = &p->part.plan->buffers[p->buffer];
   return (FAR_BYTES << n % 2) * (n < 2 ? 1 : b->bytes / b->elements);
}

/* Places of the output for each block of the grid. */
static double places_each(const struct places *p) {
   return p->once ? (double)(p->part.plan->buffers[p->buffer].bytes / p->once) / (double)p->total : 1;
}

static void count_needed(struct places *p) {
   const double bytes = (double)p->part.plan->buffers[p->buffer].bytes;
   for (uint32_t n = 0; n < LIMITS; n++) {
      const double behind = places_each(p) * (1 - (double)limit_of(p, n) / bytes),
                   needed = behind <= 0   ? MOST_EXECUTED + 1.0
                            : behind >= 1 ? 1
                                          : ceil(log(BY_CHANCE) / log(1 - behind));
      p->needed[n] = needed <= MOST_EXECUTED ? (uint32_t)needed : 0;
   }
}

/* The limit behind which no executed block wrote, though enough were executed; LIMITS: there is none. */
static uint32_t unreached(const struct places *p) {
   uint32_t n = 0;
   while (n < LIMITS && (!p->needed[n] || p->furthest >= limit_of(p, n) || p->executed < p->needed[n]))
      n++;
   return n;
}

static bool is_open(const struct places *p) {
   bool open = false;
   for (uint32_t n = 0; n < LIMITS; n++)
      open |= p->needed[n] && p->furthest < limit_of(p, n) && p->executed < p->needed[n];
   return open;
}

static void take(struct places *p, const rkb_machine_t *machine, uint32_t count) {
   rkb_machine_extent_t at;
   for (uint32_t n = 0; n < count; n++)
      if (rkb_machine_extent(machine, p->launch, n, p->buffer, &at) && at.words) {
         p->even &= at.high - at.low == at.once && (!p->once || p->once == at.once);
         p->once = at.once;
         p->wrote++;
         p->furthest = at.low > p->furthest ? at.low : p->furthest;
      }
   p->executed += count;
   count_needed(p);
}

static int run_chunk(struct places *p, bool *clean, rkb_error_t *err) {
   struct sample *part = &p->part;
   uint64_t numbers[CHUNK];
   rkb_machine_report_t report;
   const rkb_machine_options_t options = {.sample = p->lists,
                                          .memory_bytes = part->verifier->config->memory,
                                          .thread_instructions = part->candidate->budget,
                                          .fetch = sample_fetch,
                                          .fetch_argument = part};
   for (uint32_t n = 0; n < CHUNK; n++)
      for (bool known = true; known;) {
         numbers[n] = part->verifier->random->below(&p->stream, p->total);
         known = false;
         for (uint32_t k = 0; k < n; k++)
            known |= numbers[k] == numbers[n];
      }
   p->lists[p->launch] = (rkb_machine_blocks_t){.numbers = numbers, .count = CHUNK};
   int status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK)
      status = sample_run_for_stores(part, &options, part->buffers, &part->machine, &report, err);
   *clean = status == RKB_OK && report.finding_count == 0;
   if (status == RKB_OK) {
      sample_spend(part, report.work);
      *clean &= !report.atomics_unfinished; /* blocks may draw their places */
   }
   if (*clean)
      take(p, part->machine, CHUNK);
   rkb_machine_close(part->machine);
   part->machine = NULL;
   sample_free_buffers(part, part->buffers);
   part->buffers = NULL;
   p->lists[p->launch] = (rkb_machine_blocks_t){.none = true};
   return status;
}

/* Whether blocks may have a place each. */
static bool has_places(const struct places *p) {
   return p->even && p->once && places_each(p) <= 1;
}

/* Whether no blocks are left that could write the far part, within one standard deviation. */
static bool is_divided(const struct places *p) {
   const double each = places_each(p), drawn = (double)p->executed;
   return p->total - p->part.plan->buffers[p->buffer].bytes / p->once <= 1 ||
          (double)p->wrote >= each * drawn - sqrt(drawn * each * (1 - each));
}

static void note(const struct places *p, uint64_t limit) {
   const struct sample *s = &p->part;
   const char *name = s->plan->buffers[p->buffer].name;
   outcome_note(s->outcome, RKB_MACHINE_SUSPECT, "output.unwritten",
                json_pack("{s:s, s:s, s:i, s:I}", "case", s->the_case->name, "buffer", name, "launch", (int)p->launch, "byte",
                          (json_int_t)limit),
                "launch %u at corner %s: of %u drawn blocks none writes to %s behind byte %llu, though blocks write as many bytes as there are",
                p->launch, s->the_case->name, p->executed, name, (unsigned long long)limit);
}

static int find_in(struct places *p, rkb_error_t *err) {
   bool clean = true;
   int status = RKB_OK;
   count_needed(p);
   while (is_open(p) && clean && status == RKB_OK && p->part.candidate->budget && (!p->executed || has_places(p)))
      status = run_chunk(p, &clean, err);
   const uint32_t found = unreached(p);
   if (status == RKB_OK && clean && has_places(p) && found < LIMITS && is_divided(p))
      note(p, limit_of(p, found));
   return status;
}

/* The only launch that writes the output; the number of launches where there are several. */
static uint32_t writer_of(const struct sample *s, uint32_t buffer) {
   uint32_t writer = s->plan->launch_count, count = 0;
   for (uint32_t n = 0; n < s->plan->launch_count; n++)
      if (sample_buffers_written(s, n) >> (buffer < 63 ? buffer : 63) & 1) {
         writer = n;
         count++;
      }
   return count == 1 ? writer : s->plan->launch_count;
}

int far_places_find(const struct sample *s, uint64_t told, rkb_random_t *stream, rkb_error_t *err) {
   const uint32_t launches = s->plan->launch_count;
   struct places p = {.part = *s, .stream = *stream, .lists = calloc(launches + 1, sizeof *p.lists)};
   int status = p.lists ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for far places");
   p.part.machine = NULL;
   p.part.buffers = NULL;
   for (uint32_t n = 0; n < launches && status == RKB_OK; n++)
      p.lists[n] = (rkb_machine_blocks_t){.none = true};
   for (uint32_t b = 0; b < s->plan->buffer_count && b < 63 && status == RKB_OK && s->outcome->rank == 0; b++) {
      const rkb_plan_buffer_t *buffer = &s->plan->buffers[b];
      const uint32_t writer = writer_of(s, b);
      if (buffer->role != RKB_OUT || buffer->fill != RKB_FILL_NONE || !buffer->elements || buffer->bytes < FAR_BYTES ||
          told >> b & 1 || writer == launches)
         continue;
      const uint32_t *grid = s->plan->launches[writer].grid;
      p.launch = writer;
      p.buffer = b;
      p.total = (uint64_t)grid[0] * grid[1] * grid[2];
      p.once = p.furthest = 0;
      p.executed = p.wrote = 0;
      p.even = true;
      if (p.total >= MOST_EXECUTED)
         status = find_in(&p, err);
   }
   free(p.lists);
   return status;
}
