/* What each verifier of a run said of labelled kernels, counted.  A judge is a verifier, or the build step, by its entry's id.  A wrong
 * kernel is what a judge is to find: precision is how often its reject was right, recall how many of the wrong kernels that it was
 * asked about it rejected.  Suspect and unknown find nothing.  One thread. */
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
   rkb_judge_counts_t counts[2]; /* of kernels that may have tuned it, and of those kept out */
   double *seconds;              /* of each verdict whose time is known */
   uint32_t second_count;
   double worth_usd; /* of all its questions to models */
   /* By its measurement "confidence", the probability that a kernel is right: bin i is from i / 10 up. */
   struct {
      int64_t kernels, right;
   } bins[RKB_CONFIDENCE_BINS];
} rkb_judge_t;

typedef struct rkb_judge_tally rkb_judge_tally_t;

/* What one judge said of one kernel. */
typedef struct rkb_judge_word {
   bool asked, rejected;
   char *message; /* NULL if it was not asked */
} rkb_judge_word_t;

/* The corpus is borrowed until free. */
rkb_judge_tally_t *rkb_judge_tally_new(const rkb_labelled_corpus_t *corpus);
void rkb_judge_tally_free(rkb_judge_tally_t *tally);
/* Keeps what the judge of this name says of each kernel; before anything is added. */
void rkb_judge_tally_follow(rkb_judge_tally_t *tally, const char *judge);
/* Of the judge that is followed; the kernel by its place in the corpus. */
const rkb_judge_word_t *rkb_judge_tally_word(const rkb_judge_tally_t *tally, uint32_t kernel);
/* Adds what the archive of a run says of the corpus' kernels; others in it are left out.  RKB_ERR_LIMIT: more than RKB_JUDGES. */
int rkb_judge_tally_add(rkb_judge_tally_t *tally, rkb_archive_t *archive, rkb_error_t *err);
/* {"kernels", "judged", "wrong", "right", "judges": [...], "only": {row: {column: count}}, "kinds": [...]}; owned. */
json_t *rkb_judge_tally_json(const rkb_judge_tally_t *tally);

#endif
