/* The build of the plans that tests make (plan_fixture.h). */
#include "plan_fixture.h"

#include <stdlib.h>
#include <string.h>

/* k(pointer, float, int, long long, unused 64 bits, bool), 100 registers, 2,048 bytes of shared memory, 512
 * threads at most. */
static const rkb_parameter_t parameters[] = {
   {0, 8, 8, RKB_PARAMETER_POINTER, "u64"},  {8, 4, 4, RKB_PARAMETER_NUMBER, "f32"},
   {12, 4, 4, RKB_PARAMETER_NUMBER, "u32"},  {16, 8, 8, RKB_PARAMETER_NUMBER, "u64"},
   {24, 8, 8, RKB_PARAMETER_UNKNOWN, "u64"}, {32, 1, 1, RKB_PARAMETER_NUMBER, "u8"},
   {36, 16, 4, RKB_PARAMETER_NUMBER, "b8"},  {0, 128, 64, RKB_PARAMETER_NUMBER, "b8"},
   {0, 40, 8, RKB_PARAMETER_NUMBER, "b8"}};
static const rkb_built_kernel_t kernels[] = {
   {.expression = "k",
    .entry = "_Z1k",
    .registers = 100,
    .shared_bytes = 2048,
    .max_threads = 512,
    .parameter_count = 6,
    .parameters = parameters},
   {.expression = "one", .entry = "_Z3one", .registers = 32, .parameter_count = 1, .parameters = parameters},
   {.expression = "t<64>", .entry = "_Z1t", .registers = 32, .parameter_count = 1, .parameters = parameters},
   {.expression = "heavy",
    .entry = "_Z5heavy",
    .registers = 255,
    .parameter_count = 0,
    .parameters = parameters},
   {.expression = "record",
    .entry = "_Z6record",
    .registers = 32,
    .parameter_count = 1,
    .parameters = parameters + 6},
   {.expression = "tiled",
    .entry = "_Z5tiled",
    .registers = 32,
    .parameter_count = 1,
    .parameters = parameters + 7},
   {.expression = "packed",
    .entry = "_Z6packed",
    .registers = 32,
    .parameter_count = 1,
    .parameters = parameters + 8},
   {.expression = "pair",
    .entry = "_Z4pair",
    .registers = 32,
    .parameter_count = 1,
    .parameters = parameters},
   {.expression = "bounded",
    .entry = "_Z7bounded",
    .registers = 32,
    .max_threads = 64,
    .parameter_count = 1,
    .parameters = parameters},
   {.expression = "sized",
    .entry = "_Z5sized",
    .registers = 32,
    .max_threads = 64,
    .parameter_count = 1,
    .parameters = parameters}};
static const char ptx[] = ".const .align 4 .b8 filter[64];\n"
                          ".visible .entry _Z4pair(\n\t.param .u64 .ptr .align 1 _Z4pair_param_0\n)\n"
                          ".explicitcluster\n.reqnctapercluster 2, 1, 1\n.maxntid 64\n{\n\tret;\n}\n"
                          ".visible .entry _Z7bounded(\n\t.param .u64 .ptr .align 1 _Z7bounded_param_0\n)\n"
                          ".maxntid 64, 1, 1\n.minnctapersm 1\n.maxclusterrank 2\n{\n\tret;\n}\n"
                          ".visible .entry _Z5sized(\n\t.param .u64 .ptr .align 1 _Z5sized_param_0\n)\n"
                          ".reqntid 32, 2\n{\n\tret;\n}\n";
static const rkb_build_t build = {
   .ptx = ptx, .ptx_bytes = sizeof ptx - 1, .kernel_count = 10, .kernels = kernels};

rkb_plan_t *plan_fixture_borrow(const char *manifest_text, const char *tune, fixture_case_t *of,
                                const rkb_plan_t *lender, rkb_finding_t *finding) {
   char source[4096];
   rkb_problems_t problems;
   rkb_manifest_t *manifest;
   rkb_plan_t *plan = NULL;
   rkb_error_t err = {0};
   snprintf(source, sizeof source,
            "/* rkb-kernel: 1\ntask: llama_rmsnorm\ndirection: forward\n%s*/\n"
            "__global__ void __cluster_dims__(2, 1, 1) pair(float *x);\n",
            manifest_text);
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse("plan.cu", source, strlen(source), &problems);
   if (!manifest)
      fail_msg("%s\n%u:%u: %s", source, problems.list[0].line, problems.list[0].column,
               problems.list[0].message);
   assert_int_equal(rkb_plan_make_borrowed(manifest, tune, &build, fixture_device("h200"), &of->of,
                                           fixture_lookup, of, lender, &plan, finding, &err),
                    RKB_OK);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   return plan;
}

rkb_plan_t *plan_fixture_make(const char *manifest_text, const char *tune, fixture_case_t *of,
                              rkb_finding_t *finding) {
   return plan_fixture_borrow(manifest_text, tune, of, NULL, finding);
}

const char plan_fixture_whole[] =
   "tune:\n  BLOCK: {default: 64, choices: [32, 64]}\nlet:\n  rows: B * T\nscratch:\n  partial: {dtype: "
   "float32, shape: \"rows, 2\", init: zero}\n"
   "fill: {y: 1.5}\nlaunches:\n"
   "  - {kernel: t<BLOCK>, grid: rows, block: BLOCK, args: partial, when: D > 1000}\n"
   "  - {else: , kernel: t<BLOCK>, grid: \"rows, 2\", block: BLOCK, args: partial + rows}\n"
   "  - {kernel: one, grid: rows - rows, block: 1, args: x}\n"
   "  - {kernel: k, grid: 4, cluster: 2, block: BLOCK, shared: 65536, args: \"y, eps, 0 - D, rows, null, "
   "1\"}\n";

const char plan_fixture_packed[] =
   LAUNCH("packed", "grid: 1, block: 32, args: \"struct(int8 D, x + D, int16 T, float32 eps, y, null)\"");

const char plan_fixture_mapped[] = WIDE
   "maps:\n  m: {buffer: s, offset: 256, dims: \"128, D, 1\", strides: \"256, 512 * D\", box: \"64, 8, 1\", steps: \"1, 2, 1\", "
   "swizzle: 128, fill: nan}\n" LAUNCH("tiled", "grid: 1, block: 32, args: m");

const char plan_fixture_pixels[] = WIDE
   "maps:\n  m: {buffer: s, dims: \"16, 8, 8, 8\", lower: \"0 - 1, 0 - 2\", upper: \"D - 32, 3\", channels: 16, pixels: D, "
   "steps: \"1, 2, 1, 1\", swizzle: 32}\n"
   "launches:\n  - {kernel: tiled, grid: 1, block: 32, args: m}\n"
   "  - {kernel: tiled, grid: 1, block: 32, dependent: true, args: m}\n";
