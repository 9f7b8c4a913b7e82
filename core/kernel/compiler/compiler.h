/* The parts of rkb-compiler: the NVRTC library it loads, the headers it offers, the sandbox it enters.  One
 * thread. */
#ifndef RKB_KERNEL_COMPILER_COMPILER_H
#define RKB_KERNEL_COMPILER_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/text.h"

/* A sanitizer brings an allocator of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_IS_OURS 0
#else
#define HEAP_IS_OURS 1
#endif

/* heap.c: malloc and its like, at the same addresses in every process.
 * heap_share: before the first fork, memory for so many bytes, which the forks share one after the other, so that its pages are
 * made once.  False when there is none.
 * heap_fork: in the fork, first of all.  What it allocates lies there, whatever was allocated before; beyond the limit it ends with
 * COMPILER_EXIT_MEMORY.
 * heap_give_back: at the end of the fork, what a large compile took. */
#define HEAP_OWN_BYTES (256u << 20) /* addresses for what is allocated before a fork */
bool heap_share(uint64_t bytes);
void heap_fork(void);
void heap_give_back(void);
uint64_t heap_bytes(void); /* handed out so far since heap_fork, what is free again included */

/* headers.c: what stands for the host's standard headers, by name, as nvrtcCreateProgram takes them. */
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
/* home: the toolkit asked for, or NULL to look in the usual places.  On NULL why holds a sentence that says
 * what to install. */
nvrtc_t *nvrtc_open(const char *home, rkb_text_t *why);
int nvrtc_major(const nvrtc_t *nvrtc);
int nvrtc_minor(const nvrtc_t *nvrtc);
const char *nvrtc_library(const nvrtc_t *nvrtc);  /* path of the loaded library */
const char *nvrtc_includes(const nvrtc_t *nvrtc); /* the toolkit's include directory, or "" */
/* Compiles and appends the answer of compiler_protocol.h without the last field. */
void nvrtc_compile(nvrtc_t *nvrtc, const compile_request_t *request, rkb_text_t *answer);

/* compiler_sandbox.c: from here on the process may read below directory only (or nothing: "") and may neither start
 * programs nor reach the network.  Appends its layers to layers: "capabilities landlock seccomp", each with "no-" before it where it
 * could not be had. */
void sandbox_enter(const char *directory, rkb_text_t *layers);
/* In a fork of such a process, which from here on may start no process either.  False when it could not be closed. */
bool sandbox_close(void);

#endif
