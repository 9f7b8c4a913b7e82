/* Counts the verdicts that each verifier of a run gave on labelled kernels.  A judge is a verifier, or the
 * build step, by its entry's id.  A judge's task is to find wrong kernels: precision is the share of its
 * rejects that were right; recall is the share of the wrong kernels it was asked about that it rejected.
 * Suspect and unknown count as not found.  One thread. */
#ifndef RKB_CLI_JUDGE_JUDGE_TALLY_H
#define RKB_CLI_JUDGE_JUDGE_TALLY_H

#include <jansson.h>
#include "archive/archive.h"
#include "cli/judge/labelled_corpus.h"

enum { RKB_JUDGES = 32, RKB_CONFIDENCE_BINS = 10 };

/* Kernels by label and verdict. */
typedef struct rkb_judge_counts {
   int64_t wrong_rejected, wrong_accepted, wrong_undecided;
   int64_t right_rejected, right_accepted, right_undecided;
} rkb_judge_counts_t;

typedef struct rkb_judge {
   char *name;
   /* Counts for kernels that may have tuned the judge, and for those kept out. */
   rkb_judge_counts_t counts[2];
   double *seconds; /* duration of each verdict, if known */
   uint32_t second_count;
   double worth_usd; /* worth of all its questions to models */
   /* By its measurement "confidence", the probability that a kernel is right: bin i is from i / 10 up. */
   struct {
      int64_t kernels, right;
   } bins[RKB_CONFIDENCE_BINS];
} rkb_judge_t;

typedef struct rkb_judge_tally rkb_judge_tally_t;

/* One judge's verdict on one kernel. */
typedef struct rkb_judge_word {
   bool asked, rejected;
   char *message; /* NULL if the judge was not asked */
} rkb_judge_word_t;

/* The corpus is borrowed until free. */
rkb_judge_tally_t *rkb_judge_tally_new(const rkb_labelled_corpus_t *corpus);
void rkb_judge_tally_free(rkb_judge_tally_t *tally);
/* Stores the verdicts of the judge of this name on each kernel.  Call it before anything is added. */
void rkb_judge_tally_follow(rkb_judge_tally_t *tally, const char *judge);
/* The verdict of the followed judge; the kernel is given by its index in the corpus. */
const rkb_judge_word_t *rkb_judge_tally_word(const rkb_judge_tally_t *tally, uint32_t kernel);
/* Adds the verdicts that the archive of a run has on the corpus' kernels; other kernels in it are left out.
 * RKB_ERR_LIMIT: more than RKB_JUDGES. */
int rkb_judge_tally_add(rkb_judge_tally_t *tally, rkb_archive_t *archive, rkb_error_t *err);
/* {"kernels", "judged", "wrong", "right", "judges": [...], "only": {row: {column: count}}, "kinds": [...]}; owned. */
json_t *rkb_judge_tally_json(const rkb_judge_tally_t *tally);

#endif
