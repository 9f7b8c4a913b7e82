/* Blocks sampled at a bench shape: bench_values.c (executed and judged) and bench_coverage.c (what they leave unwritten).  One worker
 * thread a sample. */
#ifndef MACHINE_SAMPLE_H
#define MACHINE_SAMPLE_H

#include "verifier.h"

#define SAMPLE_SEED 1

struct sample {
   const struct verifier *verifier;
   struct candidate *candidate;
   const rkb_case_t *the_case;
   const rkb_plan_t *plan;
   struct outcome *outcome;
   const rkb_family_t *family;
   rkb_inputs_t *inputs;
   rkb_machine_t *machine;
   rkb_machine_buffer_t *buffers;
   /* of the output being judged */
   uint64_t *written, written_count;
   uint32_t output, width;
   uint64_t judged;
   bool stale; /* what blocks that were not executed change is in the buffers as it was */
};

/* Says in the certificate why something was not judged. */
void sample_leave_out(struct sample *s, const char *why);
/* What all blocks of the launches that were executed would take, if each took what the executed ones took on average. */
double sample_whole_instructions(const rkb_machine_report_t *report);
/* Where the sample leaves doubt, executes all blocks; where those are too many, says what was seen. */
int sample_find_unwritten(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err);

#endif
