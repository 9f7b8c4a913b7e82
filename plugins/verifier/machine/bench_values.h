/* Blocks sampled at a bench shape: bench_counts.c (which opens a sample and counts; bench_cases.c has all of them), bench_values.c (executed and judged), sampled_points.c
 * (the elements that are judged, and what the sample leaves out), judged_elements.c (compares them), bench_slice.c and launches_alone.c (what
 * depends on blocks that were not sampled) and bench_coverage.c (what the blocks leave unwritten).  One worker thread a sample. */
#ifndef MACHINE_SAMPLE_H
#define MACHINE_SAMPLE_H

#include "block_sample.h"
#include "launch_intermediates.h"

#define SAMPLE_INSTRUCTIONS 5000000u  /* of a launch's counted blocks, after which no further one is executed */
#define JUDGED_INSTRUCTIONS 50000000u /* of its judged blocks */

#define MOST_JUDGED 65536u /* elements of an output at a bench shape */

struct compared_elements; /* compared_elements.h */

/* Drawn blocks of a launch of which the beginning was executed, and those of them that ended there and stored nothing. */
struct followed {
   uint32_t count, idle;
};

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
   rkb_machine_kept_t *kept; /* of its runs; NULL: each asks the system for memory */
   struct block_sample blocks;
   rkb_random_t points; /* draws elements */
   /* of the output being judged */
   uint64_t *written;           /* elements that were chosen among those that executed blocks wrote */
   uint64_t (*written_runs)[2]; /* those that they wrote: of each run the first, and how many */
   uint64_t written_run_count, written_room, written_count; /* count: of elements, in all runs */
   bool written_refused; /* there was no memory for more */
   uint32_t output, width;
   uint64_t judged, dont_care,
      final_elements; /* final_elements: final ones that executed blocks wrote, of outputs of which some element was judged */
   uint64_t **
      judged_blocks; /* by launch and place in blocks: a bit for each output of which some element of it was judged */
   json_t *
      outputs; /* owned: by name, how many of its elements were judged, until they are described; NULL: none */
   double share; /* over outputs, the largest share of elements that may be wrong and missed with 5 % */
   bool *judged_buffers; /* by buffer of the plan: some element of it was judged */
   uint64_t *stores;     /* by launch: buffers that its blocks are known to write, or may */
   const struct sample *probe; /* further blocks whose stores tell who writes what; NULL: none */
   /* A launch that is judged by itself, and what launches write as s->stores had it before; NULL: outputs, from the inputs on. */
   const struct link_target *target;
   const uint64_t *known_stores;
   const struct link *as; /* the buffer being judged holds this intermediate; NULL: a tensor */
   uint32_t linked;       /* outputs that were judged launch by launch */
   uint32_t most_judged;  /* elements of an output */
   bool asks_all;         /* what all blocks write is looked at, whatever the executed ones write */
   bool lone;             /* values are not followed back to other launches, and outputs that no launch writes are not searched */
   double needed;         /* thread-instructions that a slice would have taken, where they were too many; 0 otherwise */
   double instructions;   /* of the whole plan, as the executed blocks tell */
   struct followed *followed; /* by launch; NULL: none was looked at */
   char unjudged[256];    /* names of the outputs of which nothing was judged, with commas */
   struct bench_case *counts; /* takes what the judged blocks count (bench_counts.c); NULL: that has been counted */
   bool shares;           /* parts of it may be executed on other threads: it is no part itself */
   bool dear;  /* its counted blocks took much, and no input steered the kernels at the check cases */
   json_t *facet; /* of outcome->sampled, that describes it; NULL: nothing was judged */
   bool divided; /* all blocks were executed, and none stored a word that another one stores */
   const json_t
      *deciding; /* names of inputs that steered the kernels in check cases; NULL: nothing is known of them */
   bool by_warpgroups;         /* in a check case wgmma multiplied, and tensor copies were made */
   bool by_copies;             /* in a check case mma multiplied, and threads copied without waiting */
   struct compared_elements *
      compared; /* the elements that are compared, chosen before values are computed; NULL: all values are computed */
   bool reached;     /* an element was judged that lies beyond 2^31 bytes of an output */
   bool races;       /* where lone: races are looked for all the same */
   uint64_t last_work,
      last_products; /* of a far shape: what the most dear one of the launches' last blocks did, with multiply-adds; 0: it is not known */
   bool drawn_alone; /* of a far shape: drawn blocks are executed and no others (large_offsets.c) */
   bool stale; /* the buffers hold old values where blocks that were not executed would change them */
};

/* Says in the certificate why something was not judged. */
void sample_leave_out(struct sample *s, const char *why);
/* What all blocks of the launches that were executed would take, if each took what the executed ones took on average. */
double sample_whole_instructions(const rkb_machine_report_t *report);
/* Where the sample leaves doubt, executes all blocks; where those are too many, says what was seen. */
int sample_find_unwritten(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err);

/* bench_races.c: executes a few blocks of each launch with records of races, and notes what it finds. */
int sample_find_races(struct sample *s, rkb_error_t *err);
/* Executes these blocks of each launch with records of races, within so much work; part->machine and part->buffers are there until sample_end_races,
 * which is called after a failure too.  loops: counts their turns. */
int sample_look_for_races(struct sample *part, const rkb_machine_blocks_t *lists, uint64_t most, bool loops,
                          rkb_machine_report_t *report, rkb_error_t *err);
void sample_end_races(struct sample *part);
/* Whether the blocks lacked values of others, so that what was found says nothing. */
bool sample_races_lack(const rkb_machine_report_t *report);
/* Notes what is surely wrong, with a sample, and returns how much that is. */
uint32_t sample_take_races(const struct sample *s, const rkb_machine_report_t *report);

/* bench_earlier_values.c: where executed blocks read what an earlier launch of the plan may have left in a variable of the module, whether it decides anything. */
int sample_find_past(struct sample *s, rkb_error_t *err);

/* idle_blocks.c: whether the executed blocks that chance chose wrote so little of an output that all blocks together leave words of it undefined; tell: notes
 * it too. */
bool idle_blocks_seen(const struct sample *s, const rkb_machine_report_t *report, bool tell);
/* Notes it of outputs that hold values from the start, if those are wrong. */
int idle_blocks_judge(struct sample *s, const rkb_machine_report_t *report, rkb_error_t *err);

/* idle_launches.c: notes a launch of which no executed block stored anything, though whole runs of check cases did, where some output is not judged. */
void idle_launches_judge(const struct sample *s);

/* block_beginnings.c: makes s->followed, for launches of which few blocks were executed. */
int block_beginnings_follow(struct sample *s, const rkb_machine_options_t *options,
                            const rkb_machine_report_t *report, rkb_error_t *err);

/* bench_values.c */
int sample_make_buffers(const struct sample *s, bool defined, rkb_machine_buffer_t **buffers,
                        rkb_error_t *err);
void sample_free_buffers(const struct sample *s, rkb_machine_buffer_t *buffers);
/* Forgets the run before: closes the machine, and makes new buffers. */
int sample_start_again(struct sample *s, rkb_error_t *err);
/* Bytes of the plan's inputs and fills, made from s->inputs: a fetch of the machine's, whose argument is the sample. */
int sample_fetch(void *sample, uint32_t buffer, uint64_t first_byte, uint64_t bytes, void *out);
static inline bool sample_is_given(const struct sample *s, uint32_t buffer) {
   return s->target && buffer < MOST_LINKED && (s->target->given >> buffer & 1);
}
/* runs_without_values.c: runs the plan; the machine is the caller's to close, also after a failure. */
int sample_run_once(const struct sample *s, const rkb_machine_options_t *options,
                    const rkb_machine_buffer_t *buffers, rkb_machine_t **machine,
                    rkb_machine_report_t *report, rkb_error_t *err);
/* The inputs that steered the kernels in check cases, a bit each.  As options.valued, they have their values even in a run without values. */
uint64_t sample_deciding(const struct sample *s);
/* The only launch that writes outputs; the number of launches where there are several, or none. */
uint32_t sample_writing_launch(const struct sample *s);
/* Whether these are most of the inputs.  Then a run without values saves less work than it takes to follow their taint. */
bool sample_needs_values(const struct sample *s, uint64_t deciding);
/* Whether an input that has no values in the run of these options steered the kernels. */
bool sample_is_steered(const rkb_machine_options_t *options, const rkb_machine_report_t *report);
/* The buffers that a launch writes, a bit each, from runs that executed check cases whole.  If no such run had the launch: all buffers that the
 * launch takes and that are not inputs.  Buffer number 63 stands for those behind it too. */
uint64_t sample_buffers_written(const struct sample *s, uint32_t number);
/* Whether blocks of the launch may store to the buffer, after the sample was executed. */
bool sample_may_store(const struct sample *s, uint32_t launch, uint32_t buffer);
/* Runs the plan for what its blocks do, without the values of inputs that do not steer it. */
int sample_run_for_steps(struct sample *s, const rkb_machine_options_t *options,
                         const rkb_machine_buffer_t *buffers, rkb_machine_t **machine,
                         rkb_machine_report_t *report, rkb_error_t *err);
/* The same for the bytes that its blocks store, and nothing else. */
int sample_run_for_stores(struct sample *s, const rkb_machine_options_t *options,
                          const rkb_machine_buffer_t *buffers, rkb_machine_t **machine,
                          rkb_machine_report_t *report, rkb_error_t *err);
/* The blocks of a single launch that may do little work, without values where values are dear: with products of warpgroups of what tensor copies bring.  *enough: the work ended, as it
 * would have with values, and nothing else was found; else nothing was executed. */
int sample_run_to_limit(struct sample *s, const rkb_machine_options_t *options, bool *enough,
                        rkb_error_t *err);
/* bench_slice.c: whether nothing was judged of some output that the launch writes. */
bool sample_has_unjudged(const struct sample *s, uint32_t launch);
bool sample_is_output(const rkb_plan_buffer_t *buffer);
/* Whether the sample will be judged on the case's own family, on which it is counted. */
bool sample_takes_own_family(const struct sample *s);
/* Executes the blocks that are judged, on inputs drawn for this, and judges some of what they wrote. */
int sample_judge(struct sample *s, rkb_error_t *err);
/* Executes s->plan on s->buffers, and takes the work from the candidate's budget. */
int sample_execute(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err);
/* bench_values.c: whether each launch that writes an output reads what launches before it write. */
bool sample_outputs_depend(const struct sample *s);
/* bench_counts.c: the same, and counts the counted blocks of s->blocks for s->counts; of those that the run left out, s->blocks has none then. */
int sample_execute_counting(struct sample *s, rkb_machine_options_t *options, rkb_error_t *err);
/* Takes what a run executed from the candidate's budget. */
void sample_spend(struct sample *s, uint64_t work);
/* Judges elements of the outputs that are final, and finds the instruction that wrote a wrong one. */
int sample_judge_outputs(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err);
/* compared_elements.c: the machine whose run shows which blocks wrote which elements. */
const rkb_machine_t *sample_writers(const struct sample *s);
/* judged_elements.c: judges elements of what the executed blocks wrote. */
int sample_judge_elements(struct sample *s, rkb_error_t *err);
/* Whether the buffer holds values before the plan runs: it is changed in place, filled, or given. */
bool sample_holds_values(const struct sample *s, uint32_t buffer);
/* Whether anything that the executed blocks left in an output is final. */
bool sample_has_final(const struct sample *s);
/* Marks for s->blocks; free them also after a failure. */
int sample_make_marks(struct sample *s, rkb_error_t *err);
void sample_free_marks(struct sample *s);

/* bench_slice.c: further blocks whose stores tell who writes what: executed when they are first needed. */
struct probe;
struct probe *sample_probe_new(const struct sample *s);
void sample_probe_free(struct sample *s, struct probe *probe);

/* Judges outputs of which the sample left nothing final: executes, of the launches before, the blocks that write what some block reads, as far as
 * those are few.  What the probe shows holds for s until the probe is freed. */
int sample_judge_slices(struct sample *s, struct probe *probe, const rkb_machine_options_t *options,
                        rkb_error_t *err);

/* One launch of them, into s; *failed: nothing could be judged, for want of what *why says.  most_work: thread-instructions of one execution.
 * s->target: by itself; then only what is not given is followed back. */
int sample_judge_slice(struct sample *whole, struct sample *part, uint32_t launch, struct probe *probe, uint64_t most_work,
                       const rkb_machine_options_t *options, const char **why, rkb_error_t *err);

/* launches_alone.c: judges launches by themselves, where outputs are still not judged. */
int sample_judge_links(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err);

/* bench_values.c: names the outputs of which nothing was judged in s->unjudged; all of them, where no value was sampled. */
void sample_list_unjudged(struct sample *s);
/* bench_values.c: executes the sampled blocks again and notes what they decide on true inputs.  *unknown: launches of the plan, a bit each, of which that is not
 * known: a block ended where it needed what others write, or none was executed. */
int sample_note_decisions(const struct sample *sample, struct noted_decisions *noted, uint64_t *unknown, rkb_error_t *err);
/* reduced_shapes.c: executes the plan whole at smaller shapes, where s->unjudged names outputs, and judges them there. */
int sample_judge_reduced(struct sample *s, rkb_error_t *err);

/* far_weights.c: what executing the sample of a far shape is worth. */
#define FAR_BUDGET 60000000u /* thread-instructions, of the sampled blocks */
#define FAR_TIMES 64u
#define FAR_INDEX 0xffu /* a number for random streams, apart from those of bench cases */
/* large_offsets.c: samples blocks of a shape.  *judged: elements; *all: something of each output was judged; index: a number for random streams, at most
 * FAR_INDEX; races: looks for races too. */
int large_offsets_judge_shape(const struct verifier *verifier, struct candidate *candidate, rkb_case_t *shape,
                              uint32_t index, bool races, struct outcome *outcome, uint64_t *judged,
                              bool *all, rkb_error_t *err);
enum far_weight {
   FAR_FEASIBLE,
   FAR_FOR_NOTHING, /* much work, and nothing could be compared */
   FAR_HEAVY,       /* the blocks are too much work */
   FAR_DEARER       /* near blocks take little, and far blocks more than FAR_TIMES as much */
};
/* What the last block of each launch tells: no FAR_DEARER. */
int far_weights_know(struct sample *s, enum far_weight *weight, rkb_error_t *err);
/* What drawn blocks tell: no FAR_FOR_NOTHING. */
int far_weights_drawn(struct sample *s, rkb_random_t *stream, enum far_weight *weight, rkb_error_t *err);

/* wrapped_offsets.c: where tensors reach beyond 2^31, finds blocks that write near words again in place of far ones; s: a sample that was executed. */
int wrapped_offsets_find(const struct sample *s, rkb_random_t *stream, uint64_t *told, rkb_error_t *err);
/* far_places.c: finds that no drawn block writes the far part of an output, for buffers that are not told: a bit each of those of which far
 * blocks write where the step from block to block leads. */
int far_places_find(const struct sample *s, uint64_t told, rkb_random_t *stream, rkb_error_t *err);

/* writer_search.c: adds to chosen, a bit for each block of the launch's grid, those that write one of the words, as far as s->machine's run
 * tells; false where it does not. */
struct word_runs {
   uint64_t (*runs)[2]; /* first byte, first byte behind; ascending */
   uint32_t count, room;
};
bool sample_find_writers(const struct sample *s, uint32_t launch, uint32_t buffer,
                         const struct word_runs *words, uint64_t *chosen);
/* Where the block would begin to write by what the executed blocks wrote; false where that does not tell. */
bool sample_would_begin(const struct sample *s, uint32_t launch, uint32_t buffer, uint64_t block, double *byte);
/* Whether an affine function of its index tells where every executed block begins to write; meeting: two blocks that would begin at one
 * byte by it, or 0 and 0 where none would. */
bool sample_starts_told(const struct sample *s, uint32_t launch, uint32_t buffer, uint64_t meeting[2]);

/* later_numbers.c: where blocks draw numbers from a word in memory, judges what they do with numbers beyond the first; s: a sample that was executed with
 * these options. */
int later_numbers_judge(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err);

/* waiting_blocks.c: finds that a launch does not end because all of its blocks that begin wait for others.  s->blocks and s->inputs are there. */
int waiting_blocks_find(struct sample *s, rkb_error_t *err);

/* twin_blocks.c: finds blocks that write what others write in place of words of their own; s: a sample that was executed. */
int twin_blocks_find(const struct sample *s, rkb_error_t *err);

/* sampled_points.c: moves to the front of s->written elements of every block that wrote some, all of them if they are not too many: one of
 * each before a second of any, drawn blocks first.  Returns how many. */
int sample_choose(struct sample *s, uint64_t *count, rkb_error_t *err);
/* Those of s->written from first on, up to count, were judged. */
void sample_note_judged(struct sample *s, uint64_t first, uint64_t count);
/* Says how many of an output's elements were judged; final: of those that executed blocks wrote. */
void sample_note_output(struct sample *s, const char *name, uint64_t judged, uint64_t final);
/* The certificate's facet: what was executed and judged, and what it leaves out. */
void sample_describe(struct sample *s, const rkb_machine_report_t *report);

#endif
