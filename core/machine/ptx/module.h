/* A PTX module as data: what the reader made of the text, before any instruction is given a meaning.
 *
 * Owned by rkb_machine_module_t; every pointer lives as long as the module.  Immutable after reading, so any number of
 * threads may execute one module.  Inside this library names begin with machine_ or ptx_: nothing here is visible
 * outside the plugin but the functions of machine.h.
 */
#ifndef RKB_MACHINE_PTX_MODULE_H
#define RKB_MACHINE_PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_NONE UINT32_MAX

enum ptx_space { PTX_REGISTER = 1, PTX_PARAM, PTX_GLOBAL, PTX_SHARED, PTX_CONST, PTX_LOCAL, PTX_GENERIC };

/* Fundamental types, PTX ISA 9.0, 5.2.1; packed halves are 32-bit types of their own. */
enum ptx_type {
   PTX_NO_TYPE,
   PTX_B8,
   PTX_U8,
   PTX_S8,
   PTX_B16,
   PTX_U16,
   PTX_S16,
   PTX_F16,
   PTX_BF16,
   PTX_B32,
   PTX_U32,
   PTX_S32,
   PTX_F32,
   PTX_F16X2,
   PTX_BF16X2,
   PTX_B64,
   PTX_U64,
   PTX_S64,
   PTX_F64,
   PTX_B128,
   PTX_PRED
};

/* The place of a symbol's address in an initialiser. */
typedef struct ptx_relocation {
   uint32_t offset;   /* where in the variable, in bytes */
   uint32_t variable; /* index into the module's variables */
   int64_t addend;
   bool generic; /* generic(symbol): a generic address */
} ptx_relocation_t;

typedef struct ptx_variable {
   const char *name;
   uint32_t space; /* enum ptx_space: global, shared, const, local or param */
   uint32_t type;
   uint32_t alignment;
   uint64_t bytes; /* 0: an extern array, whose size the launch sets */
   /* in its space: the shared window, a constant bank, a thread's frame, the parameter space */
   uint64_t offset;
   uint32_t function; /* the function that owns it, or PTX_NONE at module scope */
   bool external;
   bool named;       /* in an instruction or an initialiser: no kernel can have the address of another one */
   uint8_t *initial; /* as long as the variable, or NULL for zeros */
   ptx_relocation_t *relocations;
   uint32_t relocation_count;
} ptx_variable_t;

typedef struct ptx_register {
   const char *name; /* "%f12" */
   uint32_t type;
} ptx_register_t;

enum ptx_operand_kind {
   PTX_OPERAND_REGISTER = 1,
   PTX_OPERAND_SPECIAL, /* %tid.x ...; value holds enum ptx_special */
   PTX_OPERAND_INTEGER,
   PTX_OPERAND_FLOAT32,  /* 0f...: the bits */
   PTX_OPERAND_FLOAT64,  /* 0d... or a decimal number */
   PTX_OPERAND_SYMBOL,   /* variable + value */
   PTX_OPERAND_LABEL,    /* index into the function's labels */
   PTX_OPERAND_FUNCTION, /* index into the module's functions */
   PTX_OPERAND_LIST,     /* { a, b, ... }: count operands from first */
   PTX_OPERAND_ADDRESS, /* [base + value]; base is the operand at first; count 2: [base + value, {...}], the list after it */
   PTX_OPERAND_SINK /* _ */
};

typedef struct ptx_operand {
   uint8_t kind;
   bool negated;   /* !%p */
   bool paired;    /* the operand before this one was joined by '|' */
   uint32_t index; /* register, variable, label or function */
   uint32_t first, count;
   uint64_t value;
} ptx_operand_t;

typedef struct ptx_place {
   uint32_t ptx_line;
   uint32_t file, line;             /* from .loc; 0 when unknown */
   uint32_t outer_file, outer_line; /* inlined_at, when given */
} ptx_place_t;

typedef struct ptx_statement {
   const char *opcode; /* "ld.global.nc.v4.f32", whole */
   uint32_t guard;     /* register, or PTX_NONE */
   bool guard_negated;
   uint32_t operand, operand_count; /* into the function's operands */
   ptx_place_t place;
} ptx_statement_t;

typedef struct ptx_label {
   const char *name;
   uint32_t statement;            /* the statement after it; PTX_NONE while undefined */
   uint32_t target, target_count; /* .branchtargets: operands (labels) in the function's operands */
} ptx_label_t;

typedef struct ptx_function {
   const char *name;
   bool entry, defined;
   uint32_t *parameters, parameter_count; /* variables */
   uint32_t *results, result_count;
   uint32_t parameter_bytes;
   uint32_t max_threads, required_block[3]; /* .maxntid (product), .reqntid; 0 when not stated */
   uint32_t required_cluster[3];            /* .reqnctapercluster; 0 when not stated */
   uint32_t most_registers;                 /* .maxnreg; 0 when not stated */
   uint32_t least_blocks;                   /* .minnctapersm; 0 when not stated */
   ptx_register_t *registers;
   uint32_t register_count;
   ptx_operand_t *operands;
   uint32_t operand_count;
   ptx_statement_t *statements;
   uint32_t statement_count;
   ptx_label_t *labels;
   uint32_t label_count;
} ptx_function_t;

typedef struct ptx_file {
   uint32_t number;
   const char *path;
} ptx_file_t;

#define PTX_MESSAGE 256

typedef struct machine_programs machine_programs_t; /* decode/programs.c */

typedef struct rkb_machine_module {
   struct ptx_arena *arena;
   machine_programs_t *programs; /* its kernels, once they are decoded */
   ptx_function_t *functions;
   uint32_t function_count;
   ptx_variable_t *variables;
   uint32_t variable_count;
   ptx_file_t *files;
   uint32_t file_count;
   char target[32];
   bool grid_workspace; /* some kernel asks for the address of its grid's workspace */
   uint32_t error_line; /* 0: the whole text was read */
   char error[PTX_MESSAGE];
   bool function_pointers; /* what could not be read is the address of a function */
} ptx_module_t;

/* Special registers the machine knows (PTX ISA 9.0, chapter 10). */
#define PTX_SPECIALS(X)                                                                                      \
   X(TID_X, "%tid.x")                                                                                        \
   X(TID_Y, "%tid.y")                                                                                        \
   X(TID_Z, "%tid.z")                                                                                        \
   X(NTID_X, "%ntid.x")                                                                                      \
   X(NTID_Y, "%ntid.y")                                                                                      \
   X(NTID_Z, "%ntid.z")                                                                                      \
   X(CTAID_X, "%ctaid.x")                                                                                    \
   X(CTAID_Y, "%ctaid.y") X(CTAID_Z, "%ctaid.z") X(NCTAID_X, "%nctaid.x") X(NCTAID_Y, "%nctaid.y")           \
      X(NCTAID_Z, "%nctaid.z") X(LANEID, "%laneid") X(WARPID, "%warpid") X(NWARPID, "%nwarpid")              \
         X(SMID, "%smid") X(NSMID, "%nsmid") X(GRIDID, "%gridid") X(LANEMASK_EQ, "%lanemask_eq")             \
            X(LANEMASK_LE, "%lanemask_le") X(LANEMASK_LT, "%lanemask_lt") X(LANEMASK_GE, "%lanemask_ge")     \
               X(LANEMASK_GT, "%lanemask_gt") X(CLOCK, "%clock") X(CLOCK_HI, "%clock_hi")                    \
                  X(CLOCK64, "%clock64") X(GLOBALTIMER, "%globaltimer") X(GLOBALTIMER_LO, "%globaltimer_lo") \
                     X(GLOBALTIMER_HI, "%globaltimer_hi") X(DYNAMIC_SHARED, "%dynamic_smem_size")            \
                        X(TOTAL_SHARED, "%total_smem_size") X(CLUSTER_BLOCK_X, "%cluster_ctaid.x")           \
                           X(CLUSTER_BLOCK_Y, "%cluster_ctaid.y") X(CLUSTER_BLOCK_Z, "%cluster_ctaid.z")     \
                              X(CLUSTER_BLOCKS_X, "%cluster_nctaid.x")                                       \
                                 X(CLUSTER_BLOCKS_Y, "%cluster_nctaid.y")                                    \
                                    X(CLUSTER_BLOCKS_Z, "%cluster_nctaid.z") X(CLUSTER_X, "%clusterid.x")    \
                                       X(CLUSTER_Y, "%clusterid.y") X(CLUSTER_Z, "%clusterid.z")             \
                                          X(CLUSTERS_X, "%nclusterid.x") X(CLUSTERS_Y, "%nclusterid.y")      \
                                             X(CLUSTERS_Z, "%nclusterid.z")                                  \
                                                X(CLUSTER_RANK, "%cluster_ctarank")                          \
                                                   X(CLUSTER_SIZE, "%cluster_nctarank")                      \
                                                      X(CLUSTER_EXPLICIT, "%is_explicit_cluster")             \
                                                         X(WORKSPACE_HIGH, "%envreg1") X(WORKSPACE_LOW, "%envreg2")

enum ptx_special {
#define PTX_X(name, text) PTX_SPECIAL_##name,
   PTX_SPECIALS(PTX_X)
#undef PTX_X
      PTX_SPECIAL_COUNT
};

/* ptx_reader.c: reads any text; where it cannot, the module holds a message and a line.  NULL when memory ran out.  Free it with
 * ptx_module_free. */
ptx_module_t *ptx_module_read(const char *text, size_t bytes);
void ptx_module_free(ptx_module_t *module);

/* What each type is, by its number. */
struct ptx_type_facts {
   const char *name;
   uint8_t bytes; /* 0 for predicates */
   bool is_float, is_signed;
};
extern const struct ptx_type_facts ptx_types[];

uint32_t ptx_type_named(const char *text, size_t length); /* "f32"; PTX_NO_TYPE when unknown */

static inline uint32_t ptx_type_bytes(uint32_t type) {
   return ptx_types[type].bytes;
}

static inline bool ptx_type_is_float(uint32_t type) {
   return ptx_types[type].is_float;
}

static inline bool ptx_type_is_signed(uint32_t type) {
   return ptx_types[type].is_signed;
}

static inline const char *ptx_type_name(uint32_t type) {
   return ptx_types[type].name;
}

#endif
