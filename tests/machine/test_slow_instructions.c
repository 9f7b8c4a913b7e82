/* Instructions that take the machine longer than an addition are counted as more work: each line of slow_instructions.txt, in a kernel of one warp, against the same
 * kernel without the instruction.  Every row of core/machine/decode/slow_instructions.c has a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "machine_harness.h"

#define REPEATED 16u
#define LANES 32u

static const char directives[] =
   "// buffer: x inout i32 64 index\n// launch: one grid=1,1,1 block=32,1,1 shared=0 args=x\n"
   "// expect: pass\n";
static const char before[] =
   ".version 8.4\n.target sm_90a\n.address_size 64\n"
   ".visible .entry one(.param .u64 x)\n{\n"
   ".shared .align 16 .b8 tile[2048];\n"
   ".reg .b32 %r<20>;\n.reg .b64 %rd<4>;\n.reg .b16 %h<4>;\n.reg .f32 %f<4>;\n.reg .f64 %d<4>;\n.reg .pred %p<2>;\n"
   "ld.param.u64 %rd1, [x];\n"
   "mov.u32 %r3, %tid.x;\n"
   "mul.wide.u32 %rd2, %r3, 4;\n"
   "add.s64 %rd1, %rd1, %rd2;\n"
   "mov.u32 %r0, 1;\n"
   "shl.b32 %r5, %r0, %r3;\n"
   "mov.u32 %r0, 1065353216;\n"
   "mov.f32 %f0, 0f3F800000;\n"
   "mov.f64 %d0, 0d3FF0000000000000;\n"
   "setp.eq.u32 %p1, %r0, 0;\n"
   "mov.b16 %h0, 15360;\n"
   "mov.u32 %r4, tile;\n"
   "shl.b32 %r2, %r3, 4;\n"
   "add.u32 %r2, %r2, %r4;\n";

static const char meeting[] =
   ".version 8.4\n.target sm_90a\n.address_size 64\n"
   ".visible .entry one(.param .u64 x)\n{\n"
   ".shared .align 16 .b8 room[64];\n"
   ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p<4>;\n"
   "ld.param.u64 %rd1, [x];\n"
   "mov.u32 %r0, %tid.x;\n"
   "mov.u32 %r1, room;\n"
   "setp.eq.u32 %p0, %r0, 0;\n"
   "setp.eq.u32 %p1, %r0, 2048;\n"
   "@%p0 mbarrier.init.shared::cta.b64 [%r1], 1024;\n"
   "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r1];\n";

static uint64_t work_of_text(const char *launch, const char *text, const char *name, uint32_t checks) {
   char message[256] = "";
   harness_t harness;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report = {0};
   rkb_error_t err = {0};
   const rkb_machine_options_t options = {.checks = checks};
   if (!harness_open(&harness, launch, text, message, sizeof message))
      fail_msg("%s: %s", name, message);
   if (rkb_machine_open(harness.module, &harness.plan, &options, &machine, &err) != RKB_OK)
      fail_msg("%s: %s", name, err.message);
   harness_fill(&harness, 0);
   assert_int_equal(rkb_machine_run(machine, harness.data, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   if (!report.complete)
      fail_msg("%s is not executed: %s", name, report.finding_count ? report.findings[0].message : "");
   const uint64_t work = report.work;
   rkb_machine_close(machine);
   harness_close(&harness);
   return work;
}

static uint64_t work_with(const char *instruction, uint32_t checks) {
   char text[8192];
   size_t at = (size_t)snprintf(text, sizeof text, "%s", before);
   for (uint32_t n = 0; instruction && n < REPEATED; n++)
      at += (size_t)snprintf(text + at, sizeof text - at, "%s;\n", instruction);
   at += (size_t)snprintf(text + at, sizeof text - at, "ret;\n}\n");
   assert_true(at < sizeof text);
   return work_of_text(directives, text, instruction ? instruction : "nothing", checks);
}

static uint64_t work_of(const char *instruction) {
   return work_with(instruction, 0);
}

/* Where lanes wait in groups, what each group knows is joined by itself, in place of once for the warp. */
static void groups_of_lanes_count(void **state) {
   (void)state;
   const uint64_t alone = work_with("bar.warp.sync %r5", RKB_MACHINE_RACES),
                  together = work_with("bar.warp.sync 0xffffffff", RKB_MACHINE_RACES),
                  least = (uint64_t)REPEATED * (LANES - 1) * 24;
   if (alone < together + least)
      fail_msg("%u barriers of single lanes are %llu work more than those of the warp, not %llu", REPEATED,
               (unsigned long long)(alone - together), (unsigned long long)least);
}

/* So many rounds in which 1,024 threads arrive at an mbarrier and wait for it, in a program with copies of the async proxy. */
#define MOST_THREADS 1024u
static uint64_t work_of_rounds(uint32_t rounds) {
   char text[8192];
   size_t at = (size_t)snprintf(text, sizeof text, "%sbar.sync 0;\n", meeting);
   for (uint32_t n = 0; n < rounds; n++)
      at += (size_t)snprintf(text + at, sizeof text - at,
                             "mbarrier.arrive.shared::cta.b64 %%rd2, [%%r1];\n"
                             "WAIT%u: mbarrier.try_wait.parity.shared::cta.b64 %%p2, [%%r1], %u;\n"
                             "@!%%p2 bra WAIT%u;\n",
                             n, n & 1, n);
   at += (size_t)snprintf(text + at, sizeof text - at, "ret;\n}\n");
   assert_true(at < sizeof text);
   return work_of_text(
      "// buffer: x inout i32 64 index\n// launch: one grid=1,1,1 block=1024,1,1 shared=0 args=x\n"
      "// expect: pass\n",
      text, "rounds at an mbarrier", RKB_MACHINE_RACES);
}

/* Each arrival joins two words for each thread, eight of them for one thread-instruction. */
static void arrivals_count_what_threads_know(void **state) {
   (void)state;
   const uint64_t rounds = 8, work = work_of_rounds(1 + rounds) - work_of_rounds(1),
                  least = rounds * MOST_THREADS * (2 * MOST_THREADS / 8);
   if (work < least)
      fail_msg("%llu rounds are %llu work, not %llu", (unsigned long long)rounds, (unsigned long long)work,
               (unsigned long long)least);
}

static void dear_instructions_count_as_work(void **state) {
   (void)state;
   char *list = harness_read_file(SLOW_LIST), *rest = list, *line;
   assert_non_null(list);
   const uint64_t nothing = work_of(NULL);
   uint32_t lines = 0;
   while ((line = strsep(&rest, "\n")) != NULL) {
      char instruction[256];
      unsigned more;
      if (!*line || *line == '#' || sscanf(line, "%*[^|]| %u | %255[^\n]", &more, instruction) != 2)
         continue;
      const uint64_t work = work_of(instruction) - nothing, least = (uint64_t)REPEATED * LANES * (1 + more);
      if (work < least || (!more && work > least))
         fail_msg("%s: %u of them are %llu work, not %llu", instruction, REPEATED, (unsigned long long)work,
                  (unsigned long long)least);
      lines++;
   }
   assert_true(lines > 20);
   free(list);
}

static void every_row_has_a_line(void **state) {
   (void)state;
   char *list = harness_read_file(SLOW_LIST), *rows = harness_read_file(SLOW_ROWS);
   uint32_t count = 0;
   assert_non_null(list);
   assert_non_null(rows);
   for (const char *at = rows; (at = strstr(at, "\n   {\"")) != NULL; at++, count++) {
      char key[64], line[80];
      assert_int_equal(sscanf(at, " {\"%63[^\"]\"", key), 1);
      snprintf(line, sizeof line, "\n%s | ", key);
      if (!strstr(list, line))
         fail_msg("slow_instructions.txt has no line for %s", key);
   }
   assert_true(count > 20);
   free(list);
   free(rows);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dear_instructions_count_as_work), cmocka_unit_test(every_row_has_a_line),
      cmocka_unit_test(groups_of_lanes_count), cmocka_unit_test(arrivals_count_what_threads_know)};
   return RUN_TESTS(tests);
}
