/* rkb-play-plans FILE: runs the plans of a file that sanitizer.c wrote, each twice on the same memory, while
 * compute-sanitizer watches.  Judges nothing: exits with 0 when every plan ended, with 3 when it could not
 * run them.  It runs without the worker's sandbox, in which the sanitizer cannot reach the process.  It holds
 * no host code of a kernel, only what the driver executes on the device.  One thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/usage.h"
#include "kernel/kernel.h"
#include "tools/faults/label/plans_file.h"
#include "gpu/worker/plan_instance.h"

enum { DEADLINE_MS = 20000 };

typedef struct reader {
   const char *at, *end;
   bool bad;
} reader_t;

static const void *take(reader_t *r, uint64_t bytes) {
   const char *at = r->at;
   if (r->bad || bytes > (uint64_t)(r->end - r->at)) {
      r->bad = true;
      return NULL;
   }
   r->at += bytes;
   return at;
}

static uint64_t take_number(reader_t *r) {
   uint64_t number = 0;
   const void *from = take(r, sizeof number);
   if (from)
      memcpy(&number, from, sizeof number);
   return number;
}

static char *read_file(const char *path, size_t *length) {
   FILE *file = fopen(path, "rb");
   char *data = NULL;
   long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
   if (size >= 0 && (data = rkb_try_uncleared((size_t)size + 1, 1, NULL)) != NULL) {
      rewind(file);
      *length = fread(data, 1, (size_t)size, file);
   }
   if (file)
      fclose(file);
   return data;
}

static bool stage_tensors(const rkb_driver_t *d, reader_t *r, rkb_values_t *values) {
   uint64_t tensors = take_number(r);
   for (uint64_t i = 0; i < tensors && !r->bad; i++) {
      const uint32_t tensor = (uint32_t)take_number(r);
      const uint64_t bytes = take_number(r);
      const void *data = take(r, bytes);
      CUresult driver;
      if (!data || rkb_values_stage(d, values, &(rkb_worker_stage_t){.tensor = tensor, .bytes = bytes}, data,
                                    bytes, &driver) != RKB_WORKER_OK)
         return false;
   }
   return !r->bad;
}

static bool play(const rkb_driver_t *d, CUmodule module, reader_t *r) {
   rkb_values_t values = {0};
   /* The worker's kernels check canaries, which plain memory does not have. */
   const rkb_worker_kernels_t own = {0};
   rkb_instance_t instance = {0};
   rkb_plan_t *plan = NULL;
   rkb_error_t err;
   char message[256] = "";
   uint64_t length = take_number(r);
   const void *bytes = take(r, length);
   bool played = bytes && rkb_plan_read(bytes, length, &plan, &err) == RKB_OK;
   played = played && rkb_instance_open(d, module, plan, RKB_PLACE_PLAIN, &instance, message,
                                        sizeof message) == RKB_WORKER_OK;
   bool opened = played;
   played = played && stage_tensors(d, r, &values);
   for (int turn = 0; turn < 2 && played; turn++)
      played = rkb_instance_prepare(d, &instance, &values, 0, NULL) == CUDA_SUCCESS &&
               rkb_instance_run(d, &own, &instance, DEADLINE_MS).outcome == RKB_RAN;
   if (!played)
      fprintf(stderr, "rkb-play-plans: a plan did not run to its end %s\n", message);
   if (opened)
      rkb_instance_close(d, &instance);
   rkb_values_drop(d, &values, true, 0);
   return played;
}

int main(int count, char **arguments) {
   rkb_driver_t driver;
   CUmodule module;
   char message[256] = "";
   size_t length = 0;
   char *data = count == 2 ? read_file(arguments[1], &length) : NULL;
   if (!data)
      return rkb_usage(count, arguments, -1,
                       "usage: rkb-play-plans FILE\n"
                       "Plays back the launch plans in FILE on a GPU: what compute-sanitizer watches.\n");
   reader_t reader = {data, data + length, false};
   uint64_t magic = take_number(&reader), plans = take_number(&reader), bytes = take_number(&reader);
   const void *cubin = take(&reader, bytes);
   bool played = magic == PLANS_FILE_MAGIC && cubin && rkb_driver_open(&driver, 0, message, sizeof message) &&
                 driver.cuModuleLoadData(&module, cubin) == CUDA_SUCCESS;
   if (!played)
      fprintf(stderr, "rkb-play-plans: %s\n",
              message[0] ? message : "the file or its module cannot be loaded");
   for (uint64_t i = 0; i < plans && played; i++)
      played = play(&driver, module, &reader);
   free(data);
   return played ? 0 : 3;
}
