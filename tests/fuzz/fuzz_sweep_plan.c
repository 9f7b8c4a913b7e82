/* Any bytes as sweep.json: refused with a reason, or cells whose folders stay inside the sweep's directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sweep/sweep_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/rkb-fuzz-sweep-XXXXXX";
static char path[sizeof directory + 16];

static void remove_directory(void) {
   unlink(path);
   rmdir(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_sweep_t *sweep = NULL;
   rkb_error_t err = {0};
   if (!path[0]) {
      if (!mkdtemp(directory) || atexit(remove_directory) != 0)
         abort();
      snprintf(path, sizeof path, "%s/sweep.json", directory);
   }
   FILE *file = fopen(path, "wb");
   if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
      abort();
   if (rkb_sweep_open(directory, &sweep, &err) != RKB_OK) {
      if (sweep || !err.message[0])
         abort();
      return 0;
   }
   for (uint32_t i = 0; i < sweep->count; i++)
      if (strchr(sweep->cells[i].folder, '/') || sweep->cells[i].folder[0] == '.' || !sweep->cells[i].name)
         abort();
   rkb_sweep_free(sweep);
   return 0;
}
