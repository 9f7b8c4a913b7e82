/* Any bytes as a candidate: a manifest or at least one problem; what was read makes a plan or a finding. */
#include <stdlib.h>
#include <string.h>

#include "kernel/manifest.h"

static const rkb_parameter_t parameters[] = {{0, 8, 8, RKB_PARAMETER_POINTER, "u64"},
                                             {8, 8, 8, RKB_PARAMETER_POINTER, "u64"}};
static const rkb_tensor_t tensors[] = {{.name = "x",
                                        .role = RKB_IN,
                                        .dtype = RKB_F32,
                                        .rank = 1,
                                        .alignment = 256,
                                        .shape = {37},
                                        .elements = 37,
                                        .bytes = 148},
                                       {.name = "y",
                                        .role = RKB_OUT,
                                        .dtype = RKB_F32,
                                        .rank = 1,
                                        .alignment = 256,
                                        .shape = {37},
                                        .elements = 37,
                                        .bytes = 148}};
static const rkb_case_t the_case = {.name = "fuzz", .tensor_count = 2, .tensors = tensors};
static const rkb_device_t device = {.name = "fuzz",
                                    .architecture = "sm_90",
                                    .multiprocessors = 132,
                                    .memory_bytes = 1e11,
                                    .shared_per_multiprocessor = 233472,
                                    .shared_per_block_optin = 232448,
                                    .registers_per_multiprocessor = 65536,
                                    .register_unit = 256,
                                    .threads_per_multiprocessor = 2048,
                                    .threads_per_block = 1024,
                                    .blocks_per_multiprocessor = 32,
                                    .warp_size = 32,
                                    .parameter_bytes = 4096,
                                    .max_grid = {2147483647, 65535, 65535},
                                    .max_block = {1024, 1024, 64},
                                    .max_cluster = 8};

static bool lookup(void *argument, const char *name, rkb_value_t *value) {
   (void)argument;
   *value = (rkb_value_t){.integer = 37};
   return strlen(name) == 1 && *name >= 'A' && *name <= 'Z';
}

/* A build that has whatever the manifest names. */
static void plan(const manifest_t *manifest) {
   static char names[RKB_MANIFEST_MAX_LAUNCHES][512];
   static rkb_built_kernel_t kernels[RKB_MANIFEST_MAX_LAUNCHES];
   rkb_build_t build = {.ptx = "", .kernels = kernels};
   int64_t values[RKB_MANIFEST_MAX_ENTRIES];
   rkb_finding_t finding;
   rkb_error_t err;
   rkb_plan_t *made = NULL;
   if (rkb_tune_resolve(&manifest->public, NULL, values, &finding, &err) != RKB_OK || finding.reason[0])
      abort(); /* the defaults are always a whole assignment */
   for (uint32_t i = 0; i < manifest->public.launch_count; i++) {
      if (!manifest_kernel_expression(manifest, &manifest->launches[i], values, names[i], sizeof names[i]))
         return;
      kernels[build.kernel_count++] = (rkb_built_kernel_t){.expression = names[i],
                                                           .entry = "entry",
                                                           .registers = 32,
                                                           .parameter_count = 2,
                                                           .parameters = parameters};
   }
   if (rkb_plan_make(&manifest->public, NULL, &build, &device, &the_case, lookup, NULL, &made, &finding,
                     &err) != RKB_OK)
      return;
   if ((made != NULL) == (finding.reason[0] != '\0'))
      abort();
   rkb_plan_free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_problems_t problems;
   rkb_manifest_t *manifest;
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse("fuzz.cu", (const char *)data, size, &problems);
   if ((manifest == NULL) != (problems.errors > 0))
      abort();
   if (manifest)
      plan((const manifest_t *)manifest);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   return 0;
}
