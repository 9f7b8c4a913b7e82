/* Links: which intermediate tensors of the reference a candidate's buffers hold between its launches, so that each launch can be judged by
 * itself.  launch_intermediates.c finds them at small shapes, where every launch is executed whole.  link_cases.c chooses these shapes, and says whether
 * they distinguish orders of dims.  ambiguous_intermediates.c says whether they distinguish intermediate tensors.  link_target.c finds what is needed to
 * judge a launch by itself.  docs/decisions/sampled-blocks.md.  One worker thread a candidate. */
#ifndef MACHINE_LAUNCH_INTERMEDIATES_H
#define MACHINE_LAUNCH_INTERMEDIATES_H

#include "verifier.h"

#define MOST_LINKED 63u     /* most buffers, and most launches, of a plan whose links are searched */
#define MOST_LINK_CHECKS 2u /* most check cases at which links are searched */
#define MOST_LINK_CASES 3u

/* What a buffer holds. */
struct link {
   bool known;
   uint32_t number;               /* of the intermediate */
   uint32_t order[RKB_MAX_RANK];  /* dim d of the buffer is dim order[d] of the intermediate */
};

#define MOST_OTHER_LINKS 6u

/* Other intermediates that fit a buffer as well as the intermediate of its link. */
struct other_links {
   uint32_t count;
   bool differ; /* one of them differs from the link's intermediate at the reduced case (links_doubt) */
   struct link list[MOST_OTHER_LINKS];
};

enum { LINK_UNTRIED, LINK_HOLDS, LINK_FAILS };

struct links {
   uint64_t *names; /* shapes_launch_name, by launch: the links are for plans with these launches */
   uint32_t launch_count, buffer_count;
   struct link *after;                                /* by launch and buffer: what it holds when the launch has ended */
   struct other_links *others;                        /* by launch and buffer */
   uint8_t *
      tried; /* by launch: whether it was judged by itself at the check cases, and whether that worked (LINK_...) */
   const rkb_case_t *cases[MOST_LINK_CASES]; /* at which the links were found; none: there are no links */
   uint32_t case_count;
   const rkb_case_t *bench; /* the bench case for which they were searched */
   rkb_case_t *reduced;     /* the one of the cases that is no check case; owned; NULL: none */
   void (*case_free)(rkb_case_t *reduced);
};

/* A launch that is judged by itself. */
struct link_target {
   uint32_t launch;
   uint64_t
      needed; /* a bit for each launch that is executed: the launch, and those that write a buffer which holds no intermediate */
   uint64_t given; /* a bit for each buffer that is filled with an intermediate of the reference */
   const struct link *link[MOST_LINKED]; /* of each of these buffers */
   uint32_t writer[MOST_LINKED];         /* the launch that writes each of them */
};

/* Finds the links of a plan, whose launches write the buffers in stores (a bit each, by launch); candidate->links has them.  If there are no links,
 * candidate->links has no cases. */
int links_find(const struct verifier *verifier, struct candidate *candidate, const rkb_case_t *the_case,
               const rkb_plan_t *plan, const uint64_t *stores, rkb_error_t *err);
void links_free(struct links *links);

/* ambiguous_intermediates.c.  Whether several intermediates fit some buffer. */
bool links_are_ambiguous(const struct links *links);
/* Compares these intermediates at the reduced case.  *doubt: some of them differ there, or there is no reduced case. */
int links_doubt(const struct verifier *verifier, const struct candidate *candidate, struct links *links, bool *doubt,
                rkb_error_t *err);
/* Forgets the links that are ambiguous: some other intermediate fits, and differs at the reduced case. */
void links_drop_doubtful(struct links *links);

static inline const struct link *link_after(const struct links *links, uint32_t launch, uint32_t buffer) {
   return &links->after[launch * links->buffer_count + buffer];
}

/* The elements of the intermediate that lie at elements of the buffer. */
void link_elements(const struct link *link, const rkb_intermediate_t *intermediate, const uint64_t *elements,
                   uint64_t count, uint64_t *out);

/* Returns the check case with the most operations among those that have the bench case's graph and fewer operations than `last` (NULL: any that is small
 * enough).  NULL: there is none. */
const rkb_case_t *link_case_before(const struct verifier *verifier, const rkb_case_t *bench,
                                   const rkb_case_t *last);
/* Finds a small shape like the bench case, with the same graph; NULL: there is none.  The caller frees it with case_free. */
int link_case_reduced(const struct verifier *verifier, const struct candidate *candidate,
                      const rkb_case_t *bench, rkb_case_t **reduced, rkb_error_t *err);
/* Whether the cases distinguish all orders of dims that a buffer may have at the bench case. */
bool link_cases_tell(const struct verifier *verifier, const struct links *links, const rkb_case_t *bench);
/* Whether the buffer holds the intermediate at the bench case too.  The buffer may be larger than the intermediate there.  If the cases do not distinguish
 * the orders of dims, the order may also be another one. */
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
/* Fills part of a buffer with the intermediate that the target is given. */
int link_fill(const struct verifier *verifier, const rkb_case_t *the_case, const struct link *link,
              const rkb_inputs_t *inputs, uint64_t first, uint64_t count, void *out);

#endif
