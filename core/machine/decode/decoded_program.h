/* A kernel decoded for execution: instructions with handlers, a register file layout, memory layouts, block order.
 * Made once per kernel by machine_program_make; immutable afterwards. */
#ifndef RKB_MACHINE_DECODE_DECODED_PROGRAM_H
#define RKB_MACHINE_DECODE_DECODED_PROGRAM_H

#include "machine/machine.h"
#include "machine/decode/tensor_form.h"
#include "machine/decode/warpgroup_form.h"
#include "machine/ptx/module.h"

#define LANES 32
#define FULL_MASK 0xffffffffu

struct machine_warp;
typedef struct machine_instruction machine_instruction_t;
typedef void (*machine_handler_t)(struct machine_warp *warp, const machine_instruction_t *instruction,
                                  uint32_t mask);

/* The work of the dispatcher in addition to the handler's call. */
enum machine_kind {
   MACHINE_VALUE,  /* d = f(a, b, c), lane by lane: the dispatcher carries definedness, taint and shadow */
   MACHINE_CUSTOM, /* the handler carries them */
   MACHINE_BRANCH,
   MACHINE_BRANCH_INDEX,
   MACHINE_CALL,
   MACHINE_RETURN,
   MACHINE_EXIT,
   MACHINE_TRAP,
   MACHINE_BARRIER,
   MACHINE_WAIT, /* at an mbarrier, or for others of a cluster or a warpgroup */
   MACHINE_NOTHING
};

enum machine_rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY };
enum machine_flags {
   FLAG_FTZ = 1u << 0,
   FLAG_SAT = 1u << 1,
   FLAG_VOLATILE = 1u << 2,
   FLAG_ACQUIRE = 1u << 3,
   FLAG_RELEASE = 1u << 4,
   /* adds a constant so large that the sum is a rounded integer */
   FLAG_RELAXED = 1u << 5,
   FLAG_ROUNDING_TRICK = 1u << 6,
   FLAG_NAN = 1u << 7,
   FLAG_CLUSTER = 1u << 7, /* of a memory operation: shared::cluster, which names other blocks' memory too */
   FLAG_ALIGNED = 1u << 8,
   FLAG_NEGATED_C = 1u << 10,
   FLAG_ABS = 1u << 11,
   FLAG_SECOND = 1u << 12,      /* writes a second destination */
   FLAG_BLOCK = 1u << 12,       /* of a fence, or an access with a scope: for the block alone */
   FLAG_READS = 1u << 12,       /* of a wait for groups of bulk copies: for what they read alone */
   FLAG_MULTICAST = 1u << 12,   /* of a bulk copy: the last extra says to which blocks of the cluster */
   FLAG_FROM_DOUBLE = 1u << 13, /* cvt from f64 */
   FLAG_TOUCHES = 1u << 14,     /* names registers of products in flight: machine_touch_t */
   FLAG_READ_ONLY = 1u << 15    /* ld.global.nc: memory that the launch does not write */
};

/* How much of its source cp.async reads: all, so many bytes, nothing where a predicate holds. */
enum machine_copy_part { COPY_WHOLE, COPY_PART, COPY_UNLESS };

enum machine_bulk_operation { BULK_LOAD, BULK_STORE, BULK_REDUCE, BULK_TO_PEER };

enum machine_barrier_operation { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_COUNT, BARRIER_AND, BARRIER_OR };

enum machine_atomic {
   ATOMIC_ADD,
   ATOMIC_MIN,
   ATOMIC_MAX,
   ATOMIC_INC,
   ATOMIC_DEC,
   ATOMIC_AND,
   ATOMIC_OR,
   ATOMIC_XOR,
   ATOMIC_EXCH,
   ATOMIC_CAS
};

struct machine_instruction {
   machine_handler_t run, shadow;
   uint32_t d, a, b, c;     /* byte offsets into the register file */
   uint16_t di, ai, bi, ci; /* register numbers, for definedness and taint */
   uint16_t guard;          /* register number; 0: none */
   bool guard_negated;
   bool block_start; /* whether it is the first of its basic block */
   /* operation: what the opcode's modifiers select (comparison, atomic, shuffle mode, ...) */
   uint8_t kind, operation;
   uint8_t type, source_type, space, element_bytes, elements, rounding, class, address_bytes;
   uint16_t flags;
   uint32_t extra; /* the first of its extra register operands, of which there are extra_count */
   uint16_t extra_count;
   /* MACHINE_VALUE of at most three registers, without a guard, and no register of products in flight */
   bool plain;
   uint32_t target; /* branch, call: instruction */
   uint32_t rank;   /* of its basic block, in execution order */
   uint32_t block;  /* basic block */
   int64_t immediate;
   uint32_t statement; /* in its function */
   uint16_t function;
   uint8_t
      burden; /* what a lane of it costs beyond one thread-instruction (decode/slow_instructions.c) */
};

typedef struct machine_slot {
   uint32_t offset; /* into the register file */
   uint16_t number;
   uint8_t bytes; /* 4 or 8; 0 for predicates (a 32-bit mask) */
   bool negated;  /* of a predicate operand */
} machine_slot_t;

/* The access of an instruction to a register to which some wgmma.mma_async adds, or from which it reads a. */
enum machine_touch_kind {
   TOUCH_READ,
   TOUCH_WRITTEN,
   TOUCH_CLEARED /* sets it to a constant */,
   TOUCH_COPIED /* copies it from another */
};
typedef struct machine_touch {
   uint16_t number, from, how;
} machine_touch_t;

typedef struct machine_register_info {
   uint32_t offset;
   uint8_t type;  /* enum ptx_type */
   uint8_t bytes; /* 4, 8, or 0: a predicate */
   bool constant;
   uint32_t special;    /* enum ptx_special, or PTX_NONE */
   uint64_t bits;       /* constants */
   bool shared_address; /* a constant that is the address of a shared variable */
   const char *name;
} machine_register_info_t;

typedef struct machine_block_info {
   uint32_t first, count, rank;
   /* Of the header of a loop in which lanes of a warp take part together in an instruction (a shuffle): 1 + the highest rank in the loop, else 0. */
   uint32_t round;
   uint32_t burden; /* of its instructions */
   /* Of a program with pieces (pieces.c): it begins with an operation that other threads may come before; lanes of a warp take part together in one of
    * its instructions. */
   bool interrupts, together;
   bool goes_on; /* is divided from the block before only because of `interrupts` or `together` */
   bool passing; /* nothing but unconditional branches and returns, so that going through it has no effect */
   uint32_t class_count[RKB_CLASS_COUNT];
} machine_block_info_t;

typedef struct machine_shared_variable {
   const char *name;
   uint32_t offset, bytes;
   uint32_t gap_end; /* bytes between its end and this belong to no variable; shared_layout.c */
} machine_shared_variable_t;

/* The number of the register that takes results which nobody reads. */
#define NOWHERE_REGISTER 1u

typedef struct machine_program {
   const ptx_module_t *module;
   const ptx_function_t *entry;
   const char *name;
   machine_instruction_t *code;
   uint32_t count;
   machine_slot_t *extras;
   uint32_t extra_count;
   machine_tensor_t *tensors; /* forms of its matrix instructions */
   uint32_t tensor_count;
   machine_warpgroup_form_t *warpgroup_forms; /* forms of its wgmma.mma_async */
   uint32_t warpgroup_form_count;
   machine_touch_t *touches;
   uint32_t touch_count;
   uint32_t products_first,
      products_end; /* all registers that its wgmma.mma_async name, and copies of them, have numbers from first to end - 1 */
   uint32_t *
      /* By instruction with FLAG_TOUCHES: its first touch; at count + instruction: the end of its touches. */
      touch_first;
   /* Register 0 is always zero and defined; register 1 is written and never read. */
   machine_register_info_t *registers;
   uint32_t register_count;
   uint16_t *constants; /* numbers of registers that no instruction writes; specials come first */
   uint32_t constant_count, special_count;
   uint32_t file_bytes; /* of one warp's registers */
   machine_block_info_t *blocks;
   uint32_t block_count;
   uint32_t *branch_targets; /* of brx.idx: instructions */
   uint32_t *call_arguments; /* triples (from, to, bytes) of frame offsets, see MACHINE_CALL */
   uint32_t call_argument_count;
   uint32_t frame_bytes;              /* local memory of one thread */
   machine_shared_variable_t *shared; /* static ones, ascending */
   uint32_t shared_count;
   uint32_t shared_first; /* bytes before the first variable, which belong to the system */
   uint32_t shared_bytes; /* of the static ones, with the gaps between them and what is before them */
   uint32_t dynamic_shared_offset;
   uint32_t shared_gap; /* bytes after each static variable that is followed by another one */
   uint32_t parameter_bytes;
   bool waits; /* whether a loop may wait for what another block writes: polling_loops.c */
   bool warp_sync, named_barriers, atomics, fences, clocks;
   bool generic_fences;   /* fences of the generic proxy, those for the block alone too */
   bool relaxed_arrivals; /* at mbarriers or a cluster's barrier */
   bool
      /* Whether it has volatile, relaxed, acquiring or releasing accesses: threads may see each other
       * without a barrier. */
      strong;
   bool spins;           /* likewise of a thread of the block; only known of programs with pieces */
   bool pieces;          /* it reads memory and writes it in several operations: pieces.c */
   bool signals;         /* atomic operations, or relaxed accesses, that may be of shared memory */
   bool volatile_shared; /* lanes of a warp may rely on executing in lockstep */
   bool copies;          /* whether it has asynchronous copies */
   bool warpgroups;      /* whether it has wgmma or setmaxnreg */
   uint32_t most_asked;  /* the largest count of setmaxnreg.inc */
   bool
      /* Whether it has mbarriers, or operations of the async proxy: threads synchronise one by one
       * (clocks/vector_clocks.h). */
      asynchronous,
      /* fence.proxy.async for global memory: alone or with all other memory */
      global_proxy_fence,
      /* one for shared memory alone, and one for global memory alone */
      shared_proxy_fence, only_global_proxy_fence;
   bool arrivals_seen;    /* whether it may see in which order threads reach an mbarrier: seen_arrivals.c */
   bool cluster_barriers; /* threads synchronise one by one at those too */
   /* Whether some of those move less than 16 bytes at a time, or not at multiples of 16. */
   bool small_operations;
   /* Whether some access takes less of shared memory than 16 bytes at a multiple of 16. */
   bool narrow_shared;
   bool placed; /* whether it reads on which processor it runs, or which lanes are active */
   /* The bytes that one record of races covers: the narrowest access. */
   uint32_t shared_granule, global_granule;
   /* Set when the kernel cannot be executed. */
   char unsupported[96]; /* opcode or feature; "" when it can */
   uint32_t unsupported_line;
   bool failed; /* memory ran out */
} machine_program_t;

/* The lookup table that opcodes.def makes, in lanes/opcodes.c: one for each instruction set of the host. */
typedef struct machine_opcode {
   const char *key;       /* "add.s32", modifiers without meaning removed */
   const char *signature; /* kinds of d, a, b, c: see decode_table.c */
   machine_handler_t run, shadow;
   uint8_t kind, class, operation, type;
} machine_opcode_t;
typedef const machine_opcode_t *machine_opcodes_t(uint32_t *count);

/* opcodes: whose handlers the program gets.  The module's variables must have their addresses. */
machine_program_t *machine_program_make(const ptx_module_t *module, uint32_t function,
                                        const uint64_t *variable_address, machine_opcodes_t *opcodes);
/* Decodes a kernel and the functions that it calls, only to find what the machine lacks.  It calls `missing` once for each statement that the
 * machine cannot execute, with the name of the opcode or feature.  False when memory ran out. */
typedef void machine_missing_t(void *argument, const char *kernel, const char *what, uint32_t line);
bool machine_program_survey(const ptx_module_t *module, uint32_t function, const uint64_t *variable_address,
                            machine_opcodes_t *opcodes, machine_missing_t *missing, void *argument);
/* Decodes the only function of a module, and also what follows a statement that cannot be decoded; that one counts as missing, and must not be
 * executed.  NULL when memory ran out. */
machine_program_t *machine_program_lone(const ptx_module_t *module, const uint64_t *variable_address,
                                        machine_opcodes_t *opcodes, machine_missing_t *missing,
                                        void *argument);
void machine_program_free(machine_program_t *program);

/* programs.c: the same, decoded once for all machines on a module, which owns it.  NULL when memory ran out.
 * Any thread. */
const machine_program_t *machine_program_take(const ptx_module_t *module, uint32_t function,
                                              const uint64_t *variable_address, machine_opcodes_t *opcodes);

/* store_programs.c: the part of a program that decides where the program stores.  NULL: this depends on memory, or memory ran out. */
machine_program_t *machine_store_program_make(const machine_program_t *program);
void machine_store_program_free(machine_program_t *program);
/* programs.c: the same part of a program that the module owns; it is made once.  Any thread. */
const machine_program_t *machine_program_stores(const ptx_module_t *module, const machine_program_t *program);

/* shared_layout.c: whether bytes of shared memory touch what lies between two variables, and the variable nearest to them. */
static inline bool machine_touches_gap(const machine_program_t *program, uint64_t offset, uint32_t bytes) {
   if (offset < program->shared_first)
      return true;
   for (uint32_t n = 0; n < program->shared_count; n++) {
      const machine_shared_variable_t *variable = &program->shared[n];
      if (offset < variable->gap_end && offset + bytes > (uint64_t)variable->offset + variable->bytes)
         return true;
   }
   return false;
}
const machine_shared_variable_t *machine_nearest_shared(const machine_program_t *program, uint64_t offset);
/* Bytes of a block's shared memory without the gaps between its variables and what the system keeps. */
uint64_t machine_shared_without_gaps(const machine_program_t *program, uint64_t bytes);

/* control_flow.c: basic blocks and the order in which divergent lanes wait for each other. */
bool machine_control_flow(machine_program_t *program);
/* Returns the k-th block that may follow a block of the same function; PTX_NONE from the last on.  A call
 * goes on behind it. */
uint32_t machine_successor(const machine_program_t *program, uint32_t block, uint32_t k);

/* pieces.c: sets program->pieces, and where basic blocks begin for it; once there are basic blocks, what they are.  False when memory ran out. */
void machine_divide_pieces(machine_program_t *program);
bool machine_mark_pieces(machine_program_t *program);

/* register_places.c: once basic blocks are known, gives registers that are never live at the same time one
 * place.  False when memory ran out. */
bool machine_place_registers(machine_program_t *program);

/* How many kinds of fences of the async proxy have to be told apart; 0: the program has nothing of that proxy. */
static inline uint32_t machine_proxy_fences(const machine_program_t *program) {
   const bool differ =
      program->only_global_proxy_fence || (program->shared_proxy_fence && program->global_proxy_fence);
   return program->asynchronous ? 1 + differ : 0;
}

/* Whether relaxed operations may release what a fence of the generic proxy covers: on words of shared memory, at mbarriers and at a cluster's barrier. */
static inline bool machine_generic_fences(const machine_program_t *program) {
   return program->generic_fences && (program->signals || program->relaxed_arrivals);
}

/* polling_loops.c: sets program->waits.  False when memory ran out. */
bool machine_find_waits(machine_program_t *program);

/* signal_loads.c: makes volatile loads of shared memory that wait for a signal relaxed ones.  False when memory ran out. */
bool machine_find_signal_loads(machine_program_t *program);

/* seen_arrivals.c: sets program->arrivals_seen.  False when memory ran out. */
bool machine_find_seen_arrivals(machine_program_t *program);

#endif
