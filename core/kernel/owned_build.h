/* A build together with the arena that holds it; rkb_build_free frees both.  build.c makes one from a compile, build_record.c from
 * bytes. */
#ifndef RKB_KERNEL_OWNED_BUILD_H
#define RKB_KERNEL_OWNED_BUILD_H

#include "base/arena.h"
#include "kernel/kernel.h"

typedef struct owned_build {
   rkb_build_t public; /* first member, so that a pointer to it converts to this type */
   rkb_arena_t *arena;
} owned_build_t;

#endif
