/* Finds the CUDA driver and NVML with dlopen.  Owns the context; one thread. */
#include "gpu/worker/driver.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The macro names of cuda.h carry the version of each function ("cuMemAlloc" is cuMemAlloc_v2): expand, then quote. */
#define QUOTE_(name) #name
#define QUOTE(name) QUOTE_(name)

/* The part of NVML that this file uses, by its ABI (NVML API Reference Guide), because not every toolkit
 * contains nvml.h. */
enum { NVML_DONE = 0, NVML_CLOCK_OF_MULTIPROCESSORS = 1, NVML_CLOCK_OF_MEMORY = 2, NVML_SENSOR_OF_GPU = 0 };

static bool say(char *message, size_t size, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(message, size, fmt, ap);
   va_end(ap);
   return false;
}

static bool load(rkb_driver_t *d, char *message, size_t size) {
   void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
   if (!library)
      return say(message, size, "no CUDA driver on this machine (%s)", dlerror());
   const struct {
      void *slot;
      const char *name;
   } wanted[] = {
#define X(name) {&d->name, QUOTE(name)},
      RKB_DRIVER_FUNCTIONS(X)
#undef X
   };
   for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
      void *symbol = dlsym(library, wanted[i].name);
      if (!symbol)
         return say(message, size, "the CUDA driver has no %s: it is older than 12.0", wanted[i].name);
      memcpy(wanted[i].slot, &symbol, sizeof symbol);
   }
   return true;
}

static void load_nvml(rkb_driver_t *d) {
   int (*init)(void), (*by_bus)(const char *, void **);
   void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
   if (!library)
      return;
   *(void **)&init = dlsym(library, "nvmlInit_v2");
   *(void **)&by_bus = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
   if (init && by_bus && init() == NVML_DONE && by_bus(d->bus, &d->nvml_device) == NVML_DONE)
      d->nvml = library;
}

bool rkb_driver_open(rkb_driver_t *d, int ordinal, char *message, size_t size) {
   int l2 = 0;
   memset(d, 0, sizeof *d);
   if (!load(d, message, size))
      return false;
   CUresult status = d->cuInit(0);
   if (status != CUDA_SUCCESS)
      return say(message, size, "the CUDA driver does not start: %s", rkb_driver_error(d, status));
   status = d->cuDeviceGet(&d->device, ordinal);
   if (status != CUDA_SUCCESS)
      return say(message, size, "no CUDA device number %d: %s", ordinal, rkb_driver_error(d, status));
   d->cuDriverGetVersion(&d->version);
   d->cuDeviceGetCount(&d->devices);
   d->cuDeviceGetName(d->name, sizeof d->name, d->device);
   d->cuDeviceGetPCIBusId(d->bus, sizeof d->bus, d->device);
   d->cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, d->device);
   d->l2_bytes = l2 > 0 ? (size_t)l2 : 0;
   status = d->cuDevicePrimaryCtxRetain(&d->context, d->device);
   if (status == CUDA_SUCCESS)
      status = d->cuCtxSetCurrent(d->context);
   if (status == CUDA_SUCCESS)
      status = d->cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING);
   if (status != CUDA_SUCCESS)
      return say(message, size, "cannot make a context on %s: %s", d->name, rkb_driver_error(d, status));
   CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = d->device}};
   status = d->cuMemGetAllocationGranularity(&d->granularity, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
   if (status != CUDA_SUCCESS)
      return say(message, size, "%s cannot map memory: %s", d->name, rkb_driver_error(d, status));
   load_nvml(d);
   return true;
}

const char *rkb_driver_error(const rkb_driver_t *d, CUresult status) {
   const char *name = NULL;
   return d->cuGetErrorName && d->cuGetErrorName(status, &name) == CUDA_SUCCESS && name ? name
                                                                                        : "an unknown error";
}

size_t rkb_driver_state(const rkb_driver_t *d, char *out, size_t size) {
   int (*clock)(void *, int, unsigned *), (*temperature)(void *, int, unsigned *),
      (*throttle)(void *, unsigned long long *);
   unsigned multiprocessor = 0, memory = 0, degrees = 0;
   unsigned long long reasons = 0;
   out[0] = '\0';
   if (!d->nvml)
      return 0;
   *(void **)&clock = dlsym(d->nvml, "nvmlDeviceGetClockInfo");
   *(void **)&temperature = dlsym(d->nvml, "nvmlDeviceGetTemperature");
   *(void **)&throttle = dlsym(d->nvml, "nvmlDeviceGetCurrentClocksThrottleReasons");
   if (!clock || !temperature || !throttle ||
       clock(d->nvml_device, NVML_CLOCK_OF_MULTIPROCESSORS, &multiprocessor) != NVML_DONE ||
       clock(d->nvml_device, NVML_CLOCK_OF_MEMORY, &memory) != NVML_DONE ||
       temperature(d->nvml_device, NVML_SENSOR_OF_GPU, &degrees) != NVML_DONE ||
       throttle(d->nvml_device, &reasons) != NVML_DONE)
      return 0;
   int n =
      snprintf(out, size, "clock_mhz=%u\nmemory_clock_mhz=%u\ntemperature_c=%u\nthrottle_reasons=0x%llx\n",
               multiprocessor, memory, degrees, reasons);
   return n > 0 && (size_t)n < size ? (size_t)n : 0;
}
