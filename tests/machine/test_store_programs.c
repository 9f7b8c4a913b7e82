/* What decides where a kernel stores, executed alone, stores the bytes that the whole kernel stores, block by block, and takes a part of its work; a kernel of
 * which more than its parameters decides it has no such part. */
#include "check.h"
#include "machine_harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 6u
#define MOST_RANGES 4096u
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char source[] = "// buffer: x in i32 4096 ramp\n// buffer: y out i32 4096\n"
                             "// launch: k grid=6,1,1 block=64,1,1 shared=0 args=x,y,900\n";

/* d0, d1: x and y; r0: the thread, r1: the block; d2: where the thread of the block begins; r9: 900. */
static const char head[] =
   ".version 8.0\n.target sm_90\n.address_size 64\n"
   ".visible .entry k(.param .u64 px, .param .u64 py, .param .u32 pn)\n{\n"
   " .reg .pred %p<6>;\n .reg .b16 %h<4>;\n .reg .b32 %r<24>;\n .reg .b64 %d<12>;\n"
   " .shared .align 16 .b8 tile[1024];\n .shared .align 8 .b64 bar;\n"
   " ld.param.u64 %d0, [px];\n ld.param.u64 %d1, [py];\n ld.param.u32 %r9, [pn];\n"
   " cvta.to.global.u64 %d0, %d0;\n cvta.to.global.u64 %d1, %d1;\n"
   " mov.u32 %r0, %tid.x;\n mov.u32 %r1, %ctaid.x;\n mad.lo.u32 %r2, %r1, 64, %r0;\n"
   " mul.wide.u32 %d2, %r2, 4;\n add.s64 %d3, %d1, %d2;\n add.s64 %d4, %d0, %d2;\n mov.u32 %r5, 0;\n";

/* Adds 32 words of x to r5; leaves off where the sum is large. */
#define SUM                                                                                                        \
   " mov.u32 %r6, 0;\nfactors:\n mul.wide.u32 %d7, %r6, 4;\n add.s64 %d7, %d0, %d7;\n ld.global.u32 %r7, [%d7];\n" \
   " add.u32 %r5, %r5, %r7;\n setp.gt.u32 %p4, %r5, 300;\n @%p4 bra summed;\n add.u32 %r6, %r6, 1;\n"              \
   " setp.lt.u32 %p4, %r6, 32;\n @%p4 bra factors;\nsummed:\n"

static const struct {
   const char *what, *body;
   bool told;
} kernels[] = {
   {"one store a thread", SUM " st.global.u32 [%d3], %r5;\n ret;\n", true},
   {"blocks that take one tile after another",
    " mov.u32 %r4, %r1;\ntiles:\n mad.lo.u32 %r2, %r4, 64, %r0;\n setp.ge.u32 %p0, %r2, %r9;\n mul.wide.u32 %d5, %r2, 4;\n"
    " add.s64 %d5, %d1, %d5;\n mov.u32 %r5, 0;\n" SUM
    " @!%p0 st.global.u32 [%d5], %r5;\n mov.u32 %r8, %nctaid.x;\n add.u32 %r4, %r4, %r8;\n setp.lt.u32 %p1, %r4, 20;\n @%p1 bra tiles;\n ret;\n",
    true},
   {"blocks that leave early",
    " rem.u32 %r8, %r1, 3;\n setp.eq.u32 %p0, %r8, 1;\n @%p0 ret;\n" SUM
    " st.global.u32 [%d3], %r5;\n ret;\n",
    true},
   {"a branch over the store",
    " and.b32 %r8, %r0, 4;\n setp.eq.u32 %p0, %r8, 0;\n @%p0 bra over;\n" SUM
    " st.global.u32 [%d3], %r5;\nover:\n ret;\n",
    true},
   {"a store in each arm of a branch",
    " setp.lt.u32 %p0, %r1, 2;\n @%p0 bra low;\n" SUM
    " st.global.v2.u32 [%d3+0], {%r5, %r6};\n bra both;\nlow:\n st.global.u32 [%d3+4096], %r1;\nboth:\n ret;\n",
    false /* half of the pairs are not aligned, which is found */},
   {"pairs of halves",
    SUM
    " cvt.u16.u32 %h0, %r5;\n st.global.v2.u16 [%d3], {%h0, %h0};\n st.global.u16 [%d3+2048], %h0;\n ret;\n",
    true},
   {"a warp's number from its first lane",
    " shr.u32 %r8, %r0, 5;\n shfl.sync.idx.b32 %r8, %r8, 0, 31, -1;\n mad.lo.u32 %r8, %r8, 4096, 0;\n cvt.u64.u32 %d5, %r8;\n"
    " add.s64 %d5, %d3, %d5;\n" SUM " st.global.u32 [%d5], %r5;\n ret;\n",
    true},
   {"one of several places",
    " rem.u32 %r8, %r1, 3;\nways: .branchtargets first, second, third;\n brx.idx %r8, ways;\nfirst:\n add.s64 %d3, %d3, 4096;\n bra stored;\n"
    "second:\n add.s64 %d3, %d3, 8192;\nthird:\nstored:\n" SUM " st.global.u32 [%d3], %r5;\n ret;\n",
    true},
   {"a value by way of shared memory, which all wait for",
    SUM
    " mov.u32 %r10, tile;\n mad.lo.u32 %r10, %r0, 4, %r10;\n st.shared.u32 [%r10], %r5;\n bar.sync 0;\n xor.b32 %r11, %r0, 63;\n"
    " mov.u32 %r12, tile;\n mad.lo.u32 %r12, %r11, 4, %r12;\n ld.shared.u32 %r5, [%r12];\n st.global.u32 [%d3], %r5;\n ret;\n",
    true},
   {"a value that a copy brings",
    " setp.eq.u32 %p0, %r0, 0;\n mov.u32 %r10, bar;\n mov.u32 %r11, tile;\n @!%p0 bra wait;\n"
    " mbarrier.init.shared::cta.b64 [%r10], 1;\n fence.proxy.async;\n mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256;\n"
    " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%d4], 256, [%r10];\nwait:\n bar.sync 0;\n"
    "again:\n mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0;\n @!%p2 bra again;\n"
    " mad.lo.u32 %r11, %r0, 4, %r11;\n ld.shared.u32 %r5, [%r11];\n st.global.u32 [%d3], %r5;\n ret;\n",
    true},
   {"a place that an input names",
    " ld.global.u32 %r8, [%d4];\n and.b32 %r8, %r8, 1023;\n mul.wide.u32 %d5, %r8, 4;\n add.s64 %d5, %d1, %d5;\n"
    " st.global.u32 [%d5], %r0;\n ret;\n",
    false},
   {"an input that decides",
    SUM " setp.gt.u32 %p0, %r5, 310;\n @%p0 bra over;\n st.global.u32 [%d3], %r5;\nover:\n ret;\n", false},
   {"an input that ends threads",
    SUM " setp.gt.u32 %p0, %r5, 310;\n @%p0 ret;\n st.global.u32 [%d3], %r5;\n ret;\n", false},
   {"an input that stops the kernel",
    SUM " setp.eq.u32 %p0, %r5, 310;\n @%p0 trap;\n st.global.u32 [%d3], %r5;\n ret;\n", false},
   {"a number that a thread gave to another",
    " mov.u32 %r10, tile;\n setp.eq.u32 %p0, %r0, 0;\n @%p0 st.shared.u32 [%r10], %r1;\n bar.sync 0;\n ld.shared.u32 %r8, [%r10];\n"
    " setp.lt.u32 %p1, %r8, 3;\n @%p1 st.global.u32 [%d3], %r5;\n ret;\n",
    false},
   {"a ticket", " atom.global.add.u32 %r8, [%d1], 1;\n st.global.u32 [%d3+2048], %r8;\n ret;\n", false},
   {"a carried bit",
    " mov.u32 %r10, 0xffffffff;\n add.cc.u32 %r11, %r10, %r1;\n addc.u32 %r12, 0, 0;\n mul.wide.u32 %d5, %r12, 4096;\n"
    " add.s64 %d5, %d3, %d5;\n st.global.u32 [%d5], %r5;\n ret;\n",
    false},
   {"a vote",
    " setp.lt.u32 %p0, %r0, 32;\n vote.sync.all.pred %p1, %p0, -1;\n @%p1 st.global.u32 [%d3], %r5;\n ret;\n",
    false},
   {"a copy of shared memory to the output",
    " mov.u32 %r10, tile;\n mad.lo.u32 %r11, %r0, 4, %r10;\n st.shared.u32 [%r11], %r0;\n fence.proxy.async;\n bar.sync 0;\n"
    " setp.eq.u32 %p0, %r0, 0;\n @%p0 cp.async.bulk.global.shared::cta.bulk_group [%d3], [%r10], 256;\n"
    " cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;\n ret;\n",
    false},
   {"a processor's number",
    " mov.u32 %r8, %smid;\n and.b32 %r8, %r8, 1;\n mul.wide.u32 %d5, %r8, 4096;\n add.s64 %d5, %d3, %d5;\n"
    " st.global.u32 [%d5], %r5;\n ret;\n",
    false},
};

typedef struct stores {
   uint64_t ranges[MOST_RANGES][2], count;
   rkb_machine_extent_t blocks[BLOCKS];
   bool wrote[BLOCKS];
   uint64_t instructions;
} stores_t;

static int make_ramp(void *argument, uint32_t buffer, uint64_t first, uint64_t bytes, void *out) {
   (void)argument;
   for (uint64_t n = 0; n < bytes / 4; n++)
      ((uint32_t *)out)[n] = buffer == 0 ? (uint32_t)(first / 4 + n) % 97 : 0;
   return RKB_OK;
}

static void note_range(void *argument, uint64_t first, uint64_t bytes) {
   stores_t *stores = argument;
   assert_true(stores->count < MOST_RANGES);
   stores->ranges[stores->count][0] = first;
   stores->ranges[stores->count++][1] = bytes;
}

/* False where the kernel has no such part. */
static bool run(harness_t *harness, bool alone, stores_t *stores, const char *what, bool expects_nothing) {
   static const uint64_t numbers[BLOCKS] = {0, 1, 2, 3, 4, 5};
   const rkb_machine_blocks_t blocks = {.numbers = numbers, .count = BLOCKS};
   const rkb_machine_options_t options = {.fetch = make_ramp, .sample = &blocks, .stores_alone = alone};
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   rkb_error_t err;
   memset(stores, 0, sizeof *stores);
   const int status = rkb_machine_open(harness->module, &harness->plan, &options, &machine, &err);
   if (alone && status == RKB_ERR_INVALID)
      return false;
   assert_int_equal(status, RKB_OK);
   assert_int_equal(rkb_machine_run(machine, harness->data, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   if (report.finding_count && expects_nothing)
      fail_msg("%s: %s", what, report.findings[0].message);
   const bool clean = !report.finding_count;
   rkb_machine_written(machine, 1, note_range, stores);
   for (uint32_t n = 0; n < BLOCKS; n++)
      stores->wrote[n] = rkb_machine_extent(machine, 0, n, 1, &stores->blocks[n]);
   stores->instructions = report.thread_instructions;
   rkb_machine_close(machine);
   return clean;
}

static void a_kernel_stores_alone_what_it_stores(void **state) {
   (void)state;
   static stores_t whole, alone;
   for (size_t n = 0; n < COUNT(kernels); n++) {
      char message[256] = "", *ptx = NULL;
      harness_t harness;
      if (asprintf(&ptx, "%s%s}\n", head, kernels[n].body) < 0 ||
          !harness_open(&harness, source, ptx, message, sizeof message))
         fail_msg("%s: %s", kernels[n].what, message);
      harness_fill(&harness, 0);
      (void)run(&harness, false, &whole, kernels[n].what, kernels[n].told);
      const bool told = run(&harness, true, &alone, kernels[n].what, false);
      if (told != kernels[n].told)
         fail_msg("%s: %s", kernels[n].what, told ? "told" : "not told");
      if (told) {
         assert_true(whole.count > 0);
         if (whole.count != alone.count || memcmp(whole.ranges, alone.ranges, sizeof whole.ranges) != 0 ||
             memcmp(whole.wrote, alone.wrote, sizeof whole.wrote) != 0)
            fail_msg("%s: other bytes are stored", kernels[n].what);
         for (uint32_t b = 0; b < BLOCKS; b++)
            if (whole.wrote[b])
               assert_memory_equal(&whole.blocks[b], &alone.blocks[b], sizeof whole.blocks[b]);
         if (strstr(kernels[n].body, "factors:") && alone.instructions * 3 > whole.instructions)
            fail_msg("%s: %llu thread-instructions of %llu", kernels[n].what,
                     (unsigned long long)alone.instructions, (unsigned long long)whole.instructions);
      }
      harness_close(&harness);
      free(ptx);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(a_kernel_stores_alone_what_it_stores)};
   return RUN_TESTS(tests);
}
