/* Finds CUPTI with dlopen.  Owns nothing: the library stays loaded.  One thread. */
#include "gpu/worker/cupti_library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Folders in which toolkits install CUPTI, in addition to the loader's paths.  Both major versions have the
 * range profiler (since 12.6). */
static void *find_library(void) {
   static const char *const places[] = {"libcupti.so.13",
                                        "libcupti.so.12",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                        "/usr/local/cuda/lib64/libcupti.so",
                                        "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so",
                                        "/usr/local/cuda/targets/sbsa-linux/lib/libcupti.so",
                                        NULL};
   void *library = NULL;
   for (int i = 0; places[i] && !library; i++)
      library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
   return library;
}

bool rkb_cupti_open(rkb_cupti_t *cupti, rkb_worker_observed_t *observed) {
   void *library = find_library();
   observed->seen = RKB_SEEN_MISSING;
   if (!library) {
      snprintf(observed->message, sizeof observed->message,
               "the worker's machine has no libcupti.so.13; it comes with the CUDA toolkit");
      return false;
   }
   const struct {
      void *slot;
      const char *name;
   } wanted[] = {
#define X(name) {&cupti->name, #name},
      RKB_CUPTI_FUNCTIONS(X)
#undef X
   };
   for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
      void *symbol = dlsym(library, wanted[i].name);
      if (!symbol) {
         snprintf(observed->message, sizeof observed->message, "the machine's CUPTI has no %s: it is older than 12.6",
                  wanted[i].name);
         return false;
      }
      memcpy(wanted[i].slot, &symbol, sizeof symbol);
   }
   observed->seen = RKB_SEEN;
   return true;
}

static uint32_t meaning_of(CUptiResult result) {
   switch (result) {
   case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
   case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return RKB_SEEN_FORBIDDEN;
   case CUPTI_ERROR_NOT_SUPPORTED:
   case CUPTI_ERROR_NOT_INITIALIZED: /* the driver's own profiling library does not load, as under gVisor */
   case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
   case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
   case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
   case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
   case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
   case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
   case CUPTI_ERROR_INVALID_CHIP_NAME:
      return RKB_SEEN_MISSING;
   default:
      return RKB_SEEN_FAILED;
   }
}

bool rkb_cupti_held(const rkb_cupti_t *cupti, CUptiResult result, const char *what, rkb_worker_observed_t *observed) {
   const char *name = NULL;
   if (result == CUPTI_SUCCESS)
      return true;
   cupti->cuptiGetResultString(result, &name);
   observed->seen = meaning_of(result);
   snprintf(observed->message, sizeof observed->message, "%s: %s (%d)%s", what, name ? name : "an unknown error", (int)result,
            observed->seen == RKB_SEEN_FORBIDDEN
               ? "; the driver shows counters to administrators alone (NVreg_RestrictProfilingToAdminUsers=0 lifts that)"
               : "");
   return false;
}
