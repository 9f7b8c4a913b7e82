/* Several runs of a plan at once.  A launch whose control and addresses depend on no input does the same, at
 * the same places, on every input.  The machine executes it with all checks on the first set of buffers,
 * block by block.  After each block it repeats, on the other sets, what the block did to the values that inputs reach (recording.c,
 * lanes/replay_steps.c).  The path also decides definedness; the recorder refuses the exceptions.  Launches whose control or addresses depend on
 * an input, or whose threads may see each other's progress, are executed on every set.  docs/decisions/runs-together.md has the argument.  On the
 * thread of its machine, which owns everything here. */
#include "machine/execute/joint_sets.h"

/* Constants filled from buffers exist once for all sets, and sparse variables are not compared from launch to
 * launch, so plans with either are not run jointly. */
static bool is_of_the_kind(const machine_run_t *run) {
   bool any = false;
   for (uint32_t n = 0; n < run->plan->launch_count; n++)
      any |= machine_may_follow(run, n);
   return any && run->taint && !run->watch && run->plan->constant_count == 0 && !machine_has_sparse(run) &&
          !run->options.fetch && !run->options.sample && !run->options.counts_only && !run->options.requests;
}

int rkb_machine_run_together(rkb_machine_t *machine, const rkb_machine_buffer_t *const *sets, uint32_t count,
                             bool *followed, rkb_error_t *err) {
   machine_run_t *run = &machine->run;
   *followed = false;
   machine_together_free(run);
   if (run->module->error_line || count < 2 || !is_of_the_kind(run) || !machine_sets_make(run, sets, count)) {
      machine_together_free(run);
      return rkb_machine_run(machine, sets[0], err);
   }
   run->together->active = run->together->following = true;
   const int status = rkb_machine_run(machine, sets[0], err);
   run->together->active = false;
   *followed = status == RKB_OK && run->report.complete && run->together->following;
   if (!*followed)
      machine_together_free(run);
   return status;
}

uint64_t rkb_machine_take(rkb_machine_t *machine, uint32_t set, uint64_t *work) {
   const struct machine_together *all = machine->run.together;
   machine_sets_use(&machine->run, set);
   *work = all->executed[set] + all->burden[set];
   return all->executed[set];
}
