/* The programs of cluster_programs/: PTX files whose first line says how they are launched, "// grid=4,1,1 cluster=2 block=64".  Each has
 *
 *    .entry program(.param .align 64 .b8 map[128], .param .u64 tensor, .param .u64 out)
 *
 * where map describes tensor as 64 rows of 64 numbers of type f32, in boxes of 16 by 8.  The recorder runs them on a device, the test on the
 * machine, from the same memory; what they leave in out is compared.  One thread. */
#ifndef CONFORMANCE_CLUSTER_PROGRAMS_H
#define CONFORMANCE_CLUSTER_PROGRAMS_H

#include <rkb/ext/kernel.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM_TENSOR_BYTES (16u << 10)
#define PROGRAM_OUT_BYTES (16u << 10)
#define PROGRAM_SAMPLE 64u /* bytes that are recorded in full */

typedef struct cluster_program {
   char name[64];
   char ptx[32768];
   uint32_t grid[3], cluster[3], block;
} cluster_program_t;

static inline uint64_t program_hash(const void *data, size_t bytes) { /* FNV-1a */
   uint64_t hash = 0xcbf29ce484222325ull;
   for (size_t n = 0; n < bytes; n++)
      hash = (hash ^ ((const uint8_t *)data)[n]) * 0x100000001b3ull;
   return hash;
}

static inline void program_three(const char *text, const char *key, uint32_t out[3]) {
   const char *at = strstr(text, key);
   out[0] = out[1] = out[2] = 1;
   if (at)
      sscanf(at + strlen(key), "%u,%u,%u", &out[0], &out[1], &out[2]);
}

/* False where the file cannot be read or says no launch. */
static inline bool program_read(const char *path, cluster_program_t *program) {
   FILE *file = fopen(path, "r");
   uint32_t block[3];
   if (!file)
      return false;
   const size_t length = fread(program->ptx, 1, sizeof program->ptx - 1, file);
   fclose(file);
   program->ptx[length] = '\0';
   const char *slash = strrchr(path, '/');
   snprintf(program->name, sizeof program->name, "%.*s", (int)strcspn(slash ? slash + 1 : path, "."),
            slash ? slash + 1 : path);
   program_three(program->ptx, "grid=", program->grid);
   program_three(program->ptx, "cluster=", program->cluster);
   program_three(program->ptx, "block=", block);
   program->block = block[0];
   return length && length < sizeof program->ptx - 1 && strncmp(program->ptx, "// grid=", 8) == 0;
}

static inline void program_fill(uint8_t *tensor, uint8_t *out) {
   for (uint32_t n = 0; n < PROGRAM_TENSOR_BYTES; n++)
      tensor[n] = (uint8_t)((n + 1) * 0x9e3779b97f4a7c15ull >> 56);
   memset(out, 0xa5, PROGRAM_OUT_BYTES);
}

static const rkb_plan_map_t program_map = {.name = "map",
                                           .type = RKB_MAP_F32,
                                           .rank = 2,
                                           .dims = {64, 64},
                                           .strides = {256},
                                           .box = {16, 8},
                                           .element_strides = {1, 1}};

#endif
