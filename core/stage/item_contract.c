/* Checks what a stage emitted against rkb/items.h when its job ends.  A malformed item counts as a broken tool, never as a
 * verdict.  Loop thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <rkb/items.h>
#include "stage/instance.h"
#include "stage/item.h"

#define MAX_SOURCE (256u << 10)
enum { MAX_REASON = 100, MAX_FAULT = 320 };

static bool one_of(const char *text, const char *const *names) {
   for (; text && names && *names; names++)
      if (strcmp(*names, text) == 0)
         return true;
   return false;
}

/* A reason must be one word, because reports count and compare it.  Sentences belong into the message. */
static bool is_code(const char *reason) {
   size_t length = 0;
   for (; reason[length] > ' ' && reason[length] < 0x7f; length++)
      ;
   return !reason[length] && length <= MAX_REASON;
}

/* said has room for MAX_FAULT bytes, for a message that quotes what the stage gave. */
static const char *verdict_fault(const rkb_item_t *item, char *said) {
   static const char *const standings[] = {RKB_ACCEPT, RKB_SUSPECT, RKB_REJECT, RKB_UNKNOWN, NULL};
   const char *standing = rkb_item_text(item, "standing"), *reason = rkb_item_text(item, "reason");
   if (!one_of(standing, standings))
      return "its verdict has no standing of accept, suspect, reject or unknown";
   if (!reason || !rkb_item_text(item, "message"))
      return "its verdict has no reason or no message";
   if (!reason[0] && strcmp(standing, RKB_ACCEPT) != 0)
      return "its verdict gives no reason code, and only accept needs none";
   if (!is_code(reason)) {
      snprintf(said, MAX_FAULT,
               "its verdict's reason '%.60s' is no code; write one word of at most %d printable ASCII "
               "characters, as in 'owner.what_was_found', and put the sentence into message",
               reason, MAX_REASON);
      return said;
   }
   return NULL;
}

static const char *measurement_fault(const rkb_instance_t *instance, const rkb_item_t *item) {
   const char *name = rkb_item_text(item, "name");
   double value;
   if (!one_of(name, instance->stage->measures))
      return "it gave a measurement that its descriptor does not list in measures";
   if (!rkb_item_real(item, "value", &value) || !isfinite(value))
      return "it gave a measurement whose value is not a finite number";
   if (!rkb_item_text(item, "unit") || !rkb_item_text(item, "better") || !rkb_item_text(item, "method"))
      return "it gave a measurement without unit, better or method";
   return NULL;
}

/* A parent must be one of the request's parents; otherwise the archive would record a false line of descent. */
static bool from_request(const rkb_item_t *request, const rkb_item_t *parent) {
   static const char *const roles[] = {"parent", "inspiration"};
   for (int role = 0; role < 2; role++)
      for (uint32_t i = 0; i < rkb_item_reference_count(request, roles[role]); i++)
         if (rkb_item_bottom(rkb_item_reference(request, roles[role], i)) == rkb_item_bottom(parent))
            return true;
   return false;
}

static const char *candidate_fault(const rkb_work_t *work, const rkb_item_t *item) {
   const char *source = rkb_item_text(item, "source"), *tune = rkb_item_json(item, "tune");
   if (!source || !source[0])
      return "its candidate has no source";
   if (strlen(source) > MAX_SOURCE)
      return "its candidate's source is over 256 KiB";
   if (tune && tune[strspn(tune, " \t\r\n")] != '{')
      return "its candidate's tune is not a JSON object";
   for (uint32_t i = 0; i < rkb_item_reference_count(item, "parent"); i++)
      if (!from_request(work->in, rkb_item_reference(item, "parent", i)))
         return "its candidate names a parent that its request did not";
   return NULL;
}

void rkb_contract_check(const rkb_instance_t *instance, const rkb_work_t *work, rkb_ended_t *ended) {
   uint32_t verdicts = 0;
   char said[MAX_FAULT];
   const char *fault = NULL;
   for (uint32_t i = 0; i < ended->item_count && !fault; i++) {
      const rkb_item_t *item = ended->items[i];
      const char *type = rkb_item_type(item);
      if (strcmp(type, RKB_ITEM_VERDICT) == 0) {
         verdicts++;
         fault = verdict_fault(item, said);
      } else if (strcmp(type, RKB_ITEM_MEASUREMENT) == 0) {
         fault = measurement_fault(instance, item);
      } else {
         fault = candidate_fault(work, item);
      }
   }
   if (!fault && instance->stage->kind == RKB_VERIFIER && verdicts != 1)
      fault = verdicts ? "it gave more than one verdict in one job" : "it gave no verdict";
   if (fault)
      ended->status = rkb_fail(&ended->error, RKB_ERR_CONTRACT, "%s broke the contract: %s",
                               instance->owner.entry->node.use, fault);
}
