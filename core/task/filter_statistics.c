/* The statistics that the task filter compares with its thresholds, and the text of its findings.  Pure functions; any thread. */
#include <math.h>

#include "task/filter.h"

double rkb_filter_largest(const double *values, uint64_t count) {
   double largest = 0;
   for (uint64_t i = 0; i < count; ++i)
      largest = fmax(largest, fabs(values[i]));
   return largest;
}

/* The standard deviation (divisor n - 1, as torch.std) of count values that lie stride apart. */
static double spread(const double *values, uint64_t count, uint64_t stride) {
   if (count < 2)
      return 0;
   double mean = 0, squares = 0;
   for (uint64_t i = 0; i < count; ++i)
      mean += values[i * stride];
   mean /= (double)count;
   for (uint64_t i = 0; i < count; ++i)
      squares += (values[i * stride] - mean) * (values[i * stride] - mean);
   return sqrt(squares / (double)(count - 1));
}

double rkb_filter_seed_spread(const double *values, uint32_t runs, uint64_t elements) {
   double largest = 0;
   for (uint64_t i = 0; i < elements; ++i)
      largest = fmax(largest, spread(values + i, runs, elements));
   return largest;
}

double rkb_filter_axis_spread(const double *values, const int64_t *shape, uint32_t rank, uint32_t axis) {
   uint64_t outer = 1, inner = 1, extent = (uint64_t)shape[axis];
   for (uint32_t i = 0; i < axis; ++i)
      outer *= (uint64_t)shape[i];
   for (uint32_t i = axis + 1; i < rank; ++i)
      inner *= (uint64_t)shape[i];
   double largest = 0;
   for (uint64_t o = 0; o < outer; ++o)
      for (uint64_t i = 0; i < inner; ++i)
         largest = fmax(largest, spread(values + o * extent * inner + i, extent, inner));
   return largest;
}

const char *rkb_filter_check_name(uint32_t check) {
   static const char *const names[RKB_FILTER_CHECKS] = {"range", "seeds", "axes", "inputs", "inits"};
   return check < RKB_FILTER_CHECKS ? names[check] : "unknown";
}

static const char *result_name(uint32_t result) {
   return result == RKB_FILTER_PASSED ? "passed" : result == RKB_FILTER_FAILED ? "failed" : "undecided";
}

bool rkb_filter_worth(const rkb_filter_t *filter) {
   for (uint32_t i = 0; i < RKB_FILTER_CHECKS; ++i)
      if (filter->findings[i].result == RKB_FILTER_FAILED)
         return false;
   return true;
}

void rkb_filter_write(const rkb_filter_t *filter, rkb_text_t *out) {
   for (uint32_t i = 0; i < RKB_FILTER_CHECKS; ++i)
      rkb_text_format(out, "%-8s %-10s %s\n", rkb_filter_check_name(i),
                      result_name(filter->findings[i].result), filter->findings[i].what);
   if (filter->smaller)
      rkb_text_format(out, "judged on %s: the bench cases are too large to evaluate whole\n", filter->judged);
   else
      rkb_text_format(out, "judged on %s\n", filter->judged);
   rkb_text_format(out, "%s: %s\n", filter->task,
                   rkb_filter_worth(filter) ? "worth optimising" : "not worth optimising");
}

json_t *rkb_filter_json(const rkb_filter_t *filter) {
   json_t *checks = json_object();
   for (uint32_t i = 0; checks && i < RKB_FILTER_CHECKS; ++i) {
      json_t *finding = json_pack("{s:s, s:s}", "result", result_name(filter->findings[i].result), "what",
                                  filter->findings[i].what);
      if (json_object_set_new(checks, rkb_filter_check_name(i), finding) != 0) {
         json_decref(checks);
         checks = NULL;
      }
   }
   if (checks == NULL)
      return NULL;
   return json_pack("{s:s, s:s, s:b, s:b, s:o}", "task", filter->task, "judged", filter->judged, "smaller",
                    filter->smaller, "worth", rkb_filter_worth(filter), "checks", checks);
}
