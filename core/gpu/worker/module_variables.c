/* Finds the variables of a module on the device and resets them, each at the place that the driver gives for its name.  One thread. */
#include "gpu/worker/module_variables.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/memory.h"
#include "gpu/protocol.h"
#include "gpu/worker/cubin_variables.h"

#define MOST_VARIABLES 4096u

static CUresult open_place(const rkb_driver_t *d, CUmodule module, const rkb_cubin_variable_t *variable,
                           rkb_variable_place_t *place) {
   size_t bytes = 0;
   CUresult status = d->cuModuleGetGlobal(&place->start, &bytes, module, variable->name);
   place->bytes = bytes;
   if (status != CUDA_SUCCESS || variable->zeroed)
      return status;
   status = d->cuMemAlloc(&place->initial, bytes);
   if (status == CUDA_SUCCESS)
      return d->cuMemcpyDtoDAsync(place->initial, place->start, bytes, d->stream);
   place->initial = 0;
   return status;
}

int rkb_variables_open(const rkb_driver_t *d, CUmodule module, const void *cubin, size_t bytes,
                       rkb_variables_t *variables, char *message, size_t size) {
   rkb_cubin_variable_t *list = rkb_allocate(MOST_VARIABLES, sizeof *list);
   const uint32_t count = rkb_cubin_variables(cubin, bytes, list, MOST_VARIABLES);
   int result = RKB_WORKER_OK;
   *variables = (rkb_variables_t){0};
   if (count > MOST_VARIABLES) {
      snprintf(
         message, size,
         "the module has %u variables that kernels can write; at most %u can be reset before a timed run",
         count, MOST_VARIABLES);
      result = RKB_WORKER_BAD_MODULE;
      goto done;
   }
   variables->places = rkb_allocate(count + 1, sizeof *variables->places);
   for (uint32_t i = 0; i < count; i++) {
      const CUresult status = open_place(d, module, &list[i], &variables->places[variables->count++]);
      if (status == CUDA_SUCCESS)
         continue;
      snprintf(message, size, "the variable '%.64s' of the module cannot be reset before a timed run: %s",
               list[i].name, rkb_driver_error(d, status));
      result = status == CUDA_ERROR_OUT_OF_MEMORY ? RKB_WORKER_NO_MEMORY : RKB_WORKER_DRIVER;
      rkb_variables_close(d, variables);
      break;
   }
done:
   free(list);
   return result;
}

CUresult rkb_variables_reset(const rkb_driver_t *d, const rkb_variables_t *variables) {
   CUresult status = CUDA_SUCCESS;
   for (uint32_t i = 0; i < variables->count && status == CUDA_SUCCESS; i++) {
      const rkb_variable_place_t *place = &variables->places[i];
      status = place->initial ? d->cuMemcpyDtoDAsync(place->start, place->initial, place->bytes, d->stream)
                              : d->cuMemsetD8Async(place->start, 0, place->bytes, d->stream);
   }
   return status;
}

void rkb_variables_close(const rkb_driver_t *d, rkb_variables_t *variables) {
   for (uint32_t i = 0; i < variables->count; i++)
      if (variables->places[i].initial)
         d->cuMemFree(variables->places[i].initial);
   free(variables->places);
   *variables = (rkb_variables_t){0};
}
