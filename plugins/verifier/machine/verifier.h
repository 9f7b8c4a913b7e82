/* The judgement of one candidate by the machine library, shared by machine_verifier.c (the stage), case_trial.c (executes one case
 * on its input families) and verdict.c (writes the verdict).  One worker thread a candidate. */
#ifndef MACHINE_VERIFIER_H
#define MACHINE_VERIFIER_H

#include "machine/machine.h"

#include <jansson.h>
#include <pthread.h>
#include <rkb/ext/confined.h>
#include <rkb/ext/intermediates.h>
#include <rkb/ext/survey.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/random.h>
#include <rkb/ext/task.h>
#include <rkb/ext/workers.h>
#include <rkb/items.h>

struct verifier_config {
   int64_t families; /* of each case; 0: all */
   int64_t shapes;   /* drawn anew */
   double drawn_work;
   int64_t family_work; /* thread-instructions of one case spent on families, needed or not */
   int64_t trials;      /* seeds of each family */
   int64_t budget;      /* work a candidate; 0: the pipeline's limit */
   uint64_t memory;
   int64_t bench_blocks; /* sampled of each launch of each bench case; 0: none */
   bool debug;           /* executes the -G build; its findings count as suspect */
   int64_t bench_points; /* of their elements judged, of each output; 0: none */
};

/* Streams of random numbers of a candidate's job (child of rkb.random's for_job), which come from the run's secret. */
enum {
   STREAM_SHAPES,   /* drawn_shapes.c */
   STREAM_BOUNDED,  /* bounded_grids.c */
   STREAM_WAITING,  /* waiting_grids.c */
   STREAM_SEEDS,    /* of inputs: verifier_seed */
   STREAM_COUNTED,  /* block_sample.c, with RKB_RANDOM_OF_RUN */
   STREAM_BLOCKS,   /* block_sample.c */
   STREAM_POINTS,   /* sampled_points.c: elements, and the family that they are judged on */
   STREAM_FAMILIES, /* costly_families.c */
   STREAM_KEPT,     /* repetitions.c */
   STREAM_ENVIRONMENT, /* machine_verifier.c: the environments of its executions; bench_values.c, with 1 + the case above bit 8 */
   STREAM_DRAWN_FAMILY, /* case_families.c, with the case's turn above bit 8 */
   STREAM_EQUAL,        /* equal_dims.c */
   STREAM_REDUCED, /* reduced_shapes.c, with the case's turn above bit 8 and the dim that stays long above bit 20 */
   STREAM_FAR,       /* large_offsets.c */
   STREAM_WRAPS,     /* wrapped_offsets.c */
   STREAM_TWINS,     /* twin_blocks.c, with the launch above bit 8 and the case above bit 16 */
   STREAM_LINKS,     /* link_cases.c */
   STREAM_KINDS,     /* block_kinds.c, as twin_blocks.c */
   STREAM_CUT,       /* cut_shapes.c */
   STREAM_DECISIONS, /* manifest_decisions.c */
   STREAM_SIZES,     /* sizes_in_text.c */
   STREAM_RACES,     /* bench_races.c, with the case above bit 8 */
   STREAM_LONGER,    /* longer_loops.c */
   STREAM_NUMBERS,   /* later_numbers.c, with the case above bit 8 */
   STREAM_BESIDE, /* waiting_blocks.c, with 1 + the launch above bit 8 and the case above bit 20; largest_grids.c */
   STREAM_ORDERS, /* case_families.c, with the case's turn above bit 8 */
   STREAM_RAGGED /* ragged_tiles.c */
};

struct verifier {
   const rkb_host_t *host;
   const struct verifier_config *config;
   const rkb_task_api_t *task;
   const rkb_kernel_api_t *kernel;
   const rkb_random_api_t *random;
   const rkb_workers_api_t *workers; /* NULL: one case after the other */
   const rkb_confined_api_t *confined;
   const rkb_intermediates_api_t *intermediates;
   const rkb_survey_api_t *survey;
   bool early; /* before the build step: of what the bench cases launch (RKB_BUILD_BENCH) */
};

/* The plan's buffers that the blocks of a launch wrote in whole runs, a bit each (rkb_machine_stored). */
struct stored_buffers {
   uint64_t launch; /* shapes_launch_name */
   uint64_t buffers;
   uint32_t
      axes; /* of the launch's grid, a bit each: it had several blocks along that axis in one of these runs (launch_shapes_tell) */
};

/* A loop of a launch, in runs that looked for races: longer_loops.c. */
struct loop_turns {
   uint64_t launch;      /* shapes_launch_name */
   uint32_t block, most; /* as in rkb_machine_loop_t */
   bool ahead;           /* the same */
};

/* The result so far; the worst finding decides.  rank: enum rkb_machine_standing, 0 nothing. */
struct outcome {
   uint32_t rank;
   bool debug; /* of the -G build, which is not what runs: nothing is rejected */
   char reason[48];
   char message[448];
   json_t *evidence;
   /* Facets */
   uint32_t cases_run, runs;
   uint64_t elements, ambiguous, dont_care;
   json_t *outputs; /* of whole runs: name -> whether an element of it was judged in one of them */
   double worst_hard, worst_stat;
   json_t *case_names;                 /* of those run whole */
   json_t *not_run;                    /* sentences: what the budget or the machine left out */
   json_t *sampled;                    /* facets: blocks executed and judged at bench shapes */
   uint32_t bench_cases, bench_judged; /* and those of them where some result was judged */
   char far[64];                       /* corner of the domain beyond 2^31 of which something was judged; empty: none */
   json_t *reduced;                    /* of the certificate: bench cases whose outputs were judged at smaller shapes */
   uint32_t bench_linked;              /* outputs that were judged there launch by launch, on made-up intermediates */
   double missed; /* largest share of a launch's blocks there that may be wrong and missed with 5 % */
   bool oblivious;                     /* on every case, no input reached control or an address */
   json_t *deciding_inputs;            /* names of inputs that did */
   bool suspect_races, suspect_values; /* something of that facet was suspect, whether or not it decides */
   uint32_t tensor_named, tensor_executed; /* families: rkb_machine_tensor_name */
   bool waits, relaxed_acquire, relaxed_arrival, copies_assumed, order_unknown, one_schedule, float_atomics,
      variable_atomics;
   char float_atomic_symbol[64];
   bool unsampled;           /* blocks at a bench shape were left out for want of budget */
   bool far_judged;          /* something was judged at the shape `far` */
   bool first_numbers;       /* of a launch there whose blocks draw numbers, no later number was judged (later_numbers.c) */
   uint32_t first_number_cases; /* bench cases with such a launch */
   uint32_t unexecuted;      /* check cases that were not executed whole */
   char unexecuted_case[64]; /* the first of them */
   char undecided[256]; /* the check case of which too many numbers may be either of several; empty: none */
   uint32_t orders;     /* of blocks and warps, that every case that needs them had: ORDER_* */
   struct stored_buffers *stored; /* an entry a launch that was executed whole */
   uint32_t stored_count, stored_room;
   struct loop_turns *loops;
   uint32_t loop_count, loop_room;
   uint64_t thread_instructions, work, memory_peak; /* work: rkb_machine_report_t */
   /* Of one case */
   uint64_t executed, owed; /* families, a bit each: executed, and left out for what they cost */
   uint64_t declined;       /* families that the pipeline does not ask for */
   uint64_t largest;        /* thread-instructions of a run */
   bool steered;     /* an input reached control or an address, or a run leaves something to the next */
   bool over_budget; /* something of it was left out for lack of budget */
   bool uneven;      /* though drawn blocks told that it suffices for all blocks */
   bool abandoned;   /* an earlier case has decided in the meantime */
};

#define ORDER_DESCENDING 1u
#define ORDER_SHUFFLED 2u

#define MOST_FAMILIES 64
/* Thread-instructions from which on a run is costly.  A costly run is repeated only where repeating it can show something, and executed on
 * no family that another case had. */
#define LARGE_RUN 30000000u

/* The families of a case that are left after its first runs, and the outcome of those. */
struct owed {
   const rkb_case_t *the_case;
   uint64_t executed, families, largest; /* as in its outcome */
   uint64_t turn;                        /* among cases that cost as much: drawn */
   bool steered;
};

/* State that cases share while they are executed side by side: cases.c, bench_cases.c. */
struct schedule {
   pthread_mutex_t lock;
   uint32_t deciding; /* this case decides: later ones are not needed */
   uint64_t spent;    /* work */
};

struct links;           /* launch_intermediates.h */
struct noted_decisions; /* noted_decisions.h */

#define MOST_WORDS 1024u

#define MOST_LARGE 2u
#define MOST_CORNERS 4u /* of the domain, that are executed */
#define MOST_WIDE 16u

/* Environments that a candidate sees (machine/state/environment.h): the plainest, one in which buffers lie close together, and two that differ in
 * each bit of an address. */
#define CANDIDATE_ENVIRONMENTS 4u

struct candidate {
   rkb_job_t job;
   uint32_t words[MOST_WORDS]; /* of its text, for the inputs of the family "planted" */
   uint32_t word_count;
   uint32_t peaks; /* seeds of the family "peaks" that a drawn shape is executed on too */
   bool once; /* cases are executed on the first family alone, and not again */
   bool ends; /* cases are executed to find out whether the kernel ends, in ascending and descending order, without records of races, and judged */
   uint32_t
      foresee; /* a case's run ends as soon as it can be seen that it takes more than so many times its budget; 0: it does not */
   uint64_t
      first_budget; /* of a case's first run; 0: as of all.  With once others follow only if it is set and the order of the threads may matter */
   struct noted_decisions *noted; /* what the launches of whole runs decide is added here; NULL: it is not asked for */
   const rkb_plan_t *lender; /* a plan whose launches are executed in place of the cases' own; NULL: none */
   const rkb_item_t *item;
   rkb_build_t *build;
   rkb_machine_module_t *module;
   bool transform;
   rkb_random_t seeds; /* STREAM_SEEDS */
   unsigned long long given, for_twins; /* budget at first; work of twin_blocks.c */
   uint64_t budget; /* work left */
   uint64_t more;   /* of a far shape: work that it may have beside the budget, if blocks that the sample always has use that up (large_offsets.c) */
   bool reserved;   /* reduced_shapes.c has taken what it may have beside the budget */
   uint64_t key; /* of the numbers by which launches and control paths are told apart; STREAM_ENVIRONMENT */
   uint64_t environment; /* of its machines: the first of CANDIDATE_ENVIRONMENTS numbers, a multiple of four */
   rkb_case_t *large
      [MOST_LARGE]; /* shapes too large to be executed whole, at which the manifest decides something (manifest_decisions.c); owned by the stage */
   uint32_t large_count;
   rkb_case_t *wide
      [MOST_WIDE]; /* shapes with many blocks that together are much work: some of these are executed (large_offsets.c); owned by the stage */
   uint32_t wide_count;
   bool decides_too_much; /* its manifest decides more than is looked at, one by one (manifest_decisions.c) */
   struct links *
      links; /* of a bench case: made when they are first needed (launches_alone.c), freed by bench_cases.c */
};

/* Seed number n of the inputs that this candidate is judged on. */
static inline uint64_t verifier_seed(const struct verifier *verifier, const struct candidate *candidate,
                                     uint64_t n) {
   rkb_random_t stream = candidate->seeds;
   stream.position = n;
   return verifier->random->next(&stream) >> 1; /* JSON's integers are signed */
}

/* Opens inputs; those of the family "planted" get words of the candidate's text. */
static inline int verifier_inputs_open(const struct verifier *verifier, const struct candidate *candidate,
                                       const rkb_case_t *the_case, const rkb_family_t *family, uint64_t seed,
                                       rkb_inputs_t **inputs, rkb_error_t *err) {
   const int status = verifier->task->inputs_open(verifier->host, the_case, family, seed, inputs, err);
   if (status == RKB_OK && RKB_HAS(verifier->task, inputs_plant))
      verifier->task->inputs_plant(*inputs, candidate->words, candidate->word_count);
   return status;
}

/* verdict.c */
void outcome_note(struct outcome *outcome, uint32_t rank, const char *reason, json_t *evidence,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6))); /* takes evidence */
void outcome_finding(struct outcome *outcome, const rkb_machine_finding_t *finding,
                     const rkb_case_t *the_case, const char *family, uint64_t seed);
/* Where the element lies whose value decided; false where no value did. */
bool outcome_wrong_element(const struct outcome *outcome, const rkb_plan_t *plan, uint32_t *buffer,
                           uint64_t *byte, uint32_t *width);
/* Adds where and by whom to the evidence that decides. */
void outcome_place(struct outcome *outcome, const rkb_machine_finding_t *finding);
/* Records a reject or suspect judgement of one buffer's elements; an accept records nothing.  shadowed: double-precision shadows
 * distinguish logic from rounding. */
void outcome_judgement(struct outcome *outcome, const rkb_case_t *the_case, const char *family, uint64_t seed,
                       const char *buffer, const rkb_judgement_t *judgement, bool shadowed);
/* launch_shapes.c: whether each dim of the shape is so long that several blocks along an axis do different work there.  A mean over one element, for
 * example, is that element, and what is summed up after it is 0 in each block. */
bool launch_shapes_tell(const struct verifier *verifier, const rkb_case_t *shape);
/* Records a launch's stores and the axes of its grid.  Without memory for the record, the launch counts as never executed whole. */
void outcome_stored(struct outcome *outcome, const struct stored_buffers *stored);
/* Adds what a loop's turns were at some shapes.  Without memory for it, nobody looks for a shape with more. */
void outcome_turns(struct outcome *outcome, const struct loop_turns *turns);
/* certificate.c.  A list of facets; the caller owns it. */
json_t *outcome_certificate(const struct outcome *outcome);
int outcome_emit(const struct verifier *verifier, rkb_job_t job, const struct outcome *outcome);
void outcome_init(struct outcome *outcome, bool debug);
void outcome_join(struct outcome *outcome,
                  struct outcome *next); /* the outcome of the cases so far, and of the next one */
void outcome_free(struct outcome *outcome);

/* cases.c: the check cases and the drawn ones, on as many threads as are free. */
int cases_run(const struct verifier *verifier, struct candidate *candidate, struct outcome *outcome,
              rkb_error_t *err);
/* One case by itself, within the candidate's budget. */
int case_run(const struct verifier *verifier, struct candidate *candidate, const rkb_case_t *the_case, struct outcome *outcome,
             rkb_error_t *err);
void schedule_open(struct schedule *schedule);
void schedule_close(struct schedule *schedule);
/* Whether no case before this one has decided. */
bool schedule_matters(struct schedule *schedule, uint32_t turn);
/* Work of the cases that have ended. */
uint64_t schedule_spent(struct schedule *schedule);
/* A case has ended; decides: later ones are not needed. */
void schedule_leave(struct schedule *schedule, uint32_t turn, uint64_t work, bool decides);

/* costly_families.c: leaves in families what each case is to be executed on after all; false without memory. */
bool owed_settle(const struct verifier *verifier, const struct candidate *candidate, struct owed *owed,
                 uint32_t count);

/* drawn_shapes.c: draws the shapes asked for, half as many again where launches lack something; at most room.  The caller frees them,
 * also after a failure. */
int shapes_draw(const struct verifier *verifier, const struct candidate *candidate, rkb_case_t **drawn,
                uint32_t room, uint32_t *count, rkb_error_t *err);
/* A number for a launch of the manifest and the instance of its kernel, by the candidate's key: an author cannot give two launches one.  Two alternatives of one launch are two of these. */
uint64_t shapes_launch_name(const struct candidate *candidate, const rkb_plan_launch_t *launch);

uint64_t shapes_plan_threads(const rkb_plan_t *plan);
/* peak_shapes.c: on how many seeds of the family "peaks" each of the shapes is executed too. */
void peaks_choose(const struct verifier *verifier, rkb_case_t *const *drawn, uint32_t count, uint32_t *seeds);
/* How much work a drawn shape may be.  A domain whose least check case is more (a network of fixed widths) has nothing smaller. */
double shapes_most_work(const struct verifier *verifier);
/* NULL: the task has no check case. */
const rkb_case_t *shapes_smallest_check_case(const struct verifier *verifier);
/* Whether it is the candidate's fault that there is no plan for a shape of the domain.  It is not when scratch does not fit the
 * device together with the largest tensors. */
bool shapes_must_have_plan(const rkb_finding_t *finding);

/* bounded_grids.c: draws shapes at which a bound on the grid of one of the candidate's launches bites, one for each such bound;
 * and one for which there is no plan; none for most candidates.  The caller frees them, also after a failure. */
int bounded_grids_draw(const struct verifier *verifier, const struct candidate *candidate, rkb_case_t **drawn,
                       uint32_t room, uint32_t *count, rkb_error_t *err);

/* cut_shapes.c: shapes like those that were cut, at which the candidate decides what it did at no executed shape, check cases among them.  The caller
 * frees them. */
int cut_shapes_draw(const struct verifier *verifier, const struct candidate *candidate,
                    const rkb_case_t *const *executed, uint32_t executed_count, const rkb_case_t *const *cut,
                    uint32_t cut_count, rkb_case_t **drawn, uint32_t room, uint32_t *count, rkb_error_t *err);

/* waiting_grids.c: for candidates whose blocks wait for each other, up to three of many shapes at which a launch has more blocks than the
 * target holds at once, the cheapest first; none where there is no such shape.  most: operations and threads together that a shape has at most, except
 * the first.  The caller frees them. */
int waiting_grids_draw(const struct verifier *verifier, const struct candidate *candidate, double most,
                       rkb_case_t **drawn, uint32_t room, uint32_t *count, rkb_error_t *err);
/* For each launch, the number of blocks that the target holds at once; the caller frees it.  NULL for a build without a cubin,
 * whose registers are unknown. */
uint32_t *waiting_resident(const struct verifier *verifier, const struct candidate *candidate,
                           const rkb_plan_t *plan);

/* ragged_tiles.c: a shape at which the tiles of a product make ragged groups; owned; NULL: the candidate copies no tiles, or there is none. */
int ragged_tiles_draw(const struct verifier *verifier, const struct candidate *candidate, rkb_case_t **drawn,
                      rkb_error_t *err);
/* largest_grids.c: where kernels may wait for other blocks, finds that a launch does not end at a shape with a large grid. */
int largest_grids_judge(const struct verifier *verifier, struct candidate *candidate, struct outcome *outcome,
                        rkb_error_t *err);

/* domain_corners.c: corners of the domain, one for which the candidate has no plan and a few that cost little.  The caller frees them, also
 * after a failure. */
int corners_draw(const struct verifier *verifier, const struct candidate *candidate, rkb_case_t **drawn, uint32_t room,
                 uint32_t *count, rkb_error_t *err);

/* manifest_decisions.c: shapes at which the manifest's expressions decide what they decide at none of `known`. */
int manifest_decisions_draw(const struct verifier *verifier, struct candidate *candidate,
                            const rkb_case_t *const *known, uint32_t known_count, rkb_case_t **drawn,
                            uint32_t room, uint32_t *count, rkb_error_t *err);
/* equal_dims.c: draws at most two shapes with equal dims; none where no dims can be equal.  The caller frees them, also after a
 * failure. */
int equal_dims_draw(const struct verifier *verifier, const struct candidate *candidate, rkb_case_t **drawn, uint32_t room,
                    uint32_t *count, rkb_error_t *err);

#define MOST_LOOPED 9u
/* sizes_in_text.c: shapes at which the kernels decide what they decide at no known shape: at most four for numbers of the kernels' text, and three for
 * conditions that were solved.  As many for what loops count, and two for what one thread computes, are in a list of their own with room for MOST_LOOPED.  The
 * caller frees them, also after a failure. */
int sizes_in_text_draw(const struct verifier *verifier, const struct candidate *candidate,
                       const rkb_case_t *const *known, uint32_t known_count, rkb_case_t **drawn,
                       uint32_t room, uint32_t *count, rkb_case_t **looped, uint32_t *looped_count,
                       rkb_error_t *err);

/* fill_values.c: fills so many elements with a buffer's fill_value. */
void plan_fill(const rkb_plan_buffer_t *buffer, uint64_t elements, void *data);

/* case_trial.c: executes a case and judges every output, within the candidate's budget: first its first runs and the cheap
 * families, later the costly families that were left.  Findings go to outcome, which belongs to this case; the status reports failures
 * of the tool. */
int trial_case(const struct verifier *verifier, struct candidate *candidate, const rkb_case_t *the_case,
               const struct owed *owed, struct schedule *schedule, uint32_t turn, struct outcome *outcome,
               rkb_error_t *err);

/* bench_cases.c: executes a sample of the blocks of each bench case, hands the counts to the speed model, and judges some of what they
 * wrote; and so at the far corner of the domain. */
int bench_cases_judge(const struct verifier *verifier, struct candidate *candidate, struct outcome *outcome, rkb_error_t *err);

/* wide_shapes.c: whether the shape has so many blocks that some of them may be executed in place of all. */
int wide_shapes_has_many_blocks(const struct verifier *verifier, const struct candidate *candidate,
                                const rkb_case_t *shape, bool *many, rkb_error_t *err);
/* Judges blocks of the candidate's wide shapes. */
int wide_shapes_judge(const struct verifier *verifier, struct candidate *candidate, struct outcome *outcome,
                      rkb_error_t *err);

/* large_offsets.c: executes a sample of the blocks of a corner of the domain whose tensors reach beyond 2^31, and judges some of what they wrote.  The same at
 * other shapes that are too large to be executed whole. */
int large_offsets_judge(const struct verifier *verifier, struct candidate *candidate, struct outcome *outcome,
                        rkb_error_t *err);

#endif
