/* What this program and rkb-compiler say to each other over the compiler's standard input and output, each message one frame of wire.h.
 *
 *   at start    compiler: u32 ok; ok 1: u32 major, u32 minor, text library, text include directory, text sandbox layers;
 *                                 ok 0: text why
 *   a compile   program:  text source name, bytes source, u32 count + texts options, u32 count + texts name expressions,
 *                         u32 want cubin
 *               compiler: u32 outcome, text log, bytes PTX, bytes cubin, u32 count + texts lowered names, u64 resident bytes,
 *                         u64 most bytes it held while it compiled
 *
 * The compiler answers requests in order and ends when its input does.  The two are built together: a version that
 * differs is an error, not something to negotiate. */
#ifndef RKB_KERNEL_COMPILER_PROTOCOL_H
#define RKB_KERNEL_COMPILER_PROTOCOL_H

enum rkb_compile_outcome { RKB_COMPILE_OK, RKB_COMPILE_ERROR, RKB_COMPILE_MEMORY, RKB_COMPILE_INTERNAL, RKB_COMPILE_TOOL };

enum {
   COMPILER_MAX_REQUEST = 2 << 20,
   COMPILER_MAX_SOURCE = 1 << 20,
   COMPILER_MAX_OPTIONS = 256,
   COMPILER_MAX_OPTION = 4096,
   COMPILER_MAX_NAMES = 64,
   COMPILER_MAX_NAME = 8192, /* lowered names of templates are long */
   COMPILER_MAX_LOG = 256 << 10,
   COMPILER_MAX_PTX = 32 << 20,
   COMPILER_MAX_CUBIN = 64 << 20,
   COMPILER_MAX_ANSWER = 112 << 20
};

#endif
