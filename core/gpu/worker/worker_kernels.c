/* The worker's own kernels as PTX, so that the driver compiles them for any device. */
#include "gpu/worker/worker_kernels.h"
#include <stddef.h>

#define ANCHOR_BYTES (UINT64_C(64) << 20)
#define ANCHORS_SHARE 64  /* the anchors use at most 1/64 of the device's memory */
#define CHAIN_LENGTH 1024 /* about 4 us of a multiprocessor's clock */

/* rkb_read: reads count 16-byte vectors with a grid-stride loop.  A store that never happens in practice (memory is zero, so the result
 *    is 0, not -1) keeps the compiler from removing the loads.
 * rkb_copy: copies four vectors per turn, a grid apart.  Vectors read beyond the written ones are kept alive in the same way, by a
 *    store to the first word written, which one result in four thousand million triggers.
 * rkb_chain: a chain of dependent additions.
 * rkb_mix: copies pieces of 16 bytes, each from one of two buffers, as its hash says.  The loads ask to be evicted first, so that the
 *    sources take no place in the cache from what was written.  The last, shorter piece is copied byte by byte.
 * rkb_look: sets a flag when a byte differs from the expected byte.
 * rkb_sum: adds up the words of a buffer, each mixed with its number and a key (<rkb/ext/device.h>).  The thread whose turn reaches the
 *    bytes after the last whole word reads them one by one.  Each warp sums its lanes before it adds to the result, because
 *    atomic additions to one address wait for each other and took longer than all other work. */
#define FOLD_WORD " shr.u64 %w, %x, 32; xor.b64 %x, %x, %w;\n"
#define MIX_WORD                                                                                             \
   FOLD_WORD " mul.lo.u64 %x, %x, 0xd6e8feb86659fd93;\n" FOLD_WORD                                           \
             " mul.lo.u64 %x, %x, 0xd6e8feb86659fd93;\n" FOLD_WORD
static const char own_ptx[] =
   ".version 7.0\n.target sm_70\n.address_size 64\n"
   ".visible .entry rkb_read(.param .u64 p_from, .param .u64 p_count)\n{\n"
   " .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<9>;\n"
   " ld.param.u64 %d1, [p_from]; ld.param.u64 %d2, [p_count]; cvta.to.global.u64 %d1, %d1;\n"
   " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x; mov.u32 %r9, 0;\n"
   " mul.wide.u32 %d3, %r1, %r2; cvt.u64.u32 %d4, %r3; add.u64 %d3, %d3, %d4; mul.wide.u32 %d5, %r4, %r2;\n"
   "again:\n setp.ge.u64 %p1, %d3, %d2; @%p1 bra done;\n shl.b64 %d6, %d3, 4; add.u64 %d6, %d1, %d6;\n"
   " ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d6];\n xor.b32 %r9, %r9, %r5; xor.b32 %r9, %r9, %r6; xor.b32 %r9, %r9, %r7; xor.b32 %r9, %r9, %r8;\n"
   " add.u64 %d3, %d3, %d5; bra again;\n"
   "done:\n setp.ne.u32 %p2, %r9, -1; @%p2 bra end; st.global.u32 [%d1], %r9;\nend:\n ret;\n}\n"

/* Loads number n of a turn.  %i<n> holds its index; %p<n> and %q<n> say whether it is read and written. */
#define COPY_INDEX(n, before) " add.u64 %i" n ", %i" before ", %s;\n"
#define COPY_LOAD(n, a, b, c, e)                                                                             \
   " setp.lt.u64 %p" n ", %i" n ", %n1; setp.lt.u64 %q" n ", %i" n ", %n2; shl.b64 %o" n ", %i" n ", 4;\n"   \
   " mov.u32 %v" a ", 0; mov.u32 %v" b ", 0; mov.u32 %v" c ", 0; mov.u32 %v" e ", 0; add.u64 %a" n           \
   ", %from, %o" n ";\n"                                                                                     \
   " @%p" n " ld.global.v4.u32 {%v" a ", %v" b ", %v" c ", %v" e "}, [%a" n "];\n"
#define COPY_STORE(n, a, b, c, e)                                                                            \
   " add.u64 %b" n ", %to, %o" n "; @%q" n " st.global.v4.u32 [%b" n "], {%v" a ", %v" b ", %v" c ", %v" e   \
   "};\n xor.b32 %x, %x, %v" a "; xor.b32 %x, %x, %v" b "; xor.b32 %x, %x, %v" c "; xor.b32 %x, %x, %v" e    \
   ";\n"

   ".visible .entry " RKB_OWN_COPY
   "(.param .u64 p_from, .param .u64 p_to, .param .u64 p_reads, .param .u64 p_writes)\n{\n"
   " .reg .pred %p<4>, %q<4>, %end; .reg .b32 %v<16>, %x, %t<4>; .reg .b64 %i<4>, %o<4>, %a<4>, %b<4>, %from, %to, %n1, %n2, "
   "%most, %s, %w;\n"
   " ld.param.u64 %from, [p_from]; ld.param.u64 %to, [p_to]; ld.param.u64 %n1, [p_reads]; ld.param.u64 %n2, [p_writes];\n"
   " cvta.to.global.u64 %from, %from; cvta.to.global.u64 %to, %to; max.u64 %most, %n1, %n2; mov.u32 %x, 0;\n"
   " mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mov.u32 %t3, %nctaid.x;\n"
   " mul.wide.u32 %i0, %t0, %t1; cvt.u64.u32 %w, %t2; add.u64 %i0, %i0, %w; mul.wide.u32 %s, %t3, %t1;\n"
   "turn:\n setp.ge.u64 %end, %i0, %most; @%end bra over;\n" COPY_INDEX("1", "0") COPY_INDEX("2", "1")
      COPY_INDEX("3", "2") COPY_LOAD("0", "0", "1", "2", "3") COPY_LOAD("1", "4", "5", "6", "7") COPY_LOAD(
         "2", "8", "9", "10", "11") COPY_LOAD("3", "12", "13", "14", "15") COPY_STORE("0", "0", "1", "2", "3")
         COPY_STORE("1", "4", "5", "6", "7") COPY_STORE("2", "8", "9", "10", "11") COPY_STORE(
            "3", "12", "13", "14",
            "15") " add.u64 %i0, %i3, %s; bra turn;\n"
                  "over:\n setp.ne.u32 %end, %x, 0x5bd1e995; @%end bra out; st.global.u32 [%to], %x;\nout:\n ret;\n}\n"

                  ".visible .entry rkb_chain(.param .u64 p_to, .param .u32 p_length)\n{\n"
                  " .reg .pred %p; .reg .b32 %n; .reg .f32 %f<3>; .reg .b64 %to;\n"
                  " ld.param.u64 %to, [p_to]; ld.param.u32 %n, [p_length]; cvta.to.global.u64 %to, %to; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f3f800000;\n"
                  "link:\n add.rn.f32 %f1, %f1, %f2; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra link;\n st.global.f32 [%to], %f1;\n ret;\n}\n"

                  ".visible .entry rkb_mix(.param .u64 p_own, .param .u64 p_other, .param .u64 p_to, .param .u64 p_bytes, .param .u32 p_share, .param .u64 p_key)\n{\n"
                  " .reg .pred %p<4>; .reg .b32 %t<4>, %v<4>, %share, %h; .reg .b64 %own, %other, %to, %bytes, %key, %whole, %all, %i, %s, %a, %b, %end, %x, %w;\n"
                  " ld.param.u64 %own, [p_own]; ld.param.u64 %other, [p_other]; ld.param.u64 %to, [p_to]; ld.param.u64 %bytes, [p_bytes];\n"
                  " ld.param.u32 %share, [p_share]; ld.param.u64 %key, [p_key];\n"
                  " cvta.to.global.u64 %own, %own; cvta.to.global.u64 %other, %other; cvta.to.global.u64 %to, %to;\n"
                  " shr.u64 %whole, %bytes, 4; add.u64 %all, %bytes, 15; shr.u64 %all, %all, 4;\n"
                  " mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mov.u32 %t3, %nctaid.x;\n"
                  " mul.wide.u32 %i, %t0, %t1; cvt.u64.u32 %w, %t2; add.u64 %i, %i, %w; mul.wide.u32 %s, %t3, %t1;\n"
                  "piece:\n setp.ge.u64 %p1, %i, %all; @%p1 bra mixed;\n"
                  " xor.b64 %x, %i, %key;\n" MIX_WORD
                  " shr.u64 %w, %x, 32; cvt.u32.u64 %h, %w; setp.lt.u32 %p2, %h, %share; selp.b64 %a, %other, %own, %p2;\n"
                  " shl.b64 %x, %i, 4; add.u64 %a, %a, %x; add.u64 %b, %to, %x; setp.lt.u64 %p3, %i, %whole; @!%p3 bra rest;\n"
                  " ld.global.cs.v4.u32 {%v0, %v1, %v2, %v3}, [%a]; st.global.v4.u32 [%b], {%v0, %v1, %v2, %v3};\n"
                  " add.u64 %i, %i, %s; bra piece;\n"
                  "rest:\n add.u64 %end, %to, %bytes;\n"
                  "next_byte:\n ld.global.u8 %h, [%a]; st.global.u8 [%b], %h; add.u64 %a, %a, 1; add.u64 %b, %b, 1; setp.lt.u64 %p1, %b, %end; @%p1 bra next_byte;\n"
                  "mixed:\n ret;\n}\n"

                  ".visible .entry rkb_look(.param .u64 p_from, .param .u64 p_bytes, .param .u32 p_byte, .param .u64 p_flag)\n{\n"
                  " .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
                  " ld.param.u64 %d1, [p_from]; ld.param.u64 %d2, [p_bytes]; ld.param.u32 %r5, [p_byte]; ld.param.u64 %d6, [p_flag];\n"
                  " cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d6, %d6;\n"
                  " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;\n"
                  " mul.wide.u32 %d3, %r1, %r2; cvt.u64.u32 %d4, %r3; add.u64 %d3, %d3, %d4; mul.wide.u32 %d5, %r4, %r2;\n"
                  "next:\n setp.ge.u64 %p1, %d3, %d2; @%p1 bra seen;\n add.u64 %d4, %d1, %d3; ld.global.u8 %r6, [%d4];\n"
                  " setp.eq.u32 %p2, %r6, %r5; @!%p2 red.global.or.b32 [%d6], 1;\n add.u64 %d3, %d3, %d5; bra next;\n"
                  "seen:\n ret;\n}\n"

/* Adds to each lane's sum the sum of the lane so many further on.  The last lanes get meaningless sums, which nothing uses. */
#define SUM_LANES(distance)                                                                                  \
   " mov.b64 {%low, %high}, %sum; shfl.sync.down.b32 %low, %low, " distance ", 31, -1;\n"                    \
   " shfl.sync.down.b32 %high, %high, " distance                                                             \
   ", 31, -1; mov.b64 %w, {%low, %high}; add.u64 %sum, %sum, %w;\n"
                  ".visible .entry rkb_sum(.param .u64 p_from, .param .u64 p_bytes, .param .u64 p_key, .param .u64 p_to)\n{\n"
                  " .reg .pred %p<5>; .reg .b32 %t<4>, %v, %b, %c, %low, %high; .reg .b64 %from, %bytes, %key, %to, %words, %all, %i, %s, %a, %x, %w, %sum;\n"
                  " ld.param.u64 %from, [p_from]; ld.param.u64 %bytes, [p_bytes]; ld.param.u64 %key, [p_key]; ld.param.u64 %to, [p_to];\n"
                  " cvta.to.global.u64 %from, %from; cvta.to.global.u64 %to, %to; mov.u64 %sum, 0;\n"
                  " shr.u64 %words, %bytes, 2; add.u64 %all, %bytes, 3; shr.u64 %all, %all, 2;\n"
                  " mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mov.u32 %t3, %nctaid.x;\n"
                  " mul.wide.u32 %i, %t0, %t1; cvt.u64.u32 %w, %t2; add.u64 %i, %i, %w; mul.wide.u32 %s, %t3, %t1;\n"
                  "more:\n setp.ge.u64 %p1, %i, %all; @%p1 bra summed;\n shl.b64 %a, %i, 2; setp.lt.u64 %p2, %i, %words; @!%p2 bra tail;\n"
                  " add.u64 %a, %from, %a; ld.global.u32 %v, [%a]; bra mix;\n"
                  "tail:\n mov.u32 %v, 0; mov.u32 %c, 0;\n"
                  "byte:\n setp.ge.u64 %p3, %a, %bytes; @%p3 bra mix;\n add.u64 %x, %from, %a; ld.global.u8 %b, [%x]; shl.b32 %b, %b, %c; or.b32 %v, %v, %b;\n"
                  " add.u32 %c, %c, 8; add.u64 %a, %a, 1; bra byte;\n"
                  "mix:\n shl.b64 %x, %i, 32; cvt.u64.u32 %w, %v; or.b64 %x, %x, %w; xor.b64 %x, %x, %key;\n" MIX_WORD
                  " add.u64 %sum, %sum, %x; add.u64 %i, %i, %s; bra more;\n"
                  "summed:\n" SUM_LANES("16") SUM_LANES("8") SUM_LANES("4") SUM_LANES("2") SUM_LANES(
                     "1") " and.b32 %t2, %t2, 31; setp.ne.u32 %p4, %t2, 0; @%p4 bra added;\n red.global.add.u64 [%to], %sum;\n"
                          "added:\n ret;\n}\n";

const char *rkb_worker_kernels_ptx(void) {
   return own_ptx;
}

/* Allocates the anchors' places: the first must succeed, further ones as far as memory allows. */
static CUresult open_places(const rkb_driver_t *d, rkb_worker_kernels_t *own) {
   size_t available = 0, total = 0;
   CUresult status = d->cuMemGetInfo(&available, &total);
   const uint64_t most = total / ANCHORS_SHARE / (2 * ANCHOR_BYTES);
   while (status == CUDA_SUCCESS && own->places < RKB_ANCHOR_PLACES &&
          (own->places == 0 || own->places < most)) {
      status = d->cuMemAlloc(&own->source[own->places], ANCHOR_BYTES);
      if (status == CUDA_SUCCESS)
         status = d->cuMemAlloc(&own->target[own->places], ANCHOR_BYTES);
      if (status == CUDA_SUCCESS)
         status = d->cuMemsetD8Async(own->source[own->places++], 0, ANCHOR_BYTES, d->stream);
   }
   return status;
}

CUresult rkb_worker_kernels_open(const rkb_driver_t *d, rkb_worker_kernels_t *own) {
   *own = (rkb_worker_kernels_t){.bytes = d->l2_bytes * 5 / 2 / 16 * 16};
   CUresult status = d->cuModuleLoadData(&own->module, own_ptx);
   const struct {
      CUfunction *function;
      const char *name;
   } kernels[] = {{&own->read, "rkb_read"}, {&own->copy, RKB_OWN_COPY}, {&own->chain, "rkb_chain"},
                  {&own->look, "rkb_look"}, {&own->mix, "rkb_mix"},     {&own->sum, "rkb_sum"}};
   for (size_t i = 0; i < sizeof kernels / sizeof *kernels && status == CUDA_SUCCESS; i++)
      status = d->cuModuleGetFunction(kernels[i].function, own->module, kernels[i].name);
   if (status == CUDA_SUCCESS)
      status = d->cuMemAlloc(&own->memory, own->bytes);
   if (status == CUDA_SUCCESS)
      status = open_places(d, own);
   if (status == CUDA_SUCCESS)
      status = d->cuMemAlloc(&own->flag, RKB_MOST_SUMS * sizeof(uint64_t));
   if (status == CUDA_SUCCESS)
      status = d->cuMemsetD8Async(own->memory, 0, own->bytes, d->stream);
   if (status == CUDA_SUCCESS)
      status = d->cuEventCreate(&own->start, CU_EVENT_DEFAULT);
   if (status == CUDA_SUCCESS)
      status = d->cuEventCreate(&own->stop, CU_EVENT_DEFAULT);
   return status;
}

static CUresult launch(const rkb_driver_t *d, CUfunction function, unsigned blocks, unsigned threads,
                       void **parameters) {
   CUlaunchConfig config = {.gridDimX = blocks,
                            .gridDimY = 1,
                            .gridDimZ = 1,
                            .blockDimX = threads,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .hStream = d->stream};
   return d->cuLaunchKernelEx(&config, function, parameters, NULL);
}

CUresult rkb_flush_read(const rkb_driver_t *d, const rkb_worker_kernels_t *own) {
   uint64_t count = own->bytes / 16;
   CUdeviceptr from = own->memory;
   return launch(d, own->read, 1024, 512, (void *[]){&from, &count});
}

/* Empties the second-level cache.  First makes persisting lines ordinary, because they would survive the reading.  That call may wait for
 * the device; the reading after it keeps the device busy while the timed work is enqueued.  The flush reads instead of writing,
 * because writing leaves dirty lines behind, and the candidate's time would include their eviction. */
CUresult rkb_flush(const rkb_driver_t *d, const rkb_worker_kernels_t *own) {
   CUresult status = d->cuCtxResetPersistingL2Cache();
   return status == CUDA_SUCCESS ? rkb_flush_read(d, own) : status;
}

CUresult rkb_anchor(const rkb_driver_t *d, const rkb_worker_kernels_t *own, enum rkb_anchor which, uint32_t place) {
   uint64_t count = ANCHOR_BYTES / 16;
   uint32_t length = CHAIN_LENGTH;
   CUdeviceptr from = own->source[place % own->places], to = own->target[place % own->places];
   if (which == RKB_ANCHOR_CHAIN)
      return launch(d, own->chain, 1, 32, (void *[]){&to, &length});
   return launch(d, own->copy, 2048, 512, (void *[]){&from, &to, &count, &count});
}

CUresult rkb_look_begin(const rkb_driver_t *d, const rkb_worker_kernels_t *own) {
   return d->cuMemsetD32Async(own->flag, 0, 1, d->stream);
}

CUresult rkb_look(const rkb_driver_t *d, const rkb_worker_kernels_t *own, CUdeviceptr from, uint64_t bytes,
                  uint8_t byte) {
   uint32_t value = byte;
   CUdeviceptr flag = own->flag;
   return bytes ? launch(d, own->look, 256, 512, (void *[]){&from, &bytes, &value, &flag}) : CUDA_SUCCESS;
}

CUresult rkb_look_end(const rkb_driver_t *d, const rkb_worker_kernels_t *own, uint32_t *found) {
   CUresult status = d->cuStreamSynchronize(d->stream);
   return status == CUDA_SUCCESS ? d->cuMemcpyDtoH(found, own->flag, sizeof *found) : status;
}

uint64_t rkb_mix_word(uint64_t x) {
   x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
   x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
   return x ^ x >> 32;
}

CUresult rkb_mix(const rkb_driver_t *d, const rkb_worker_kernels_t *kernels, CUdeviceptr own,
                 CUdeviceptr other, CUdeviceptr to, uint64_t bytes, uint32_t share, uint64_t key) {
   enum { THREADS = 512, MOST_BLOCKS = 2048 };
   const uint64_t turn = THREADS * RKB_MIX_BYTES, blocks = (bytes + turn - 1) / turn;
   return bytes ? launch(d, kernels->mix, blocks < MOST_BLOCKS ? (unsigned)blocks : MOST_BLOCKS, THREADS,
                         (void *[]){&own, &other, &to, &bytes, &share, &key})
                : CUDA_SUCCESS;
}

CUresult rkb_sums_begin(const rkb_driver_t *d, const rkb_worker_kernels_t *own) {
   return d->cuMemsetD32Async(own->flag, 0, RKB_MOST_SUMS * sizeof(uint64_t) / sizeof(uint32_t), d->stream);
}

CUresult rkb_sum(const rkb_driver_t *d, const rkb_worker_kernels_t *own, uint32_t number, CUdeviceptr from,
                 uint64_t bytes, uint64_t key) {
   enum { THREADS = 256, WORDS_A_THREAD = 8, MOST_BLOCKS = 528 };
   CUdeviceptr to = own->flag + number * sizeof(uint64_t);
   const uint64_t turn = THREADS * WORDS_A_THREAD * sizeof(uint32_t), blocks = (bytes + turn - 1) / turn;
   return bytes ? launch(d, own->sum, blocks < MOST_BLOCKS ? (unsigned)blocks : MOST_BLOCKS, THREADS,
                         (void *[]){&from, &bytes, &key, &to})
                : CUDA_SUCCESS;
}

CUresult rkb_sums_end(const rkb_driver_t *d, const rkb_worker_kernels_t *own, uint32_t count, uint64_t *sums) {
   CUresult status = d->cuStreamSynchronize(d->stream);
   return status == CUDA_SUCCESS && count ? d->cuMemcpyDtoH(sums, own->flag, count * sizeof *sums) : status;
}
