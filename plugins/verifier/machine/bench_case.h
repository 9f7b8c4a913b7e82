/* A bench case of a candidate: bench_counts.c executes a sample of its blocks and judges them, bench_cases.c does so for all bench cases side by
 * side. */
#ifndef MACHINE_BENCH_CASE_H
#define MACHINE_BENCH_CASE_H

#include "bench_values.h"

struct bench_case {
   struct sample sample; /* whoever judges it sets verifier, candidate, the_case, case_index and outcome */
   rkb_plan_t *plan;     /* NULL: the candidate has none */
   rkb_launch_counters_t *launches;
   uint32_t launch_count;
   bool steered; /* in a check case, by an input or by what other blocks did */
   bool waits;   /* in a check case, blocks waited for other blocks */
   bool multiplies; /* in a check case, matrix instructions were executed */
   bool counted; /* launches holds what was counted */
   bool stopped; /* something was found that ends a block before its time */
   bool cut;     /* a long sequence was not executed to its end */
};

/* RKB_ERR_LIMIT: memory and budget did not suffice.  Close it also after a failure. */
int bench_case_judge(struct bench_case *bench, rkb_error_t *err);
void bench_case_close(struct bench_case *bench);

#endif
