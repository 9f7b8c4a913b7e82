/* Which kernels may see in which order threads reach an mbarrier, and so may do other things in another order; of which the machine knows that they
 * only wait. */
#include "check.h"
#include "machine_harness.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char source[] = "// buffer: y out i32 64\n"
                             "// launch: k grid=1,1,1 block=64,1,1 shared=0 args=y\n";

/* d1: where the thread's element of y is; r0: the thread; r10: the mbarrier, at which 64 threads arrive. */
static const char head[] =
   ".version 8.0\n.target sm_90\n.address_size 64\n"
   ".visible .entry k(.param .u64 py)\n{\n"
   " .reg .pred %p<8>;\n .reg .b32 %r<24>;\n .reg .b64 %d<12>;\n .shared .align 8 .b64 bars[4];\n"
   " ld.param.u64 %d1, [py];\n cvta.to.global.u64 %d1, %d1;\n mov.u32 %r0, %tid.x;\n mul.wide.u32 %d2, %r0, 4;\n"
   " add.s64 %d1, %d1, %d2;\n mov.u32 %r10, bars;\n mov.u32 %r1, 7;\n mov.u32 %r2, 0;\n mov.u32 %r3, 0;\n"
   " setp.eq.u32 %p0, %r0, 0;\n @!%p0 bra made;\n mbarrier.init.shared::cta.b64 [%r10], 64;\n"
   " mbarrier.init.shared::cta.b64 [%r10+8], 64;\nmade:\n bar.sync 0;\n";

#define ARRIVE " mbarrier.arrive.shared::cta.b64 %d4, [%r10];\n"
#define TRY(predicate) " mbarrier.try_wait.parity.shared::cta.b64 " predicate ", [%r10], 0;\n"
#define WAIT(name) name ":\n" TRY("%p1") " @!%p1 bra " name ";\n"
#define STORE " st.global.u32 [%d1], %r1;\n ret;\n"

static const struct {
   const char *what, *body;
   bool seen;
} kernels[] = {
   {"no mbarrier", STORE, false},
   {"an arrival without a wait", ARRIVE STORE, false},
   {"a loop that waits", ARRIVE WAIT("again") STORE, false},
   {"a loop with two branches", ARRIVE "again:\n" TRY("%p1") " @%p1 bra done;\n bra again;\ndone:\n" STORE,
    false},
   {"a number that each turn makes again",
    ARRIVE "again:\n mov.u32 %r4, 3;\n add.u32 %r5, %r4, %r0;\n" TRY(
       "%p1") " @!%p1 bra again;\n add.u32 %r1, %r5, %r4;\n" STORE,
    false},
   {"a number that each turn makes again and that counts later",
    ARRIVE "again:\n mov.u32 %r5, 3;\n" TRY(
       "%p1") " @!%p1 bra again;\nturn:\n add.u32 %r5, %r5, 1;\n setp.lt.u32 %p2, %r5, 9;\n @%p2 bra turn;\n" STORE,
    false},
   {"a number that only another turn makes",
    ARRIVE " mov.u32 %r5, 4;\nagain:\n" TRY(
       "%p1") " @%p1 bra done;\n mov.u32 %r5, 3;\n bra again;\ndone:\n add.u32 %r1, %r5, %r1;\n" STORE,
    true},
   {"a loop on a number",
    ARRIVE
    "again:\n" TRY("%p1") " selp.u32 %r4, 1, 0, %p1;\n setp.eq.u32 %p2, %r4, 0;\n @%p2 bra again;\n" STORE,
    false},
   {"a loop that sleeps",
    ARRIVE "again:\n" TRY("%p1") " @%p1 bra done;\n nanosleep.u32 100;\n bra again;\ndone:\n" STORE, false},
   {"a loop that waits for a state",
    ARRIVE "again:\n mbarrier.test_wait.shared::cta.b64 %p1, [%r10], %d4;\n @!%p1 bra again;\n" STORE, false},
   {"a state that is moved",
    ARRIVE
    " mov.b64 %d5, %d4;\nagain:\n mbarrier.try_wait.shared::cta.b64 %p1, [%r10], %d5;\n @!%p1 bra again;\n" STORE,
    false},
   {"a test in front of the loop",
    ARRIVE TRY("%p2") " st.global.u32 [%d1], %r2;\n @%p2 bra done;\n" WAIT("again") "done:\n" STORE, false},
   {"tests one turn ahead",
    ARRIVE
    " mov.pred %p3, 0;\nturn:\n @%p3 bra done;\n" WAIT("again") "done:\n add.u32 %r3, %r3, 1;\n st.global.u32 [%d1], %r3;\n" TRY(
       "%p3") " setp.lt.u32 %p4, %r3, 4;\n @%p4 bra turn;\n ret;\n",
    false},
   {"a loop that traps after many tests",
    ARRIVE "again:\n" TRY(
       "%p1") " @%p1 bra done;\n add.u32 %r3, %r3, 1;\n setp.gt.u32 %p2, %r3, 1000000;\n @!%p2 bra again;\n trap;\ndone:\n" STORE,
    false},
   {"a lane that waits for its warp",
    ARRIVE " and.b32 %r4, %r0, 31;\n setp.ne.u32 %p3, %r4, 0;\n @%p3 bra done;\n" WAIT(
       "again") "done:\n bar.sync 0;\n" STORE,
    false},
   {"an answer that is stored", ARRIVE TRY("%p1") " selp.u32 %r1, 1, 0, %p1;\n" WAIT("again") STORE, true},
   {"an answer that chooses what is stored",
    ARRIVE TRY("%p2") WAIT("again") " @%p2 st.global.u32 [%d1], %r1;\n ret;\n", true},
   {"an answer that chooses a number", ARRIVE TRY("%p2") " @%p2 mov.u32 %r1, 8;\n" WAIT("again") STORE, true},
   {"an answer that chooses a way",
    ARRIVE TRY("%p2") " @%p2 bra early;\n" WAIT("again") " mov.u32 %r1, 8;\nearly:\n" STORE, true},
   {"an answer that all lanes vote on",
    ARRIVE TRY("%p2") " vote.sync.any.pred %p3, %p2, -1;\n" WAIT("again") " selp.u32 %r1, 1, 0, %p3;\n" STORE,
    true},
   {"an answer that is not looked at", ARRIVE TRY("%p2") WAIT("again") STORE, false},
   {"a test without a loop", ARRIVE TRY("%p1") " @%p1 bra done;\n nanosleep.u32 100;\ndone:\n" STORE, true},
   {"a number of tests that is stored",
    ARRIVE "again:\n" TRY("%p1") " add.u32 %r1, %r1, 1;\n @!%p1 bra again;\n" STORE, true},
   {"a number of tests by one exclusive or",
    ARRIVE "again:\n" TRY("%p1") " xor.b32 %r1, %r1, 1;\n @%p1 bra done;\n bra again;\ndone:\n" STORE, true},
   {"a number of tests that ends the loop",
    ARRIVE "again:\n" TRY(
       "%p1") " @%p1 bra done;\n add.u32 %r3, %r3, 1;\n setp.lt.u32 %p2, %r3, 16;\n @%p2 bra again;\ndone:\n" STORE,
    true},
   {"a store in the loop",
    ARRIVE "again:\n" TRY("%p1") " @%p1 bra done;\n st.global.u32 [%d1], %r3;\n bra again;\ndone:\n" STORE,
    true},
   {"work while waiting",
    ARRIVE "again:\n" TRY("%p1") " @%p1 bra done;\n mul.lo.u32 %r1, %r1, 3;\n bra again;\ndone:\n" STORE,
    true},
   {"the first of two mbarriers that is complete",
    ARRIVE " mbarrier.arrive.shared::cta.b64 _, [%r10+8];\nagain:\n" TRY(
       "%p1") " @%p1 bra one;\n"
              " mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10+8], 0;\n @%p2 bra two;\n bra again;\none:\n mov.u32 %r1, 1;\ntwo:\n" STORE,
    true},
   {"a count of missing arrivals", ARRIVE " mbarrier.pending_count.b64 %r1, %d4;\n" WAIT("again") STORE,
    true},
   {"a state that is stored", ARRIVE " cvt.u32.u64 %r1, %d4;\n" WAIT("again") STORE, true},
   {"a carried answer",
    ARRIVE TRY("%p2") " selp.u32 %r4, -1, 0, %p2;\n add.cc.u32 %r5, %r4, 1;\n addc.u32 %r1, %r2, 0;\n" WAIT(
       "again") STORE,
    true},
};

static void answers_that_decide_more_than_a_wait_are_told(void **state) {
   (void)state;
   for (size_t n = 0; n < COUNT(kernels); n++) {
      char message[256] = "", *ptx = NULL;
      harness_t harness;
      rkb_machine_report_t report;
      if (asprintf(&ptx, "%s%s}\n", head, kernels[n].body) < 0 ||
          !harness_open(&harness, source, ptx, message, sizeof message))
         fail_msg("%s: %s", kernels[n].what, message);
      harness_fill(&harness, 0);
      rkb_machine_t *machine =
         harness_execute(&harness, &(rkb_machine_options_t){.checks = RKB_MACHINE_RACES}, &report);
      assert_non_null(machine);
      if (report.finding_count)
         fail_msg("%s: %s", kernels[n].what, report.findings[0].message);
      if (report.one_schedule != kernels[n].seen)
         fail_msg("%s: %s", kernels[n].what,
                  report.one_schedule ? "counts as seen" : "counts as a mere wait");
      rkb_machine_close(machine);
      harness_close(&harness);
      free(ptx);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(answers_that_decide_more_than_a_wait_are_told)};
   return RUN_TESTS(tests);
}
