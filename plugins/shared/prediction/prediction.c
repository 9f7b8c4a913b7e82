/* Keeps a predicted time as a note of the candidate (prediction.h).  Owns nothing; any thread. */
#include "prediction.h"

#include <math.h>
#include <string.h>

#define NOTE "model.predicted_us/1"

int prediction_keep(const rkb_kernel_api_t *kernel, const rkb_host_t *host, rkb_job_t job, double us) {
   return kernel->note_set(host, job, NOTE, &us, sizeof us);
}

bool prediction_read(const rkb_kernel_api_t *kernel, const rkb_host_t *host, rkb_job_t job, double *us) {
   size_t bytes = 0;
   const void *note = kernel->note_get(host, job, NOTE, &bytes);
   if (!note || bytes != sizeof *us)
      return false;
   memcpy(us, note, sizeof *us);
   return isfinite(*us) && *us > 0;
}
