/* A launch of which no executed block stores anything, though it stores when a check case is executed whole.  The missing results are in
 * scratch, so no output shows them.  One worker thread a candidate. */
#include "bench_values.h"

#define LEAST_IDLE 4u /* blocks that were executed or followed */

/* What whole runs showed the launch to write; 0: nothing, or no case had it. */
static uint64_t known_stores(const struct sample *s, uint32_t launch) {
   const struct outcome *outcome = s->outcome;
   for (uint32_t n = 0; n < outcome->stored_count; n++)
      if (outcome->stored[n].launch == shapes_launch_name(s->candidate, &s->plan->launches[launch]))
         return outcome->stored[n].buffers;
   return 0;
}

/* How many blocks of the launch came to their ends and stored nothing; 0: some block stored, or might have stored later, such as a block that ended because it
 * read a place without a value. */
static uint64_t idle_blocks(const struct sample *s, const rkb_launch_counters_t *c) {
   const struct followed *followed = s->followed ? &s->followed[c->launch] : NULL;
   rkb_machine_extent_t extent;
   if (rkb_machine_found(s->machine, c->launch) || (followed && followed->idle < followed->count))
      return 0;
   const uint32_t executed = sample_executed_places(s->plan, c);
   for (uint32_t place = 0; place < s->blocks.launches[c->launch].count && place < executed; place++)
      for (uint32_t n = 0; n < s->plan->buffer_count; n++)
         if (rkb_machine_extent(s->machine, c->launch, place, n, &extent))
            return 0;
   return c->executed + (followed ? followed->idle : 0);
}

void idle_launches_judge(const struct sample *s) {
   rkb_machine_report_t report;
   rkb_machine_report(s->machine, &report);
   for (uint32_t n = 0; report.sampled && n < report.launch_count && s->outcome->rank == 0; n++) {
      const rkb_launch_counters_t *c = &report.launches[n];
      const uint64_t idle = known_stores(s, c->launch) ? idle_blocks(s, c) : 0;
      const rkb_plan_launch_t *launch = &s->plan->launches[c->launch];
      if (idle >= LEAST_IDLE || (idle && idle == c->blocks))
         outcome_note(
            s->outcome, RKB_MACHINE_SUSPECT, "output.unwritten",
            json_pack("{s:s, s:i, s:i, s:I}", "case", s->the_case->name, "launch", (int)c->launch, "line",
                      (int)launch->line, "blocks", (json_int_t)idle),
            "in case %s none of %llu executed blocks of launch %.80s stores anything, which it does at the check cases",
            s->the_case->name, (unsigned long long)idle, launch->expression);
   }
}
