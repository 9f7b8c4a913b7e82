/* A kernel of other structure that does the same task: the seed of the task that has least in common with the candidate.  At shapes too large to
 * evaluate whole, both outputs are compared whole, and where they differ most the reference decides.  So a peer that is wrong rejects
 * nothing, and one that is right shows a block that no sample hits.  Runs on a worker. */
#ifndef GPU_VERIFIER_PEER_H
#define GPU_VERIFIER_PEER_H

#include "gpu.h"

struct peer {
   char name[128];  /* of its file; "" where there is none */
   char none[192];  /* why there is none */
   rkb_item_t *item;
   rkb_build_t *build;
   rkb_plan_t *plan; /* of planned */
   const rkb_case_t *planned;
   bool loaded, open;  /* its module; its instance */
   uint64_t compared;  /* output elements, beside the candidate's */
   uint64_t judged;    /* of them, because they differ most */
   uint32_t undecided; /* outputs whose reference is too costly there */
};

/* Chooses and builds it; RKB_OK with none set where there is none. */
int peer_open(const struct gpu *me, struct candidate *candidate, rkb_error_t *err);
void peer_close(const struct gpu *me, struct candidate *candidate);
/* After the last values of a case: gives its buffers back. */
void peer_leave_case(const struct gpu *me, struct candidate *candidate);
/* Holds the outputs of an instance, which just ran on this set's values and of which a sample was judged, beside the peer's. */
int peer_compare(const struct gpu *me, struct candidate *candidate, struct values *values, uint32_t instance,
                 uint32_t set, struct found *found, struct tally *tally, rkb_error_t *err);

/* peer_choice.c: the path of the kernel file to compare a text with, malloc'd; NULL, with the reason in none, where there is none. */
char *peer_choose(const char *directory, const char *source, char **text, char *none, size_t none_size);

/* differences.c: where two outputs differ most, in three ways of measuring: absolutely, relatively, and beside what is usual nearby. */
enum { DIFFERENCES_KEPT = 16, DIFFERENCES_WAYS = 3, DIFFERENCES_MOST = DIFFERENCES_KEPT * DIFFERENCES_WAYS };
typedef struct difference {
   double score;
   uint64_t element;
   uint64_t bits; /* of the first output there */
} difference_t;
typedef struct differences {
   difference_t kept[DIFFERENCES_WAYS][DIFFERENCES_KEPT];
   uint32_t count[DIFFERENCES_WAYS];
} differences_t;
/* Adds elements from first on; both have the type (enum rkb_dtype).  Pieces must come in order for the result to be one. */
void differences_add(differences_t *differences, uint32_t dtype, uint64_t first, uint64_t count, const void *one,
                     const void *other);
/* All that were kept, each once, by element; out has room for DIFFERENCES_MOST.  Returns how many. */
uint32_t differences_sorted(const differences_t *differences, difference_t *out);

#endif
