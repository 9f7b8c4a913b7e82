/* Looks for shapes at which a manifest decides what it decides at no shape so far (manifest_decisions.c says what that is).  One thread. */
#ifndef MACHINE_DECISION_SEARCH_H
#define MACHINE_DECISION_SEARCH_H

#include "verifier.h"

#define MOST_DECISIONS 4096u
#define DECISION_SLOTS 8192u /* a power of two, so that half of them stay free */
#define CURVE_POINTS 8u
#define MOST_SHAPE_DIMS 16u
#define MOST_FOUND 4u
#define DECISION_NEWS 64u

enum { MET_FALSE = 1, MET_TRUE = 2, MET_BOTH = 3 };

struct decision {
   uint64_t place;
   uint32_t met; /* at shapes that are executed */
   bool is_value, divides;
   uint32_t seen[2];                     /* how often it came out so, at any shape */
   int64_t first[2][MOST_SHAPE_DIMS];    /* where that was first */
   double nearest;                       /* the least distance from what is wanted */
   int64_t nearest_dims[MOST_SHAPE_DIMS];
   bool is_nearer;                       /* since shapes were last looked at around there */
   bool is_large;        /* a shape that is too much work was kept */
   uint32_t found_count; /* shapes at which it goes as wanted, the first of each way: */
   uint32_t found_way[MOST_FOUND];
   int64_t found[MOST_FOUND][MOST_SHAPE_DIMS];
};

struct decision_search {
   rkb_plan_survey_t *survey;
   const rkb_kernel_api_t *kernel;
   const rkb_survey_api_t *many;
   uint32_t dim_count;
   int64_t low[MOST_SHAPE_DIMS], high[MOST_SHAPE_DIMS];
   uint32_t count, next; /* next: where the next decision of an evaluation is expected */
   uint16_t
      slots[DECISION_SLOTS]; /* 1 + the number of a decision, near the slot that its place says; 0: none */
   bool is_full;             /* a decision had no room */
   uint32_t left;        /* shapes that may still be evaluated */
   uint32_t turn;        /* the secret's: of equally rare decisions, which come first */
   uint32_t way;         /* the dim that is gone along; MOST_SHAPE_DIMS: none */
   bool notes;           /* the shape is executed */
   const int64_t *dims;  /* that are evaluated */
   const int64_t *shapes[RKB_SURVEY_SHAPES]; /* whose dims are evaluated at once */
   double *distances;    /* of each decision of the list, where they are asked for; NAN: not decided */
   /* Megabytes that are not cleared: what is read of them was written before. */
   struct decision list[MOST_DECISIONS];
   double curves[CURVE_POINTS][MOST_DECISIONS]; /* distances around a shape */
};

/* Sets all to nothing but the decisions, of which there are none. */
void decision_search_begin(struct decision_search *search);

/* Whether one of the two outcomes is looked for. */
bool decision_is_wanted(const struct decision *decision);
/* Evaluates the manifest at a shape; false where it is not in the domain. */
bool decision_search_at(struct decision_search *search, const int64_t *dims);
/* *news: a bit, by a hash, for each outcome at the shape that is wanted, or that is of a decision which no shape had. */
bool decision_search_news(struct decision_search *search, const int64_t *dims, uint64_t news[DECISION_NEWS]);
/* decision_search_at for up to RKB_SURVEY_SHAPES shapes in turn, mostly at once. */
void decision_search_at_many(struct decision_search *search, int64_t (*dims)[MOST_SHAPE_DIMS],
                             uint32_t count);
/* Along each dim from a shape. */
void decision_search_scan(struct decision_search *search, const int64_t *from);
/* Where dims of two shapes meet that decide something as few do. */
void decision_search_cross(struct decision_search *search);
/* Along the curves on which two dims make the sides of a comparison equal. */
void decision_search_curves(struct decision_search *search, const int64_t *from);

#endif
