/* The parts of rkb-compiler: the NVRTC library it loads, the headers it offers, the sandbox it enters.  One
 * thread. */
#ifndef RKB_KERNEL_COMPILER_COMPILER_H
#define RKB_KERNEL_COMPILER_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/text.h"

/* A sanitizer has an allocator of its own, so heap.c is left out. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_IS_OURS 0
#else
#define HEAP_IS_OURS 1
#endif

/* heap.c: malloc and related functions, with the same addresses in every process.  heap_share: call it before the first fork.  It maps memory of this many
 * bytes, which the forks use one after another, so that its pages are made only once.  False when there is no memory.  heap_fork: call it first in the fork;
 * first: this is the first fork; it gets huge pages of its own, which cost less if no other fork follows.  The fork's allocations then have the same
 * addresses, whatever was allocated before; beyond the limit the process exits with COMPILER_EXIT_MEMORY.  heap_give_back: call it at the end of the fork, to
 * release the memory of a large compile. */
#define HEAP_OWN_BYTES (256u << 20)  /* range of addresses for allocations before a fork */
#define HEAP_FIRST_BYTES (64u << 20) /* memory that the first fork has for itself */
bool heap_share(uint64_t bytes);
void heap_fork(bool first);
void heap_give_back(void);
uint64_t heap_bytes(void); /* bytes handed out since heap_fork, including those that were freed again */

/* headers.c: substitutes for the host's standard headers, by name, in the form that nvrtcCreateProgram takes. */
typedef struct compiler_header {
   const char *name, *text;
} compiler_header_t;
extern const compiler_header_t compiler_headers[];
extern const uint32_t compiler_header_count;

/* nvrtc.c */
typedef struct nvrtc nvrtc_t;
typedef struct compile_request {
   const char *name, *source;
   const char **options;
   uint32_t option_count;
   const char **expressions;
   uint32_t expression_count;
   bool want_cubin;
} compile_request_t;
/* Loads NVRTC.  home: the folder of the toolkit, or NULL to search the usual places.  If the result is NULL, `why` gets a sentence that says what to
 * install. */
nvrtc_t *nvrtc_open(const char *home, rkb_text_t *why);
int nvrtc_major(const nvrtc_t *nvrtc);
int nvrtc_minor(const nvrtc_t *nvrtc);
const char *nvrtc_library(const nvrtc_t *nvrtc);  /* path of the loaded library */
/* Whether NVRTC's own library of built-in functions was found beside it and is loaded, so that a compile loads nothing. */
bool nvrtc_has_builtins(const nvrtc_t *nvrtc);
const char *nvrtc_includes(const nvrtc_t *nvrtc); /* the toolkit's include directory, or "" */
/* Compiles, and appends the answer of compiler_protocol.h except its last field. */
void nvrtc_compile(nvrtc_t *nvrtc, const compile_request_t *request, rkb_text_t *answer);

/* compiler_sandbox.c: from now on the process may read only files below directory ("": none), and may neither
 * start programs nor reach the network.  Appends the layers to layers: "capabilities landlock seccomp", each
 * with "no-" before it if this kernel lacks it. */
void sandbox_enter(const char *directory, rkb_text_t *layers);
/* Call it in a fork of such a process, which from then on cannot start processes either.  False when the
 * sandbox could not be closed. */
bool sandbox_close(void);

#endif
