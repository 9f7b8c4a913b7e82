/* Which blocks of a bench case's launches are executed.  Each launch has two lists.  The first has the blocks that are counted for the speed model, at the same
 * relative places for all candidates of a run, so that their predictions can be compared.  The second has the blocks that are judged: the counted ones again,
 * one drawn for this candidate, the first and the last of the grid, then more drawn ones, one of each class of positions among them.  Nobody can know the drawn
 * ones before the run.  docs/decisions/secret.md.  One worker thread a sample. */
#ifndef MACHINE_BLOCK_SAMPLE_H
#define MACHINE_BLOCK_SAMPLE_H

#include "verifier.h"

#define MOST_KINDS 16u

/* Of one launch. */
struct sampled_launch {
   uint64_t total;    /* blocks of its grid */
   uint64_t *numbers; /* counted ones first, then the others */
   bool *drawn;       /* any block of the grid was as likely there: bounds what the sample leaves out */
   bool *told;        /* there for what some of its threads alone decide: more of what it wrote is judged */
   uint32_t *classes; /* of its position: sample_class */
   uint32_t counted, count;
   uint32_t sure; /* places beyond the counted ones that are executed whatever they cost */
   uint32_t spread; /* of the counted ones, those that are spread over the grid; the others are there for their kind */
   /* Of the counted ones, where the kernel tells kinds of blocks apart (block_kinds.h). */
   uint8_t *kinds;
   uint64_t kind_blocks[MOST_KINDS];
   uint32_t kind_count;
};

struct block_sample {
   struct sampled_launch *launches; /* by launch of the plan */
   rkb_machine_blocks_t *counted, *judged;
   uint32_t launch_count;
};

/* drawn: how many blocks of each launch are drawn for this candidate, up to MOST_DRAWN, in addition to one for each class.
 * RKB_ERR_NOMEM; free the sample in that case too. */
#define MOST_DRAWN 32u
int block_sample_draw(const struct verifier *verifier, const struct candidate *candidate,
                      const rkb_plan_t *plan, uint32_t case_index, uint32_t drawn, struct block_sample *sample,
                      rkb_error_t *err);
void block_sample_free(struct block_sample *sample);
/* Leaves only the drawn blocks of a launch in the list of judged ones. */
void block_sample_keep_drawn(struct block_sample *sample, uint32_t launch);
/* How many places of a launch's sample were executed.  A block of a cluster takes one place, and its whole cluster is executed. */
static inline uint32_t sample_executed_places(const rkb_plan_t *plan, const rkb_launch_counters_t *c) {
   const uint32_t *cluster = plan->launches[c->launch].cluster;
   const uint64_t places = c->executed / ((uint64_t)cluster[0] * cluster[1] * cluster[2]);
   return places < UINT32_MAX ? (uint32_t)places : UINT32_MAX;
}
/* From how many of each launch were counted: judged ones begin with them, and at least one more follows. */
void block_sample_keep(struct block_sample *sample, const rkb_plan_t *plan,
                       const rkb_machine_report_t *counted);

/* Classes of positions of a grid: along each axis the first block, the last one, which may be ragged, and those between.  At most 27. */
#define POSITION_CLASSES 27u
uint32_t sample_class(const uint32_t grid[3], uint64_t block);
/* Those that the grid has, a bit each. */
uint32_t sample_classes(const uint32_t grid[3]);
/* "first, last": the name of a class in the axes that have several blocks. */
void sample_class_name(const uint32_t grid[3], uint32_t position, char *name, size_t size);

/* How many of a grid's blocks have to be wrong, at least, so that so many drawn blocks miss all of them with a probability below
 * RKB_MISSED.  If none was drawn, all blocks. */
#define MISSED 0.05
uint64_t sample_missed(uint64_t blocks, uint64_t drawn);

#endif
