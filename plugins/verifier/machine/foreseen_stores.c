/* Which blocks of a sample will be executed, and which bytes they will store (foreseen_stores.h).
 *
 * The instructions that decide where blocks store take a small part of a product's time (stores_alone in core/machine/machine.h).  So the blocks are executed
 * with these alone.  How many blocks a sample executes depends on the instructions that they take.  Blocks of one kernel mostly take as many instructions for each
 * instruction that decides where they store.  The counted blocks, which were executed whole, show how many.  If the executed blocks then take much less
 * than the limit, the caller executes the sample in another way, so that a kernel with few costly blocks is not judged by fewer blocks than others. */
#include "foreseen_stores.h"

#include "machine/state/block_paths.h"

#include <stdlib.h>

/* Shares of JUDGED_INSTRUCTIONS: what the executed blocks take at least, where blocks were left out, and what the foreseen blocks should take, because what
 * they will take is an estimate. */
#define LEAST_SHARE 0.95
#define SAFE_SHARE 1.02
#define MOST_TIMES 2u /* JUDGED_INSTRUCTIONS, which the foreseen blocks may take */
/* One block in so many is executed beyond what the counted ones let expect, because another run would take longer. */
#define ONE_MORE_IN 8u
#define MOST_RUNS 3u /* until as many blocks are executed as are needed */

struct foreseen_stores {
   rkb_machine_t *machine;
   rkb_machine_blocks_t blocks;
   bool left_out; /* listed blocks that are not executed */
};

void foreseen_stores_free(struct foreseen_stores *stores) {
   if (stores)
      rkb_machine_close(stores->machine);
   free(stores);
}

const rkb_machine_t *foreseen_stores_machine(const struct foreseen_stores *stores) {
   return stores->machine;
}

uint32_t foreseen_stores_blocks(const struct foreseen_stores *stores) {
   return stores->blocks.count;
}

/* How many of the listed blocks take JUDGED_INSTRUCTIONS together.  stores: a run of the first of them; the others take as much as these on average. */
static uint32_t count_blocks(const struct sample *s, const struct foreseen_stores *stores,
                             const rkb_machine_report_t *counted) {
   const rkb_machine_blocks_t *judged = &s->blocks.judged[0];
   const uint64_t executed = counted->launches[0].executed;
   double deciding = 0, of_counted = 0, instructions = 0;
   uint32_t place = 0;
   for (; place < stores->blocks.count; place++) {
      const double own = (double)rkb_machine_block_instructions(stores->machine, 0, place);
      deciding += own;
      of_counted += place < executed ? own : 0;
   }
   if (of_counted == 0)
      return 0;
   const double others = deciding / stores->blocks.count;
   for (place = 0;
        place < judged->count && (place < judged->least || instructions <= SAFE_SHARE * JUDGED_INSTRUCTIONS);
        place++)
      instructions +=
         (place < stores->blocks.count ? (double)rkb_machine_block_instructions(stores->machine, 0, place)
                                       : others) /
         of_counted * (double)counted->thread_instructions;
   return place;
}

/* The same before any of them was executed. */
static uint32_t guess_blocks(const struct sample *s, const rkb_machine_report_t *counted) {
   const rkb_machine_blocks_t *judged = &s->blocks.judged[0];
   const uint64_t executed = counted->launches[0].executed;
   const double each = (double)counted->thread_instructions / (double)(executed ? executed : 1),
                needed = each > 0 ? JUDGED_INSTRUCTIONS / each + 1 : judged->count;
   const uint32_t expected = needed < judged->count ? (uint32_t)needed : judged->count,
                  count = expected < judged->least ? judged->least : expected, more = count / ONE_MORE_IN + 1;
   return more < judged->count - count ? count + more : judged->count;
}

/* Executes stores->blocks with the instructions that decide where they store.  *stores_all: they ended, and nothing was found. */
static int execute(const struct sample *s, const rkb_machine_options_t *options,
                   struct foreseen_stores *stores, bool *stores_all, rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   rkb_machine_report_t report;
   own.sample = &stores->blocks;
   own.sample_instructions = UINT64_MAX;
   own.stores_alone = own.stored_runs = true;
   rkb_machine_close(stores->machine);
   stores->machine = NULL;
   const int status = sample_run_once(s, &own, s->buffers, &stores->machine, &report, err);
   *stores_all = status == RKB_OK && !report.finding_count && report.launch_count == 1 &&
                 report.launches[0].executed == stores->blocks.count;
   return status == RKB_ERR_INVALID ? RKB_OK : status; /* more than parameters decides it */
}

/* Lets the machine forget the blocks from this place on.  False: it cannot, or they stored words that blocks before had stored. */
static bool forget(const struct sample *s, struct foreseen_stores *stores, uint32_t place) {
   rkb_machine_extent_t extent;
   bool again = false;
   for (uint32_t p = place; p < stores->blocks.count; p++)
      for (uint32_t b = 0; b < s->plan->buffer_count; b++)
         again |= rkb_machine_extent(stores->machine, 0, p, b, &extent) && extent.again;
   return !again && rkb_machine_forget_stores(stores->machine, 0, place);
}

int foreseen_stores_run(struct sample *s, const rkb_machine_options_t *options,
                        const rkb_machine_report_t *counted, struct foreseen_stores **stores,
                        rkb_error_t *err) {
   struct foreseen_stores *made = calloc(1, sizeof *made);
   bool stores_all = false;
   *stores = NULL;
   if (!made)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for what blocks will store");
   made->blocks = s->blocks.judged[0];
   made->blocks.count = guess_blocks(s, counted);
   bool right = false;
   int status = RKB_OK;
   for (uint32_t n = 0; status == RKB_OK && made->blocks.count && !right && n < MOST_RUNS; n++) {
      status = execute(s, options, made, &stores_all, err);
      if (status != RKB_OK || !stores_all)
         break;
      const uint32_t needed = count_blocks(s, made, counted);
      right = needed == made->blocks.count || (needed < made->blocks.count && forget(s, made, needed));
      made->blocks.count = needed;
   }
   made->left_out = made->blocks.count < s->blocks.judged[0].count;
   if (status == RKB_OK && right)
      *stores = made;
   else
      foreseen_stores_free(made);
   return status;
}

void foreseen_stores_put(const struct foreseen_stores *stores, rkb_machine_options_t *options) {
   options->sample = &stores->blocks;
   options->sample_instructions = MOST_TIMES * (uint64_t)JUDGED_INSTRUCTIONS;
}

static bool same(const rkb_machine_extent_t *a, const rkb_machine_extent_t *b) {
   return a->low == b->low && a->high == b->high && a->words == b->words && a->bytes == b->bytes &&
          a->once == b->once && a->again == b->again;
}

bool foreseen_stores_hold(const struct foreseen_stores *stores, const struct sample *s,
                          const rkb_machine_report_t *report) {
   bool hold =
      report->launch_count == 1 && report->launches[0].executed == stores->blocks.count &&
      (!stores->left_out || (double)report->thread_instructions >= LEAST_SHARE * (double)JUDGED_INSTRUCTIONS);
   for (uint32_t place = 0; hold && place < stores->blocks.count; place++)
      for (uint32_t b = 0; hold && b < s->plan->buffer_count; b++) {
         rkb_machine_extent_t foreseen = {0}, stored = {0};
         const bool any = rkb_machine_extent(stores->machine, 0, place, b, &foreseen);
         hold =
            rkb_machine_extent(s->machine, 0, place, b, &stored) == any && (!any || same(&foreseen, &stored));
      }
   return hold;
}

void foreseen_stores_keep(const struct foreseen_stores *stores, struct sample *s) {
   if (s->blocks.judged[0].least < stores->blocks.count)
      s->blocks.judged[0].least = stores->blocks.count;
}
