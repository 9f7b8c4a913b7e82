/* Telling and asking a strategy in a test. */
#ifndef RKB_TESTS_PLUGINS_STRATEGY_H
#define RKB_TESTS_PLUGINS_STRATEGY_H

#include "fake.h"

/* Tells a request that gave one candidate; objective 0: none. */
static inline void tell_one(fake_t *fake, int64_t request, int64_t number, const char *standing,
                            double objective) {
   char hash[65];
   snprintf(hash, sizeof hash, "%032llx", (unsigned long long)number);
   const rkb_told_t told = {.size = sizeof told,
                            .number = number,
                            .standing = standing,
                            .reason = "",
                            .promoted = true,
                            .has_objective = objective > 0,
                            .objective = objective,
                            .source_hash = hash,
                            .tune = "{}"};
   const rkb_told_t *const list[] = {&told};
   const rkb_result_t result = {.size = sizeof result,
                                .candidate_count = 1,
                                .request = request,
                                .operator_id = "seed",
                                .candidates = list};
   assert_int_equal(fake->strategy->tell(fake->self, &result, &fake->error), RKB_OK);
}

/* As tell_one, with measurements. */
static inline void tell_measured(fake_t *fake, int64_t request, int64_t number, double objective, const char *const *names, const double *values,
                                 uint32_t count) {
   const rkb_told_t told = {.size = sizeof told,
                            .number = number,
                            .standing = "accept",
                            .reason = "",
                            .promoted = true,
                            .has_objective = true,
                            .objective = objective,
                            .source_hash = "",
                            .tune = "{}",
                            .measurement_count = count,
                            .measurement_names = names,
                            .measurement_values = values};
   const rkb_told_t *const list[] = {&told};
   const rkb_result_t result = {.size = sizeof result, .candidate_count = 1, .request = request, .operator_id = "schedule", .candidates = list};
   assert_int_equal(fake->strategy->tell(fake->self, &result, &fake->error), RKB_OK);
}

/* Tells a request whose operator gave nothing. */
static inline void tell_none(fake_t *fake, int64_t request) {
   const rkb_result_t result = {.size = sizeof result, .request = request, .operator_id = "tune"};
   assert_int_equal(fake->strategy->tell(fake->self, &result, &fake->error), RKB_OK);
}

static inline int ask(fake_t *fake, rkb_request_t *out) {
   *out = (rkb_request_t){.size = sizeof *out};
   return fake->strategy->ask(fake->self, out, &fake->error);
}

#endif
