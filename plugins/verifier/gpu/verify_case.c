/* One case on the device: families, placements, repetition.  Values are made once for a family; both placements and their
 * scratch stay while the families change, so a plan that remembers is run on values it has not seen. */
#include "gpu.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void found_set(struct found *found, const char *reason, json_t *evidence, const char *fmt, ...) {
   va_list ap;
   json_decref(found->evidence);
   *found = (struct found){.evidence = evidence};
   snprintf(found->reason, sizeof found->reason, "%s", reason);
   va_start(ap, fmt);
   vsnprintf(found->message, sizeof found->message, fmt, ap);
   va_end(ap);
}

/* Puts into words what the driver or the canary reports of a run. */
static void explain_outcome(const rkb_run_outcome_t *o, const rkb_plan_t *plan, const rkb_case_t *c,
                            const rkb_family_t *family, uint64_t seed, uint32_t placement,
                            struct found *found) {
   const char *where = placement == RKB_GUARD_HIGH ? "with each buffer ending at an unmapped page"
                                                   : "with each buffer starting behind an unmapped page";
   json_t *evidence = json_pack("{s:s, s:s, s:I, s:s}", "case", c->name, "family", family->name, "seed",
                                (json_int_t)seed, "placement", where);
   if (o->outcome == RKB_RAN_TOO_LONG) {
      found_set(found, "sync.deadlock", evidence, "the plan still ran at the deadline on case %s", c->name);
   } else if (o->outcome == RKB_RAN_OVER_CANARY) {
      const char *name = plan->buffers[o->buffer].name;
      json_object_set_new(evidence, "buffer", json_string(name));
      found_set(found, "memory.out_of_bounds", evidence,
                "bytes %s %s were overwritten, %llu bytes from its edge, on case %s",
                o->before ? "before" : "behind", name, (unsigned long long)o->distance, c->name);
   } else {
      const char *reason = strstr(o->error_name, "MISALIGNED") ? "memory.misaligned" : "memory.out_of_bounds";
      json_object_set_new(evidence, "driver_error", json_string(o->error_name));
      found_set(found, reason, evidence, "%s on case %s, %s", o->error_name, c->name, where);
   }
}

static int load(const struct gpu *me, struct candidate *candidate, struct found *found, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   if (candidate->module_loaded)
      return RKB_OK;
   int status = me->device->module(candidate->session, 0, candidate->build->cubin,
                                   candidate->build->cubin_bytes, &finding, err);
   if (status == RKB_OK && finding.reason[0])
      found_set(found, finding.reason, NULL, "%s", finding.message);
   candidate->module_loaded = status == RKB_OK && !finding.reason[0];
   return status;
}

static int open_instances(const struct gpu *me, struct candidate *candidate, const rkb_plan_t *plan,
                          struct found *found, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   int status = load(me, candidate, found, err);
   for (uint32_t placement = RKB_GUARD_LOW;
        placement <= RKB_GUARD_HIGH && status == RKB_OK && !found->reason[0]; placement++) {
      status = me->device->instance(candidate->session, placement, 0, placement, plan, &finding, err);
      if (status == RKB_OK && finding.reason[0])
         found_set(found, finding.reason, NULL, "%s", finding.message);
   }
   return status;
}

/* One placement, which is also its instance's number: run on a first set of values, judge; run on a second set without
 * reloading anything, judge again. */
static int verify_placement(const struct gpu *me, struct candidate *candidate, const rkb_plan_t *plan,
                            struct trial *trials, uint32_t count, struct values *values, uint32_t placement,
                            bool first_family, struct found *found, struct tally *tally, rkb_error_t *err) {
   rkb_run_outcome_t outcome = {0};
   bool last = placement == RKB_GUARD_HIGH && first_family;
   int status = RKB_OK;
   for (uint32_t set = 0; set < 2 && status == RKB_OK && (!found->reason[0] || found->suspect); set++) {
      stopwatch_turn(&candidate->watch, PHASE_RUN);
      status = me->device->run(candidate->session, placement, set, (uint32_t)(me->config->deadline / 1000000),
                               &outcome, err);
      if (status != RKB_OK)
         return status;
      tally->runs++;
      if (outcome.outcome != RKB_RAN_WELL) {
         explain_outcome(&outcome, plan, values[set].the_case, values[set].family, values[set].seed,
                         placement, found);
         return RKB_OK; /* after a fault the worker is gone, and with it the instance */
      }
      stopwatch_turn(&candidate->watch, PHASE_EXPECT);
      status = trials_expect(me, trials, count, err);
      stopwatch_turn(&candidate->watch, PHASE_COMPARE);
      if (status == RKB_OK)
         status = outputs_judge(me, candidate, &values[set], placement, found, tally, err);
      if (status == RKB_OK && !found->reason[0] && first_family && values[set].the_case->kind == RKB_CASE_BENCH)
         status = whole_outputs_compare(me, candidate, &values[set], placement, set, found, tally, err);
   }
   if (status == RKB_OK && !found->reason[0] && last)
      status = outputs_repeat(me, candidate, &values[1], placement, 1, &outcome, tally, err);
   if (status == RKB_OK && !found->reason[0] && outcome.outcome != RKB_RAN_WELL)
      explain_outcome(&outcome, plan, values[1].the_case, values[1].family, values[1].seed, placement, found);
   return status;
}

static int verify_family(const struct gpu *me, struct candidate *candidate, const rkb_plan_t *plan,
                         struct trial *trials, uint32_t count, uint32_t n, uint32_t family,
                         struct found *found, struct tally *tally, rkb_error_t *err) {
   struct values *values = trials[n].values[family];
   rkb_error_t ignored;
   stopwatch_turn(&candidate->watch, PHASE_STAGE);
   int status = values_stage(me, candidate, values, err);
   for (uint32_t placement = RKB_GUARD_LOW;
        placement <= RKB_GUARD_HIGH && status == RKB_OK && !found->reason[0]; placement++)
      status = verify_placement(me, candidate, plan, trials, count, values, placement, family == 0, found,
                                tally, err);
   stopwatch_turn(&candidate->watch, PHASE_CLOSE);
   for (uint32_t set = 0; set < 2 && !found->reason[0] && status == RKB_OK; set++)
      me->device->drop_set(candidate->session, set, &ignored);
   return status;
}

int verify_trial(const struct gpu *me, struct candidate *candidate, struct trial *trials, uint32_t count,
                 uint32_t n, struct found *found, struct tally *tally, rkb_error_t *err) {
   const rkb_case_t *c = trials[n].the_case;
   rkb_finding_t finding = {0};
   rkb_plan_t *plan = NULL;
   rkb_error_t ignored;
   const peer_place_t place = whole_place(me, candidate);
   stopwatch_turn(&candidate->watch, PHASE_PLAN);
   int status =
      me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, c, &plan, &finding, err);
   if (status == RKB_OK && !plan) {
      found_set(found, finding.reason, NULL, "%s (case %s)", finding.message, c->name);
      return RKB_OK;
   }
   stopwatch_turn(&candidate->watch, PHASE_OPEN);
   if (status == RKB_OK)
      status = open_instances(me, candidate, plan, found, err);
   for (uint32_t f = 0; status == RKB_OK && !found->reason[0] && f < trials[n].families; f++) {
      if (me->host->job_cancelled(me->host, candidate->job))
         status = rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
      else
         status = verify_family(me, candidate, plan, trials, count, n, f, found, tally, err);
   }
   stopwatch_turn(&candidate->watch, PHASE_CLOSE);
   for (uint32_t placement = RKB_GUARD_LOW;
        placement <= RKB_GUARD_HIGH && status == RKB_OK && !found->reason[0]; placement++)
      me->device->drop_instance(candidate->session, placement, &ignored);
   peer_leave_case(&place, &candidate->peer);
   me->kernel->plan_free(plan);
   return status;
}
