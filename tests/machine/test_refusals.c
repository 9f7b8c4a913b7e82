/* What the machine says about texts and plans that it cannot execute: unknown with a name, or a sentence;
 * never accept. */
#include "check.h"
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
   const char *body; /* of a kernel k(.param .u64 p) */
   uint32_t standing;
   const char *reason; /* begins with */
} texts[] = {
   {"ret;", 0, ""},
   {"frobnicate.u32 %r0, %r1;", RKB_MACHINE_UNKNOWN, "unsupported.frobnicate.u32"},
   {"wgmma.fence.sync.aligned;", RKB_MACHINE_REJECT, "sync.warpgroup"},
   {"wgmma.wait_group.sync.aligned 8;", RKB_MACHINE_UNKNOWN, "unsupported.wgmma.wait_group"},
   {"setmaxnreg.inc.sync.aligned.u32 %r0;", RKB_MACHINE_UNKNOWN, "unsupported.setmaxnreg"},
   {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%r0, %r0, %r0, %r0}, {%r0, %r0, %r0, %r0}, "
    "{%r0, %r0, %r0, %r0}, {%r0, %r0, %r0, %r0}, %r0, 0x0;",
    RKB_MACHINE_UNKNOWN, "unsupported.mma.sp::ordered_metadata"},
   {"mma.sync.aligned.m16n8k12.row.col.f32.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0};", RKB_MACHINE_UNKNOWN,
    "unsupported.mma.sync"},
   {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0, %r0, %r0}, {%r0, %r0}, {%r0}, {%r0, %r0, %r0, %r0};",
    RKB_MACHINE_UNKNOWN, "unsupported.mma.sync"},
   {"mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32 {%r0, %r0, %r0, %r0}, {%r0, %r0}, {%r0}, {%r0, %r0, %r0, %r0};",
    RKB_MACHINE_UNKNOWN, "unsupported.mma.sync"},
   {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r0];", RKB_MACHINE_UNKNOWN,
    "unsupported.ldmatrix"},
   {"mov.u32 %r0, %envreg2;", 0, ""},
   {"mov.u32 %r0, %envreg3;", RKB_MACHINE_UNKNOWN, "unsupported.ptx"},
   {"tex.1d.v4.f32.s32 {%r0, %r0, %r0, %r0}, [%d0, {%r0}];", RKB_MACHINE_UNKNOWN, "unsupported.tex.1d"},
   {"call (%r0), %d0, (%r0);", RKB_MACHINE_UNKNOWN, "unsupported.function_pointer"},
   {"ret; } .func f() { ret; } .global .align 8 .u64 table[2] = {0, f}; .visible .entry l() { ret;",
    RKB_MACHINE_UNKNOWN, "unsupported.function_pointer"},
   {"ret; } .func f(); .global .align 8 .u64 table[1] = {generic(f)}; .visible .entry l() { ret;",
    RKB_MACHINE_UNKNOWN, "unsupported.function_pointer"},
   {"ret; } .global .align 8 .u64 table[1] = {k}; .visible .entry l() { ret;", RKB_MACHINE_UNKNOWN,
    "unsupported.function_pointer"},
   {"ret; } .global .align 8 .u64 table[1] = {unheard}; .visible .entry l() { ret;", RKB_MACHINE_UNKNOWN,
    "unsupported.ptx"},
   {"createpolicy.fractional.L2::evict_first.b64 %d0, 1.0;", RKB_MACHINE_UNKNOWN, "unsupported.createpolicy"},
   {"tcgen05.fence::before_thread_sync;", RKB_MACHINE_UNKNOWN, "unsupported.tcgen05.fence"},
   {"cp.async.wait_all;", 0, ""},
   {"cp.async.wait_group 3;", 0, ""},
   {"cp.async.wait_group %r0;", RKB_MACHINE_UNKNOWN, "unsupported.cp.async.wait_group"},
   {"cp.async.cg.shared.global [%r0], [%d0], 8;", RKB_MACHINE_UNKNOWN, "unsupported.cp.async.cg"},
   {"cp.async.ca.shared.global [%r0], [%d0], 12;", RKB_MACHINE_UNKNOWN, "unsupported.cp.async.ca"},
   {"cp.async.mbarrier.arrive.noinc.shared.b64 [%r0];", RKB_MACHINE_REJECT, "memory.uninitialised"},
   {"mbarrier.frobnicate.shared.b64 [%r0];", RKB_MACHINE_UNKNOWN, "unsupported.mbarrier.frobnicate"},
   {"mbarrier.init.shared.b64 [%r0];", RKB_MACHINE_UNKNOWN, "unsupported.mbarrier.init"},
   {"mbarrier.try_wait.parity.shared.b64 %p0, [%r0];", RKB_MACHINE_UNKNOWN, "unsupported.mbarrier.try_wait"},
   {"mbarrier.arrive.expect_tx.shared.b64 _, [%r0];", RKB_MACHINE_UNKNOWN, "unsupported.mbarrier.arrive"},
   {"barrier.cluster.arrive; barrier.cluster.wait;", 0, ""},
   {"barrier.cluster.wait;", RKB_MACHINE_REJECT, "sync.barrier"},
   {"barrier.cluster.arrive; barrier.cluster.arrive;", RKB_MACHINE_REJECT, "sync.barrier"},
   {"mapa.shared::cluster.u32 %r0, %r1, 3;", RKB_MACHINE_REJECT, "sync.cluster"},
   {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d0], [%r0];", RKB_MACHINE_UNKNOWN,
    "unsupported.a_tensor_without_coordinates"},
   {"mov.u64 %d0, 0; mov.u32 %r0, 0; cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%d0, {%r0}], [%r0];",
    RKB_MACHINE_REJECT, "plan.argument"},
   {"ld.global.u32 %r0, [%d0, {%r0}];", RKB_MACHINE_UNKNOWN, "unsupported."},
   {"fence.proxy.alias;", RKB_MACHINE_UNKNOWN, "unsupported.fence.proxy.alias"},
   {"fence.proxy.async.shared::cta; fence.mbarrier_init.release.cluster;", 0, ""},
   {"cp.async.bulk.prefetch.L2.global [%d0], 16;", 0, ""},
   {"cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;", 0, ""},
   {"cp.async.bulk.wait_group %r0;", RKB_MACHINE_UNKNOWN, "unsupported.cp.async.bulk.wait_group"},
   {"cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r0];", RKB_MACHINE_UNKNOWN,
    "unsupported.cp.async.bulk"},
   {"cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r0], 16;", RKB_MACHINE_REJECT,
    "memory.uninitialised"},
   {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.b8 [%d0], [%r0], 16;", RKB_MACHINE_UNKNOWN,
    "unsupported.cp.reduce.async.bulk"},
   {"wgmma.mma_async.sync.aligned.m64n8k16.f32.tf32.tf32 {%r0, %r0, %r0, %r0}, %d0, %d0, %p0, 1, 1;",
    RKB_MACHINE_UNKNOWN, "unsupported.wgmma.mma_async"},
   {"wgmma.mma_async.sync.aligned.m64n12k8.f32.tf32.tf32 {%r0, %r0, %r0, %r0}, %d0, %d0, %p0, 1, 1;",
    RKB_MACHINE_UNKNOWN, "unsupported.wgmma.mma_async"},
   {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0, %r0, %r0}, %d0, %d0, %p0, 1, 1;",
    RKB_MACHINE_UNKNOWN, "unsupported.wgmma.mma_async"},
   {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0, %r0, %r0, %r0}, %d0, %d0, %p0, 1, 2;",
    RKB_MACHINE_UNKNOWN, "unsupported.wgmma.mma_async"},
   {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0, %r0, %r0, %r0}, %d0, %d0, %p0, 1, 1, 0, 0;",
    RKB_MACHINE_UNKNOWN, "unsupported.wgmma.mma_async"},
   {"wgmma.mma_async.sync.aligned.m64n8k16.s32.f16.f16 {%r0, %r0, %r0, %r0}, %d0, %d0, %p0;",
    RKB_MACHINE_UNKNOWN, "unsupported.wgmma.mma_async"},
   {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r0, %r0, %r0, %r0}, %d0, %d0, %r0, 0, %p0, 1, 1, 0, 0;",
    RKB_MACHINE_UNKNOWN, "unsupported.wgmma.mma_async.sp"},
   {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0, %r0, %r0, %r0}, %d0, %d0, %p0, 1, 1;",
    RKB_MACHINE_REJECT, "memory.uninitialised"},
   {"add.s32 %r0, %r1, %d0;", RKB_MACHINE_UNKNOWN, "unsupported.an_operand"},
   {"add.s32 %r0, %r1, %unheard;", RKB_MACHINE_UNKNOWN, "unsupported.ptx"},
   {"bra nowhere;", RKB_MACHINE_UNKNOWN, "unsupported.ptx"},
   {"} }", RKB_MACHINE_UNKNOWN, "unsupported.ptx"},
   {"trap;", RKB_MACHINE_REJECT, "plan.trap"},
   {"setp.eq.u32 %p0, %r0, 0; @%p0 bra L; L: ret;", RKB_MACHINE_REJECT, "memory.uninitialised"},
   {"ld.global.u32 %r0, [%d0];", RKB_MACHINE_REJECT, "memory.uninitialised"},
   {"mov.u64 %d0, 16; ld.global.u32 %r0, [%d0];", RKB_MACHINE_REJECT, "memory.out_of_bounds"},
   {"mov.u32 %r0, 4; ld.shared.u32 %r1, [%r0];", RKB_MACHINE_REJECT, "memory.out_of_bounds"},
   {"L: bra L;", RKB_MACHINE_REJECT, "sync.deadlock"},
   {"mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 7; @%p0 bra L; bar.sync 0; L: bar.sync 1;",
    RKB_MACHINE_REJECT, "sync.barrier"},
   /* What nothing reaches leads, by a second block of its own, to where the rest goes on. */
   {"bra J; setp.eq.u32 %p0, 1, 1; @%p0 bra D; mov.u32 %r1, 1; D: mov.u32 %r1, 2; J: ret;", 0, ""},
   {"mov.u32 %r0, 3; L: sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L; bra J; @%p0 bra D; mov.u32 %r1, 1; "
    "D: bra L; J: ret;",
    0, ""},
   {"bar.sync 1, 64;", RKB_MACHINE_REJECT, "sync."},
   {"bar.sync 16;", RKB_MACHINE_REJECT, "sync.barrier"},
   {"{ .reg .u32 %r0; mov.u32 %r0, 1; { .reg .u32 %inner; mov.u32 %inner, %r0; } }", 0, ""},
};

static void judge(const char *body, uint32_t standing, const char *reason) {
   char text[1024];
   snprintf(
      text, sizeof text,
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<4>; "
      ".reg .b32 %%r<4>; .reg .b64 %%d<4>;\n%s\n}\n",
      body);
   float data[8] = {0};
   rkb_plan_buffer_t buffer = {
      .name = "x", .role = RKB_INOUT, .alignment = 256, .bytes = sizeof data, .elements = 8};
   rkb_plan_argument_t argument = {.buffer = 0, .bytes = 8};
   rkb_plan_launch_t launch = {.entry = "k",
                               .grid = {1, 1, 1},
                               .block = {32, 1, 1},
                               .cluster = {1, 1, 1},
                               .argument_count = 1,
                               .arguments = &argument};
   rkb_plan_t plan = {
      .version = 1, .buffer_count = 1, .launch_count = 1, .buffers = &buffer, .launches = &launch};
   rkb_machine_buffer_t buffers = {data, true};
   rkb_machine_options_t options = {.checks = RKB_MACHINE_RACES | RKB_MACHINE_TAINT | RKB_MACHINE_SHADOW,
                                    .hang_limit = 10000};
   rkb_machine_module_t *module = rkb_machine_module_read(text, strlen(text));
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report = {0};
   rkb_error_t err;
   assert_int_equal(rkb_machine_open(module, &plan, &options, &machine, &err), RKB_OK);
   assert_int_equal(rkb_machine_run(machine, &buffers, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   uint32_t found = report.finding_count ? report.findings[0].standing : 0;
   const char *why = report.finding_count ? report.findings[0].reason : "";
   if (found != standing || strncmp(why, reason, strlen(reason)) != 0)
      fail_msg("'%s' gave %u '%s', wanted %u '%s'", body, found, why, standing, reason);
   assert_int_equal(report.complete, found == 0);
   rkb_machine_close(machine);
   rkb_machine_module_free(module);
}

static void texts_are_refused_by_name(void **state) {
   (void)state;
   for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++)
      judge(texts[n].body, texts[n].standing, texts[n].reason);
}

/* An opcode without operands, or with only a register, is refused: code that was decoded only in part has no
 * end and must not run. */
static void operands_may_lack(void **state) {
   (void)state;
   static const char opcodes[] =
      "setp.ge.s32 setp.ge.and.s32 set.eq.u32.u32 ld.global.u32 ld.global.v2.u32 st.global.u32 ld.param.u64 st.shared.v4.f32 "
      "mov.u32 mov.b64 add.s32 add.f64 add.cc.u32 mad.lo.s32 mul.wide.s32 cvt.f32.s32 cvt.rn.f16x2.f32 shfl.sync.idx.b32 "
      "vote.sync.any.pred match.any.sync.b32 match.all.sync.b32 redux.sync.add.s32 bar.red.popc.u32 atom.global.add.u32 "
      "atom.shared.cas.b32 red.global.add.f32 selp.u32 slct.s32.s32 prmt.b32 lop3.b32 bfe.u32 bfi.b32 shf.l.wrap.b32 "
      "dp4a.u32.u32 brx.idx cvta.to.global.u64 isspacep.global testp.notanumber.f32 fma.rn.f32 sqrt.rn.f32 "
      "rcp.approx.ftz.f32 copysign.f32 popc.b32 min.s32 and.pred not.pred fma.rn.f16x2 ex2.approx.f16 "
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 movmatrix.sync.aligned.m8n8.trans.b16 "
      "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 wmma.store.d.sync.aligned.row.m16n16k16.global.f32 "
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 wmma.load mma wmma "
      "| bra call bar.sync barrier.sync bar.warp.sync activemask.b32 ";
   bool register_too = true; /* behind the bar are those that may take one operand */
   for (const char *at = opcodes; *at; at += strcspn(at, " ") + 1) {
      char body[160];
      const int length = (int)strcspn(at, " ");
      if (*at == '|') {
         register_too = false;
         continue;
      }
      snprintf(body, sizeof body, "%.*s;", length, at);
      judge(body, RKB_MACHINE_UNKNOWN, "unsupported.");
      snprintf(body, sizeof body, "%.*s %%r0;", length, at);
      if (register_too)
         judge(body, RKB_MACHINE_UNKNOWN, "unsupported.");
   }
}

static void budgets_hold(void **state) {
   (void)state;
   const char *text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nL: bra L;\n}\n";
   rkb_plan_launch_t launch = {.entry = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
   rkb_plan_t plan = {.version = 1, .launch_count = 1, .launches = &launch};
   rkb_machine_options_t options = {.thread_instructions = 5000};
   rkb_machine_module_t *module = rkb_machine_module_read(text, strlen(text));
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report = {0};
   rkb_error_t err;
   assert_int_equal(rkb_machine_open(module, &plan, &options, &machine, &err), RKB_OK);
   assert_int_equal(rkb_machine_run(machine, NULL, &err), RKB_OK);
   rkb_machine_report(machine, &report);
   assert_int_equal(report.finding_count, 1);
   assert_string_equal(report.findings[0].reason, "limit.budget");
   assert_true(report.thread_instructions <= 5000 + 32);
   rkb_machine_close(machine);
   rkb_machine_module_free(module);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_refused_by_name),
                                      cmocka_unit_test(operands_may_lack), cmocka_unit_test(budgets_hold)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
