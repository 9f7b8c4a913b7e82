/* The facts that the plan and the report need about a compiled kernel, read from its PTX and from ptxas' own
 * report. */
#ifndef RKB_KERNEL_PTX_H
#define RKB_KERNEL_PTX_H

#include <rkb/ext/kernel.h>
#include "base/arena.h"

/* ptx_signature.c: reads the parameters, launch bounds and static shared memory of kernel->entry.  False when
 * the PTX has no such entry or its parameter list cannot be read; then why holds a sentence. */
bool ptx_read_signature(const char *ptx, size_t bytes, rkb_arena_t *arena, rkb_built_kernel_t *kernel,
                        char *why, size_t why_size);

/* ptx_signature.c: the numbers of a directive of an entry, 1 where it has fewer than three: .reqnctapercluster (__cluster_dims__), .maxclusterrank (the
 * third number of __launch_bounds__), .reqntid (__block_size__).  False when the entry has no such directive. */
bool ptx_entry_numbers(const char *ptx, size_t bytes, const char *entry, const char *directive,
                       uint32_t numbers[3]);

/* ptx_pointers.c: decides which 64-bit parameters of an entry are addresses.  body: the text between its
 * braces.  kind[i] becomes an rkb_parameter_kind; only parameters of 8 bytes are examined. */
void ptx_find_pointers(const char *body, size_t bytes, const char *entry, uint32_t count, uint32_t *kind);

/* ptxas_log.c: reads registers, spills, shared, local and constant bytes of kernel->entry from a log of
 * `ptxas -v`. */
void ptxas_read_resources(const char *log, size_t bytes, rkb_built_kernel_t *kernel);

/* ptx_signature.c: the bytes of the module's own global variables, at most UINT64_MAX.  ptxas' "bytes gmem"
 * wraps at 32 bits. */
uint64_t ptx_global_bytes(const char *ptx, size_t bytes);

#endif
