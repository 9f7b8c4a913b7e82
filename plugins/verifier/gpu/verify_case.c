/* One case on the device: families, placements, repetition.  Nothing of what is expected is computed before the runs are
 * over, and it never reaches the worker. */
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

/* What the driver or the canary says of a run. */
static void explain_outcome(const rkb_run_outcome_t *o, const rkb_plan_t *plan, const rkb_case_t *c, const rkb_family_t *family,
                            uint64_t seed, uint32_t placement, struct found *found) {
   const char *where = placement == RKB_GUARD_HIGH ? "with each buffer ending at an unmapped page" : "with each buffer starting behind an unmapped page";
   json_t *evidence = json_pack("{s:s, s:s, s:I, s:s}", "case", c->name, "family", family->name, "seed", (json_int_t)seed, "placement", where);
   if (o->outcome == RKB_RAN_TOO_LONG) {
      found_set(found, "sync.deadlock", evidence, "the plan still ran at the deadline on case %s", c->name);
   } else if (o->outcome == RKB_RAN_OVER_CANARY) {
      const char *name = plan->buffers[o->buffer].name;
      json_object_set_new(evidence, "buffer", json_string(name));
      found_set(found, "memory.out_of_bounds", evidence, "bytes %s %s were overwritten, %llu bytes from its edge, on case %s",
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
   int status = me->device->module(candidate->session, 0, candidate->build->cubin, candidate->build->cubin_bytes, &finding, err);
   if (status == RKB_OK && finding.reason[0])
      found_set(found, finding.reason, NULL, "%s", finding.message);
   candidate->module_loaded = status == RKB_OK && !finding.reason[0];
   return status;
}

/* Whether a second run on equal values gives equal bits. */
static int compare_repeat(const struct gpu *me, struct candidate *candidate, const rkb_case_t *c, uint32_t set, struct tally *tally,
                          rkb_error_t *err) {
   rkb_run_outcome_t outcome;
   int status = RKB_OK;
   char **first = calloc(c->tensor_count, sizeof *first);
   if (!first)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++)
      if (c->tensors[t].role != RKB_IN) {
         first[t] = malloc(c->tensors[t].bytes + 1);
         status = first[t] ? me->device->read(candidate->session, 0, t, 0, c->tensors[t].bytes, first[t], err)
                           : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
      }
   if (status == RKB_OK)
      status = me->device->run(candidate->session, 0, set, (uint32_t)(me->config->deadline / 1000000), &outcome, err);
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK && outcome.outcome == RKB_RAN_WELL; t++)
      if (first[t]) {
         char *second = malloc(c->tensors[t].bytes + 1);
         status = second ? me->device->read(candidate->session, 0, t, 0, c->tensors[t].bytes, second, err)
                         : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
         if (status == RKB_OK && memcmp(first[t], second, c->tensors[t].bytes) != 0)
            tally->repeatable = false;
         free(second);
      }
   for (uint32_t t = 0; t < c->tensor_count; t++)
      free(first[t]);
   free(first);
   return status;
}

/* One placement: run on a first set of values, judge; run on a second set without reloading anything, judge again. */
static int verify_placement(const struct gpu *me, struct candidate *candidate, const rkb_case_t *c, const rkb_plan_t *plan,
                            const rkb_family_t *family, const struct values *values, const uint64_t *seeds, uint32_t placement,
                            struct found *found, struct tally *tally, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   rkb_run_outcome_t outcome = {0};
   int status = load(me, candidate, found, err);
   if (status != RKB_OK || found->reason[0])
      return status;
   status = me->device->instance(candidate->session, 0, 0, placement, plan, &finding, err);
   if (status == RKB_OK && finding.reason[0]) {
      found_set(found, finding.reason, NULL, "%s", finding.message);
      return RKB_OK;
   }
   for (uint32_t set = 0; set < 2 && status == RKB_OK && (!found->reason[0] || found->suspect); set++) {
      status = me->device->run(candidate->session, 0, set, (uint32_t)(me->config->deadline / 1000000), &outcome, err);
      if (status != RKB_OK)
         return status;
      tally->runs++;
      if (outcome.outcome != RKB_RAN_WELL) {
         explain_outcome(&outcome, plan, c, family, seeds[set], placement, found);
         return RKB_OK; /* the worker is gone, and with it the instance */
      }
      status = values_judge(me, candidate, c, family, &values[set], seeds[set], 0, found, tally, err);
   }
   if (status == RKB_OK && !found->reason[0] && placement == RKB_GUARD_HIGH)
      status = compare_repeat(me, candidate, c, 1, tally, err);
   if (status == RKB_OK)
      status = me->device->drop_instance(candidate->session, 0, err);
   return status;
}

static int verify_family(const struct gpu *me, struct candidate *candidate, const rkb_case_t *c, const rkb_plan_t *plan,
                         const rkb_family_t *family, uint64_t seed, struct found *found, struct tally *tally, rkb_error_t *err) {
   struct values values[2] = {{0}, {0}};
   uint64_t seeds[2] = {seed, seed + 1};
   int status = RKB_OK;
   for (uint32_t set = 0; set < 2 && status == RKB_OK; set++) {
      status = values_open(me, c, family, seeds[set], &values[set], err);
      if (status == RKB_OK)
         status = values_stage(me, candidate, c, &values[set], set, err);
   }
   for (uint32_t placement = RKB_GUARD_LOW; placement <= RKB_GUARD_HIGH && status == RKB_OK && !found->reason[0]; placement++)
      status = verify_placement(me, candidate, c, plan, family, values, seeds, placement, found, tally, err);
   for (uint32_t set = 0; set < 2; set++) {
      rkb_error_t ignored;
      if (!found->reason[0] && status == RKB_OK)
         me->device->drop_set(candidate->session, set, &ignored);
      values_free(me, c, &values[set]);
   }
   return status;
}

int verify_case(const struct gpu *me, struct candidate *candidate, const rkb_case_t *c, uint64_t seed, struct found *found,
                struct tally *tally, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   rkb_plan_t *plan = NULL;
   const rkb_family_t *family;
   int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, c, &plan, &finding, err);
   if (status == RKB_OK && !plan) {
      found_set(found, finding.reason, NULL, "%s (case %s)", finding.message, c->name);
      return RKB_OK;
   }
   for (uint32_t f = 0; status == RKB_OK && !found->reason[0] && f < (uint32_t)me->config->families; f++) {
      family = me->task->family_at(me->host, c, f);
      if (!family)
         break;
      if (me->host->job_cancelled(me->host, candidate->job))
         status = rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
      else
         status = verify_family(me, candidate, c, plan, family, seed + 16 * f, found, tally, err);
   }
   me->kernel->plan_free(plan);
   return status;
}
