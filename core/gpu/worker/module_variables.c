/* Finds the variables of a module on the device and resets them.  The variables of a section lie together in the section's order, so a
 * section is reset with one request, and so are variables of it that the driver does not find by name.  One thread. */
#include "gpu/worker/module_variables.h"
#include <stdlib.h>
#include "base/memory.h"
#include "gpu/worker/cubin_variables.h"

#define MOST_VARIABLES 4096u /* asked for by name; further ones are reset with their section */

/* Variables of one section whose addresses differ as their offsets do. */
typedef struct run {
   uint32_t section;
   CUdeviceptr base; /* the address of the section's first byte */
   uint64_t first, end, section_bytes;
   bool zeroed;
} run_t;

static void add(run_t *runs, uint32_t *count, const rkb_cubin_variable_t *v, CUdeviceptr base) {
   for (uint32_t i = 0; i < *count; i++) {
      run_t *r = &runs[i];
      if (r->section != v->section || r->base != base)
         continue;
      r->first = v->offset < r->first ? v->offset : r->first;
      r->end = v->offset + v->bytes > r->end ? v->offset + v->bytes : r->end;
      return;
   }
   runs[(*count)++] = (run_t){v->section, base, v->offset, v->offset + v->bytes, v->section_bytes, v->zeroed};
}

static bool alone(const run_t *runs, uint32_t count, uint32_t which) {
   for (uint32_t i = 0; i < count; i++)
      if (i != which && runs[i].section == runs[which].section)
         return false;
   return true;
}

static CUresult open_place(const rkb_driver_t *d, const run_t *r, bool whole, rkb_variable_place_t *place) {
   const uint64_t first = whole ? 0 : r->first, end = whole ? r->section_bytes : r->end;
   *place = (rkb_variable_place_t){.start = r->base + first, .bytes = end - first};
   if (r->zeroed)
      return CUDA_SUCCESS;
   CUresult status = d->cuMemAlloc(&place->initial, place->bytes);
   if (status != CUDA_SUCCESS) {
      place->initial = 0;
      return status;
   }
   return d->cuMemcpyDtoDAsync(place->initial, place->start, place->bytes, d->stream);
}

CUresult rkb_variables_open(const rkb_driver_t *d, CUmodule module, const void *cubin, size_t bytes,
                            rkb_variables_t *variables) {
   rkb_cubin_variable_t *list = rkb_allocate(MOST_VARIABLES, sizeof *list);
   const uint32_t listed = rkb_cubin_variables(cubin, bytes, list, MOST_VARIABLES);
   run_t *runs = rkb_allocate(listed + 1, sizeof *runs);
   uint32_t count = 0;
   CUresult status = CUDA_SUCCESS;
   *variables = (rkb_variables_t){0};
   for (uint32_t i = 0; i < listed; i++) {
      CUdeviceptr start;
      size_t size;
      if (d->cuModuleGetGlobal(&start, &size, module, list[i].name) == CUDA_SUCCESS && size >= list[i].bytes)
         add(runs, &count, &list[i], start - list[i].offset);
   }
   variables->places = rkb_allocate(count + 1, sizeof *variables->places);
   for (uint32_t i = 0; i < count && status == CUDA_SUCCESS; i++)
      status = open_place(d, &runs[i], alone(runs, count, i), &variables->places[variables->count++]);
   if (status != CUDA_SUCCESS)
      rkb_variables_close(d, variables);
   free(runs);
   free(list);
   return status;
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
