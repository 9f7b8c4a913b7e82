/* The certificate of a candidate that is accepted or suspect: its facets say for which shapes, inputs and orders they hold, and what they assume.  On the
 * candidate's worker thread. */
#include "verifier.h"

#include <stdio.h>
#include <string.h>

/* A facet with a suspicion on it is not certified. */
static json_t *facet(const char *name, bool suspect, json_t *scope, json_t *assumptions) {
   if (suspect) {
      char text[96];
      snprintf(text, sizeof text, "%s: something is suspect", name);
      json_decref(scope);
      json_decref(assumptions);
      return json_pack("{s:s, s:s}", "facet", "unknown", "reason", text);
   }
   return json_pack("{s:s, s:o, s:o}", "facet", name, "scope", scope, "assumptions", assumptions);
}

static json_t *scope_of(const struct outcome *outcome, const char *inputs) {
   /* Without races, and without a way to see each other's progress, threads do the same in every order. */
   const bool any_order = !outcome->one_schedule && !outcome->suspect_races;
   json_t *scope = json_pack("{s:O, s:s, s:s}", "shapes", outcome->case_names, "inputs", inputs, "schedules",
                             any_order                            ? "all"
                             : outcome->orders & ORDER_DESCENDING ? "tried"
                                                                  : "one");
   if (scope && !any_order && outcome->orders & ORDER_DESCENDING)
      json_object_set_new(scope, "orders",
                          outcome->orders & ORDER_SHUFFLED
                             ? json_pack("[s, s, s]", "ascending", "descending", "shuffled")
                             : json_pack("[s, s]", "ascending", "descending"));
   if (scope && !outcome->oblivious)
      json_object_set(scope, "fixed_inputs", outcome->deciding_inputs);
   return scope;
}

/* Names of matrix instructions and asynchronous copies. */
static json_t *tensor_names(uint32_t families) {
   json_t *list = json_array();
   for (uint32_t n = 0; rkb_machine_tensor_name(n); n++)
      if (families >> n & 1)
         json_array_append_new(list, json_string(rkb_machine_tensor_name(n)));
   return list;
}

/* What order of asynchronous operations nothing checks.  A result may depend on it too. */
static void assume_orders(const struct outcome *outcome, json_t *races, json_t *values) {
   static const char copies[] =
      "bulk copies that overlap in global memory are taken to write the same values, and fences in other blocks to cover what these copies use";
   if (outcome->relaxed_arrival)
      json_array_append_new(
         races,
         json_string(
            "ends of copies that a thread learns of between a fence and its relaxed arrival are taken to be released by the arrival"));
   if (outcome->copies_assumed) {
      json_array_append_new(races, json_string(copies));
      json_array_append_new(values, json_string(copies));
   }
}

/* Memory, races and barriers hold for every value of the inputs that never reached control or an address; numbers for the
 * values that were tried. */
json_t *outcome_certificate(const struct outcome *outcome) {
   json_t *list = json_array(), *memory = json_array(), *races = json_array(), *values = json_array();
   const char *scope = outcome->oblivious
                          ? "all values"
                          : "all values of the inputs that are not fixed; the tested values of fixed_inputs";
   json_array_append_new(memory, json_string("the PTX is what runs: the compiler below it is trusted"));
   json_array_append_new(races, json_string("the PTX is what runs: the compiler below it is trusted"));
   if (outcome->waits)
      json_array_append_new(
         races,
         json_string("blocks that wait for each other are on the device at once: nothing else runs there"));
   if (outcome->relaxed_acquire)
      json_array_append_new(
         races, json_string("an atomic operation's result is taken to acquire what was released before it"));
   if (outcome->order_unknown)
      json_array_append_new(
         races,
         json_string(
            "reads by several blocks before a write across grid-wide synchronisation were not told apart"));
   json_array_append_new(
      values,
      json_string(
         "the PTX is what runs: products and sums that the compiler below it may fuse were not fused"));
   json_array_append_new(
      values, json_string("approximate functions are rounded correctly where a device may differ by ulps"));
   json_array_append_new(values, json_string("an integer divided by zero gives all ones"));
   json_array_append_new(
      values, json_string("no tested input is infinite, except in tensors that the task calls masked"));
   assume_orders(outcome, races, values);
   if (outcome->float_atomics) {
      char text[160];
      snprintf(text, sizeof text,
               "floating-point atomics on %s: the sum depends on the order of blocks; not all were tried",
               outcome->float_atomic_symbol);
      json_array_append_new(values, json_string(text));
   }
   json_array_append_new(list, facet("memory", false, scope_of(outcome, scope), memory));
   json_array_append_new(list, facet("races", outcome->suspect_races, scope_of(outcome, scope), races));
   json_t *compared = scope_of(outcome, "the tested values");
   if (compared)
      json_object_set_new(compared, "elements",
                          json_pack("{s:I, s:I, s:I}", "judged", (json_int_t)outcome->elements, "ambiguous",
                                    (json_int_t)outcome->ambiguous, "dont_care",
                                    (json_int_t)outcome->dont_care));
   json_array_append_new(list, facet("values", outcome->suspect_values, compared, values));
   if (outcome->tensor_named)
      json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "facet", "tensor", "executed",
                                            tensor_names(outcome->tensor_executed), "never_executed",
                                            tensor_names(outcome->tensor_named & ~outcome->tensor_executed)));
   json_array_extend(list, outcome->sampled);
   if (json_array_size(outcome->reduced))
      json_array_append_new(list, json_pack("{s:s, s:O}", "facet", "reduced", "cases", outcome->reduced));
   for (size_t n = 0; n < json_array_size(outcome->not_run); n++)
      json_array_append_new(
         list, json_pack("{s:s, s:O}", "facet", "unknown", "reason", json_array_get(outcome->not_run, n)));
   return list;
}
