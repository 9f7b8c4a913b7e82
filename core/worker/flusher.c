/* Emptying the second-level cache by reading.  Why it reads: a flush that writes leaves dirty lines behind, whose eviction
 * the candidate would pay for. */
#include "flusher.h"
#include <stddef.h>

/* Reads n 16-byte vectors with a grid-stride loop and keeps their exclusive or alive by a store that never happens in
 * practice (memory is zero, so the result is 0, not -1).  PTX, so that the driver builds it for whatever device is there. */
static const char read_ptx[] =
   ".version 7.0\n.target sm_70\n.address_size 64\n"
   ".visible .entry rkb_read(.param .u64 p_from, .param .u64 p_count)\n{\n"
   " .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<9>;\n"
   " ld.param.u64 %d1, [p_from]; ld.param.u64 %d2, [p_count]; cvta.to.global.u64 %d1, %d1;\n"
   " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x; mov.u32 %r9, 0;\n"
   " mul.wide.u32 %d3, %r1, %r2; cvt.u64.u32 %d4, %r3; add.u64 %d3, %d3, %d4; mul.wide.u32 %d5, %r4, %r2;\n"
   "again:\n setp.ge.u64 %p1, %d3, %d2; @%p1 bra done;\n shl.b64 %d6, %d3, 4; add.u64 %d6, %d1, %d6;\n"
   " ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d6];\n xor.b32 %r9, %r9, %r5; xor.b32 %r9, %r9, %r6; xor.b32 %r9, %r9, %r7; xor.b32 %r9, %r9, %r8;\n"
   " add.u64 %d3, %d3, %d5; bra again;\n"
   "done:\n setp.ne.u32 %p2, %r9, -1; @%p2 bra end; st.global.u32 [%d1], %r9;\nend:\n ret;\n}\n";

#define FLUSH_BLOCKS 1024
#define FLUSH_THREADS 512

CUresult rkb_flusher_open(const rkb_driver_t *d, rkb_flusher_t *f) {
   *f = (rkb_flusher_t){.bytes = d->l2_bytes * 5 / 2 / 16 * 16};
   CUresult status = d->cuModuleLoadData(&f->module, read_ptx);
   if (status == CUDA_SUCCESS)
      status = d->cuModuleGetFunction(&f->read, f->module, "rkb_read");
   if (status == CUDA_SUCCESS)
      status = d->cuMemAlloc(&f->memory, f->bytes ? f->bytes : 16);
   if (status == CUDA_SUCCESS)
      status = d->cuMemsetD8Async(f->memory, 0, f->bytes ? f->bytes : 16, d->stream);
   if (status == CUDA_SUCCESS)
      status = d->cuEventCreate(&f->start, CU_EVENT_DEFAULT);
   if (status == CUDA_SUCCESS)
      status = d->cuEventCreate(&f->stop, CU_EVENT_DEFAULT);
   return status;
}

CUresult rkb_flush_read(const rkb_driver_t *d, const rkb_flusher_t *f) {
   uint64_t count = f->bytes / 16;
   CUdeviceptr from = f->memory;
   void *parameters[] = {&from, &count};
   CUlaunchConfig config = {.gridDimX = FLUSH_BLOCKS,
                            .gridDimY = 1,
                            .gridDimZ = 1,
                            .blockDimX = FLUSH_THREADS,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .hStream = d->stream};
   return d->cuLaunchKernelEx(&config, f->read, parameters, NULL);
}

/* Lines a kernel has marked as persisting would survive the reading, so they are made ordinary ones before.  That call may
 * wait for the device; the reading after it keeps the device busy while the timed work is enqueued. */
CUresult rkb_flush(const rkb_driver_t *d, const rkb_flusher_t *f) {
   CUresult status = d->cuCtxResetPersistingL2Cache();
   return status == CUDA_SUCCESS ? rkb_flush_read(d, f) : status;
}
