/* What Nsight Compute or compute-sanitizer writes may be anything: their programs run on the worker's machine. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "ncu/ncu_report.h"
#include "sanitizer/sanitizer_report.h"

enum { NAMES = 3, LAUNCHES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   static const char *const names[NAMES] = {"gpu__time_duration.sum", "dram__bytes.sum", "a"};
   double values[LAUNCHES * NAMES];
   char said[64];
   sanitizer_summary_t summary;
   ncu_report_read((const char *)data, size, names, NAMES, LAUNCHES, values);
   for (int i = 0; i < LAUNCHES * NAMES; i++)
      if (isinf(values[i]))
         abort();
   ncu_report_error((const char *)data, size, said, sizeof said);
   sanitizer_report_read((const char *)data, size, &summary);
   if (summary.report_count > SANITIZER_MOST_REPORTS || strlen(said) >= sizeof said || strlen(summary.failure) >= sizeof summary.failure)
      abort();
   for (uint32_t i = 0; i < summary.report_count; i++)
      if (strlen(summary.reports[i]) >= sizeof summary.reports[i])
         abort();
   return 0;
}
