/* Device functions that the code of kernels calls, except those of fragments.c: constant texts. */
#include "generator/kernel/helper_text.h"

#include <stdio.h>
#include <string.h>
#include "generator/text/fragments.h"
#include "generator/text/launch_text.h"
#include "generator/graph/map_text.h"

static const char row_helpers[] =
   "/* Adds what the threads of a row have, in a fixed order; every thread gets the result. */\n"
   "template <int threads> __device__ float row_sum(float part) {\n"
   "   for (int distance = 16; distance > 0; distance /= 2)\n"
   "      part += __shfl_xor_sync(0xffffffffu, part, distance);\n"
   "   if constexpr (threads > 32) {\n"
   "      __shared__ float parts[threads / 32];\n"
   "      __syncthreads(); /* what an earlier call left has been read */\n"
   "      if (threadIdx.x % 32 == 0)\n"
   "         parts[threadIdx.x / 32] = part;\n"
   "      __syncthreads();\n"
   "      part = parts[0];\n"
   "      for (int warp = 1; warp < threads / 32; warp++)\n"
   "         part += parts[warp];\n"
   "   }\n"
   "   return part;\n"
   "}\n\n";
static const char row_sums_helper[] =
   "/* The same of two sums, for which the threads wait once. */\n"
   "template <int threads> __device__ void row_sums(float &one, float &two) {\n"
   "   for (int distance = 16; distance > 0; distance /= 2) {\n"
   "      one += __shfl_xor_sync(0xffffffffu, one, distance);\n"
   "      two += __shfl_xor_sync(0xffffffffu, two, distance);\n"
   "   }\n"
   "   if constexpr (threads > 32) {\n"
   "      __shared__ float2 parts[threads / 32];\n"
   "      __syncthreads(); /* what an earlier call left has been read */\n"
   "      if (threadIdx.x % 32 == 0)\n"
   "         parts[threadIdx.x / 32] = make_float2(one, two);\n"
   "      __syncthreads();\n"
   "      one = parts[0].x;\n"
   "      two = parts[0].y;\n"
   "      for (int warp = 1; warp < threads / 32; warp++) {\n"
   "         one += parts[warp].x;\n"
   "         two += parts[warp].y;\n"
   "      }\n"
   "   }\n"
   "}\n\n";
/* The blocks of a cluster are neighbours in the grid (PTX ISA 9.0, 9.7.13.4 barrier.cluster, 9.7.9.22 mapa). */
static const char cluster_wait_helper[] =
   "/* All threads of a cluster wait for each other. */\n"
   "__device__ __forceinline__ void cluster_wait() {\n"
   "   asm volatile(\"barrier.cluster.arrive.release.aligned;\\n\"\n"
   "                \"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");\n"
   "}\n\n"
   "/* Stores a value into the same variable of another block of the cluster. */\n"
   "__device__ __forceinline__ void cluster_store(float *variable, unsigned block, float value) {\n"
   "   unsigned there;\n"
   "   asm(\"mapa.shared::cluster.u32 %0, %1, %2;\" : \"=r\"(there) : \"r\"((unsigned)__cvta_generic_to_shared(variable)), \"r\"(block));\n"
   "   asm volatile(\"st.shared::cluster.f32 [%0], %1;\" ::\"r\"(there), \"f\"(value) : \"memory\");\n"
   "}\n\n";
static const char cluster_helpers[] =
   "/* Adds what the blocks of a cluster have, in a fixed order; every thread gets the result. */\n"
   "template <int blocks> __device__ float cluster_sum(float part) {\n"
   "   __shared__ float parts[blocks];\n"
   "   cluster_wait(); /* the other blocks have begun, and have read what an earlier call left */\n"
   "   if (threadIdx.x < blocks)\n"
   "      cluster_store(parts + blockIdx.x % blocks, threadIdx.x, part);\n"
   "   cluster_wait();\n"
   "   part = parts[0];\n"
   "   for (int block = 1; block < blocks; block++)\n"
   "      part += parts[block];\n"
   "   return part;\n"
   "}\n\n";
static const char cluster_moments_helper[] =
   "/* Joins what the blocks of a cluster have, in a fixed order; every thread gets the result. */\n"
   "template <int blocks> __device__ void cluster_moments(float &mean, float &squares, float &count) {\n"
   "   __shared__ float parts[3][blocks];\n"
   "   cluster_wait(); /* the other blocks have begun, and have read what an earlier call left */\n"
   "   if (threadIdx.x < blocks) {\n"
   "      cluster_store(parts[0] + blockIdx.x % blocks, threadIdx.x, mean);\n"
   "      cluster_store(parts[1] + blockIdx.x % blocks, threadIdx.x, squares);\n"
   "      cluster_store(parts[2] + blockIdx.x % blocks, threadIdx.x, count);\n"
   "   }\n"
   "   cluster_wait();\n"
   "   mean = parts[0][0];\n"
   "   squares = parts[1][0];\n"
   "   count = parts[2][0];\n"
   "   for (int block = 1; block < blocks; block++)\n"
   "      moments_join(mean, squares, count, parts[0][block], parts[1][block], parts[2][block]);\n"
   "}\n\n";
static const char powers_helpers[] =
   "/* Says to the other blocks of the cluster that this one has begun.  They wait for it before they store to its shared memory. */\n"
   "__device__ __forceinline__ void cluster_begins() {\n"
   "   asm volatile(\"barrier.cluster.arrive.release.aligned;\" ::: \"memory\");\n"
   "}\n\n"
   "/* What a power below one number is multiplied by to lie below another one, which is not less.  Nothing lies below -infinity. */\n"
   "__device__ __forceinline__ float power_below(float one, float other) {\n"
   "   return power_of_two((one - (other == -INFINITY ? 0.0f : other)) * 1.44269504f);\n"
   "}\n\n"
   "/* Joins the largest elements that the threads of a row have, and the sums of powers below each, in a fixed order; every thread gets the\n"
   " * result.  The cluster waits between two calls. */\n"
   "template <int threads> __device__ void row_powers(float &largest, float &sum) {\n"
   "   const float own = largest;\n"
   "   for (int distance = 16; distance > 0; distance /= 2)\n"
   "      largest = larger(largest, __shfl_xor_sync(0xffffffffu, largest, distance));\n"
   "   sum *= power_below(own, largest);\n"
   "   for (int distance = 16; distance > 0; distance /= 2)\n"
   "      sum += __shfl_xor_sync(0xffffffffu, sum, distance);\n"
   "   if constexpr (threads > 32) {\n"
   "      __shared__ float2 parts[threads / 32];\n"
   "      if (threadIdx.x % 32 == 0)\n"
   "         parts[threadIdx.x / 32] = make_float2(largest, sum);\n"
   "      __syncthreads();\n"
   "      largest = parts[0].x;\n"
   "      for (int warp = 1; warp < threads / 32; warp++)\n"
   "         largest = larger(largest, parts[warp].x);\n"
   "      sum = 0.0f;\n"
   "      for (int warp = 0; warp < threads / 32; warp++)\n"
   "         sum += parts[warp].y * power_below(parts[warp].x, largest);\n"
   "   }\n"
   "}\n\n"
   "/* The same of what the blocks of a cluster have, which have called cluster_begins.  first: of the first row; turn: of rows one after the\n"
   " * other it is 0 and 1 in turns, so that nobody waits until what an earlier call left has been read. */\n"
   "template <int blocks> __device__ void cluster_powers(float &largest, float &sum, bool first = true, int turn = 0) {\n"
   "   __shared__ float largest_parts[2][blocks], sum_parts[2][blocks];\n"
   "   if (first)\n"
   "      asm volatile(\"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");\n"
   "   if (threadIdx.x < blocks) {\n"
   "      cluster_store(largest_parts[turn] + blockIdx.x % blocks, threadIdx.x, largest);\n"
   "      cluster_store(sum_parts[turn] + blockIdx.x % blocks, threadIdx.x, sum);\n"
   "   }\n"
   "   cluster_wait();\n"
   "   largest = largest_parts[turn][0];\n"
   "   for (int block = 1; block < blocks; block++)\n"
   "      largest = larger(largest, largest_parts[turn][block]);\n"
   "   sum = 0.0f;\n"
   "   for (int block = 0; block < blocks; block++)\n"
   "      sum += sum_parts[turn][block] * power_below(largest_parts[turn][block], largest);\n"
   "}\n\n";
static const char pair_helpers[] =
   "/* The larger elements of two pairs, NaN where either is. */\n"
   "__device__ __forceinline__ unsigned larger_pair(unsigned a, const __nv_bfloat16 *b) {\n"
   "   unsigned c;\n"
   "   asm(\"max.NaN.bf16x2 %0, %1, %2;\" : \"=r\"(c) : \"r\"(a), \"r\"(*(const unsigned *)b));\n"
   "   return c;\n"
   "}\n\n"
   "__device__ __forceinline__ float larger_of_pair(unsigned pair) {\n"
   "   return larger(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));\n"
   "}\n\n";
static const char column_helpers[] =
   "/* Adds what the groups of 32 threads have for each column; the first group gets the result. */\n"
   "template <int groups> __device__ float column_sum(float part) {\n"
   "   __shared__ float parts[groups][32];\n"
   "   __syncthreads(); /* what an earlier call left has been read */\n"
   "   parts[threadIdx.x / 32][threadIdx.x % 32] = part;\n"
   "   __syncthreads();\n"
   "   part = parts[0][threadIdx.x % 32];\n"
   "   for (int group = 1; group < groups; group++)\n"
   "      part += parts[group][threadIdx.x % 32];\n"
   "   return part;\n"
   "}\n\n";

/* Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979). */
static const char moments_helpers[] =
   "/* Joins the count, mean and squares around the mean of two sets. */\n"
   "__device__ __forceinline__ void moments_join(float &mean, float &squares, float &count, float mean_2, float squares_2, float count_2) {\n"
   "   const float all = count + count_2, away = mean_2 - mean, share = __fdividef(count_2, fmaxf(all, 1.0f));\n"
   "   mean += away * share;\n"
   "   squares += squares_2 + away * away * (count * share);\n"
   "   count = all;\n"
   "}\n\n"
   "/* Adds a few terms. */\n"
   "template <int terms> __device__ __forceinline__ void moments_add(float &mean, float &squares, float &count, const float (&term)[terms]) {\n"
   "   float own = 0.0f, around = 0.0f;\n"
   "   for (int i = 0; i < terms; i++)\n"
   "      own += term[i] * (1.0f / terms);\n"
   "   for (int i = 0; i < terms; i++)\n"
   "      around += (term[i] - own) * (term[i] - own);\n"
   "   moments_join(mean, squares, count, own, around, terms);\n"
   "}\n\n"
   "/* Joins what the lanes of a warp have.  Two lanes join in different orders: the first one's bits count. */\n"
   "__device__ __forceinline__ void warp_moments(float &mean, float &squares, float &count) {\n"
   "   for (int distance = 16; distance > 0; distance /= 2) {\n"
   "      const float mean_2 = __shfl_xor_sync(0xffffffffu, mean, distance), squares_2 = __shfl_xor_sync(0xffffffffu, squares, distance),\n"
   "                  count_2 = __shfl_xor_sync(0xffffffffu, count, distance);\n"
   "      moments_join(mean, squares, count, mean_2, squares_2, count_2);\n"
   "   }\n"
   "   mean = __shfl_sync(0xffffffffu, mean, 0);\n"
   "   squares = __shfl_sync(0xffffffffu, squares, 0);\n"
   "}\n\n"
   "/* Joins what the threads of a row have, in a fixed order; every thread gets the result. */\n"
   "template <int threads> __device__ void row_moments(float &mean, float &squares, float &count) {\n"
   "   warp_moments(mean, squares, count);\n"
   "   if constexpr (threads > 32) {\n"
   "      __shared__ float parts[3][threads / 32];\n"
   "      const int lane = threadIdx.x % 32;\n"
   "      __syncthreads(); /* what an earlier call left has been read */\n"
   "      if (lane == 0) {\n"
   "         parts[0][threadIdx.x / 32] = mean;\n"
   "         parts[1][threadIdx.x / 32] = squares;\n"
   "         parts[2][threadIdx.x / 32] = count;\n"
   "      }\n"
   "      __syncthreads();\n"
   "      mean = lane < threads / 32 ? parts[0][lane] : 0.0f;\n"
   "      squares = lane < threads / 32 ? parts[1][lane] : 0.0f;\n"
   "      count = lane < threads / 32 ? parts[2][lane] : 0.0f;\n"
   "      warp_moments(mean, squares, count);\n"
   "   }\n"
   "}\n\n";

static const char before_helper[] =
   "/* The %s of what the threads before have, in a fixed order; whole gets that of all. */\n"
   "template <int threads> __device__ float %s_before(float part, float &whole) {\n"
   "   __shared__ float ends[threads / 32];\n"
   "   const int lane = threadIdx.x %% 32, warp = threadIdx.x / 32;\n"
   "   for (int distance = 1; distance < 32; distance *= 2) {\n"
   "      const float other = __shfl_up_sync(0xffffffffu, part, distance);\n"
   "      part = lane >= distance ? other %c part : part;\n"
   "   }\n"
   "   __syncthreads(); /* what an earlier call left has been read */\n"
   "   if (lane == 31)\n"
   "      ends[warp] = part;\n"
   "   __syncthreads();\n"
   "   float before = %s;\n"
   "   whole = %s;\n"
   "   for (int i = 0; i < threads / 32; i++) {\n"
   "      before = i == warp ? whole : before;\n"
   "      whole %c= ends[i];\n"
   "   }\n"
   "   const float left = __shfl_up_sync(0xffffffffu, part, 1);\n"
   "   return lane == 0 ? before : before %c left;\n"
   "}\n\n";

static void add_before(const char *code, const char *word, char sign, const char *nothing, rkb_text_t *out) {
   char name[24];
   snprintf(name, sizeof name, " %s_before<", word);
   if (strstr(code, name))
      rkb_text_format(out, before_helper, word, word, sign, nothing, nothing, sign, sign);
}

/* Appends the helper for sums, or a copy of it for the largest or the smallest element. */
static void add_reduction(rkb_text_t *out, const char *helper, const char *word, const char *function) {
   for (const char *c = helper; *c;) {
      if (function && strncmp(c, "_sum(", 5) == 0) {
         rkb_text_format(out, "_%s(", word);
         c += 5;
      } else if (function && strncmp(c, "Adds what", 9) == 0) {
         rkb_text_format(out, "Finds the %s of what", word);
         c += 9;
      } else if (function && strncmp(c, "part += ", 8) == 0) {
         const char *end = strchr(c, ';');
         rkb_text_format(out, "part = %s(part, %.*s)", function, (int)(end - c - 8), c + 8);
         c = end;
      } else
         rkb_text_append(out, c++, 1);
   }
}

/* Appends a maximum or minimum as PyTorch defines it: of NaN and a number it is NaN.  fmaxf gives the
 * number. */
static void add_extremum(const char *code, const char *name, const char *word, const char *opcode, rkb_text_t *out) {
   char call[24], nested[24], reduction[24];
   snprintf(call, sizeof call, " %s(", name);
   snprintf(nested, sizeof nested, "(%s(", name);
   snprintf(reduction, sizeof reduction, "_%s<", word);
   if (strstr(code, call) || strstr(code, nested) || strstr(code, reduction))
      rkb_text_format(out,
                      "/* NaN where either is. */\n__device__ __forceinline__ float %s(float a, float b) {\n   float c;\n"
                      "   asm(\"%s.NaN.f32 %%0, %%1, %%2;\" : \"=f\"(c) : \"f\"(a), \"f\"(b));\n   return c;\n}\n\n",
                      name, opcode);
}

void rkb_helpers_add(const char *code, rkb_text_t *out) {
   static const char *const words[] = {"sum", "largest", "smallest"}, *const functions[] = {NULL, "larger",
                                                                                            "smaller"};
   add_extremum(code, "larger", "largest", "max", out);
   add_extremum(code, "smaller", "smallest", "min", out);
   if (strstr(code, "Pack<") || strstr(code, "split_turned"))
      rkb_text_add(
         out,
         "/* Neighbouring elements, moved by one access. */\ntemplate <int count, typename type = float> struct alignas(sizeof(type) * count) Pack {\n   type at[count];\n};\n\n");
   if (strstr(code, "cluster_"))
      rkb_text_add(out, cluster_wait_helper);
   for (uint32_t w = 0; w < 3; w++) {
      char name[32];
      snprintf(name, sizeof name, "row_%s<", words[w]);
      if (strstr(code, name))
         add_reduction(out, row_helpers, words[w], functions[w]);
      snprintf(name, sizeof name, "cluster_%s<", words[w]);
      if (strstr(code, name))
         add_reduction(out, cluster_helpers, words[w], functions[w]);
      snprintf(name, sizeof name, "column_%s<", words[w]);
      if (strstr(code, name))
         add_reduction(out, column_helpers, words[w], functions[w]);
   }
   if (strstr(code, "larger_pair("))
      rkb_text_add(out, pair_helpers);
   if (strstr(code, "row_sums<"))
      rkb_text_add(out, row_sums_helper);
   if (strstr(code, "moments_"))
      rkb_text_add(out, moments_helpers);
   if (strstr(code, "cluster_moments<"))
      rkb_text_add(out, cluster_moments_helper);
   rkb_rank_helpers(code, out);
   rkb_rank_kept_helpers(code, out);
   rkb_recurrence_helpers(code, out);
   add_before(code, "sum", '+', "0.0f", out);
   add_before(code, "product", '*', "1.0f", out);
   rkb_fragment_helpers(code, out);
   if (strstr(code, "cluster_powers<"))
      rkb_text_add(out, powers_helpers);
   for (uint32_t h = 0; rkb_helper_at(h); h++) {
      char name[32];
      snprintf(name, sizeof name, " %s(", rkb_helper_at(h)->name);
      if (strstr(code, name))
         rkb_text_format(out, "%s\n", rkb_helper_at(h)->text);
   }
}
