/* Links: which intermediate tensors of the reference a candidate's buffers hold between its launches, so that each launch can be judged by
 * itself.  launch_intermediates.c finds them at small shapes, where every launch is executed whole.  link_cases.c chooses these shapes, and says whether
 * they distinguish orders of dims.  ambiguous_intermediates.c says whether they distinguish intermediate tensors.  link_target.c finds what is needed to
 * judge a launch by itself.  docs/decisions/sampled-blocks.md.  One worker thread a candidate. */
#ifndef MACHINE_LAUNCH_INTERMEDIATES_H
#define MACHINE_LAUNCH_INTERMEDIATES_H

#include "verifier.h"

#define MOST_LINKED 63u   /* buffers, and launches, of a plan that is looked at */
#define MOST_LINK_CHECKS 2u /* check cases where they are looked for */
#define MOST_LINK_CASES 3u

/* What a buffer holds. */
struct link {
   bool known;
   uint32_t number;               /* of the intermediate */
   uint32_t order[RKB_MAX_RANK];  /* dim d of the buffer is dim order[d] of the intermediate */
};

#define MOST_TWINS 6u

/* Further intermediates that a buffer fits as well as the one of its link. */
struct link_twins {
   uint32_t count;
   bool differ; /* some of them from the link's: links_doubt */
   struct link list[MOST_TWINS];
};

enum { LINK_UNTRIED, LINK_HOLDS, LINK_FAILS };

struct links {
   uint64_t *names; /* shapes_launch_name, by launch: for which plans they were found */
   uint32_t launch_count, buffer_count;
   struct link *after;                                /* by launch and buffer: what it holds when the launch has ended */
   struct link_twins *twins;                          /* of each of these */
   uint8_t *tried;                                    /* by launch: what came of judging it by itself at the check cases */
   const rkb_case_t *cases[MOST_LINK_CASES];          /* where they were found; none: there are no links */
   uint32_t case_count;
   const rkb_case_t *bench; /* for which they were looked for */
   rkb_case_t *reduced;     /* of the cases, the one that is no check case; owned; NULL: none */
   void (*case_free)(rkb_case_t *reduced);
};

/* A launch that is judged by itself. */
struct link_target {
   uint32_t launch;
   uint64_t needed;                      /* launches that are executed, a bit each: its own, and those that write what no intermediate is */
   uint64_t given;                       /* buffers that hold made-up intermediates */
   const struct link *link[MOST_LINKED]; /* of those */
   uint32_t writer[MOST_LINKED];         /* launches that write them */
};

/* Finds the links of a plan, whose launches write the buffers in stores (a bit each, by launch); candidate->links has them.  If there are no links,
 * candidate->links has no cases. */
int links_find(const struct verifier *verifier, struct candidate *candidate, const rkb_case_t *the_case,
               const rkb_plan_t *plan, const uint64_t *stores, rkb_error_t *err);
void links_free(struct links *links);

/* ambiguous_intermediates.c: compares what fits a buffer equally well, at the reduced case.  doubt: some differ there, or there is no such case. */
bool links_have_twins(const struct links *links);
int links_doubt(const struct verifier *verifier, const struct candidate *candidate, struct links *links, bool *doubt,
                rkb_error_t *err);
/* Forgets the links whose twins differ. */
void links_drop_doubtful(struct links *links);

static inline const struct link *link_after(const struct links *links, uint32_t launch, uint32_t buffer) {
   return &links->after[launch * links->buffer_count + buffer];
}

/* The elements of the intermediate that lie at elements of the buffer. */
void link_elements(const struct link *link, const rkb_intermediate_t *intermediate, const uint64_t *elements,
                   uint64_t count, uint64_t *out);

/* The check case with the most operations below those of the last one (NULL: that is small enough), with the graph of the bench case; NULL: none. */
const rkb_case_t *link_case_before(const struct verifier *verifier, const rkb_case_t *bench,
                                   const rkb_case_t *last);
/* A small shape like the bench case, with its graph; NULL: there is none.  Owned, case_free. */
int link_case_reduced(const struct verifier *verifier, const struct candidate *candidate,
                      const rkb_case_t *bench, rkb_case_t **reduced, rkb_error_t *err);
/* Whether the cases where links were looked for tell each order of dims that a buffer may have at the bench case. */
bool link_cases_tell(const struct verifier *verifier, const struct links *links, const rkb_case_t *bench);
/* Whether the buffer holds the intermediate at the bench case too.  It may be larger there, and its dims may lie in another order where no
 * case told which. */
bool link_fits(const struct verifier *verifier, const struct links *links, const rkb_case_t *bench,
               const rkb_plan_buffer_t *buffer, const struct link *link);

/* Finds what is needed to judge a launch by itself. */
void link_target(const struct verifier *verifier, const struct links *links, const rkb_case_t *the_case, const rkb_plan_t *plan,
                 const uint64_t *stores, uint32_t launch,
                 struct link_target *target);
bool plan_takes(const rkb_plan_launch_t *launch, uint32_t buffer);

/* Gives inputs the intermediates of a target. */
int link_give(const struct verifier *verifier, const struct link_target *target, const rkb_plan_t *plan, rkb_inputs_t *inputs,
              rkb_error_t *err);
/* Bytes of a buffer that a target is given. */
int link_fill(const struct verifier *verifier, const rkb_case_t *the_case, const struct link *link,
              const rkb_inputs_t *inputs, uint64_t first, uint64_t count, void *out);

#endif
