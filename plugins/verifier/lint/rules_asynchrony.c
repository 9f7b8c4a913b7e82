/* Rules about asynchronous copies, mbarriers and wgmma: the text names an instruction but not the others that it needs.  The
 * checking machine finds wrong places and wrong orders of execution. */
#include <string.h>
#include "word_search.h"

enum step {
   STEP_MULTIPLY, /* wgmma.mma_async */
   STEP_MULTIPLY_FENCE,
   STEP_MULTIPLY_COMMIT,
   STEP_MULTIPLY_WAIT,
   STEP_COPY, /* cp.async of one thread */
   STEP_COPY_WAIT,
   STEP_BULK_LOAD, /* a copy that completes bytes at an mbarrier */
   STEP_BULK_STORE,
   STEP_BULK_WAIT,
   STEP_EXPECT,
   STEP_MBARRIER_USE, /* an arrival or a test */
   STEP_MBARRIER_TEST,
   STEP_MBARRIER_INIT,
   STEP_MAP_CHANGE, /* of a tensor map, by the kernel */
   STEP_MAP_RELEASE,
   STEP_MAP_ACQUIRE,
   STEP_GRID_WAIT, /* for the launch in front */
   STEP_COUNT
};

typedef struct survey {
   bool found[STEP_COUNT];
   uint32_t line[STEP_COUNT], column[STEP_COUNT]; /* of the first */
   bool by_library;                               /* cuda::barrier and its kin write what no word shows */
} survey_t;

static void note(survey_t *survey, enum step step, const word_t *word) {
   if (survey->found[step])
      return;
   survey->found[step] = true;
   survey->line[step] = word->line;
   survey->column[step] = word->column;
}

/* Whether an instruction's modifiers, from token i on, name one. */
static bool has_modifier(const source_t *source, uint32_t i, const char *name) {
   for (;; i++) {
      if (source_kind(source, i, RKB_TOKEN_NUMBER)) /* ".2d.shared" is a number by C's grammar */
         continue;
      if (!source_is(source, i, ".") && !source_is(source, i, "::"))
         return false;
      if (source_is(source, ++i, name))
         return true;
   }
}

static void note_wgmma(survey_t *survey, const word_t *word) {
   static const struct {
      const char *name;
      enum step step;
   } names[] = {{"mma_async", STEP_MULTIPLY},
                {"fence", STEP_MULTIPLY_FENCE},
                {"commit_group", STEP_MULTIPLY_COMMIT},
                {"wait_group", STEP_MULTIPLY_WAIT}};
   for (size_t n = 0; n < sizeof names / sizeof *names; n++)
      if (source_is(word->source, word->index + 2, names[n].name))
         note(survey, names[n].step, word);
}

static void note_copy(survey_t *survey, const word_t *word) {
   const uint32_t i = word->index + 1;
   const bool bulk = has_modifier(word->source, i, "bulk"),
              waits =
                 has_modifier(word->source, i, "wait_group") || has_modifier(word->source, i, "wait_all");
   if (!has_modifier(word->source, i, "async"))
      return;
   if (waits || (!bulk && has_modifier(word->source, i, "mbarrier")))
      note(survey, bulk ? STEP_BULK_WAIT : STEP_COPY_WAIT, word);
   else if (bulk && has_modifier(word->source, i, "complete_tx"))
      note(survey, STEP_BULK_LOAD, word);
   else if (bulk && has_modifier(word->source, i, "bulk_group"))
      note(survey, STEP_BULK_STORE, word);
   else if (has_modifier(word->source, i, "ca") || has_modifier(word->source, i, "cg"))
      note(survey, STEP_COPY, word);
}

static void note_mbarrier(survey_t *survey, const word_t *word) {
   const uint32_t i = word->index + 1;
   const bool tests = has_modifier(word->source, i, "test_wait") || has_modifier(word->source, i, "try_wait");
   if (has_modifier(word->source, i, "init"))
      note(survey, STEP_MBARRIER_INIT, word);
   if (has_modifier(word->source, i, "expect_tx"))
      note(survey, STEP_EXPECT, word);
   if (tests)
      note(survey, STEP_MBARRIER_TEST, word);
   if (tests || has_modifier(word->source, i, "arrive") || has_modifier(word->source, i, "arrive_drop"))
      note(survey, STEP_MBARRIER_USE, word);
}

static void note_map_step(survey_t *survey, const word_t *word) {
   const uint32_t i = word->index + 1;
   if (has_modifier(word->source, i, "replace"))
      note(survey, STEP_MAP_CHANGE, word);
   else if (has_modifier(word->source, i, "cp_fenceproxy"))
      note(survey, STEP_MAP_RELEASE, word);
}

static void note_map_fence(survey_t *survey, const word_t *word) {
   const uint32_t i = word->index + 1;
   if (!has_modifier(word->source, i, "tensormap"))
      return;
   if (has_modifier(word->source, i, "release"))
      note(survey, STEP_MAP_RELEASE, word);
   else if (has_modifier(word->source, i, "acquire"))
      note(survey, STEP_MAP_ACQUIRE, word);
}

static void note_word(void *argument, const word_t *word) {
   survey_t *survey = argument;
   const source_t *source = word->source;
   const bool modifier = word->index > 0 && (source_is(source, word->index - 1, ".") ||
                                             source_is(source, word->index - 1, "::"));
   if (!word->in_ptx) {
      survey->by_library |=
         source_is(source, word->index, "cuda") && source_is(source, word->index + 1, "::");
      if (source_is(source, word->index, "__pipeline_wait_prior"))
         note(survey, STEP_COPY_WAIT, word);
   } else if (!modifier && source_is(source, word->index, "griddepcontrol")) {
      if (has_modifier(source, word->index + 1, "wait"))
         note(survey, STEP_GRID_WAIT, word);
   } else if (!modifier && source_is(source, word->index, "wgmma")) {
      note_wgmma(survey, word);
   } else if (!modifier && source_is(source, word->index, "cp")) {
      note_copy(survey, word);
   } else if (!modifier && source_is(source, word->index, "mbarrier")) {
      note_mbarrier(survey, word);
   } else if (!modifier && source_is(source, word->index, "tensormap")) {
      note_map_step(survey, word);
   } else if (!modifier && source_is(source, word->index, "fence")) {
      note_map_fence(survey, word);
   }
}

/* False: the text has nothing that these rules are about. */
static bool survey_text(const lint_subject_t *subject, survey_t *survey) {
   const source_t *source = subject->source;
   *survey = (survey_t){.by_library = false};
   if (!memmem(source->text, source->bytes, "async", 5) &&
       !memmem(source->text, source->bytes, "mbarrier", 8) &&
       !memmem(source->text, source->bytes, "tensormap", 9))
      return false;
   lint_each_word(subject, note_word, survey);
   return !survey->by_library;
}

typedef struct need {
   enum step step, needs;
   const char *says;
} need_t;

static void find_missing(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report,
                         const need_t *needs, size_t count) {
   survey_t survey;
   if (!survey_text(subject, &survey))
      return;
   for (size_t n = 0; n < count; n++)
      if (survey.found[needs[n].step] && !survey.found[needs[n].needs])
         lint_add(report, rule, survey.line[needs[n].step], survey.column[needs[n].step], "%s",
                  needs[n].says);
}

void find_wgmma_order(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   static const need_t needs[] = {
      {STEP_MULTIPLY, STEP_MULTIPLY_FENCE, "wgmma.mma_async without wgmma.fence"},
      {STEP_MULTIPLY, STEP_MULTIPLY_COMMIT, "wgmma.mma_async without wgmma.commit_group"},
      {STEP_MULTIPLY, STEP_MULTIPLY_WAIT, "wgmma.mma_async without wgmma.wait_group"}};
   find_missing(rule, subject, report, needs, sizeof needs / sizeof *needs);
}

void find_copy_wait(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   static const need_t needs[] = {
      {STEP_COPY, STEP_COPY_WAIT, "cp.async without cp.async.wait_group, wait_all or mbarrier.arrive"},
      {STEP_BULK_LOAD, STEP_MBARRIER_TEST,
       "a bulk copy to an mbarrier without mbarrier.try_wait or test_wait"},
      {STEP_BULK_STORE, STEP_BULK_WAIT, "a bulk copy in a group without cp.async.bulk.wait_group"}};
   find_missing(rule, subject, report, needs, sizeof needs / sizeof *needs);
}

void find_copy_announced(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   static const need_t needs[] = {
      {STEP_BULK_LOAD, STEP_EXPECT,
       "a bulk copy to an mbarrier without mbarrier.arrive.expect_tx or expect_tx"}};
   find_missing(rule, subject, report, needs, sizeof needs / sizeof *needs);
}

void find_mbarrier_init(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   static const need_t needs[] = {
      {STEP_MBARRIER_USE, STEP_MBARRIER_INIT, "an mbarrier without mbarrier.init"}};
   find_missing(rule, subject, report, needs, sizeof needs / sizeof *needs);
}

void find_map_fence(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   static const need_t needs[] = {
      {STEP_MAP_CHANGE, STEP_MAP_RELEASE,
       "tensormap.replace without tensormap.cp_fenceproxy or fence.proxy.tensormap::generic.release"},
      {STEP_MAP_CHANGE, STEP_MAP_ACQUIRE,
       "tensormap.replace without fence.proxy.tensormap::generic.acquire"}};
   find_missing(rule, subject, report, needs, sizeof needs / sizeof *needs);
}

void find_dependent_wait(const lint_rule_t *rule, const lint_subject_t *subject, lint_report_t *report) {
   survey_t survey = {.by_library = false};
   bool surveyed = false;
   for (uint32_t l = 0; l < subject->manifest->launch_count; l++) {
      const rkb_launch_text_t *launch = &subject->manifest->launches[l];
      if (launch->dependent && !surveyed)
         lint_each_word(subject, note_word, &survey);
      surveyed |= launch->dependent;
      if (launch->dependent && !survey.found[STEP_GRID_WAIT])
         lint_add(report, rule, launch->line, launch->column,
                  "a dependent launch, and nowhere griddepcontrol.wait");
   }
}
