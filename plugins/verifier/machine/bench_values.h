/* Blocks sampled at a bench shape: bench_counts.c (which opens a sample and counts), bench_values.c (executed and judged), sampled_points.c
 * (the elements that are judged, and what the sample leaves out) and bench_coverage.c (what the blocks leave unwritten).  One worker
 * thread a sample. */
#ifndef MACHINE_SAMPLE_H
#define MACHINE_SAMPLE_H

#include "block_sample.h"

#define SAMPLE_INSTRUCTIONS 5000000u /* of a launch, after which no further block of it is executed */

struct sample {
   const struct verifier *verifier;
   struct candidate *candidate;
   const rkb_case_t *the_case;
   uint32_t case_index;
   const rkb_plan_t *plan;
   struct outcome *outcome;
   const rkb_family_t *family;
   uint64_t seed;
   rkb_inputs_t *inputs;
   rkb_machine_t *machine;
   rkb_machine_buffer_t *buffers;
   struct block_sample blocks;
   rkb_random_t points; /* draws elements */
   /* of the output being judged */
   uint64_t *written, written_count;
   uint32_t output, width;
   uint64_t judged;
   bool **judged_blocks; /* by launch and place in blocks: some element of it was judged */
   bool stale; /* what blocks that were not executed change is in the buffers as it was */
};

/* Says in the certificate why something was not judged. */
void sample_leave_out(struct sample *s, const char *why);
/* What all blocks of the launches that were executed would take, if each took what the executed ones took on average. */
double sample_whole_instructions(const rkb_machine_report_t *report);
/* Where the sample leaves doubt, executes all blocks; where those are too many, says what was seen. */
int sample_find_unwritten(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err);

/* bench_values.c */
int sample_make_buffers(const struct sample *s, bool defined, rkb_machine_buffer_t **buffers,
                        rkb_error_t *err);
void sample_free_buffers(const struct sample *s, rkb_machine_buffer_t *buffers);
/* Bytes of the plan's inputs and fills, made from s->inputs: a fetch of the machine's, whose argument is the sample. */
int sample_fetch(void *sample, uint32_t buffer, uint64_t first_byte, uint64_t bytes, void *out);
/* Executes the blocks that are judged, on inputs drawn for this, and judges some of what they wrote. */
int sample_judge(struct sample *s, rkb_error_t *err);

/* sampled_points.c: moves to the front of s->written elements of every block that wrote some: one of each before a second of any, drawn
 * blocks first.  Returns how many. */
int sample_choose(struct sample *s, uint64_t *count, rkb_error_t *err);
/* The first count of s->written were judged. */
void sample_note_judged(struct sample *s, uint64_t count);
/* The certificate's facet: what was executed and judged, and what it leaves out. */
void sample_describe(struct sample *s, const rkb_machine_report_t *report);

#endif
