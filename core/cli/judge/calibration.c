/* The section of rkb report about judges (calibration.h).  A judge's task is to find wrong kernels: precision
 * is the share of its alarms that were right, recall the share of the wrong kernels that it found. */
#include "cli/judge/calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

rkb_share_t rkb_share_of(int64_t hits, int64_t n) {
   const double z = 1.959963984540054; /* 97.5 % of the normal distribution */
   if (n <= 0)
      return (rkb_share_t){.value = NAN, .low = NAN, .high = NAN};
   double share = (double)hits / (double)n, count = (double)n;
   double middle = (share + z * z / (2 * count)) / (1 + z * z / count);
   double reach = z / (1 + z * z / count) * sqrt(share * (1 - share) / count + z * z / (4 * count * count));
   return (rkb_share_t){
      .hits = hits, .n = n, .value = share, .low = fmax(0, middle - reach), .high = fmin(1, middle + reach)};
}

static void print_share(const char *name, int64_t hits, int64_t n) {
   rkb_share_t share = rkb_share_of(hits, n);
   if (n)
      printf("    %-10s %.2f  [%.2f, %.2f]  of %" PRId64 "\n", name, share.value, share.low, share.high, n);
   else
      printf("    %-10s none to count\n", name);
}

static int print_judge(void *argument, const rkb_judge_record_t *judge) {
   bool *any = argument;
   int64_t decided =
      judge->both_reject + judge->only_judge_rejects + judge->both_accept + judge->only_machine_rejects;
   int64_t asked = decided + judge->abstained + judge->missing;
   if (!*any)
      printf("\njudges against build and execution (share, 95 %% interval)\n");
   *any = true;
   printf("  %s: %" PRId64 " candidates judged, for %" PRId64 " of them it is known, %" PRId64
          " abstentions among those\n",
          judge->stage, asked, decided + judge->abstained, judge->abstained);
   print_share("precision", judge->both_reject, judge->both_reject + judge->only_judge_rejects);
   print_share("recall", judge->both_reject, judge->both_reject + judge->only_machine_rejects);
   print_share("accuracy", judge->both_reject + judge->both_accept, decided);
   printf("    %-10s %.4f USD, %.5f a candidate\n", "cost", judge->worth_usd,
          asked ? judge->worth_usd / (double)asked : 0);
   return RKB_OK;
}

int rkb_calibration_print(rkb_archive_t *archive, rkb_error_t *err) {
   bool any = false;
   return rkb_archive_each_judge(archive, print_judge, &any, err);
}
