/* rkb/ext/survey.h - what a manifest decides at many shapes at once.  Extension "rkb.survey/1".
 *
 * A survey of rkb.kernel tells at one shape after the other what the manifest's expressions decide.  This tells the same for up to 64 shapes
 * in a fraction of the time, decision by decision.
 */
#ifndef RKB_EXT_SURVEY_H
#define RKB_EXT_SURVEY_H

#include <rkb/ext/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_SURVEY "rkb.survey/1"
#define RKB_SURVEY_SHAPES 64u

/* One decision (rkb_plan_decision_t) at the shapes that are told: bit n of shapes and outcomes is shape number n. */
typedef struct rkb_survey_decision {
   uint64_t place;
   uint32_t divides, is_value;
   uint64_t shapes;         /* where survey_at would tell it, after the shapes before; may be none */
   uint64_t outcomes;       /* those of them where the outcome is 1 */
   const double *distances; /* RKB_SURVEY_SHAPES of them, which count at these shapes; NULL where divides */
} rkb_survey_decision_t;

typedef struct rkb_survey_api {
   uint32_t size;
   uint32_t reserved;

   /* Hands over what is decided at count shapes, as survey_at would tell it at each of them in turn.  dims: of each shape.  take returns false where it
    * does not want the decisions in this form.  Returns whether they were taken; if not, nothing of the survey has changed, and survey_at serves each
    * shape.  [worker] */
   bool (*many)(rkb_plan_survey_t *survey, const int64_t *const *dims, uint32_t count,
                bool (*take)(void *argument, const rkb_survey_decision_t *decisions, uint32_t decision_count),
                void *argument);
} rkb_survey_api_t;

#ifdef __cplusplus
}
#endif
#endif
