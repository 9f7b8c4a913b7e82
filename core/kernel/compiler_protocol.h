/* What this program and rkb-compiler say to each other over the compiler's standard input and output, each message one frame of byte_record.h.
 *
 *   at start    compiler: u32 ok; ok 1: u32 major, u32 minor, text library, text include directory, text sandbox layers;
 *                                 ok 0: text why
 *   a compile   program:  text source name, bytes source, u32 count + texts options, u32 count + texts name expressions,
 *                         u32 want cubin
 *               compiler: u64 number of the process that compiles; then, in a frame of its own,
 *                         u32 outcome, text log, bytes PTX, bytes cubin, u32 count + texts lowered names, u64 ns of processor time,
 *                         u64 most bytes it held while it compiled
 *
 * The compiler answers requests in order and ends when its input does, or with one of the codes below when a compile ended badly.  The two are built together: a version that
 * differs is an error, not something to negotiate. */
#ifndef RKB_KERNEL_COMPILER_PROTOCOL_H
#define RKB_KERNEL_COMPILER_PROTOCOL_H

enum rkb_compile_outcome { RKB_COMPILE_OK, RKB_COMPILE_ERROR, RKB_COMPILE_MEMORY, RKB_COMPILE_INTERNAL, RKB_COMPILE_TOOL };

enum {
   COMPILER_EXIT_BROKEN = 1,
   COMPILER_EXIT_NO_TOOLKIT = 4, /* 3 is RKB_EXIT_OUT_OF_MEMORY */
   COMPILER_EXIT_MEMORY = 77,    /* the heap is full */
   COMPILER_EXIT_EARLY =
      78, /* the signal of the limit on processor time came before the limit: somebody sent it */
   COMPILER_EXIT_OPEN = 79,   /* the allowlist of system calls could not be entered */
   COMPILER_EXIT_SIGNAL = 128 /* plus the number of the signal that ended the compile */
};

enum {
   COMPILER_MAX_REQUEST = 2 << 20,
   COMPILER_MAX_SOURCE = 1 << 20,
   COMPILER_MAX_OPTIONS = 256,
   COMPILER_MAX_OPTION = 4096,
   COMPILER_MAX_NAMES = 512,
   COMPILER_MAX_NAME = 8192, /* lowered names of templates are long */
   COMPILER_MAX_LOG = 256 << 10,
   COMPILER_MAX_PTX = 32 << 20,
   COMPILER_MAX_CUBIN = 64 << 20,
   COMPILER_MAX_ANSWER = 112 << 20
};

#endif
