/* One compile in the pool of compiler processes, for build.c.  Any worker thread. */
#ifndef RKB_KERNEL_COMPILERS_H
#define RKB_KERNEL_COMPILERS_H

#include "kernel/kernel.h"
#include "kernel/build_cache.h"
#include "kernel/compiler_protocol.h"

typedef struct compile_input {
   const char *name; /* name of the source in diagnostics */
   const char *source;
   size_t source_bytes;
   const char *const *options;
   uint32_t option_count;
   const char *const *expressions;
   uint32_t expression_count;
   bool want_cubin;
} compile_input_t;

/* A compile's result.  Its texts point into one buffer, which compile_output_free releases. */
typedef struct compile_output {
   void *answer;
   const char *log, *ptx;
   size_t log_bytes, ptx_bytes; /* lengths; ptx_bytes leaves out the PTX's closing NUL */
   const void *cubin;
   size_t cubin_bytes;
   const char *lowered
      [COMPILER_MAX_NAMES]; /* lowered[i] of expressions[i], lowered_bytes[i] long, not NUL-terminated */
   size_t lowered_bytes[COMPILER_MAX_NAMES];
   uint64_t cpu_ns, memory_bytes; /* processor time and memory of the compile; 0 when it did not end by itself */
   /* The source may not be the only cause of the result, so it is not cached. */
   bool uncertain;
} compile_output_t;

/* Compiles.  RKB_OK with a finding: build.error means that the candidate is wrong.  tool.compile_time and tool.compile_memory mean that a limit ended the
 * compile, and tool.compiler_crash that a signal ended it twice; nothing is known of the candidate then.  With build.error, output has the log if there is
 * one.  RKB_ERR_UNAVAILABLE when the compiler was killed. */
int compilers_compile(rkb_compilers_t *compilers, const compile_input_t *input, bool (*cancelled)(void *),
                      void *argument, compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err);
void compile_output_free(compile_output_t *output); /* compile_record.c */

/* As compilers_compile, but elsewhere, for example on a worker. */
typedef int compile_t(void *elsewhere, const compile_input_t *input, bool (*cancelled)(void *), void *argument,
                      compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err);
/* Makes compilers that share the cache, limits and toolkit of `of` and whose compiles go to
 * elsewhere(argument, ...).  Close them before `of`. */
rkb_compilers_t *rkb_compilers_view(rkb_compilers_t *of, compile_t *elsewhere, void *argument);

build_cache_t *compilers_cache(rkb_compilers_t *compilers); /* NULL: no cache */
const char *
compilers_limits(rkb_compilers_t *compilers); /* part of the cache key, because limits decide verdicts */
/* Whether a compile with this cost came within 20 % of a limit, so that the limit may decide on another
 * machine. */
bool compilers_near_limit(const rkb_compilers_t *compilers, uint64_t cpu_ns, uint64_t memory_bytes);
/* Gives major and minor version of NVRTC and the directory of its headers.  Starts a process when none has
 * run. */
int compilers_version(rkb_compilers_t *compilers, int *major, int *minor, rkb_error_t *err);

#endif
