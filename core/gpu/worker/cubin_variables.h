/* The variables of a module, as its cubin lists them.  Owns nothing; any thread. */
#ifndef RKB_GPU_WORKER_CUBIN_VARIABLES_H
#define RKB_GPU_WORKER_CUBIN_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A variable in global memory that kernels can write (.global of PTX). */
typedef struct rkb_cubin_variable {
   const char *name; /* within the cubin */
   bool zeroed;      /* it begins as zeros */
} rkb_cubin_variable_t;

/* Writes the first `most` variables to list, in the order of the cubin; returns how many there are, which may be more.  The cubin is a candidate's and may be damaged:
 * what lies outside of it, or outside of its section, is left out. */
uint32_t rkb_cubin_variables(const void *cubin, size_t bytes, rkb_cubin_variable_t *list, uint32_t most);

#endif
