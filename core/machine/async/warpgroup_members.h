/* What is known of the warps of each warpgroup, for warpgroups.c and warpgroup_registers.c alone.  Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_ASYNC_WARPGROUP_MEMBERS_H
#define RKB_MACHINE_ASYNC_WARPGROUP_MEMBERS_H

#include "machine/async/warpgroups.h"

typedef struct step { /* of a warpgroup */
   uint64_t a, b;
   uint32_t pc, thread; /* thread: the first of the warp that came first */
   bool adds;
} step_t;

typedef struct group {
   step_t *steps; /* from first on */
   uint64_t first;
   uint32_t count, room;
   uint32_t actor; /* of its products; PTX_NONE before the first */
   bool ahead;     /* a warp waits until the others have come as far */
} group_t;

typedef struct owner { /* of a register of a warp */
   uint32_t group;     /* to which it belongs; in flight while the number is above the warp's `retired` */
   uint32_t pc;        /* of the product */
   uint32_t written;   /* fences of the warp when it was written last, + 1 */
   uint32_t written_pc;
} owner_t;

typedef struct leading { /* of a matrix descriptor of one instruction, in a launch with clusters */
   uint16_t units, rank; /* of 16 bytes; of the block that came first, + 1 (0: none has) */
   uint32_t thread;
} leading_t;

typedef struct member {         /* of a warpgroup: a warp */
   uint64_t steps;              /* instructions of the warpgroup it has come to */
   uint32_t committed, retired; /* groups */
   uint32_t newest;             /* group that a product was started in; its instruction */
   uint32_t newest_pc;
   uint32_t fences;
   uint32_t newest_written;          /* the largest `written` of all its registers */
   uint32_t registers, registers_pc; /* asked for by setmaxnreg; 0: not */
   uint32_t registers_clock;         /* of the warp's first lane when it asked for more; 0: it did not */
   uint32_t taken, taken_pc;         /* what it asked for when it asked for more last */
   bool took_again, gave; /* it asked for more several times; it gave some back after it had asked for more */
   uint32_t least;        /* of what it had since it first asked; 0: it never asked */
   /* A bit for each warp of the block that had more registers, as this warp knew, before this one gave some back; and before it gave back what it had
    * taken itself. */
   uint32_t gave_after, held_until;
   uint32_t
      held_late; /* the least that it had when it did so, of what it had asked for; 0: what it began with */
   owner_t *owners;
} member_t;

struct machine_warpgroups {
   const machine_program_t *program;
   group_t *groups;
   member_t *members;
   owner_t *owners;
   operand_pieces_t *matrices; /* KEPT_MATRICES of each factor */
   leading_t *leading;         /* by instruction, of a and of b; NULL without clusters */
   uint32_t warps, group_count;
   size_t bytes;
};

static inline member_t *member_of(const machine_warp_t *warp) {
   return &warp->block->warpgroups->members[warp->number];
}

static inline uint32_t line_at(const machine_warp_t *warp, uint32_t pc) {
   return machine_source_line(warp->program, pc);
}

/* A block ends: looks whether the warps from the first one on, so many of them, asked for more registers than the block has. */
void machine_warpgroup_registers_end(machine_block_t *block, uint32_t first, uint32_t warps);

#endif
