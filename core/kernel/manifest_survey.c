/* Decisions of a manifest's expressions at many shapes (kernel.h).  One thread a survey. */
#include "kernel/plan.h"

#include <stdlib.h>
#include "kernel/survey_expressions.h"
#include "kernel/survey_many.h"
#include "kernel/survey_names.h"

struct rkb_manifest_survey {
   planner_t planner;
   survey_names_t names;
   rkb_arena_t *arena;
   surveyed_t *lets;
   survey_expressions_t others; /* the expressions that are evaluated after all lets have values */
   bool is_listed;
   survey_many_t *many; /* NULL: many shapes were not asked for yet */
   int64_t tune[RKB_MANIFEST_MAX_ENTRIES];
   rkb_finding_t finding; /* required by the planner; nobody reads it */
};

int rkb_manifest_survey_new(const rkb_manifest_t *manifest, const char *tune_json, const rkb_device_t *device,
                            rkb_lookup_t lookup, void *argument, rkb_manifest_survey_t **out,
                            rkb_error_t *err) {
   rkb_manifest_survey_t *survey = rkb_allocate(1, sizeof *survey);
   planner_t *planner = &survey->planner;
   *out = NULL;
   *planner = (planner_t){.manifest = (const manifest_t *)manifest,
                          .device = device,
                          .named = device,
                          .lookup = lookup,
                          .argument = argument,
                          .tune = survey->tune,
                          .finding = &survey->finding};
   survey->arena = rkb_arena_new(0);
   survey_names_make(&survey->names, planner);
   planner->lets = rkb_arena_array(survey->arena, planner->manifest->let_count + 1, sizeof *planner->lets);
   survey->lets = rkb_arena_array(survey->arena, planner->manifest->let_count + 1, sizeof *survey->lets);
   for (uint32_t i = 0; i < planner->manifest->let_count; i++)
      survey->lets[i].expression = planner->manifest->lets[i].value;
   const int status = rkb_tune_resolve(manifest, tune_json, survey->tune, &survey->finding, err);
   if (status != RKB_OK || survey->finding.reason[0]) {
      rkb_manifest_survey_free(survey);
      return status;
   }
   *out = survey;
   return RKB_OK;
}

void rkb_manifest_survey_free(rkb_manifest_survey_t *survey) {
   if (!survey)
      return;
   survey_many_free(survey->many);
   survey_names_clear(&survey->names);
   rkb_arena_free(survey->arena);
   free(survey);
}

static bool evaluate(rkb_manifest_survey_t *survey, const rkb_expression_t *expression, rkb_value_t *value) {
   const planner_t *planner = &survey->planner;
   char message[256];
   survey->names.mentioned = 0;
   return rkb_expression_decide(expression, survey_names_lookup, &survey->names, planner->decided,
                                planner->decided_argument, value, message, sizeof message) == RKB_FAULT_NONE;
}

/* Evaluates an expression.  If the names that it mentions have the same values as when it was evaluated last, it has the same value and the same
 * decisions, and is not evaluated again. */
static bool decide(rkb_manifest_survey_t *survey, surveyed_t *known, rkb_value_t *value) {
   survey_names_t *names = &survey->names;
   if (!known->expression)
      return false;
   if (!known->shape || survey_names_changed(names, known->mentioned, known->shape)) {
      known->is_decided = evaluate(survey, known->expression, &known->value);
      known->mentioned = names->mentioned;
      known->shape = names->shape;
   }
   names->mentioned = known->mentioned;
   *value = known->value;
   return known->is_decided;
}

/* Evaluates the expressions of the mentions from `from` to `to`. */
static void decide_mentions(rkb_manifest_survey_t *survey, uint32_t from, uint32_t to) {
   rkb_value_t value;
   for (uint32_t i = from; i < to; i++)
      (void)decide(survey, &survey->others.expressions[survey->others.mentions[i]], &value);
}

/* Goes through the launches as make_launches in plan.c does. */
static void decide_launches(rkb_manifest_survey_t *survey) {
   const manifest_t *manifest = survey->planner.manifest;
   const survey_expressions_t *others = &survey->others;
   uint32_t from = 0;
   bool taken = false;
   for (uint32_t i = 0; i < manifest->public.launch_count; from = others->ends[i++]) {
      const uint32_t when = others->whens[i];
      rkb_value_t holds = {.integer = 1};
      taken = taken && manifest->launches[i].is_else;
      if (taken || (when != SURVEY_NO_EXPRESSION &&
                    (!decide(survey, &others->expressions[when], &holds) || !holds.integer)))
         continue;
      taken = true;
      decide_mentions(survey, from, others->ends[i]);
   }
   decide_mentions(survey, from, others->mention_count);
}

void rkb_manifest_survey_decide(rkb_manifest_survey_t *survey, rkb_decided_t decided,
                                void *decided_argument) {
   planner_t *planner = &survey->planner;
   planner->lets_known =
      0; /* the names of the table that are no lets mean dims, even where a let has the same name */
   survey_names_begin(&survey->names);
   planner->decided = decided;
   planner->decided_argument = decided_argument;
   for (planner->lets_known = 0; planner->lets_known < planner->manifest->let_count; planner->lets_known++) {
      if (!decide(survey, &survey->lets[planner->lets_known], &planner->lets[planner->lets_known]))
         return;
      survey->names.let_names[planner->lets_known] = survey->names.mentioned;
   }
   if (!survey->is_listed)
      survey_expressions_make(&survey->others, planner->manifest, survey_names_lookup, &survey->names,
                              survey->arena);
   survey->is_listed = true;
   decide_launches(survey);
}

/* Many shapes ---------------------------------------------------------------------------------------------------------------- */

static bool decide_many_lets(survey_many_t *many, surveyed_t *lets) {
   for (uint32_t i = 0; i < many->let_count; i++)
      if (!survey_many_decide(many, &lets[i], many->inside, &many->lets[i]))
         return false;
   return true;
}

static bool decide_many_mentions(rkb_manifest_survey_t *survey, uint32_t from, uint32_t to, uint64_t shapes) {
   for (uint32_t i = from; i < to; i++)
      if (!survey_many_decide(survey->many, &survey->others.expressions[survey->others.mentions[i]], shapes,
                              NULL))
         return false;
   return true;
}

/* The shapes at which a launch's condition holds. */
static bool decide_many_conditions(survey_many_t *many, surveyed_t *when, uint64_t shapes, uint64_t *hold) {
   survey_many_value_t value;
   *hold = 0;
   if (!survey_many_decide(many, when, shapes, &value))
      return false;
   for (uint64_t left = shapes; left; left &= left - 1)
      *hold |= value.values.at[__builtin_ctzll(left)] != 0 ? left & -left : 0;
   return true;
}

/* As decide_launches. */
static bool decide_many_launches(rkb_manifest_survey_t *survey) {
   const manifest_t *manifest = survey->planner.manifest;
   const survey_expressions_t *others = &survey->others;
   survey_many_t *many = survey->many;
   uint32_t from = 0;
   uint64_t taken = 0;
   for (uint32_t i = 0; i < manifest->public.launch_count; from = others->ends[i++]) {
      const uint32_t when = others->whens[i];
      taken = manifest->launches[i].is_else ? taken : 0;
      uint64_t hold = many->inside & ~taken;
      if (when != SURVEY_NO_EXPRESSION &&
          !decide_many_conditions(many, &others->expressions[when], hold, &hold))
         return false;
      taken |= hold;
      if (!decide_many_mentions(survey, from, others->ends[i], hold))
         return false;
   }
   return decide_many_mentions(survey, from, others->mention_count, many->inside);
}

bool rkb_manifest_survey_many(rkb_manifest_survey_t *survey, uint32_t count,
                              bool (*set)(void *argument, uint32_t shape), void *argument,
                              const rkb_many_decisions_t **decisions) {
   if (!survey->many)
      survey->many = survey_many_new(&survey->names, survey->planner.manifest->let_count);
   survey_many_t *many = survey->many;
   survey->planner.lets_known = 0;
   if (!survey->is_listed || !survey_many_begin(many, count, set, argument) ||
       !decide_many_lets(many, survey->lets) || !decide_many_launches(survey))
      return false;
   *decisions = &many->decisions;
   return true;
}

void rkb_manifest_survey_take(rkb_manifest_survey_t *survey) {
   survey_many_take(survey->many);
}
