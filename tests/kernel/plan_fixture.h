/* Plans of a manifest's launches for a build that is made by hand, so that nothing compiles. */
#ifndef RKB_TEST_PLAN_FIXTURE_H
#define RKB_TEST_PLAN_FIXTURE_H

#include "kernel_fixture.h"

#define LAUNCH(kernel, more) "launches:\n  - {kernel: " kernel ", " more "}\n"
#define WIDE "scratch:\n  s: {dtype: bfloat16, shape: \"64, 128\"}\n"

/* Manifests that more than one test reads. */
extern const char plan_fixture_whole[], plan_fixture_packed[], plan_fixture_mapped[], plan_fixture_pixels[];

/* A plan of the manifest's own launches; NULL: a finding says why there is none. */
rkb_plan_t *plan_fixture_make(const char *manifest_text, const char *tune, fixture_case_t *of,
                              rkb_finding_t *finding);
/* The same with the launches that the lender's case has. */
rkb_plan_t *plan_fixture_borrow(const char *manifest_text, const char *tune, fixture_case_t *of,
                                const rkb_plan_t *lender, rkb_finding_t *finding);

#endif
