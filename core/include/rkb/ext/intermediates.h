/* rkb/ext/intermediates.h - what a task's reference computes between its inputs and its outputs.  Extension "rkb.intermediates/1".
 *
 * An intermediate is a value of the reference graph, in either direction: the result of one operation.  A kernel of several launches keeps some of
 * them in scratch buffers.  A stage that knows which buffer holds which can judge each launch by itself: it gives the reference made-up
 * values of what the launch reads, and asks what comes of them. */
#ifndef RKB_EXT_INTERMEDIATES_H
#define RKB_EXT_INTERMEDIATES_H

#include <rkb/ext/task.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_INTERMEDIATES "rkb.intermediates/1"

typedef struct rkb_intermediate {
   const char *name;      /* in the graph file; "" for a step inside a function, and for gradients */
   const char *operation; /* that computes it */
   uint32_t dtype;        /* enum rkb_dtype: in which a kernel would keep it */
   uint32_t rank;
   int64_t shape[RKB_MAX_RANK];
   uint64_t elements;
} rkb_intermediate_t;

typedef struct rkb_intermediates_api {
   uint32_t size;
   uint32_t reserved;

   /* Number n of the case's intermediates, each after those that it is computed from; false past the last.  [any] */
   bool (*at)(const rkb_case_t *the_case, uint32_t number, rkb_intermediate_t *intermediate);

   /* Whether numbers mean the same at both cases of a task and direction: a graph may be another one at another shape.  [any] */
   bool (*alike)(const rkb_case_t *the_case, const rkb_case_t *other);

   /* From here on the reference takes these intermediates as given, and computes what lies behind them from what they hold: each element one of
    * some drawn elements of the true intermediate (computed from the intermediates of the list that come before it), rounded to the
    * dtype in which the kernel keeps it.  Once for inputs, before they are shared.  RKB_ERR_LIMIT: the true elements cost too much.  [worker] */
   int (*give)(rkb_inputs_t *inputs, const uint32_t *numbers, const uint32_t *dtypes, uint32_t count, rkb_error_t *err);

   /* Writes the listed elements of an intermediate that was given to out, in the dtype that keeps it, *width bytes each.  [worker] */
   int (*fill)(const rkb_inputs_t *inputs, uint32_t number, const uint64_t *elements, uint64_t count, void *out,
               uint64_t *width, rkb_error_t *err);

   /* The listed elements of an intermediate, from the inputs and what was given; as expect_points of rkb.task.  [worker] */
   int (*expect_points)(const rkb_inputs_t *inputs, uint32_t number, const uint64_t *elements, uint64_t count,
                        double *value, double *hard, double *stat, uint8_t *flags, rkb_error_t *err);

   /* Judges count elements of an intermediate that a kernel keeps in dtype; as judge of rkb.task.  [worker] */
   int (*judge)(const rkb_inputs_t *inputs, uint32_t number, uint32_t dtype, const void *data, const rkb_points_t *points,
                const uint64_t *elements, rkb_judgement_t *judgement, rkb_error_t *err);
} rkb_intermediates_api_t;

#ifdef __cplusplus
}
#endif
#endif
