/* Lists the kernels of a row.  Main thread only. */
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/folder_names.h"
#include "base/hash.h"
#include "cli/bench/bench.h"

static void list(const rkb_bench_work_t *work, const char *folder, rkb_bench_kernels_t *kernels) {
   char path[4096];
   snprintf(path, sizeof path, "%s/%s/%s", work->directory, folder, work->direction);
   char **names = rkb_folder_names(path, ".cu");
   for (char **name = names; name && *name && kernels->count < RKB_BENCH_MOST_KERNELS; name++)
      kernels->list[kernels->count++].path = rkb_path_join(path, *name);
   rkb_folder_names_free(names);
}

static bool known(char *const *texts, uint32_t count, const char *text) {
   for (uint32_t i = 0; i < count; i++)
      if (strcmp(texts[i], text) == 0)
         return true;
   return false;
}

/* Reads all kernels, drops a text that occurred before, and hashes the rest. */
static int read_all(rkb_bench_kernels_t *kernels, rkb_hasher_t *hasher, rkb_error_t *err) {
   char *texts[RKB_BENCH_MOST_KERNELS];
   uint32_t kept = 0, count = kernels->count;
   int status = RKB_OK;
   for (uint32_t i = 0; i < count; i++) {
      rkb_bench_kernel_t kernel = kernels->list[i];
      char *text = NULL;
      if (status == RKB_OK)
         status = rkb_bench_kernel_text(&kernel, &text, err);
      if (status != RKB_OK || known(texts, kept, text)) {
         free(text);
         rkb_bench_kernel_free(&kernel);
         continue;
      }
      rkb_hasher_add(hasher, text, strlen(text));
      kernels->list[kept] = kernel;
      texts[kept++] = text;
   }
   kernels->count = kept;
   while (kept > 0)
      free(texts[--kept]);
   return status;
}

int rkb_bench_kernels_find(const rkb_bench_work_t *work, rkb_bench_kernels_t *kernels, rkb_error_t *err) {
   rkb_bench_kernel_t best;
   *kernels = (rkb_bench_kernels_t){.count = 0};
   int status = rkb_bench_best_read(work, &best, err);
   if (status != RKB_OK)
      return status;
   list(work, "best", kernels);
   if (best.path && kernels->count < RKB_BENCH_MOST_KERNELS)
      kernels->list[kernels->count++] = best;
   else
      rkb_bench_kernel_free(&best);
   /* A newer seed may be faster than the result of a search that started from another seed. */
   list(work, "seeds", kernels);
   rkb_hasher_t *hasher = rkb_hasher_new();
   status = read_all(kernels, hasher, err);
   rkb_hasher_finish(hasher, kernels->hash);
   if (status == RKB_OK && kernels->count == 0)
      status = rkb_fail(err, RKB_ERR_INVALID, "%s has no kernel for %s", work->directory, work->direction);
   return status;
}

void rkb_bench_kernels_free(rkb_bench_kernels_t *kernels) {
   for (uint32_t i = 0; i < kernels->count; i++)
      rkb_bench_kernel_free(&kernels->list[i]);
   kernels->count = 0;
}
