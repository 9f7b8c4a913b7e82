/* One kernel of a row: makes its text with the row's tune values, and frees it.  Any thread. */
#include <stdlib.h>
#include "base/file.h"
#include "cli/bench/bench.h"
#include "kernel/kernel.h"

#define MOST_SOURCE (256u << 10)

int rkb_bench_kernel_text(const rkb_bench_kernel_t *kernel, char **text, rkb_error_t *err) {
   char *source = NULL;
   size_t length = 0;
   *text = NULL;
   int status = rkb_file_read(kernel->path, MOST_SOURCE, &source, &length, err);
   if (status != RKB_OK || !kernel->tune) {
      *text = source;
      return status;
   }
   status = rkb_tune_write(source, kernel->tune, text, err);
   free(source);
   return status;
}

void rkb_bench_kernel_free(rkb_bench_kernel_t *kernel) {
   free(kernel->path);
   free(kernel->tune);
   *kernel = (rkb_bench_kernel_t){.path = NULL};
}
