/* The operands of tensor cores, and device functions for them: constant tables. */
#include "generator/text/fragments.h"

#include <stdio.h>
#include <string.h>
#include "generator/text/warpgroup_text.h"
#include "reference/dtype.h"

/* Returns the input that a value is, seen through views and conversions that lose nothing; RKB_NO_NODE: the
 * value is computed. */
static uint32_t source_of(const rkb_graph_t *graph, uint32_t node) {
   for (;;) {
      const rkb_node_t *from = &graph->nodes[node];
      const bool widens = from->kind == RKB_NODE_MAP && from->input_count == 1 && from->dtype == RKB_F32 &&
                          (strcmp(from->operation, "convert") == 0 || strcmp(from->operation, "copy") == 0);
      if (from->kind == RKB_NODE_INPUT)
         return node;
      if (!widens && !rkb_node_is_view(from))
         return RKB_NO_NODE;
      node = from->inputs[0];
   }
}

static bool both_stored(const rkb_graph_t *graph, const rkb_node_t *node, uint32_t dtype) {
   for (uint32_t i = 0; i < 2; i++) {
      const uint32_t source = source_of(graph, node->inputs[i]);
      if (source == RKB_NO_NODE || graph->nodes[source].dtype != dtype)
         return false;
   }
   return true;
}

bool rkb_fragment_is_legal(const rkb_graph_t *graph, uint32_t product, int64_t path) {
   const rkb_node_t *node = &graph->nodes[product];
   const char *precision = graph->precision;
   if (!rkb_node_is_product(node))
      return false;
   switch (path) {
   case RKB_TENSOR_PATH_BF16: /* docs/numerics.md: both factors may be rounded to 8 bits */
      return strcmp(precision, "bf16") == 0 || strcmp(precision, "fp8") == 0;
   case RKB_TENSOR_PATH_FP16: /* 11 bits, and half's range: only where the factors are stored as half */
      return strcmp(precision, "fp16") == 0 && both_stored(graph, node, RKB_F16);
   case RKB_TENSOR_PATH_TF32X3:
   case RKB_TENSOR_PATH_FP16X3:
      return strncmp(precision, "fp32", 4) == 0 || strcmp(precision, "tf32") == 0 || strcmp(precision, "fp16") == 0;
   case RKB_TENSOR_PATH_FP8:
      return strcmp(precision, "fp8") == 0 && both_stored(graph, node, RKB_E4M3);
   case RKB_TENSOR_PATH_INT8:
      return strcmp(precision, "int8") == 0 && both_stored(graph, node, RKB_I8);
   default:
      return false;
   }
}

#define MULTIPLY(name, sum, letter, shape)                                                                   \
   {"multiply_" name,                                                                                        \
    "__device__ __forceinline__ void multiply_" name "(" sum                                                 \
    " (&sums)[4], const unsigned (&left)[4], const unsigned (&right)[2]) {\n"                                \
    "   asm(\"mma.sync.aligned." shape                                                                       \
    " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"                                   \
    "       : \"+" letter "\"(sums[0]), \"+" letter "\"(sums[1]), \"+" letter "\"(sums[2]), \"+" letter      \
    "\"(sums[3])\n"                                                                                          \
    "       : \"r\"(left[0]), \"r\"(left[1]), \"r\"(left[2]), \"r\"(left[3]), \"r\"(right[0]), "             \
    "\"r\"(right[1]));\n}\n"}

#define LOAD(name, comment, modifier)                                                                        \
   {"load_" name, comment "__device__ __forceinline__ void load_" name                                       \
                          "(unsigned *to, const void *row) {\n"                                              \
                          "   asm volatile(\"ldmatrix.sync.aligned.m8n8.x4" modifier                         \
                          ".shared.b16 {%0, %1, %2, %3}, [%4];\"\n"                                          \
                          "                : \"=r\"(to[0]), \"=r\"(to[1]), \"=r\"(to[2]), \"=r\"(to[3])\n"   \
                          "                : \"r\"((unsigned)__cvta_generic_to_shared(row))\n"               \
                          "                : \"memory\");\n}\n"}

/* A function comes after those it calls. */
static const struct {
   const char *name, *text;
} helpers[] = {
   {"Chunk<", "/* Neighbouring bytes, moved by one access. */\n"
              "template <int bytes> struct alignas(bytes) Chunk {\n   unsigned char at[bytes];\n};\n"},
   {"swizzled<",
    "/* Where an element of a tile lies in shared memory.  Chunks of 16 bytes trade places within their row, so that eight rows at one\n"
    " * column lie in different banks. */\n"
    "template <int columns, int bytes> __device__ __forceinline__ int swizzled(int row, int column) {\n"
    "   constexpr int chunk = 16 / bytes, chunks = columns / chunk, rows = chunks < 8 ? 8 / chunks : 1;\n"
    "   return row * columns + (column / chunk ^ row / rows % (chunks < 8 ? chunks : 8)) * chunk + column % chunk;\n}\n"},
   {"copy_async<",
    "/* Copies to shared memory while the thread goes on; zeros where nothing is wanted, and then memory is not read. */\n"
    "template <int bytes> __device__ __forceinline__ void copy_async(void *to, const void *from, bool wanted) {\n"
    "   const unsigned at = (unsigned)__cvta_generic_to_shared(to);\n"
    "   if (bytes == 16)\n"
    "      asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\" : : \"r\"(at), \"l\"(__cvta_generic_to_global(from)),\n"
    "                   \"r\"(wanted ? 16 : 0) : \"memory\");\n"
    "   else\n"
    "      asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2, %3;\" : : \"r\"(at), \"l\"(__cvta_generic_to_global(from)),\n"
    "                   \"n\"(bytes), \"r\"(wanted ? bytes : 0) : \"memory\");\n}\n"},
   {"copies_begun(", "/* Ends a group of copies. */\n"
                     "__device__ __forceinline__ void copies_begun() {\n"
                     "   asm volatile(\"cp.async.commit_group;\" : : : \"memory\");\n}\n"},
   {"copies_done<", "/* Waits until no more than so many groups of this thread's copies are under way. */\n"
                    "template <int groups> __device__ __forceinline__ void copies_done() {\n"
                    "   asm volatile(\"cp.async.wait_group %0;\" : : \"n\"(groups) : \"memory\");\n}\n"},
   LOAD("rows",
        "/* Loads four squares of 8 rows of 16 bytes; lane l points to row l % 8 of square l / 8. */\n", ""),
   LOAD("rows_turned", "/* The same, each square of 8 x 8 elements transposed. */\n", ".trans"),
   {"split_tf32",
    "/* A float as a sum of two numbers of 11 bits, both rounded: what tensor cores take. */\n"
    "__device__ __forceinline__ void split_tf32(unsigned &high, unsigned &low) {\n"
    "   const float x = __uint_as_float(high);\n"
    "   asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(high) : \"f\"(x));\n"
    "   asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(low) : \"f\"(x - __uint_as_float(high)));\n}\n"},
   {"look_at(",
    "/* Keeps the smallest number that is not zero, as bits without its sign, and the largest number. */\n"
    "__device__ __forceinline__ void look_at(float4 x, unsigned &least, float &most) {\n"
    "   least = min(least, min(__float_as_uint(x.x) * 2 - 1, __float_as_uint(x.y) * 2 - 1));\n"
    "   least = min(least, min(__float_as_uint(x.z) * 2 - 1, __float_as_uint(x.w) * 2 - 1));\n"
    "   most = fmaxf(most, fmaxf(fmaxf(fabsf(x.x), fabsf(x.y)), fmaxf(fabsf(x.z), fabsf(x.w))));\n}\n"},
   {"split_half(",
    "/* Two floats, times 2^8, as sums of two halves each: high + low / 2^11.  Subtracting a half from its float is exact. */\n"
    "__device__ __forceinline__ void split_half(unsigned &high, unsigned &low, float x, float y) {\n"
    "   float high_x, high_y;\n"
    "   asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(high) : \"f\"(y * 0x1p8f), \"f\"(x * 0x1p8f));\n"
    "   asm(\"{ .reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b; }\" : \"=f\"(high_x), \"=f\"(high_y) : \"r\"(high));\n"
    "   asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(low) : \"f\"(fmaf(high_y, -0x1p11f, y * 0x1p19f)), \"f\"(fmaf(high_x, -0x1p11f, x * 0x1p19f)));\n}\n"},
   {"not_of_halves(",
    "/* Whether halves hold less of a number than two numbers of 11 bits: one below 2^-20 (from there on low loses bits below the least\n"
    " * half) or above 65504 / 2^8.  A NaN is one in halves too. */\n"
    "__device__ __forceinline__ bool not_of_halves(unsigned least, float most) {\n"
    "   return least < __float_as_uint(0x1p-20f) * 2 - 1 || most > 65504 * 0x1p-8f;\n}\n"},
   {"split_turned(",
    "/* A warp splits 32 x 32 floats and turns them over where they lie: rows become columns.  A row's pieces of 16 bytes are exchanged by\n"
    " * the row, before and after.  No eight lanes meet in a bank. */\n"
    "__device__ __forceinline__ void split_turned(unsigned *high, unsigned *low) {\n"
    "   const int lane = threadIdx.x % 32, across = lane % 8;\n"
    "   Pack<4, unsigned> squares[2][4]; /* of 4 x 4 */\n"
    "   #pragma unroll\n"
    "   for (int i = 0; i < 8; i++) {\n"
    "      const int row = (across ^ lane / 8 ^ i / 4 * 4) * 4 + i % 4;\n"
    "      squares[i / 4][i % 4] = *(const Pack<4, unsigned> *)(high + row * 32 + (across ^ row % 8) * 4);\n"
    "   }\n"
    "   __syncwarp();\n"
    "   #pragma unroll\n"
    "   for (int i = 0; i < 8; i++) {\n"
    "      const int row = across * 4 + i % 4, at = row * 32 + (across ^ lane / 8 ^ i / 4 * 4 ^ row % 8) * 4;\n"
    "      Pack<4, unsigned> rounded, rest;\n"
    "      for (int e = 0; e < 4; e++) {\n"
    "         rounded.at[e] = squares[i / 4][e].at[i % 4];\n"
    "         rest.at[e] = 0;\n"
    "         split_tf32(rounded.at[e], rest.at[e]);\n"
    "      }\n"
    "      *(Pack<4, unsigned> *)(high + at) = rounded;\n"
    "      *(Pack<4, unsigned> *)(low + at) = rest;\n"
    "   }\n}\n"},
   {"split_float",
    "/* A float as a sum of two numbers of 11 bits, the high one rounded with integers: conversions are few a clock.  A NaN may be left to the low number alone, and products have it from there. */\n"
    "__device__ __forceinline__ void split_float(unsigned &high, unsigned &low) {\n"
    "   const float x = __uint_as_float(high);\n"
    "   high = high + 0x1000u & 0xffffe000u;\n"
    "   asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(low) : \"f\"(x - __uint_as_float(high)));\n}\n"},
   {"split_turned_apart(",
    "/* A warp splits 32 x 32 floats and turns them over where they lie: rows become columns, of each eight the even ones before the odd\n"
    " * ones.  A row's pieces of 16 bytes are exchanged by the row, before and after.  No eight lanes meet in a bank. */\n"
    "__device__ __forceinline__ void split_turned_apart(unsigned *high, unsigned *low) {\n"
    "   const int lane = threadIdx.x % 32, across = lane % 8, down = (across * 2 % 8 + across / 4) ^ lane / 8;\n"
    "   Pack<4, unsigned> squares[2][4]; /* of 4 x 4 */\n"
    "   #pragma unroll\n"
    "   for (int i = 0; i < 8; i++) {\n"
    "      const int square = down ^ i / 4 * 4, row = square / 2 * 8 + i % 4 * 2 + square % 2;\n"
    "      squares[i / 4][i % 4] = *(const Pack<4, unsigned> *)(high + row * 32 + (across ^ row % 8) * 4);\n"
    "   }\n"
    "   __syncwarp();\n"
    "   #pragma unroll\n"
    "   for (int i = 0; i < 8; i++) {\n"
    "      const int row = across * 4 + i % 4, at = row * 32 + (down ^ i / 4 * 4 ^ row % 8) * 4;\n"
    "      Pack<4, unsigned> rounded, rest;\n"
    "      for (int e = 0; e < 4; e++) {\n"
    "         rounded.at[e] = squares[i / 4][e].at[i % 4];\n"
    "         rest.at[e] = 0;\n"
    "         split_float(rounded.at[e], rest.at[e]);\n"
    "      }\n"
    "      *(Pack<4, unsigned> *)(high + at) = rounded;\n"
    "      *(Pack<4, unsigned> *)(low + at) = rest;\n"
    "   }\n}\n"},
   {"pack_bf16",
    "/* Two neighbours of a fragment. */\n"
    "__device__ __forceinline__ unsigned pack_bf16(float low, float high) {\n   unsigned pair;\n"
    "   asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(pair) : \"f\"(high), \"f\"(low));\n   return pair;\n}\n"},
   {"logarithm(",
    "/* The logarithm to the base of 2 of a number that is not below 1, with an error of 2^-22 or 2^-22 of it. */\n"
    "__device__ __forceinline__ float logarithm(float x) {\n   float y;\n"
    "   asm(\"lg2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));\n   return y;\n}\n"},
   {"largest_part(",
    "/* A 128th of a largest score, rounded down so far that the exact score does not lie above it. */\n"
    "__device__ __forceinline__ float largest_part(float x) {\n   return fmaf(fabsf(x), -0x1p-23f, x) * 0x1p-7f;\n}\n"},
   {"part_below(",
    "/* How far a scaled score lies below the largest, in 128ths, from 0 to 1: e^-128 is zero in a float. */\n"
    "__device__ __forceinline__ float part_below(float x, float minus_scale_part, float largest_part) {\n   float part;\n"
    "   asm(\"fma.rn.sat.f32 %0, %1, %2, %3;\" : \"=f\"(part) : \"f\"(x), \"f\"(minus_scale_part), \"f\"(largest_part));\n"
    "   return part;\n}\n"},
   {"power_of_two",
    "/* 2^x within two units of the last place; what is below the least normal number is zero. */\n"
    "__device__ __forceinline__ float power_of_two(float x) {\n   float power;\n"
    "   asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(power) : \"f\"(x));\n   return power;\n}\n"},
   MULTIPLY("bf16", "float", "f", "m16n8k16.row.col.f32.bf16.bf16.f32"),
   MULTIPLY("fp16", "float", "f", "m16n8k16.row.col.f32.f16.f16.f32"),
   MULTIPLY("tf32", "float", "f", "m16n8k8.row.col.f32.tf32.tf32.f32"),
   MULTIPLY("fp8", "float", "f", "m16n8k32.row.col.f32.e4m3.e4m3.f32"),
   MULTIPLY("int8", "int", "r", "m16n8k32.row.col.s32.s8.s8.s32"),
};

void rkb_fragment_helpers(const char *code, rkb_text_t *out) {
   rkb_warpgroup_helpers(code, out);
   for (size_t h = 0; h < sizeof helpers / sizeof helpers[0]; h++) {
      char call[40];
      snprintf(call, sizeof call, strpbrk(helpers[h].name, "<(") ? "%s" : "%s(", helpers[h].name);
      const char *found = strstr(code, call);
      while (found && found > code && (found[-1] == '_' || (found[-1] >= 'a' && found[-1] <= 'z')))
         found = strstr(found + 1, call);
      /* A function of this list calls it. */
      const bool called = strcmp(helpers[h].name, "split_tf32") == 0 && strstr(code, "split_turned(");
      if (found || called)
         rkb_text_format(out, "%s\n", helpers[h].text);
   }
}

bool rkb_fragment_has_helper(const char *name) {
   if (rkb_warpgroup_has_helper(name))
      return true;
   for (size_t h = 0; h < sizeof helpers / sizeof helpers[0]; h++) {
      const size_t length = *helpers[h].name == *name ? strcspn(helpers[h].name, "<(") : 0;
      if (length && strncmp(helpers[h].name, name, length) == 0 && !name[length])
         return true;
   }
   return false;
}
