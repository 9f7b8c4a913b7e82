/* The longest chain of dependent instructions, for the speed model: one row for each kernel body. */
#include <stdio.h>
#include "check.h"
#include "machine_harness.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ADD(to, from) "add.f32 %f" #to ", %f" #from ", %f9;\n"

typedef struct body {
   const char *what, *text;
   uint64_t instructions, shared; /* of the chain */
} body_t;

/* Each body begins with one mov, so a chain that starts from it is one longer than its operations. */
static const body_t bodies[] = {
   {"a sum of four steps", "mov.f32 %f9, 0f3f800000;\n" ADD(1, 9) ADD(1, 1) ADD(1, 1) ADD(1, 1), 5, 0},
   {"four sums of one step", "mov.f32 %f9, 0f3f800000;\n" ADD(1, 9) ADD(2, 9) ADD(3, 9) ADD(4, 9), 2, 0},
   {"two sums of two steps", "mov.f32 %f9, 0f3f800000;\n" ADD(1, 9) ADD(2, 9) ADD(1, 1) ADD(2, 2), 3, 0},
   {"a sum of what was loaded from shared memory",
    "mov.f32 %f9, 0f3f800000;\nld.shared.f32 %f1, [tile];\n" ADD(1, 1) ADD(2, 9) ADD(2, 2) ADD(2, 2), 1, 1},
   {"loads side by side",
    "mov.f32 %f9, 0f3f800000;\nld.shared.f32 %f1, [tile];\nld.shared.f32 %f2, [tile+4];\n" ADD(1, 1)
       ADD(2, 2),
    1, 1},
   {"parts of a wide load",
    "mov.f32 %f9, 0f3f800000;\nld.shared.v2.f32 {%f1, %f2}, [tile];\n" ADD(3, 2) ADD(3, 3), 2, 1},
   {"an address that was loaded",
    "mov.f32 %f9, 0f3f800000;\nld.shared.u32 %r1, [tile];\nld.shared.f32 %f1, [%r1];\n", 0, 2},
   {"a guard, and what stays when it does not hold",
    "mov.f32 %f9, 0f3f800000;\n" ADD(1, 9) ADD(1, 1) "setp.gt.f32 %p1, %f9, 0f00000000;\n@%p1 " ADD(1, 9), 4,
    0},
   {"a loop of three rounds",
    "mov.f32 %f9, 0f3f800000;\nmov.u32 %r1, 0;\nround:\n" ADD(1, 9) ADD(2, 9)
       ADD(3, 9) "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra round;\n",
    1 + 3 * 3 + 1, 0},
};

static bool run_body(const body_t *body, rkb_launch_counters_t *counters) {
   char ptx[2048], message[256] = "";
   snprintf(
      ptx, sizeof ptx,
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 out)\n{\n"
      ".reg .f32 %%f<10>;\n.reg .b32 %%r<4>;\n.reg .pred %%p<2>;\n.shared .align 8 .b8 tile[128];\n%sret;\n}\n",
      body->text);
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report = {0};
   rkb_error_t err;
   bool done =
      harness_open(&harness,
                   "// buffer: out out f32 32\n// launch: kernel grid=1,1,1 block=32,1,1 shared=0 args=out\n"
                   "// expect: pass\n",
                   ptx, message, sizeof message);
   if (!done)
      print_error("%s: %s\n", body->what, message);
   const rkb_machine_options_t options = {.requests = true, .counts_only = true};
   done = done && rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err) == RKB_OK;
   if (done) {
      harness_fill(&harness, 0);
      done = rkb_machine_run(machine, harness.data, &err) == RKB_OK;
      rkb_machine_report(machine, &report);
      done = done && report.launches;
   }
   if (done)
      *counters = report.launches[0];
   rkb_machine_close(machine);
   harness_close(&harness);
   return done;
}

static void every_body_has_its_chain(void **state) {
   (void)state;
   int wrong = 0;
   for (size_t n = 0; n < COUNT(bodies); n++) {
      rkb_launch_counters_t c = {0};
      assert_true(run_body(&bodies[n], &c));
      if (c.chain_instructions == bodies[n].instructions && c.chain_shared == bodies[n].shared)
         continue;
      print_error("%s: %llu instructions and %llu accesses of shared memory wait for each other\n",
                  bodies[n].what, (unsigned long long)c.chain_instructions,
                  (unsigned long long)c.chain_shared);
      wrong++;
   }
   assert_int_equal(wrong, 0);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_body_has_its_chain)};
   return RUN_TESTS(tests);
}
