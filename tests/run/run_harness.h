/* What the engine's tests share: opening pipelines from text, running them, and looking into the archive. */
#ifndef RKB_TESTS_ENGINE_HARNESS_H
#define RKB_TESTS_ENGINE_HARNESS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "run/check_candidate.h"
#include "run/run.h"
#include "archive/archive.h"

/* Makes a new directory below the system's temporary one; malloc'd, removed by scratch_remove. */
char *scratch_make(void);
void scratch_remove(char *directory);

/* Opens; fails the test with the problems' text when it does not.  set may be NULL. */
rkb_pipeline_t *open_pipeline(const char *path, const char *const *set);
/* The same from a text, written into the directory as name. */
rkb_pipeline_t *open_text(const char *directory, const char *name, const char *text, const char *const *set);
/* Runs into directory (NULL: without an archive); fails the test when it breaks. */
rkb_run_result_t run_pipeline(rkb_pipeline_t *pipeline, const char *directory, uint32_t jobs, bool resume);
/* Fails the test, with the first differences, unless both runs hold the same. */
void assert_same_runs(const char *left, const char *right);
rkb_log_t *quiet_log(void);
/* A stage's verdict about a candidate of a run: "reject numeric.mismatch", "accept", or "" when the stage did
 * not run; followed by " shadow" for a shadow stage.  Static storage, valid until the next call. */
const char *verdict_of(const char *directory, int64_t candidate, const char *stage);
/* The same candidate's standing, and how many tries the stage took. */
const char *standing_of(const char *directory, int64_t candidate);
uint32_t attempts_of(const char *directory, int64_t candidate, const char *stage);

#endif
