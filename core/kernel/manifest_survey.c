/* What a manifest's expressions decide at many shapes (kernel.h).  One thread a survey. */
#include "kernel/plan.h"

#include <stdlib.h>
#include "base/memory.h"
#include "kernel/survey_names.h"

#define EXPRESSIONS 1024u /* a power of two; at most half of them are used */

/* An expression, and what it came to at the shape with that number. */
typedef struct surveyed {
   const rkb_expression_t *expression; /* NULL: free */
   uint64_t shape, mentioned;
   rkb_value_t value;
   bool is_decided;
} surveyed_t;

struct rkb_manifest_survey {
   planner_t planner;
   survey_names_t names;
   surveyed_t expressions[EXPRESSIONS];
   uint32_t expression_count;
   int64_t tune[RKB_MANIFEST_MAX_ENTRIES];
   rkb_finding_t finding; /* nobody reads it */
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
   survey->names.planner = planner;
   planner->lets = rkb_allocate(planner->manifest->let_count + 1, sizeof *planner->lets);
   const int status = rkb_tune_resolve(manifest, tune_json, survey->tune, &survey->finding, err);
   if (status != RKB_OK || survey->finding.reason[0]) {
      rkb_manifest_survey_free(survey);
      return status;
   }
   *out = survey;
   return RKB_OK;
}

void rkb_manifest_survey_free(rkb_manifest_survey_t *survey) {
   if (survey)
      free(survey->planner.lets);
   free(survey);
}

/* NULL: there is no room for it. */
static surveyed_t *surveyed(rkb_manifest_survey_t *survey, const rkb_expression_t *expression) {
   uint32_t at = (uint32_t)((uintptr_t)expression >> 3) * 2654435761u >> 22;
   _Static_assert(EXPRESSIONS == 1u << 10, "ten bits of the product are a place");
   while (survey->expressions[at].expression && survey->expressions[at].expression != expression)
      at = (at + 1) % EXPRESSIONS;
   if (!survey->expressions[at].expression) {
      if (survey->expression_count == EXPRESSIONS / 2)
         return NULL;
      survey->expressions[at].expression = expression;
      survey->expression_count++;
   }
   return &survey->expressions[at];
}

static bool evaluate(rkb_manifest_survey_t *survey, const rkb_expression_t *expression, rkb_value_t *value) {
   const planner_t *planner = &survey->planner;
   char message[256];
   survey->names.mentioned = 0;
   return rkb_expression_decide(expression, survey_names_lookup, &survey->names, planner->decided,
                                planner->decided_argument, value, message, sizeof message) == RKB_FAULT_NONE;
}

/* An expression that was evaluated with the same values of the names that it asked for comes to the same, and decides nothing else. */
static bool decide(rkb_manifest_survey_t *survey, const rkb_expression_t *expression, rkb_value_t *value) {
   survey_names_t *names = &survey->names;
   surveyed_t *known = expression ? surveyed(survey, expression) : NULL;
   if (!known)
      return expression && evaluate(survey, expression, value);
   if (!known->shape || survey_names_changed(names, known->mentioned, known->shape)) {
      known->is_decided = evaluate(survey, expression, &known->value);
      known->mentioned = names->mentioned;
      known->shape = names->shape;
   }
   names->mentioned = known->mentioned;
   *value = known->value;
   return known->is_decided;
}

/* Values that nothing else needs. */
static void decide_all(rkb_manifest_survey_t *survey, rkb_expression_t *const *list, uint32_t count) {
   rkb_value_t value;
   for (uint32_t i = 0; list && i < count; i++)
      if (list[i] && rkb_expression_can_decide(list[i]))
         (void)decide(survey, list[i], &value);
}

/* A head that is no number is a buffer or a tensor map. */
static void decide_argument(rkb_manifest_survey_t *survey, const manifest_argument_t *argument) {
   rkb_value_t value;
   for (uint32_t i = 0; i < argument->member_count; i++)
      decide_argument(survey, &argument->members[i]);
   if (argument->members || argument->null)
      return;
   const bool points =
      argument->head && argument->simple && !survey_names_lookup(&survey->names, argument->head, &value);
   decide_all(survey, points ? &argument->tail : &argument->whole, 1);
}

static void decide_map(rkb_manifest_survey_t *survey, const manifest_map_t *map) {
   const uint32_t rank = map->rank, pixel_rank = rank > 2 ? rank - 2 : 0;
   decide_all(survey, map->dims, rank);
   decide_all(survey, map->strides, rank ? rank - 1 : 0);
   decide_all(survey, map->box, rank);
   decide_all(survey, map->steps, rank);
   decide_all(survey, map->lower, pixel_rank);
   decide_all(survey, map->upper, pixel_rank);
   rkb_expression_t *const others[] = {map->offset, map->channels, map->pixels};
   decide_all(survey, others, 3);
}

/* As make_launches in plan.c. */
static void decide_launches(rkb_manifest_survey_t *survey) {
   const manifest_t *manifest = survey->planner.manifest;
   bool taken = false;
   for (uint32_t i = 0; i < manifest->public.launch_count; i++) {
      const manifest_launch_t *launch = &manifest->launches[i];
      rkb_value_t holds = {.integer = 1};
      taken = taken && launch->is_else;
      if (taken || (launch->when && (!decide(survey, launch->when, &holds) || !holds.integer)))
         continue;
      taken = true;
      decide_all(survey, launch->grid, launch->grid_count);
      decide_all(survey, launch->block, launch->block_count);
      decide_all(survey, &launch->shared, 1);
      decide_all(survey, launch->cluster, launch->cluster_count);
      for (uint32_t n = 0; n < launch->argument_count; n++)
         decide_argument(survey, &launch->arguments[n]);
   }
}

void rkb_manifest_survey_decide(rkb_manifest_survey_t *survey, rkb_decided_t decided,
                                void *decided_argument) {
   planner_t *planner = &survey->planner;
   survey_names_begin(&survey->names);
   planner->decided = decided;
   planner->decided_argument = decided_argument;
   for (planner->lets_known = 0; planner->lets_known < planner->manifest->let_count; planner->lets_known++) {
      if (!decide(survey, planner->manifest->lets[planner->lets_known].value,
                  &planner->lets[planner->lets_known]))
         return;
      survey->names.let_names[planner->lets_known] = survey->names.mentioned;
   }
   decide_launches(survey);
   for (uint32_t i = 0; i < planner->manifest->map_count; i++)
      decide_map(survey, &planner->manifest->maps[i]);
}
