/* The variables of a module, as its cubin lists them.  Owns nothing; any thread. */
#ifndef RKB_GPU_WORKER_CUBIN_VARIABLES_H
#define RKB_GPU_WORKER_CUBIN_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A variable in global memory that kernels can write (.global of PTX).  A section holds several. */
typedef struct rkb_cubin_variable {
   const char *name; /* within the cubin */
   uint32_t section;
   bool zeroed;            /* the section begins as zeros */
   uint64_t offset, bytes; /* within the section */
   uint64_t section_bytes;
} rkb_cubin_variable_t;

/* Writes at most `most` variables to list, in the order of the cubin; returns how many.  The cubin is a candidate's and may be damaged:
 * what lies outside of it, or outside of its section, is left out. */
uint32_t rkb_cubin_variables(const void *cubin, size_t bytes, rkb_cubin_variable_t *list, uint32_t most);

#endif
