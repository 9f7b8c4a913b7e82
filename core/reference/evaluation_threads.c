/* OpenMP's own setting, which belongs to the calling thread. */
#include "reference/evaluation_threads.h"

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
