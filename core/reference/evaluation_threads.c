/* OpenMP's own setting, which belongs to the calling thread, and OpenBLAS's, which belongs to the process. */
#include "reference/evaluation_threads.h"

#include <cblas.h>
#include <pthread.h>

#ifdef _OPENMP
#include <omp.h>
#endif

int rkb_evaluation_threads(uint32_t evaluations) {
#ifdef _OPENMP
   const int all = omp_get_max_threads();
   return evaluations < (uint32_t)all && evaluations ? all / (int)evaluations : 1;
#else
   (void)evaluations;
   return 1;
#endif
}

int rkb_evaluation_use_threads(int threads) {
#ifdef _OPENMP
   const int before = omp_get_max_threads();
   omp_set_num_threads(threads);
   return before;
#else
   return threads;
#endif
}

static pthread_once_t blas_once = PTHREAD_ONCE_INIT;

static void use_one_blas_thread(void) {
   openblas_set_num_threads(1);
}

void rkb_evaluation_use_one_blas_thread(void) {
   pthread_once(&blas_once, use_one_blas_thread);
}
