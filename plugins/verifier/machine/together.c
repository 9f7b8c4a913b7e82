/* Several runs of a plan at once.  A launch whose control and addresses depend on no input does the same, at the same places, on
 * every input: it is executed with all checks on the first set of buffers, block by block, and after each block the other sets
 * repeat what it did to the values that inputs reach (record.c, lanes/replay.c).  Definedness follows the path too, but for what
 * the recorder refuses.  Launches that an input steers, or whose threads may see each other's progress, are executed on every
 * set.  docs/decisions/runs-together.md has the argument.  Runs on the thread of its machine, which owns everything here. */
#include "record.h"

#include <stdlib.h>

struct machine_together {
   uint32_t count;
   uint8_t **data;     /* by set, by buffer: the caller's */
   double **shadow;    /* the same; those of the first set are the regions' own */
   uint64_t *executed; /* by set: thread-instructions */
   uint8_t **before, **after; /* by buffer: definedness around a launch that every set executes */
   machine_record_t *record;
};

static uint32_t buffer_count(const machine_run_t *run) {
   return run->plan->buffer_count;
}

static void use_set(machine_run_t *run, uint32_t set) {
   const struct machine_together *all = run->together;
   for (uint32_t n = 0; n < buffer_count(run); n++) {
      run->regions[n].data = all->data[(size_t)set * buffer_count(run) + n];
      run->regions[n].shadow = all->shadow[(size_t)set * buffer_count(run) + n];
   }
}

static size_t shadow_bytes(const machine_region_t *region) {
   return (region->bytes / 4 + 1) * sizeof *region->shadow;
}

void machine_together_free(machine_run_t *run) {
   struct machine_together *all = run->together;
   if (!all)
      return;
   for (uint32_t n = 0; all->shadow && n < buffer_count(run); n++)
      run->regions[n].shadow = all->shadow[n];
   for (uint32_t set = 1; all->shadow && set < all->count; set++)
      for (uint32_t n = 0; n < buffer_count(run); n++)
         machine_release(run, all->shadow[(size_t)set * buffer_count(run) + n],
                         shadow_bytes(&run->regions[n]));
   for (uint32_t n = 0; n < buffer_count(run); n++) {
      if (all->before)
         machine_release(run, all->before[n], run->regions[n].bytes + 1);
      if (all->after)
         machine_release(run, all->after[n], run->regions[n].bytes + 1);
   }
   machine_record_free(all->record);
   free(all->data);
   free(all->shadow);
   free(all->executed);
   free(all->before);
   free(all->after);
   free(all);
   run->together = NULL;
}

/* Whether a launch may be recorded, by the run with taint before. */
static bool may_follow(const machine_run_t *run, uint32_t launch) {
   return !run->deciding[launch] && machine_recordable(run->programs[launch]);
}

/* Variables and constants of the module are one for all sets; a plan that could carry values in them is run set by set. */
static bool is_of_the_kind(const machine_run_t *run) {
   bool any = false;
   for (uint32_t n = buffer_count(run); n < run->region_count; n++)
      if (!run->regions[n].constant)
         return false;
   for (uint32_t n = 0; n < run->plan->launch_count; n++)
      any |= may_follow(run, n);
   return any && run->runs && !run->watch && run->plan->constant_count == 0 && !run->options.fetch &&
          !run->options.sample && !run->options.counts_only && !run->options.requests;
}

static bool make_sets(machine_run_t *run, const rkb_machine_buffer_t *const *sets, uint32_t count) {
   const size_t buffers = buffer_count(run);
   struct machine_together *all = run->together = calloc(1, sizeof *all);
   if (!all)
      return false;
   all->count = count;
   all->data = calloc(count * buffers + 1, sizeof *all->data);
   all->shadow = calloc(count * buffers + 1, sizeof *all->shadow);
   all->executed = calloc(count, sizeof *all->executed);
   all->before = calloc(buffers + 1, sizeof *all->before);
   all->after = calloc(buffers + 1, sizeof *all->after);
   all->record = calloc(1, sizeof *all->record);
   bool made = all->data && all->shadow && all->executed && all->before && all->after && all->record;
   for (size_t n = 0; made && all->shadow && n < buffers; n++) /* first: what is freed then is known */
      all->shadow[n] = run->regions[n].shadow;
   for (size_t n = 0; made && n < buffers; n++) {
      machine_region_t *region = &run->regions[n];
      for (uint32_t set = 0; set < count; set++)
         all->data[set * buffers + n] = sets[set][n].data;
      if (!region->defined)
         continue;
      made = (all->before[n] = machine_alloc(run, region->bytes + 1)) != NULL &&
             (all->after[n] = machine_alloc(run, region->bytes + 1)) != NULL;
      for (uint32_t set = 1; made && set < count; set++)
         made = (all->shadow[set * buffers + n] = machine_alloc(run, shadow_bytes(region))) != NULL;
   }
   return made;
}

static void clear_shadows(machine_run_t *run) {
   const struct machine_together *all = run->together;
   for (uint32_t n = 0; n < buffer_count(run); n++) {
      const size_t words = run->regions[n].bytes / 4 + 1;
      all->shadow[n] = run->regions[n].shadow;
      for (uint32_t set = 1; run->regions[n].defined && set < all->count; set++)
         for (size_t w = 0; w < words; w++)
            all->shadow[(size_t)set * buffer_count(run) + n][w] = machine_no_shadow();
   }
}

static void copy_definedness(machine_run_t *run, uint8_t **to) {
   for (uint32_t n = 0; n < buffer_count(run); n++)
      if (run->regions[n].defined)
         memcpy(to[n], run->regions[n].defined, run->regions[n].bytes);
}

static void restore_definedness(machine_run_t *run, uint8_t **from) {
   for (uint32_t n = 0; n < buffer_count(run); n++)
      if (run->regions[n].defined)
         memcpy(run->regions[n].defined, from[n], run->regions[n].bytes);
}

static bool same_definedness(const machine_run_t *run, uint8_t **as) {
   bool same = true;
   for (uint32_t n = 0; n < buffer_count(run); n++)
      same &= !run->regions[n].defined ||
              memcmp(as[n], run->regions[n].defined, run->regions[n].bytes) == 0;
   return same;
}

void machine_follow(machine_launch_t *launch, uint64_t linear) {
   machine_run_t *run = launch->run;
   machine_record_t *record = run->record;
   const uint64_t executed = run->executed;
   if (run->stop || run->finding_count)
      return;
   for (uint32_t set = 1; set < run->together->count && !run->stop; set++) {
      use_set(run, set);
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
   use_set(run, 0);
   run->executed = executed;
}

static bool clean(const machine_run_t *run) {
   return !run->stop && !run->finding_count && !run->out_of_memory;
}

static bool run_recorded(rkb_machine_t *machine, uint32_t launch) {
   machine_run_t *run = &machine->run;
   struct machine_together *all = run->together;
   const uint64_t executed = run->executed;
   rkb_machine_set_checks(machine, RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT);
   if (!machine_record_begin(all->record, run->programs[launch]))
      return false;
   run->record = all->record;
   const bool done = machine_launch_run(run, launch);
   run->record = NULL;
   for (uint32_t set = 0; set < all->count; set++)
      all->executed[set] += run->executed - executed;
   return done && clean(run) && !run->deciding[launch];
}

/* What one set leaves undefined and another does not would make later launches differ: each is then run by itself. */
static bool run_apart(rkb_machine_t *machine, uint32_t launch) {
   machine_run_t *run = &machine->run;
   struct machine_together *all = run->together;
   bool good = true;
   rkb_machine_set_checks(machine, (run->deciding[launch] ? RKB_MACHINE_RACES : 0) | RKB_MACHINE_SHADOW |
                                      RKB_MACHINE_TAINT);
   copy_definedness(run, all->before);
   for (uint32_t set = 0; set < all->count && good; set++) {
      const uint64_t executed = run->executed;
      use_set(run, set);
      if (set > 0)
         restore_definedness(run, all->before);
      good = machine_launch_run(run, launch) && clean(run);
      if (set == 0)
         copy_definedness(run, all->after);
      else
         good = good && same_definedness(run, all->after);
      all->executed[set] += run->executed - executed;
   }
   use_set(run, 0);
   return good;
}

/* Copies of the definedness of buffers, or NULL; freed by free_copies. */
static uint8_t **copies_of_definedness(machine_run_t *run) {
   uint8_t **copies = calloc(buffer_count(run) + 1, sizeof *copies);
   bool made = copies != NULL;
   for (uint32_t n = 0; made && n < buffer_count(run); n++)
      made = !run->regions[n].defined || (copies[n] = malloc(run->regions[n].bytes + 1)) != NULL;
   if (made)
      copy_definedness(run, copies);
   for (uint32_t n = 0; copies && !made && n < buffer_count(run); n++)
      free(copies[n]);
   if (!made)
      free(copies);
   return made ? copies : NULL;
}

static bool run_launches(rkb_machine_t *machine, const rkb_machine_buffer_t *first) {
   machine_run_t *run = &machine->run;
   rkb_machine_set_checks(machine, RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT);
   bool good = machine_run_begin(run, first);
   if (good)
      clear_shadows(run);
   for (uint32_t n = 0; good && n < run->plan->launch_count; n++)
      good = may_follow(run, n) ? run_recorded(machine, n) : run_apart(machine, n);
   return good;
}

bool rkb_machine_run_together(rkb_machine_t *machine, const rkb_machine_buffer_t *const *sets,
                              uint32_t count) {
   machine_run_t *run = &machine->run;
   machine_together_free(run);
   if (count == 0 || !is_of_the_kind(run))
      return false;
   uint8_t **before = copies_of_definedness(run);
   const bool good = before && make_sets(run, sets, count) && run_launches(machine, sets[0]);
   if (good) {
      run->runs++;
      run->report.complete = true;
   } else { /* leaves no trace */
      machine_together_free(run);
      if (before)
         restore_definedness(run, before);
      run->finding_count = run->kept_count = 0;
      run->stop = run->out_of_memory = false;
   }
   for (uint32_t n = 0; before && n < buffer_count(run); n++)
      free(before[n]);
   free(before);
   return good;
}

uint64_t rkb_machine_take(rkb_machine_t *machine, uint32_t set) {
   use_set(&machine->run, set);
   return machine->run.together->executed[set];
}
