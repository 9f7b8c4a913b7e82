/* The CUDA driver for the recorders, by the names of its ABI, so that they need no toolkit.  One thread. */
#ifndef CONFORMANCE_CUDA_DRIVER_H
#define CONFORMANCE_CUDA_DRIVER_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The few driver functions it needs, by their ABI names (CUDA driver API reference). */
struct driver {
   int (*init)(unsigned);
   int (*version)(int *);
   int (*device)(int *, int);
   int (*name)(char *, int, int);
   int (*create)(void **, unsigned, int);
   int (*load)(void **, const void *);
   int (*unload)(void *);
   int (*function)(void **, void *, const char *);
   int (*allocate)(uint64_t *, size_t);
   int (*to_device)(uint64_t, const void *, size_t);
   int (*to_host)(void *, uint64_t, size_t);
   int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                 void **, void **);
   int (*synchronize)(void);
};

static bool load_driver(struct driver *d) {
   void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
   if (!handle) {
      fprintf(stderr, "no CUDA driver: %s\n", dlerror());
      return false;
   }
   const struct {
      void *slot;
      const char *name;
   } wanted[] = {
      {&d->init, "cuInit"},
      {&d->version, "cuDriverGetVersion"},
      {&d->device, "cuDeviceGet"},
      {&d->name, "cuDeviceGetName"},
      {&d->create, "cuCtxCreate_v2"},
      {&d->load, "cuModuleLoadData"},
      {&d->unload, "cuModuleUnload"},
      {&d->function, "cuModuleGetFunction"},
      {&d->allocate, "cuMemAlloc_v2"},
      {&d->to_device, "cuMemcpyHtoD_v2"},
      {&d->to_host, "cuMemcpyDtoH_v2"},
      {&d->launch, "cuLaunchKernel"},
      {&d->synchronize, "cuCtxSynchronize"},
   };
   for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
      void *symbol = dlsym(handle, wanted[i].name);
      if (!symbol) {
         fprintf(stderr, "the CUDA driver has no %s\n", wanted[i].name);
         return false;
      }
      memcpy(wanted[i].slot, &symbol, sizeof symbol);
   }
   return true;
}

/* A context on device 0, and the first line of a record. */
static bool open_device(struct driver *d, FILE *out, const char *made_by) {
   char name[128] = "", date[32];
   int version = 0, device = 0;
   void *context = NULL;
   if (!load_driver(d))
      return false;
   if (d->init(0) || d->version(&version) || d->device(&device, 0) || d->name(name, sizeof name, device) ||
       d->create(&context, 0, device)) {
      fprintf(stderr, "no usable CUDA device\n");
      return false;
   }
   time_t now = time(NULL);
   strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
   fprintf(out, "# %s, driver API %d, driver %s, %s; made by %s\n", name, version,
           getenv("RKB_DRIVER") ? getenv("RKB_DRIVER") : "unstated", date, made_by);
   return true;
}

#endif
