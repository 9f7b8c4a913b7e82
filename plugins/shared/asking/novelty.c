/* The nearest structure in the archive (novelty.h). */
#include "novelty.h"

#include <stdlib.h>
#include <string.h>

const rkb_archive_row_t *novelty_repeated(const context_t *context, structure_cache_t *cache,
                                          const char *source, double least, double *likeness) {
   const rkb_archive_api_t *archive = context->services->archive;
   const rkb_kernel_api_t *kernel = context->services->kernel;
   const rkb_archive_row_t *found = context_same(context, source), *before = NULL;
   kernel_structure_t own;
   *likeness = 1;
   if (found || least > 1 || !kernel || !context->rows)
      return found;
   const uint32_t count = archive->rows_count(context->rows);
   bool read = kernel_structure_read(kernel, source, &own);
   double most = 0;
   for (uint32_t i = count > NOVELTY_MOST_ROWS ? count - NOVELTY_MOST_ROWS : 0; read && i < count; i++) {
      const rkb_archive_row_t *row = archive->rows_at(context->rows, i);
      if (before && strcmp(before->source_hash, row->source_hash) == 0)
         continue; /* it is the same text with another assignment */
      before = row;
      const kernel_structure_t *structure = structure_cache_take(cache, kernel, row);
      read = structure != NULL;
      const double alike = read ? kernel_structure_likeness(&own, structure) : 0;
      structure_cache_return(cache, structure);
      if (alike >= least && alike > most) {
         most = alike;
         found = row;
      }
   }
   free(own.hashes);
   *likeness = most;
   return found;
}
