/* Foresees that the blocks of a launch would take too many times the run's budget.  The first blocks tell when it is time to look.  They do not decide,
 * because an author could let them waste work to have a shape left out.  Drawn blocks of the whole grid decide: they are executed before their turn,
 * which a device may do too.  If the middle one of them took little, the run goes on until its budget is used up.  On the machine's thread. */
#include "machine/execute/foreseen_work.h"
#include "machine/state/mixed_numbers.h"

#define FIRST_BLOCKS 5u /* that tell when it is time */
/* The part of the budget that the first and the drawn blocks should take together, if all take as much. */
#define TOLD_PART 8u

static double times_budget(const machine_run_t *run, const machine_foresight_t *foresight, double each, uint64_t executed, uint64_t all) {
   const double left = (double)run->work.budget - (double)foresight->worked,
                spent = (double)(run->work.executed + run->work.burden - foresight->worked);
   return (spent + each * (double)(all - executed)) / left;
}

static uint64_t mixed(uint64_t number) {
   return machine_mixed(number + 0x9e3779b97f4a7c15ull);
}

bool machine_foresight_draw(const machine_run_t *run, machine_foresight_t *foresight, uint64_t executed, uint64_t n, uint64_t all) {
   const uint64_t budget = run->work.budget, spent = run->work.executed + run->work.burden - foresight->worked;
   if (!run->options.foresee || foresight->done || run->stop || executed < FIRST_BLOCKS || all - n - 1 < 2 * FORESEEN_DRAWN ||
       foresight->worked >= budget || spent < budget / TOLD_PART * FIRST_BLOCKS / (FIRST_BLOCKS + FORESEEN_DRAWN) ||
       times_budget(run, foresight, (double)spent / (double)executed, executed, all) <= (double)run->options.foresee)
      return false;
   for (uint32_t k = 0, turn = 0; k < FORESEEN_DRAWN; turn++) {
      const uint64_t place = n + 1 + mixed(run->options.foresee_seed ^ mixed((uint64_t)run->launch->number << 32 | turn)) % (all - n - 1);
      bool known = false;
      for (uint32_t other = 0; other < k; other++)
         known |= foresight->drawn[other] == place;
      if (!known)
         foresight->drawn[k++] = place;
   }
   foresight->done = true;
   return true;
}

static uint64_t middle_of(const uint64_t work[FORESEEN_DRAWN]) {
   const uint64_t low = work[0] < work[1] ? work[0] : work[1], high = work[0] < work[1] ? work[1] : work[0];
   return work[2] < low ? low : work[2] > high ? high : work[2];
}

void machine_foresight_judge(machine_run_t *run, const machine_foresight_t *foresight, uint64_t executed, uint64_t all) {
   const uint64_t each = middle_of(foresight->work), left = run->work.budget - foresight->worked;
   if (times_budget(run, foresight, (double)each, executed, all) <= (double)run->options.foresee)
      return;
   machine_find_launch(run, RKB_MACHINE_UNKNOWN, "limit.budget",
                       "%llu of %llu blocks tell that all of them take more than %u times the budget of %llu thread-instructions, or of work that costs as much",
                       (unsigned long long)executed, (unsigned long long)all, run->options.foresee, (unsigned long long)left);
   run->stop = true;
}

bool machine_foresight_failed(const machine_run_t *run, const machine_foresight_t *foresight, uint64_t all) {
   return foresight->done && run->stop && run->work.executed + run->work.burden >= run->work.budget &&
          (double)middle_of(foresight->work) * (double)all <
             (double)run->work.budget - (double)foresight->worked;
}
