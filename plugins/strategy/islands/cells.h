/* Cells of behaviour (Mouret, Clune: 'Illuminating search spaces by mapping elites', 2015): each chosen
 * measurement of a candidate is divided into steps, and the steps together are the cell.  Candidates in
 * different cells do not compete for a place.  Pure; the loop's thread. */
#ifndef ISLANDS_CELLS_H
#define ISLANDS_CELLS_H

#include <rkb/strategy.h>

enum { CELL_FEATURES_MAX = 4, CELL_STEPS = 64 };

typedef struct cell_feature { /* a row of the option 'cells' */
   const char *by;            /* "<entry id>.<measurement>" */
   const char *scale;         /* "linear" or "log2" */
   double step;               /* linear: width of a step */
} cell_feature_t;

/* The step of one value: 0 to CELL_STEPS - 2. */
uint32_t cell_step(const cell_feature_t *feature, double value);

/* The cell of a told candidate.  A missing measurement has its own step, the last.  0 without features. */
uint32_t cell_of(const cell_feature_t *features, uint32_t count, const rkb_told_t *told);

#endif
