/* The answers of several judges, and the decision by vote.  Pure; any thread. */
#ifndef VERIFIER_LLM_VOTE_H
#define VERIFIER_LLM_VOTE_H

#include <rkb/plugin.h>

enum vote_verdict { VOTE_ABSTAINS = 0, VOTE_RIGHT, VOTE_WRONG };

typedef struct vote {
   uint32_t verdict;  /* enum vote_verdict */
   double confidence; /* 0 to 1 */
   double severity;   /* of the fault it names, 0 to 1; 0 when it names none, 1 when it does not say */
   double weight;     /* the judge's */
   char line[200];    /* the text that it quotes; "" for none */
   char why[300];
} vote_t;

/* Reads {"verdict": "right" | "wrong" | "unsure", "confidence": 0.8, "severity": 1, "line": "...", "why": "..."} out of a
 * reply; severity may be absent.  False, with an abstention, when it is no such answer. */
bool vote_read(const char *reply, size_t bytes, vote_t *vote);

typedef struct vote_result {
   uint32_t verdict;  /* enum vote_verdict; a draw abstains */
   double confidence; /* mean over the votes that agree with the result */
   double share;      /* of the votes given, theirs */
   uint32_t right, wrong, abstained;
   uint32_t speaker; /* index of the most confident vote for the result; of no meaning when all abstain */
} vote_result_t;

/* weighted: weights times confidences are added up; otherwise every vote counts as one.  A vote under least confidence abstains. */
vote_result_t vote_count(const vote_t *votes, uint32_t count, bool weighted, double least);

/* What the votes say as numbers, for ranking.  probability: that the kernel is right, the mean over the votes by weight of the
 * confidence of those for right, 1 minus the confidence of those for wrong, and a half of those that are unsure.  severity: the
 * mean by weight of what they say of the fault.  Votes of weight 0 (no answer) do not count; false when none counts. */
bool vote_numbers(const vote_t *votes, uint32_t count, double *probability, double *severity);

/* The line of the source that the quotation is, from 1; 0 when it is not there. */
uint32_t vote_line(const char *source, const char *quoted);

#endif
