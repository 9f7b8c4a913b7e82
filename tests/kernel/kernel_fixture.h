/* What the tests of core/kernel share: a case made from a few lines, a pool with a cache of its own,
 * candidates from files. */
#ifndef RKB_TESTS_KERNEL_FIXTURE_H
#define RKB_TESTS_KERNEL_FIXTURE_H

#include "check.h"
#include "kernel/kernel.h"

typedef struct fixture_case {
   rkb_case_t of;
   rkb_tensor_t tensors[8];
   const rkb_named_int_t *dims;
   const rkb_named_real_t *attributes;
} fixture_case_t;

/* llama_rmsnorm forward: x[B, T, D], weight[D], y[B, T, D], eps. */
void fixture_rmsnorm(fixture_case_t *made, int64_t batch, int64_t time, int64_t width);
bool fixture_lookup(void *argument, const char *name, rkb_value_t *value);

char *fixture_read(const char *relative, size_t *length); /* below tests/kernel */
const rkb_device_t *fixture_device(const char *name);     /* lives as long as the program */
/* cache NULL: none. */
rkb_compilers_t *fixture_pool(uint32_t processes, const char *cache);
char *fixture_directory(void); /* a fresh temporary one, malloc'd */
void fixture_remove(const char *directory);

#endif
