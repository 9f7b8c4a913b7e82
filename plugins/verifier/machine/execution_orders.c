/* Other orders of blocks and warps.  A kernel whose threads may see each other's progress (atomics, volatile and relaxed accesses, clocks)
 * is run in descending and in shuffled order too, on inputs that it is run on anyway (case_families.c), and judged as always.  A rejection
 * in one of these orders and not in the ascending one is due to the order.  docs/decisions/orders.md.  One worker thread a case. */
#include "case_trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(uint64_t order) {
   return order == RKB_MACHINE_ASCENDING    ? "ascending"
          : order == RKB_MACHINE_DESCENDING ? "descending"
                                            : "shuffled";
}

void order_had(struct trial *t) {
   t->orders |= t->order == RKB_MACHINE_DESCENDING  ? ORDER_DESCENDING
                : t->order != RKB_MACHINE_ASCENDING ? ORDER_SHUFFLED
                                                    : 0;
}

/* Whether the order of execution may be the cause of a rejection, as it may for values and for where they are.  Races and barriers are wrong in every order. */
static bool may_be_order(const char *reason) {
   return strncmp(reason, "race.", 5) != 0 && strncmp(reason, "sync.", 5) != 0;
}

/* The element that the evidence is about, as the run in ascending order left it. */
static void add_value(const struct trial *t, json_t *evidence) {
   uint32_t n, width;
   uint64_t byte, bits = 0;
   float value;
   if (!outcome_wrong_element(t->outcome, t->plan, &n, &byte, &width))
      return;
   const uint8_t *at = (const uint8_t *)t->buffers[n].data + byte;
   memcpy(&bits, at, width < sizeof bits ? width : sizeof bits);
   memcpy(&value, at, width < sizeof value ? width : sizeof value);
   json_object_set_new(evidence, "ascending",
                       t->plan->buffers[n].dtype == RKB_F32 && isfinite(value)
                          ? json_real((double)value)
                          : json_sprintf("0x%0*llx", (int)(2 * width), (unsigned long long)bits));
}

/* Whether these inputs are right in ascending order, on a machine without a past. */
static int right_in_order(const struct trial *t, bool *right, rkb_error_t *err) {
   struct outcome outcome;
   struct trial ascending = *t;
   bool followed;
   ascending.outcome = &outcome;
   ascending.order = RKB_MACHINE_ASCENDING;
   ascending.machine = NULL;
   ascending.inputs = NULL;
   ascending.over_budget = false;
   outcome_init(&outcome, t->outcome->debug);
   int status = rkb_machine_open(t->candidate->module, t->plan, &t->options, &ascending.machine, err);
   if (status == RKB_OK)
      status = trial_run(&ascending, false, NULL, 0, &followed, err);
   *right = status == RKB_OK && !ascending.over_budget && outcome.rank < RKB_MACHINE_UNKNOWN;
   rkb_machine_close(ascending.machine);
   outcome_free(&outcome);
   return status;
}

int order_explain(struct trial *t, rkb_error_t *err) {
   struct outcome *outcome = t->outcome;
   bool right = false;
   if (t->order == RKB_MACHINE_ASCENDING || outcome->rank != RKB_MACHINE_REJECT)
      return RKB_OK;
   if (!outcome->evidence)
      outcome->evidence = json_object();
   json_object_set_new(outcome->evidence, "order", json_string(name_of(t->order)));
   const int status = may_be_order(outcome->reason) ? right_in_order(t, &right, err) : RKB_OK;
   if (status != RKB_OK || !right)
      return status;
   char found[sizeof outcome->message];
   memcpy(found, outcome->message, sizeof found);
   add_value(t, outcome->evidence);
   json_object_set_new(outcome->evidence, "found", json_string(outcome->reason));
   snprintf(outcome->reason, sizeof outcome->reason, "sync.order");
   snprintf(outcome->message, sizeof outcome->message,
            "right when blocks and warps run in ascending order, wrong in %s order: %.380s",
            name_of(t->order), found);
   return RKB_OK;
}
