/* How many threads one evaluation of a reference takes.  The threads are OpenMP's; a build without OpenMP
 * uses one thread. */
#ifndef RKB_REFERENCE_EVALUATION_THREADS_H
#define RKB_REFERENCE_EVALUATION_THREADS_H

#include <stdint.h>

/* The number of threads for each of several parallel evaluations, so that all of them use no more threads than one alone would. */
int rkb_evaluation_threads(uint32_t evaluations);

/* Sets the number for the evaluations that the calling thread begins from now on; returns the previous
 * number. */
int rkb_evaluation_use_threads(int threads);

/* Makes OpenBLAS use one thread, in this process and in its later forks, because the program's own threads already use every core.  If the parent of a fork did
 * not call it, OpenBLAS first starts its threads again in the fork, and they spin before they sleep.  Any thread. */
void rkb_evaluation_use_one_blas_thread(void);

#endif
