/* Decisions of a manifest's expressions at many shapes (kernel.h).  One thread a survey. */
#include "kernel/plan.h"

#include <stdlib.h>
#include "kernel/survey_expressions.h"
#include "kernel/survey_names.h"

struct rkb_manifest_survey {
   planner_t planner;
   survey_names_t names;
   rkb_arena_t *arena;
   surveyed_t *lets;
   survey_expressions_t others; /* the expressions that are evaluated after all lets have values */
   bool is_listed;
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
