/* rkb/ext/kernel.h - a candidate's tokens, manifest, build and launch plan, and the target device.
 * Extension "rkb.kernel/1".
 *
 * A plan is what a candidate means for one case: buffers, fills and launches, fully evaluated.  The
 * checking machine and the GPU worker both execute it.  Its serialised form is in docs/plan-format.md.
 */
#ifndef RKB_EXT_KERNEL_H
#define RKB_EXT_KERNEL_H

#include <rkb/ext/task.h>
#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_KERNEL "rkb.kernel/1"

/* Tokens of a CUDA C++ text.  Line continuations are folded, comments are tokens of their own. ------ */

enum rkb_token_kind {
   RKB_TOKEN_IDENTIFIER = 1, /* keywords too */
   RKB_TOKEN_NUMBER,
   RKB_TOKEN_STRING,         /* with prefix and raw strings */
   RKB_TOKEN_CHARACTER,
   RKB_TOKEN_PUNCTUATION,    /* longest match: "<<=", "->", "::" */
   RKB_TOKEN_DIRECTIVE,      /* a whole preprocessor line from '#', continuations included */
   RKB_TOKEN_COMMENT,
   RKB_TOKEN_UNKNOWN         /* one byte that begins no token */
};

typedef struct rkb_token {
   uint32_t kind;
   uint32_t start;  /* byte offset in the text */
   uint32_t length;
   uint32_t line;   /* from 1 */
   uint32_t column; /* from 1, in bytes */
   uint32_t depth;  /* of braces: 0 at top level; an opening brace and its closing one have the outer depth */
} rkb_token_t;

typedef struct rkb_tokens rkb_tokens_t; /* owned array with its count */

/* Manifest ----------------------------------------------------------------------------------------- */

typedef struct rkb_tune_parameter {
   const char *name;
   int64_t fallback;       /* the default */
   const int64_t *choices; /* ascending not promised; in file order */
   uint32_t choice_count;
   uint32_t line, column;  /* in the .cu */
} rkb_tune_parameter_t;

/* A launch entry as written; every text is an expression list, "" when absent. */
typedef struct rkb_launch_text {
   const char *kernel, *when, *grid, *block, *shared, *cluster, *args;
   bool is_else, cooperative, dependent;
   uint32_t line, column;
} rkb_launch_text_t;

typedef struct rkb_manifest {
   const char *task, *direction;
   bool transform;  /* algorithm: transform */
   const rkb_tune_parameter_t *tune;
   uint32_t tune_count;
   uint32_t launch_count;
   const rkb_launch_text_t *launches;
   uint32_t comment_start, comment_length; /* the manifest comment in the text, bytes */
   const char *const *maps; /* names of its tensor maps */
   uint32_t map_count;
} rkb_manifest_t;

/* Build -------------------------------------------------------------------------------------------- */

/* What a 64-bit parameter is, from its declaration or its use; one that the kernel never uses stays unknown. */
enum rkb_parameter_kind { RKB_PARAMETER_NUMBER = 0, RKB_PARAMETER_POINTER = 1, RKB_PARAMETER_UNKNOWN = 2 };

typedef struct rkb_parameter {
   uint32_t offset, bytes, alignment; /* in the kernel's parameter space */
   uint32_t is_pointer;  /* enum rkb_parameter_kind */
   const char *ptx_type; /* "u64", "f32", "b8" for a struct */
} rkb_parameter_t;

typedef struct rkb_built_kernel {
   const char *expression; /* as the manifest names it: "rmsnorm<256, 4>" */
   const char *entry;      /* name in PTX and cubin */
   uint32_t registers, spill_store_bytes, spill_load_bytes;
   uint32_t shared_bytes;  /* static */
   uint32_t local_bytes;   /* stack frame a thread */
   uint32_t constant_bytes;
   uint32_t max_threads;   /* from launch bounds; 0: not stated */
   uint32_t parameter_count;
   const rkb_parameter_t *parameters;
} rkb_built_kernel_t;

typedef struct rkb_build {
   const char *ptx;          /* NUL-terminated, with line info */
   size_t ptx_bytes;
   const void *cubin;        /* NULL for a debug build */
   size_t cubin_bytes;
   const char *ptx_hash;     /* 64 hex digits of SHA-256 */
   const char *cubin_hash;
   const char *toolkit;      /* "13.0" */
   const char *log;          /* trimmed diagnostics (warnings), or "" */
   uint32_t kernel_count;
   bool debug;               /* the -G build */
   const rkb_built_kernel_t *kernels;
} rkb_build_t;

/* RKB_BUILD_BENCH: PTX alone, of the kernels that the bench cases launch.  A kernel keeps its number; entry is "" of one that was not compiled, and
 * what only the assembler knows of the others (registers, spills, shared and local bytes) is 0.  Compiles in a third of the time and less. */
enum rkb_build_flags { RKB_BUILD_DEBUG = 1u << 0, RKB_BUILD_BENCH = 1u << 1 };

/* Plan --------------------------------------------------------------------------------------------- */

enum rkb_fill_kind { RKB_FILL_NONE = 0, RKB_FILL_VALUE = 1 };

typedef struct rkb_plan_buffer {
   const char *name;
   uint32_t role;       /* enum rkb_role, or 0 for scratch */
   uint32_t dtype;      /* enum rkb_dtype */
   uint32_t tensor;     /* index into the case's tensors; UINT32_MAX for scratch */
   uint32_t alignment;
   uint64_t bytes, elements;
   uint32_t fill;       /* enum rkb_fill_kind; none: outputs poisoned before every run, scratch once before the first */
   uint32_t reserved;
   double fill_value;
} rkb_plan_buffer_t;

typedef struct rkb_plan_argument {
   uint32_t buffer;     /* index into the plan's buffers, or UINT32_MAX for a plain value */
   uint32_t offset;     /* in the parameter space */
   uint32_t bytes;      /* 1, 2, 4 or 8; 128: a tensor map */
   uint32_t map;        /* index + 1 into the plan's tensor maps, and buffer is the map's; 0: none */
   uint64_t value;      /* a pointer's byte offset into its buffer, or the value's bits, little-endian */
} rkb_plan_argument_t;

typedef struct rkb_plan_constant { /* copied into the module before this launch's plan runs, inside the timed region */
   const char *symbol;
   uint32_t buffer;
   uint32_t reserved;
   uint64_t bytes;
} rkb_plan_constant_t;

typedef struct rkb_plan_launch {
   const char *expression;  /* as in the manifest */
   const char *entry;
   uint32_t kernel;         /* index into the build's kernels */
   uint32_t grid[3], block[3], cluster[3]; /* cluster 1,1,1 when not asked for */
   uint32_t dynamic_shared; /* bytes */
   uint32_t cooperative;
   uint32_t line;           /* of the launch in the .cu */
   uint32_t argument_count;
   uint32_t parameter_bytes;
   uint32_t dependent;      /* may begin before the launch in front of it ends (programmatic stream serialization) */
   const rkb_plan_argument_t *arguments;
} rkb_plan_launch_t;

/* A tensor map: what cuTensorMapEncodeTiled, or cuTensorMapEncodeIm2col, takes (CUDA driver API, 'Tensor Map Object Management'), in its own numbers.  Dimension 0 is
 * the one whose elements are consecutive. */
enum rkb_map_type {
   RKB_MAP_U8, RKB_MAP_U16, RKB_MAP_U32, RKB_MAP_I32, RKB_MAP_U64, RKB_MAP_I64, RKB_MAP_F16, RKB_MAP_F32, RKB_MAP_F64,
   RKB_MAP_BF16, RKB_MAP_F32_FTZ, RKB_MAP_TF32, RKB_MAP_TF32_FTZ
};
enum rkb_map_interleave { RKB_MAP_INTERLEAVE_NONE, RKB_MAP_INTERLEAVE_16B, RKB_MAP_INTERLEAVE_32B };
enum rkb_map_swizzle { RKB_MAP_SWIZZLE_NONE, RKB_MAP_SWIZZLE_32B, RKB_MAP_SWIZZLE_64B, RKB_MAP_SWIZZLE_128B };
enum rkb_map_fill { RKB_MAP_FILL_ZERO, RKB_MAP_FILL_NAN };
#define RKB_MAP_BYTES 128     /* of a CUtensorMap, as a kernel's parameter */
#define RKB_MAP_ALIGNMENT 64
#define RKB_MAP_MOST_RANK 5

typedef struct rkb_plan_map {
   const char *name;
   uint32_t buffer;
   uint32_t type, interleave, swizzle, fill; /* enum rkb_map_... */
   uint32_t rank;                            /* 1 to 5 */
   uint64_t offset;                          /* of its first element in the buffer, bytes */
   uint64_t dims[RKB_MAP_MOST_RANK];         /* elements */
   uint64_t strides[RKB_MAP_MOST_RANK - 1];  /* bytes, of dimension 1 on */
   uint32_t box[RKB_MAP_MOST_RANK], element_strides[RKB_MAP_MOST_RANK];
   uint32_t line;                            /* of its description in the .cu */
   uint32_t im2col;                          /* 1: a copy takes pixels, as below, and no box */
   /* Dimension 0 is of channels, the last one of images, and those between of pixels.  The corners of the box of pixels are distances from
    * the first and from the last pixel of an image, dimension 1 first. */
   int32_t lower[RKB_MAP_MOST_RANK - 2], upper[RKB_MAP_MOST_RANK - 2];
   uint32_t channels, pixels;                /* of a copy */
} rkb_plan_map_t;

typedef struct rkb_plan {
   uint32_t version;        /* 1 */
   uint32_t buffer_count, launch_count, constant_count;
   const rkb_plan_buffer_t *buffers; /* the case's tensors first, in their order; then scratch */
   const rkb_plan_launch_t *launches;
   const rkb_plan_constant_t *constants;
   uint32_t map_count, reserved;
   const rkb_plan_map_t *maps;
} rkb_plan_t;

/* A finding against the candidate: data, not a failure of the tool. */
typedef struct rkb_finding {
   char reason[48];   /* verdict vocabulary, "" when there is none */
   char message[448];
   uint32_t line, column; /* in the .cu; 0 when it has no place */
} rkb_finding_t;

/* Device ------------------------------------------------------------------------------------------- */

typedef struct rkb_device {
   const char *name;         /* "h200" */
   const char *title;        /* "NVIDIA H200 SXM 141GB" */
   const char *architecture; /* "sm_90a" */
   int64_t multiprocessors;
   double clock_hz;          /* boost, sustained under load as the profile says */
   double memory_bandwidth, l2_bandwidth, shared_bandwidth; /* bytes/s; shared is per multiprocessor per clock times clock, all of them */
   double l2_bytes, memory_bytes;
   int64_t shared_per_multiprocessor, shared_per_block, shared_per_block_optin, shared_reserved;
   int64_t registers_per_multiprocessor, registers_per_thread, register_unit;
   int64_t threads_per_multiprocessor, threads_per_block, blocks_per_multiprocessor, warp_size;
   int64_t constant_bytes, parameter_bytes;
   int64_t max_grid[3], max_block[3], max_cluster;
   double f32_per_clock, f64_per_clock, f16_per_clock, bf16_per_clock, int32_per_clock, special_per_clock; /* operations a multiprocessor a clock; a fused multiply-add counts as one */
   double tensor_tf32, tensor_bf16, tensor_fp16; /* dense operations/s */
   double memory_latency_s, l2_latency_s, shared_latency_s; /* unloaded */
   double launch_floor_s, graph_launch_s;        /* time of an empty kernel; of each further one in a graph */
   double memory_sustained;                      /* bytes/s that a plain copy reaches, the sum of reads and writes */
   double issue_per_clock;                       /* warp instructions a multiprocessor starts a clock */
   double load_store_per_clock;                  /* lanes of loads and stores a multiprocessor takes a clock */
   double convert_per_clock;                     /* lanes of type conversions */
   double issue_latency_clocks;                  /* between dependent arithmetic instructions of one warp */
   double barrier_clocks;                        /* of a block-wide barrier for which no warp is late */
   double tensor_fp8, tensor_int8;               /* dense operations/s; 0: the tensor cores do not take the type */
   double tensor_mma_share;                      /* the share of these rates that mma.sync reaches */
   double tensor_latency_clocks;                 /* between dependent mma.sync of one warp */
   double l2_copy_bandwidth;                     /* bytes/s that bulk and tensor copies bring from the second-level cache */
   double tensor_group_share;                    /* the share of the tensor rates that warpgroup instructions hold under load */
} rkb_device_t;

/* How much of a multiprocessor a launch fills (CUDA C++ Programming Guide, 'Multiprocessor Level'). */
typedef struct rkb_occupancy {
   uint32_t blocks, warps; /* resident on one multiprocessor */
   double share;           /* of the warps it can hold */
   const char *limited_by; /* "registers", "shared memory", "threads", "blocks"; static text */
} rkb_occupancy_t;

/* What an expression of the manifest decides: two numbers are compared, an integer is divided by another, or a value is 0 or is not. */
typedef struct rkb_plan_decision {
   uint64_t place;   /* of the operator in the manifest: no other one has it */
   uint32_t divides; /* 1: left is divided by right */
   uint32_t
      outcome; /* 1: the comparison holds, min or max takes its second operand, the division leaves a remainder, or the value is not 0 */
   int64_t left, right; /* 0 where a real number is among them */
   /* 1: whether the value of a product, a quotient, min or max is 0.  Most such values are never 0. */
   uint32_t is_value, reserved;
   double distance; /* from the other outcome: 0 is the border, or next to it */
} rkb_plan_decision_t;

/* What a manifest decides at many shapes. */
typedef struct rkb_plan_survey rkb_plan_survey_t;

/* Interface ---------------------------------------------------------------------------------------- */

typedef struct rkb_kernel_api {
   uint32_t size;
   uint32_t reserved;

   const rkb_device_t *(*device)(const rkb_host_t *host); /* the pipeline's target; until destroy [any] */

   /* Splits a text; never fails but for memory.  Release with tokens_free.  [any] */
   rkb_tokens_t *(*tokens)(const char *text, size_t bytes);
   const rkb_token_t *(*tokens_at)(const rkb_tokens_t *tokens, uint32_t *count);
   void (*tokens_free)(rkb_tokens_t *tokens);

   /* The manifest of a text.  RKB_OK with *manifest NULL: finding has the error.  [worker] */
   int (*manifest)(const rkb_host_t *host, const char *source, rkb_manifest_t **manifest, rkb_finding_t *finding,
                   rkb_error_t *err);
   void (*manifest_free)(rkb_manifest_t *manifest);

   /* The build of a candidate, from the cache or by compiling; the plain one exists already when a stage with
    * RKB_STAGE_NEEDS_BUILD runs.  RKB_OK with *build NULL means finding says why it does not build.  Release with
    * build_free.  [worker] */
   int (*build)(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *candidate, uint32_t flags, rkb_build_t **build,
                rkb_finding_t *finding, rkb_error_t *err);
   void (*build_free)(rkb_build_t *build);

   /* The plan of a candidate for a case.  RKB_OK with *plan NULL means finding says why there is none.  [worker] */
   int (*plan)(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *candidate, const rkb_build_t *build,
               const rkb_case_t *the_case, rkb_plan_t **plan, rkb_finding_t *finding, rkb_error_t *err);
   void (*plan_free)(rkb_plan_t *plan);

   /* threads a block; dynamic_shared in bytes.  blocks 0: the launch does not fit the device.  [any] */
   rkb_occupancy_t (*occupancy)(const rkb_device_t *device, const rkb_built_kernel_t *kernel, uint32_t threads,
                                uint32_t dynamic_shared);

   /* Passes bytes about a candidate from one stage to a later one, for example the machine's counts to the speed model.  They are
    * kept with the candidate while it is in flight.  note_get returns a pointer into them; NULL when absent.  [worker] */
   int (*note_set)(const rkb_host_t *host, rkb_job_t job, const char *key, const void *data, size_t bytes);
   const void *(*note_get)(const rkb_host_t *host, rkb_job_t job, const char *key, size_t *bytes);

   /* As plan, with the launches of another plan of the candidate, whose `when` need not hold for the case: what comes of
    * running it says nothing against the candidate.  No plan where the manifest has two of the launches on one line.  [worker] */
   int (*plan_borrowed)(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *candidate, const rkb_build_t *build,
                        const rkb_case_t *the_case, const rkb_plan_t *lender, rkb_plan_t **plan, rkb_finding_t *finding,
                        rkb_error_t *err);

   /* Tells what the manifest's expressions decide for a case, in the order of their evaluation; whether there is a plan does not matter.  [worker] */
   int (*plan_decisions)(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *candidate,
                         const rkb_build_t *build, const rkb_case_t *the_case,
                         void (*take)(void *argument, const rkb_plan_decision_t *decision), void *argument,
                         rkb_error_t *err);

   /* The same for many shapes with the attributes of one, some thousand times as fast: no plan is made, so all expressions of the launches that
    * run are evaluated, those of tensor maps too; but those whose names have the values that they had when they were evaluated last tell nothing again.
    * *survey NULL: the manifest cannot be read.  The case outlives the survey.  survey_at is false where the
    * shape is not in the domain.  [worker] */
   int (*survey_open)(const rkb_host_t *host, const rkb_item_t *candidate, const rkb_case_t *like,
                      rkb_plan_survey_t **survey, rkb_error_t *err);
   bool (*survey_at)(rkb_plan_survey_t *survey, const int64_t *dims,
                     void (*take)(void *argument, const rkb_plan_decision_t *decision), void *argument);
   void (*survey_free)(rkb_plan_survey_t *survey);
} rkb_kernel_api_t;

#ifdef __cplusplus
}
#endif
#endif
