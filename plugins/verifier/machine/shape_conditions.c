/* Conditions of kernels that shapes decide, as features of the shapes (shape_conditions.h). */
#include "shape_conditions.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FOLLOWED UINT64_C(100000000) /* blocks and statements, over all shapes: about a second */

static uint64_t mixed(uint64_t value) {
   value = (value ^ value >> 31) * 0x7fb5d329728ea185u;
   return value ^ value >> 27;
}

/* Takes an outcome that no noted shape had. */
static void take_new(struct shape_conditions *c, uint64_t feature) {
   c->found += WEIGHT_OF_CONDITION;
   c->news[feature >> 6 & (NEWS_WORDS - 1)] |= UINT64_C(1) << (feature & 63);
}

static void take_condition(void *argument, uint32_t number, bool outcome) {
   struct shape_conditions *c = argument;
   uint8_t *met = c->met[c->kernel];
   const uint64_t decided = (uint64_t)c->kernel << 40 | (uint64_t)number << 1 | outcome,
                  feature = mixed(UINT64_C(5) << 56 | decided);
   if (c->of_results) {
      if (met && !(met[number] >> outcome & 1))
         take_new(c, feature);
      if (c->note && met)
         met[number] |= (uint8_t)(1u << outcome);
      return;
   }
   if (c->note && met)
      met[number] |= (uint8_t)(1u << outcome);
   if (c->seeks && met && c->solved[c->kernel] && !(met[number] >> outcome & 1)) {
      c->solved[c->kernel][number] = 1;
      c->sought = true;
   }
   if (shape_features_take(c->features, feature, c->note))
      take_new(c, feature);
   if (c->before)
      c->found +=
         WEIGHT_OF_TWO *
         shape_features_take(c->features, mixed(mixed(UINT64_C(6) << 56 | decided) ^ c->before), c->note);
   c->before = mixed(UINT64_C(7) << 56 | decided);
}

static void take_change(void *argument, uint64_t constant) {
   struct shape_conditions *c = argument;
   const uint64_t feature = mixed(UINT64_C(9) << 56 ^ constant);
   if (shape_features_take(c->features, feature, c->note))
      take_new(c, feature);
}

rkb_machine_conditions_t *shape_conditions_read(const struct shape_conditions *c, const char *entry,
                                                const rkb_machine_conditions_t *like) {
   return c->of_results ? rkb_machine_results_new(c->candidate->module, entry, c->places, like)
                        : rkb_machine_conditions_new(c->candidate->module, entry);
}

/* Without memory for what was met, nothing is solved for. */
static void open_kernel(struct shape_conditions *c, const rkb_plan_launch_t *launch) {
   rkb_machine_conditions_t *conditions = shape_conditions_read(c, launch->entry, NULL);
   if (conditions && c->follows)
      (void)rkb_machine_conditions_follow(conditions, &c->turns);
   const uint32_t numbers = conditions ? rkb_machine_conditions_numbers(conditions) : 0;
   c->kernels[launch->kernel] = conditions;
   c->met[launch->kernel] = conditions ? calloc(numbers + 1, 1) : NULL;
   c->solved[launch->kernel] = conditions ? calloc(numbers + 1, 1) : NULL;
}

int shape_conditions_new(struct shape_conditions *c, const rkb_case_t *the_case, bool note, uint32_t *news,
                         rkb_error_t *err) {
   const struct verifier *me = c->verifier;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   int status = me->kernel->plan(me->host, c->candidate->job, c->candidate->item, c->candidate->build,
                                 the_case, &plan, &finding, err);
   *news = 0;
   if (status != RKB_OK || !plan)
      return status;
   c->found = 0;
   memset(c->news, 0, sizeof c->news);
   c->note = note;
   for (uint32_t n = 0; n < plan->launch_count; n++) {
      const rkb_plan_launch_t *launch = &plan->launches[n];
      if (!c->of_results)
         plan_constants_take(c->constants, c->candidate, the_case, launch, c->learns, take_change, c);
      if (launch->kernel >= MOST_KERNELS)
         continue;
      if (!c->kernels[launch->kernel])
         open_kernel(c, launch);
      c->kernel = launch->kernel;
      c->before = 0;
      if (c->kernels[launch->kernel])
         rkb_machine_conditions_decide(c->kernels[launch->kernel], launch, take_condition, c);
   }
   me->kernel->plan_free(plan);
   *news = c->found;
   return RKB_OK;
}

int shape_conditions_seek(struct shape_conditions *c, const rkb_case_t *the_case, bool *any,
                          rkb_error_t *err) {
   uint32_t news;
   for (uint32_t k = 0; k < MOST_KERNELS; k++)
      if (c->kernels[k] && c->solved[k])
         memset(c->solved[k], 0, rkb_machine_conditions_numbers(c->kernels[k]));
   c->seeks = true;
   c->sought = false;
   const int status = shape_conditions_new(c, the_case, false, &news, err);
   c->seeks = false;
   *any = c->sought;
   return status;
}

static int take_check_cases(struct shape_conditions *c, rkb_error_t *err) {
   const struct verifier *me = c->verifier;
   const rkb_case_t *the_case;
   uint32_t news;
   int status = RKB_OK;
   for (uint32_t n = 0;
        status == RKB_OK && (the_case = me->task->case_at(me->host, RKB_CASE_CHECK, n)) != NULL; n++)
      status = shape_conditions_new(c, the_case, true, &news, err);
   return status;
}

int shape_conditions_open(struct shape_conditions *c, const struct verifier *verifier,
                          const struct candidate *candidate, struct shape_features *features,
                          rkb_error_t *err) {
   *c = (struct shape_conditions){
      .verifier = verifier, .candidate = candidate, .features = features, .learns = true};
   c->constants = calloc(1, sizeof *c->constants);
   if (!c->constants)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for what plans keep constant");
   const int status = take_check_cases(c, err);
   c->learns = false;
   return status;
}

int shape_conditions_open_results(struct shape_conditions *c, const struct verifier *verifier,
                                  const struct candidate *candidate, const uint64_t places[2],
                                  rkb_error_t *err) {
   *c = (struct shape_conditions){
      .verifier = verifier, .candidate = candidate, .of_results = true, .places = {places[0], places[1]}};
   return take_check_cases(c, err);
}

bool shape_conditions_follow(struct shape_conditions *c) {
   bool any = false;
   c->follows = true;
   c->turns = MOST_FOLLOWED;
   for (uint32_t k = 0; k < MOST_KERNELS; k++)
      any |= c->kernels[k] && rkb_machine_conditions_follow(c->kernels[k], &c->turns);
   return any;
}

bool shape_conditions_is_wanted(const struct shape_conditions *c, uint32_t kernel, uint32_t number) {
   const uint8_t met = c->met[kernel][number];
   return (met == 1 || met == 2) &&
          (!c->of_results || rkb_machine_results_count(c->kernels[kernel], number)) &&
          (!c->follows || rkb_machine_conditions_followed(c->kernels[kernel], number));
}

bool shape_conditions_want(const struct shape_conditions *c) {
   bool want = false;
   for (uint32_t k = 0; k < MOST_KERNELS; k++) {
      const uint32_t numbers = c->kernels[k] && c->met[k] ? rkb_machine_conditions_numbers(c->kernels[k]) : 0;
      for (uint32_t n = 0; n < numbers; n++)
         want |= c->of_results ? shape_conditions_is_wanted(c, k, n)
                               : c->met[k][n] != 3 && rkb_machine_conditions_followed(c->kernels[k], n);
   }
   return want;
}

void shape_conditions_close(struct shape_conditions *c) {
   for (uint32_t n = 0; n < MOST_KERNELS; n++) {
      rkb_machine_conditions_free(c->kernels[n]);
      free(c->met[n]);
      free(c->solved[n]);
   }
   free(c->constants);
}
