/* Executes one launch on every set of buffers: on the first set with all checks.  For the other sets it repeats the record or executes the launch
 * again.  On the machine's thread. */
#include "machine/execute/joint_sets.h"

bool machine_may_follow(const machine_run_t *run, uint32_t launch) {
   return !run->deciding[launch] && !run->apart[launch] && machine_recordable(run->programs[launch]);
}

/* Executes the launch on one of the other sets.  A finding there is not kept and ends the joint run. */
static bool run_apart(machine_run_t *run, uint32_t launch, uint32_t set) {
   struct machine_together *all = run->together;
   const uint64_t executed = run->work.executed, burden = run->work.burden;
   machine_sets_use(run, set);
   machine_sets_restore_definedness(run, all->before);
   bool good = machine_launch_run(run, launch) && !run->finding_count &&
               machine_sets_same_definedness(run, all->after);
   if (!machine_sets_same_variables(run)) {
      machine_sets_restore_variables(run);
      good = false;
   }
   all->executed[set] += run->work.executed - executed;
   all->burden[set] += run->work.burden - burden;
   run->work.executed = executed;
   run->work.burden = burden;
   run->finding_count = 0;
   run->stop = run->out_of_memory = false;
   return good;
}

static bool follow_apart(machine_run_t *run, uint32_t launch) {
   struct machine_together *all = run->together;
   bool good = true;
   machine_sets_copy_definedness(run, all->after);
   for (uint32_t set = 1; set < all->count && good; set++)
      good = run_apart(run, launch, set);
   machine_sets_use(run, 0);
   machine_sets_restore_definedness(run, all->after);
   return good;
}

bool machine_launch_run_together(machine_run_t *run, uint32_t number) {
   struct machine_together *all = run->together;
   const uint64_t executed = run->work.executed, burden = run->work.burden;
   if (!all->active || !all->following)
      return machine_launch_run(run, number);
   const bool careful = all->careful;
   if (!all->begun)
      machine_sets_begin(run);
   const bool recorded =
      machine_may_follow(run, number) && machine_record_begin(all->record, run->programs[number]);
   machine_sets_copy_definedness(run, all->before);
   if (recorded && careful)
      machine_sets_keep(run, false);
   all->record->refused = false;
   run->record = recorded ? all->record : NULL;
   const bool done = machine_launch_run(run, number);
   run->record = NULL;
   run->apart[number] |= recorded && all->record->refused;
   all->following = done && !run->finding_count && machine_sets_same_variables(run) &&
                    (careful || !recorded || !all->record->refused);
   for (uint32_t set = 0; set < all->count; set++) {
      all->executed[set] += recorded || set == 0 ? run->work.executed - executed : 0;
      all->burden[set] += recorded || set == 0 ? run->work.burden - burden : 0;
   }
   if (all->following && (!recorded || all->record->refused)) {
      if (recorded)
         machine_sets_keep(run, true);
      for (uint32_t set = 1; recorded && set < all->count; set++) {
         all->executed[set] -= run->work.executed - executed;
         all->burden[set] -= run->work.burden - burden;
      }
      all->following = follow_apart(run, number);
   }
   return done;
}
