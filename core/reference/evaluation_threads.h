/* How many threads one evaluation of a reference takes.  They are OpenMP's; where it is left out, one. */
#ifndef RKB_REFERENCE_EVALUATION_THREADS_H
#define RKB_REFERENCE_EVALUATION_THREADS_H

#include <stdint.h>

/* What each of several evaluations side by side may take, so that all together have no more threads than one alone would. */
int rkb_evaluation_threads(uint32_t evaluations);

/* Of the evaluations that the calling thread begins from now on; returns what it was. */
int rkb_evaluation_use_threads(int threads);

#endif
