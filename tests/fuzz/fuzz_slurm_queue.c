/* Any bytes as what squeue prints: rows of this array inside their limits, and an end. */
#include <stdlib.h>
#include <string.h>

#include "executor/slurm_queue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   char *text = malloc(size + 1);
   const char *at = text;
   rkb_slurm_row_t row;
   memcpy(text, data, size);
   text[size] = '\0';
   while (rkb_slurm_next_row(&at, "rkb-a", &row))
      if ((row.index >= RKB_SLURM_CHUNK && row.index != RKB_SLURM_NO_INDEX) || row.state < RKB_SLURM_WAITS ||
          row.state > RKB_SLURM_REMOVED || strlen(row.node) >= sizeof row.node || at > text + strlen(text))
         abort();
   free(text);
   return 0;
}
