/* The sets of buffers of joint runs: their memory, what they have in common, and repeating on the other sets
 * a block that was executed on the first set (lanes/replay_steps.c).  On the machine's thread. */
#include "machine/execute/joint_sets.h"

#include <stdlib.h>

static uint32_t buffer_count(const machine_run_t *run) {
   return run->plan->buffer_count;
}

static size_t place_of(const machine_run_t *run, uint32_t set, uint32_t buffer) {
   return (size_t)set * buffer_count(run) + buffer;
}

void machine_sets_use(machine_run_t *run, uint32_t set) {
   const struct machine_together *all = run->together;
   for (uint32_t n = 0; n < buffer_count(run); n++) {
      run->regions[n].data = all->data[place_of(run, set, n)];
      run->regions[n].shadow = all->shadow[place_of(run, set, n)];
   }
}

static size_t shadow_bytes(const machine_region_t *region) {
   return (region->bytes / 4 + 1) * sizeof *region->shadow;
}

/* Memory ------------------------------------------------------------------------------------------------------------- */

static void release_set(machine_run_t *run, uint32_t set) {
   struct machine_together *all = run->together;
   for (uint32_t n = 0; n < buffer_count(run); n++) {
      const machine_region_t *region = &run->regions[n];
      if (set > 0)
         machine_release(run, all->shadow[place_of(run, set, n)], shadow_bytes(region));
      machine_release(run, all->kept_data[place_of(run, set, n)], region->bytes + 1);
      machine_release(run, all->kept_shadow[place_of(run, set, n)], shadow_bytes(region));
   }
}

void machine_together_free(machine_run_t *run) {
   struct machine_together *all = run->together;
   if (!all)
      return;
   for (uint32_t n = 0; all->begun && n < buffer_count(run); n++)
      run->regions[n].shadow = all->shadow[n];
   for (uint32_t set = 0; all->shadow && all->kept_data && all->kept_shadow && set < all->count; set++)
      release_set(run, set);
   for (uint32_t n = 0; all->before && all->after && n < buffer_count(run); n++) {
      machine_release(run, all->before[n], run->regions[n].bytes + 1);
      machine_release(run, all->after[n], run->regions[n].bytes + 1);
   }
   for (uint32_t n = buffer_count(run); all->variables && n < run->region_count; n++)
      machine_release(run, all->variables[n], run->regions[n].bytes + 1);
   machine_record_free(all->record);
   free(all->data);
   free(all->shadow);
   free(all->executed);
   free(all->burden);
   free(all->before);
   free(all->after);
   free(all->kept_data);
   free(all->kept_shadow);
   free(all->variables);
   free(all);
   run->together = NULL;
}

static bool make_lists(machine_run_t *run, uint32_t count) {
   const size_t buffers = buffer_count(run);
   struct machine_together *all = run->together = calloc(1, sizeof *all);
   if (!all)
      return false;
   all->count = count;
   all->careful = !run->steering_known;
   all->data = calloc(count * buffers + 1, sizeof *all->data);
   all->shadow = calloc(count * buffers + 1, sizeof *all->shadow);
   all->kept_data = calloc(count * buffers + 1, sizeof *all->kept_data);
   all->kept_shadow = calloc(count * buffers + 1, sizeof *all->kept_shadow);
   all->executed = calloc(count, sizeof *all->executed);
   all->burden = calloc(count, sizeof *all->burden);
   all->before = calloc(buffers + 1, sizeof *all->before);
   all->after = calloc(buffers + 1, sizeof *all->after);
   all->variables = calloc(run->region_count + 1, sizeof *all->variables);
   all->record = calloc(1, sizeof *all->record);
   return all->data && all->shadow && all->kept_data && all->kept_shadow && all->executed && all->burden &&
          all->before && all->after && all->variables && all->record;
}

static bool make_set(machine_run_t *run, uint32_t set, const rkb_machine_buffer_t *buffers) {
   struct machine_together *all = run->together;
   bool made = true;
   for (uint32_t n = 0; made && n < buffer_count(run); n++) {
      const machine_region_t *region = &run->regions[n];
      const size_t place = place_of(run, set, n);
      all->data[place] = buffers[n].data;
      if (set == 0 || !region->defined)
         continue;
      made = !run->shadow || (all->shadow[place] = machine_alloc(run, shadow_bytes(region))) != NULL;
      if (made && all->careful)
         made =
            (all->kept_data[place] = machine_alloc(run, region->bytes + 1)) != NULL &&
            (!run->shadow || (all->kept_shadow[place] = machine_alloc(run, shadow_bytes(region))) != NULL);
   }
   return made;
}

bool machine_sets_make(machine_run_t *run, const rkb_machine_buffer_t *const *sets, uint32_t count) {
   struct machine_together *all;
   bool made = make_lists(run, count);
   all = run->together;
   for (uint32_t set = 0; made && set < count; set++)
      made = make_set(run, set, sets[set]);
   for (uint32_t n = 0; made && n < buffer_count(run); n++)
      made = !run->regions[n].defined ||
             ((all->before[n] = machine_alloc(run, run->regions[n].bytes + 1)) != NULL &&
              (all->after[n] = machine_alloc(run, run->regions[n].bytes + 1)) != NULL);
   for (uint32_t n = buffer_count(run); made && n < run->region_count; n++) {
      made = (all->variables[n] = machine_alloc(run, run->regions[n].bytes + 1)) != NULL;
      if (made)
         memcpy(all->variables[n], run->regions[n].data, run->regions[n].bytes);
   }
   return made;
}

/* What sets have in common ----------------------------------------------------------------------------------------------- */

void machine_sets_copy_definedness(machine_run_t *run, uint8_t **to) {
   for (uint32_t n = 0; n < buffer_count(run); n++)
      if (run->regions[n].defined)
         memcpy(to[n], run->regions[n].defined, run->regions[n].bytes);
}

void machine_sets_restore_definedness(machine_run_t *run, uint8_t **from) {
   for (uint32_t n = 0; n < buffer_count(run); n++)
      if (run->regions[n].defined)
         memcpy(run->regions[n].defined, from[n], run->regions[n].bytes);
}

bool machine_sets_same_definedness(const machine_run_t *run, uint8_t **as) {
   bool same = true;
   for (uint32_t n = 0; n < buffer_count(run); n++)
      same &= !run->regions[n].defined || memcmp(as[n], run->regions[n].defined, run->regions[n].bytes) == 0;
   return same;
}

/* A variable that a kernel changes carries a value from launch to launch and from run to run, so the sets may
 * no longer run jointly. */
bool machine_sets_same_variables(const machine_run_t *run) {
   bool same = true;
   for (uint32_t n = buffer_count(run); n < run->region_count; n++)
      same &= memcmp(run->together->variables[n], run->regions[n].data, run->regions[n].bytes) == 0;
   return same;
}

void machine_sets_restore_variables(machine_run_t *run) {
   for (uint32_t n = buffer_count(run); n < run->region_count; n++)
      memcpy(run->regions[n].data, run->together->variables[n], run->regions[n].bytes);
}

/* Copies the other sets' buffers before the launch, or restores them from the copies. */
void machine_sets_keep(machine_run_t *run, bool restore) {
   struct machine_together *all = run->together;
   for (uint32_t set = 1; set < all->count; set++)
      for (uint32_t n = 0; n < buffer_count(run); n++) {
         const machine_region_t *region = &run->regions[n];
         const size_t place = place_of(run, set, n);
         if (!region->defined)
            continue;
         memcpy(restore ? all->data[place] : all->kept_data[place],
                restore ? all->kept_data[place] : all->data[place], region->bytes);
         if (!run->shadow)
            continue;
         memcpy(restore ? all->shadow[place] : all->kept_shadow[place],
                restore ? all->kept_shadow[place] : all->shadow[place], shadow_bytes(region));
      }
}

void machine_sets_begin(machine_run_t *run) {
   struct machine_together *all = run->together;
   all->begun = true;
   for (uint32_t n = 0; n < buffer_count(run); n++) {
      const size_t words = run->regions[n].bytes / 4 + 1;
      all->shadow[n] = run->regions[n].shadow;
      for (uint32_t set = 1; run->shadow && run->regions[n].defined && set < all->count; set++)
         for (size_t w = 0; w < words; w++)
            all->shadow[place_of(run, set, n)][w] = machine_no_shadow();
   }
}

static bool steered(const machine_run_t *run) {
   /* The report holds only the taint of this launch. */
   return (run->report.control_taint | run->report.address_taint) != 0;
}

void machine_follow(machine_launch_t *launch, uint64_t linear) {
   machine_run_t *run = launch->run;
   machine_record_t *record = run->record;
   const uint64_t executed = run->work.executed, burden = run->work.burden;
   if (run->stop || run->finding_count || steered(run) || record->refused) {
      /* From here on this launch is executed on every set, or joint execution ends. */
      record->refused = true;
      return;
   }
   for (uint32_t set = 1; set < run->together->count; set++) {
      machine_sets_use(run, set);
      if (record->full) {
         run->record = NULL;
         machine_block_run(launch, linear);
         run->record = record;
      } else if (run->isa) {
         machine_replay_v3(record, &run->block);
      } else {
         machine_replay_portable(record, &run->block);
      }
   }
   machine_sets_use(run, 0);
   run->work.executed = executed;
   run->work.burden = burden;
}
