/* Reads the spilled registers of a launch's kernel, and estimates how often they are stored and loaded.  Owns nothing; pure. */
#include "spills.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

/* The first-level cache is what shared memory leaves of 256 KiB on sm_90, where a multiprocessor offers 228 KiB of shared memory (Hopper Tuning
 * Guide, 'Unified Shared Memory/L1/Texture Cache').  28 KiB are never shared memory. */
#define CACHE_LEAST 28672.0

/* The text behind the parameters of a kernel: its body's brace. */
static const char *find_body(const char *ptx, const char *entry) {
   const size_t length = strlen(entry);
   for (const char *at = strstr(ptx, ".entry"); at; at = strstr(at, ".entry")) {
      at += strlen(".entry");
      at += strspn(at, " \t\r\n");
      if (strncmp(at, entry, length) == 0 && !isalnum((unsigned char)at[length]) && at[length] != '_' && at[length] != '$')
         return strchr(at, '{');
   }
   return NULL;
}

uint64_t ptx_instructions(const char *ptx, const char *entry) {
   const char *at = find_body(ptx, entry);
   uint64_t count = 0;
   int depth = 0;
   for (; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
      at += strspn(at, " \t\r");
      depth += *at == '{';
      depth -= *at == '}';
      if (depth <= 0)
         break;
      count += isalpha((unsigned char)*at) || *at == '@';
   }
   return count;
}

spilled_registers_t spilled_registers(const rkb_device_t *device, const rkb_build_t *build, const rkb_plan_launch_t *launch,
                                      const rkb_launch_counters_t *counters, rkb_occupancy_t occupancy) {
   const rkb_built_kernel_t *kernel = &build->kernels[launch->kernel];
   const double once = (double)kernel->spill_store_bytes + (double)kernel->spill_load_bytes;
   const double shared =
      (double)occupancy.blocks *
      ((double)kernel->shared_bytes + (double)launch->dynamic_shared + (double)device->shared_reserved);
   spilled_registers_t spilled = {.cache_bytes = CACHE_LEAST +
                                                 fmax(0, (double)device->shared_per_multiprocessor - shared)};
   if (once <= 0 || !build->ptx || counters->executed == 0 || counters->threads == 0)
      return spilled;
   double issued = 0;
   for (int i = 0; i < RKB_CLASS_COUNT; i++)
      issued += (double)counters->warp_instructions[i];
   const double warps = ceil(counters->threads / 32.0) * (double)counters->executed, text = (double)ptx_instructions(build->ptx, kernel->entry);
   spilled.bytes = once * (text > 0 ? issued / warps / text : 1);
   spilled.frame = kernel->local_bytes;
   return spilled;
}
