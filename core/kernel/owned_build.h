/* What rkb_build_free frees: a build and the arena that holds all of it.  build.c makes them from a compile, build_record.c from bytes. */
#ifndef RKB_KERNEL_OWNED_BUILD_H
#define RKB_KERNEL_OWNED_BUILD_H

#include "base/arena.h"
#include "kernel/kernel.h"

typedef struct owned_build {
   rkb_build_t public; /* first */
   rkb_arena_t *arena;
} owned_build_t;

#endif
