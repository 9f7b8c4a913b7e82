/* What plain_interpreter_decode.c and plain_interpreter.c share: an instruction in the interpreter's own form, and the state of the
 * launch that it executes.  plain_interpreter_decode.c opens and closes the state, plain_interpreter.c executes it.  One thread. */
#ifndef RKB_BENCH_PLAIN_INTERPRETER_STATE_H
#define RKB_BENCH_PLAIN_INTERPRETER_STATE_H

#include "machine/ptx/module.h"
#include "bench/plain_interpreter.h"

enum { MOST_OPERANDS = 6, SEVERAL_READERS = 0xfff, REGION_BITS = 36, WARP = 32 };

#define INSTRUCTIONS(X)                                                                                      \
   X(LD_PARAM_U64, "ld.param.u64")                                                                           \
   X(LD_PARAM_U32, "ld.param.u32")                                                                           \
   X(LD_PARAM_F32, "ld.param.f32")                                                                           \
   X(LD_GLOBAL, "ld.global.f32")                                                                             \
   X(LD_SHARED, "ld.shared.f32")                                                                             \
   X(ST_GLOBAL, "st.global.f32")                                                                             \
   X(ST_SHARED, "st.shared.f32")                                                                             \
   X(MOV_B32, "mov.b32")                                                                                     \
   X(MOV_U32, "mov.u32")                                                                                     \
   X(MOV_F32, "mov.f32")                                                                                     \
   X(CVTA, "cvta.to.global.u64")                                                                             \
   X(ADD_F32, "add.f32")                                                                                     \
   X(SUB_F32, "sub.f32")                                                                                     \
   X(MUL_F32, "mul.f32")                                                                                     \
   X(DIV_F32, "div.rn.f32")                                                                                  \
   X(FMA_F32, "fma.rn.f32")                                                                                  \
   X(RSQRT_F32, "rsqrt.approx.f32")                                                                          \
   X(ADD_S32, "add.s32")                                                                                     \
   X(ADD_S64, "add.s64")                                                                                     \
   X(MAD_S32, "mad.lo.s32")                                                                                  \
   X(MUL_S64, "mul.lo.s64")                                                                                  \
   X(MUL_WIDE, "mul.wide.s32")                                                                               \
   X(SHL_B32, "shl.b32")                                                                                     \
   X(SHL_B64, "shl.b64")                                                                                     \
   X(SHR_S32, "shr.s32")                                                                                     \
   X(SHR_U32, "shr.u32")                                                                                     \
   X(AND_B32, "and.b32")                                                                                     \
   X(OR_PRED, "or.pred")                                                                                     \
   X(SETP_GE_S32, "setp.ge.s32")                                                                             \
   X(SETP_GE_U32, "setp.ge.u32")                                                                             \
   X(SETP_LT_S32, "setp.lt.s32")                                                                             \
   X(SETP_NE_S32, "setp.ne.s32")                                                                             \
   X(CVT_S64_S32, "cvt.s64.s32")                                                                             \
   X(CVT_U64_U32, "cvt.u64.u32")                                                                             \
   X(CVT_F32_S32, "cvt.rn.f32.s32")                                                                          \
   X(SHFL_DOWN, "shfl.sync.down.b32")                                                                        \
   X(BAR, "bar.sync")                                                                                        \
   X(BRA, "bra")                                                                                             \
   X(BRA_UNI, "bra.uni")                                                                                     \
   X(RET, "ret")

enum opcode {
#define X(name, text) name,
   INSTRUCTIONS(X)
#undef X
      OPCODE_COUNT
};

typedef struct instruction {
   uint32_t opcode, target;
   int32_t guard; /* a slot, or -1 */
   bool negated;
   uint32_t slot[MOST_OPERANDS];
   int64_t offset; /* added to an address */
} instruction_t;

enum thread_state { READY, AT_BARRIER, AT_SHUFFLE, DONE };

typedef struct thread {
   uint64_t *slots;
   uint8_t *defined; /* by slot */
   uint32_t pc, number;
   enum thread_state state;
} thread_t;

typedef struct buffer {
   uint8_t *data, *defined;
   uint64_t base, bytes;
   bool read_only;
   uint64_t *writers, *readers; /* by word: block + 1 << 32 | time << 12 | thread + 1 */
} buffer_t;

struct plain_interpreter {
   const harness_t *harness;
   const ptx_function_t *function;
   instruction_t *code;
   uint32_t slot_count;
   uint64_t *constants; /* by slot: bits */
   uint8_t *kinds;      /* by slot: 0 register, 1 constant, 2 special */
   buffer_t buffers[HARNESS_MOST];
   uint64_t parameters[HARNESS_MOST];
   thread_t *threads;
   uint32_t thread_count;
   uint8_t *shared, *shared_defined;
   uint32_t *shared_records; /* by word: epoch << 24 | writer << 12 | reader, threads + 1 */
   uint32_t shared_bytes, epoch, time;
   uint64_t block;
   const char *found;
};

#endif
