/* Evaluates a task under several seeds and init settings and applies the published checks to its outputs.  Holds the outputs of all
 * runs of one case at a time.  Any thread. */
#include "task/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "task/definition.h"

#define THRESHOLD 0.01
#define SEEDS 4u
#define MOST_OPERATIONS 1e9 /* per evaluation; if a bench case needs more, a check case is judged */
#define MOST_ELEMENTS (UINT64_C(1) << 24)

typedef struct subject {
   const rkb_task_t *task;
   const rkb_definition_t *definition;
   const rkb_case_t *the_case;
   rkb_case_t *drawn; /* owned: the_case under the tensors' own recipes, if the_case is a check case */
   rkb_filter_t *filter;
} subject_t;

/* Records a check's result: keeps the first failure, or else the weakest pass. */
static void note(rkb_filter_finding_t *finding, bool failed, double number, double *weakest, const char *fmt,
                 const char *tensor, const char *more) {
   if (finding->result == RKB_FILTER_FAILED || (!failed && number > *weakest))
      return;
   finding->result = failed ? RKB_FILTER_FAILED : RKB_FILTER_PASSED;
   *weakest = number;
   snprintf(finding->what, sizeof finding->what, fmt, tensor, more, number);
}

static uint64_t output_elements(const rkb_case_t *the_case) {
   uint64_t total = 0;
   for (uint32_t i = 0; i < the_case->tensor_count; ++i)
      if (the_case->tensors[i].role != RKB_IN)
         total += the_case->tensors[i].elements;
   return total;
}

/* Stores all outputs of one evaluation in values, one after another. */
static int evaluate(const subject_t *subject, const rkb_case_t *the_case, uint64_t seed, double *values,
                    rkb_error_t *err) {
   const rkb_family_t *family = rkb_task_family(subject->task, the_case, 0);
   for (uint32_t i = 0; family && strcmp(family->name, "normal") != 0; ++i)
      family = rkb_task_family(subject->task, the_case, i);
   if (family == NULL)
      return rkb_fail(err, RKB_ERR_INTERNAL, "%s has no family 'normal'", the_case->name);
   rkb_inputs_t *inputs = NULL;
   rkb_expected_t *expected = NULL;
   int status = rkb_task_inputs_open(subject->task, the_case, family, seed, &inputs, err);
   if (status != RKB_OK)
      return status;
   status = rkb_task_expect(inputs, &expected, err);
   for (uint32_t i = 0; i < the_case->tensor_count && status == RKB_OK; ++i) {
      if (the_case->tensors[i].role == RKB_IN)
         continue;
      rkb_points_t points = rkb_task_expected_points(expected, i);
      memcpy(values, points.value, points.count * sizeof *values);
      values += points.count;
   }
   rkb_task_expected_free(expected);
   rkb_task_inputs_free(inputs);
   return status;
}

static void judge_axes(const subject_t *subject, const rkb_tensor_t *tensor, const double *first,
                       uint32_t runs, uint64_t stride, double *weakest) {
   for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
      if (tensor->shape[axis] < 2)
         continue;
      double largest = 0;
      for (uint32_t run = 0; run < runs; ++run)
         largest =
            fmax(largest, rkb_filter_axis_spread(first + run * stride, tensor->shape, tensor->rank, axis));
      char name[24];
      snprintf(name, sizeof name, "axis %u", axis);
      note(&subject->filter->findings[RKB_FILTER_AXES], !(largest >= THRESHOLD), largest, weakest,
           "%s, %s: the largest standard deviation along it is %.3g", tensor->name, name);
   }
}

/* Judges the range, the spread over seeds and the spread along axes of every floating-point output. */
static void judge_outputs(const subject_t *subject, const double *values, uint64_t stride) {
   double range = INFINITY, seeds = INFINITY, axes = INFINITY;
   rkb_filter_finding_t *findings = subject->filter->findings;
   snprintf(findings[RKB_FILTER_AXES].what, sizeof findings->what, "no output has an axis longer than 1");
   for (uint32_t i = 0; i < subject->the_case->tensor_count; ++i) {
      const rkb_tensor_t *tensor = &subject->the_case->tensors[i];
      if (tensor->role == RKB_IN)
         continue;
      if (rkb_dtype_is_float(tensor->dtype)) {
         double largest = 0, *own = rkb_try_uncleared(SEEDS * tensor->elements, sizeof *own, NULL);
         for (uint32_t run = 0; run < SEEDS; ++run)
            largest = fmax(largest, rkb_filter_largest(values + run * stride, tensor->elements));
         note(&findings[RKB_FILTER_RANGE], !(largest > THRESHOLD), largest, &range,
              "%s%s: the largest magnitude is %.3g", tensor->name, "");
         for (uint32_t run = 0; own && run < SEEDS; ++run)
            memcpy(own + run * tensor->elements, values + run * stride, tensor->elements * sizeof *own);
         double spread = own ? rkb_filter_seed_spread(own, SEEDS, tensor->elements) : 0;
         if (own)
            note(&findings[RKB_FILTER_SEEDS], !(spread >= THRESHOLD), spread, &seeds,
                 "%s%s: the largest standard deviation over seeds is %.3g", tensor->name, "");
         free(own);
         judge_axes(subject, tensor, values, SEEDS, stride, &axes);
      }
      values += tensor->elements;
   }
}

/* Judges whether each input affects an output in at least one check case. */
static int judge_inputs(const subject_t *subject, rkb_error_t *err) {
   rkb_filter_finding_t *finding = &subject->filter->findings[RKB_FILTER_INPUTS];
   finding->result = RKB_FILTER_PASSED;
   snprintf(finding->what, sizeof finding->what, "every input affects an output");
   for (uint32_t i = 0; i < subject->the_case->tensor_count; ++i) {
      const rkb_tensor_t *tensor = &subject->the_case->tensors[i];
      bool matters = tensor->role == RKB_OUT;
      for (uint32_t c = 0; !matters; ++c) {
         const rkb_case_t *the_case = rkb_task_case(subject->task, RKB_CASE_CHECK, c);
         rkb_inputs_t *inputs = NULL;
         if (the_case == NULL)
            break;
         int status = rkb_task_inputs_open(subject->task, the_case,
                                           rkb_task_family(subject->task, the_case, 0), 1, &inputs, err);
         if (status == RKB_OK)
            status = rkb_task_input_matters(inputs, i, &matters, err);
         rkb_task_inputs_free(inputs);
         if (status != RKB_OK)
            return status;
      }
      if (!matters) {
         finding->result = RKB_FILTER_FAILED;
         snprintf(finding->what, sizeof finding->what, "%s changes no output of any check case",
                  tensor->name);
         return RKB_OK;
      }
   }
   return RKB_OK;
}

static bool differ(const double *left, const double *right, uint64_t count) {
   for (uint64_t i = 0; i < count; ++i)
      if (!(fabs(left[i] - right[i]) <= 1e-9 * fmax(1, fabs(left[i]))))
         return true;
   return false;
}

static int judge_inits(const subject_t *subject, const double *values, uint64_t elements, rkb_error_t *err) {
   rkb_filter_finding_t *finding = &subject->filter->findings[RKB_FILTER_INITS];
   const rkb_definition_t *definition = subject->definition;
   if (definition->setting_count == 0) {
      finding->result = RKB_FILTER_UNDECIDED;
      snprintf(finding->what, sizeof finding->what, "the task names no init settings");
      return RKB_OK;
   }
   finding->result = RKB_FILTER_FAILED;
   snprintf(finding->what, sizeof finding->what, "the outputs are the same under every init setting");
   double *other = rkb_try_uncleared(elements, sizeof *other, err);
   int status = other ? RKB_OK : RKB_ERR_NOMEM;
   /* The last turn takes the tensors' own recipes: a case may itself be under the only named setting. */
   for (uint32_t s = 0;
        s <= definition->setting_count && status == RKB_OK && finding->result == RKB_FILTER_FAILED; ++s) {
      rkb_case_t *changed = NULL;
      const char *setting = s < definition->setting_count ? definition->settings[s].name : NULL;
      status = rkb_task_case_with_init(subject->task, subject->the_case, setting, &changed, err);
      if (status == RKB_OK)
         status = evaluate(subject, changed, 1, other, err);
      rkb_task_case_free(changed);
      if (status == RKB_OK && differ(values, other, elements)) {
         finding->result = RKB_FILTER_PASSED;
         snprintf(finding->what, sizeof finding->what, "the outputs change under %s%s",
                  setting ? "init setting " : "the tensors' own recipes", setting ? setting : "");
      }
   }
   free(other);
   return status;
}

/* Chooses the first bench case that can be evaluated whole; otherwise the check case with the most work. */
static int choose_case(subject_t *subject, rkb_error_t *err) {
   for (uint32_t kind = RKB_CASE_BENCH; kind != 0 && subject->the_case == NULL;
        kind = kind == RKB_CASE_BENCH ? RKB_CASE_CHECK : 0) {
      const rkb_case_t *the_case = rkb_task_case(subject->task, kind, 0);
      for (uint32_t i = 1; the_case; the_case = rkb_task_case(subject->task, kind, i++)) {
         bool fits = the_case->operations <= MOST_OPERATIONS && output_elements(the_case) <= MOST_ELEMENTS;
         bool better = subject->the_case == NULL ||
                       (kind == RKB_CASE_CHECK && the_case->operations > subject->the_case->operations);
         if (fits && better)
            subject->the_case = the_case;
      }
   }
   if (subject->the_case == NULL)
      return rkb_fail(err, RKB_ERR_LIMIT, "no case of %s is small enough to evaluate whole (%.0e operations)",
                      subject->filter->task, MOST_OPERATIONS);
   snprintf(subject->filter->judged, sizeof subject->filter->judged, "%s", subject->the_case->name);
   subject->filter->smaller = subject->the_case->kind == RKB_CASE_CHECK;
   if (!subject->filter->smaller)
      return RKB_OK;
   /* Check cases use odd settings, such as equal weights, on purpose. */
   int status = rkb_task_case_with_init(subject->task, subject->the_case, NULL, &subject->drawn, err);
   if (status == RKB_OK)
      subject->the_case = subject->drawn;
   return status;
}

static int judge(subject_t *subject, rkb_error_t *err) {
   int status = choose_case(subject, err);
   if (status != RKB_OK)
      return status;
   uint64_t elements = output_elements(subject->the_case);
   double *values = rkb_try_uncleared(SEEDS * elements, sizeof *values, err);
   status = values ? RKB_OK : RKB_ERR_NOMEM;
   for (uint32_t run = 0; run < SEEDS && status == RKB_OK; ++run)
      status = evaluate(subject, subject->the_case, run + 1, values + run * elements, err);
   if (status == RKB_OK) {
      judge_outputs(subject, values, elements);
      status = judge_inputs(subject, err);
   }
   if (status == RKB_OK)
      status = judge_inits(subject, values, elements, err);
   free(values);
   return status;
}

int rkb_task_filter(const char *directory, rkb_filter_t *filter, rkb_problems_t *problems, rkb_error_t *err) {
   *filter = (rkb_filter_t){0};
   for (uint32_t i = 0; i < RKB_FILTER_CHECKS; ++i)
      filter->findings[i].result = RKB_FILTER_UNDECIDED;
   rkb_definition_t *definition = rkb_definition_load(directory, problems);
   rkb_task_t *task = definition ? rkb_task_load(directory, "forward", 0, problems) : NULL;
   int status = RKB_OK;
   if (task == NULL) {
      status = rkb_problems_error(problems, err);
   } else {
      snprintf(filter->task, sizeof filter->task, "%s", rkb_task_info(task)->name);
      subject_t subject = {.task = task, .definition = definition, .filter = filter};
      status = judge(&subject, err);
      rkb_task_case_free(subject.drawn);
   }
   rkb_task_free(task);
   rkb_definition_free(definition);
   return status;
}
