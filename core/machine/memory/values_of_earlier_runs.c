/* Values that a run reads of the module's variables before it has written them: an earlier run left them
 * there.  If such a value reaches a result or the path, and a run leaves other values than it found, later launches may do other things than the
 * launches that were executed; a kernel can count its launches, for example.  Only runs with taint find such values.  On the machine's thread. */
#include "machine/decode/written_variables.h"
#include "machine/state/environment.h"

static uint64_t bitmap_bytes(const machine_region_t *region) {
   return (region->bytes / 4 / 64 + 1) * sizeof(uint64_t);
}

static void free_bits(const machine_region_t *region, uint64_t *bits) {
   rkb_machine_sparse_free(bits, bitmap_bytes(region));
}

void machine_kept_free(machine_region_t *region) {
   free_bits(region, region->renewed);
   free_bits(region, region->touched);
   free_bits(region, region->left);
   region->renewed = region->touched = region->left = NULL;
}

static bool make_bits(machine_run_t *run, const machine_region_t *region, uint64_t **bits) {
   if (!*bits)
      *bits = (uint64_t *)(void *)rkb_machine_sparse(bitmap_bytes(region), &run->huge_left);
   return *bits != NULL;
}

bool machine_kept_begin(machine_run_t *run) {
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++) {
      machine_region_t *region = &run->regions[n];
      if (region->constant)
         continue;
      free_bits(region, region->renewed);
      region->renewed = NULL;
      region->unfinished = region->added_to = false;
      if (!make_bits(run, region, &region->renewed) || !make_bits(run, region, &region->touched) ||
          !make_bits(run, region, &region->left))
         return false;
      region->has_past = run->options.past && machine_may_write(run->module, region->variable);
      for (uint64_t word = 0; run->runs && word < bitmap_bytes(region) / sizeof *region->left; word++)
         if (region->touched[word])
            region->left[word] |= region->touched[word];
   }
   return true;
}

void machine_kept_write(machine_region_t *region, uint64_t offset, uint64_t bytes, bool renews) {
   for (uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; word++) {
      const uint64_t bit = UINT64_C(1) << (word % 64);
      region->touched[word / 64] |= bit;
      if (renews)
         region->renewed[word / 64] |= bit;
   }
}

bool machine_is_kept(const machine_region_t *region, uint64_t offset, uint64_t bytes) {
   bool kept = false;
   for (uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; word++)
      kept |= ((region->has_past ? UINT64_MAX : region->left[word / 64]) & ~region->renewed[word / 64]) >>
                 (word % 64) &
              1;
   return kept;
}

uint64_t machine_kept_taint(machine_run_t *run, const machine_region_t *region, uint64_t offset,
                            uint64_t bytes) {
   if (!bytes || !machine_is_kept(region, offset, bytes))
      return 0;
   run->report.past_read = true;
   return UINT64_C(1) << TAINT_KEPT;
}

bool machine_is_open(const machine_region_t *region, uint64_t offset, uint64_t bytes) {
   bool open = region->unfinished && region->added_to;
   for (uint64_t word = offset / 4; region->unfinished && word <= (offset + bytes - 1) / 4; word++)
      open |= !(region->renewed[word / 64] >> (word % 64) & 1);
   return open;
}

void machine_kept_find(machine_run_t *run) {
   if (run->report.used_taint >> TAINT_KEPT & 1 && run->options.past)
      machine_find_launch(
         run, RKB_MACHINE_SUSPECT, "state.kept",
         "a result or the path depends on what a variable of the module holds before the launches, "
         "which an earlier launch of the plan may have left there");
   else if (run->report.used_taint >> TAINT_KEPT & 1)
      machine_find_launch(
         run, RKB_MACHINE_SUSPECT, "state.kept",
         "a result or the path depends on what an earlier launch of the plan left in a variable of the module, and "
         "each launch leaves something else there");
}
