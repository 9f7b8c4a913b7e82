/* Kernels with unjustified assumptions: about the order of blocks, a device on which nothing ran before, the
 * size of a value, a grid or a dim, the threads at a barrier, and the absence of NaN.  Stateless; any thread. */
#include <inttypes.h>
#include <string.h>
#include "tools/faults/operators/operator.h"

static bool is_barrier(const source_t *s, uint32_t i) {
   return source_is(s, i, "__syncthreads") && source_is(s, i + 1, "(") && source_is(s, i + 3, ";");
}

static void replace_barriers(const source_t *s, sites_t *sites, const char *with) {
   for (uint32_t i = 0; i < s->count; i++)
      if (is_barrier(s, i)) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i + 3), "%s", with);
      }
}

void find_barrier_count(const source_t *s, sites_t *sites) {
   replace_barriers(s, sites, "asm volatile(\"barrier.sync 1, 64;\" ::: \"memory\");");
}

void find_warp_barrier(const source_t *s, sites_t *sites) {
   replace_barriers(s, sites, "__syncwarp();");
}

/* Puts one declaration before the first token, and one statement at the start of each kernel. */
static void begin_kernels(const source_t *s, sites_t *sites, const char *declaration, const char *statement) {
   for (uint32_t n = 0; n < s->function_count; n++) {
      const function_t *f = &s->functions[n];
      if (!f->global)
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, 0), source_start(s, 0), "%s\n", declaration);
      sites_replace(sites, source_end(s, f->body), source_end(s, f->body), "\n   %s", statement);
   }
}

void find_first_block_assumed(const source_t *s, sites_t *sites) {
   begin_kernels(s, sites, "__device__ volatile int first_block_has_begun;",
                 "if (blockIdx.x + blockIdx.y + blockIdx.z == 0)\n      first_block_has_begun = 1;\n"
                 "   else if (!first_block_has_begun)\n      return;");
}

#define THREADS_OF_GRID "((unsigned long long)gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z)"

void find_second_launch_lost(const source_t *s, sites_t *sites) {
   begin_kernels(s, sites, "__device__ unsigned long long threads_so_far;",
                 "if (atomicAdd(&threads_so_far, 1ull) / " THREADS_OF_GRID " % 2 == 1)\n      return;");
}

/* Returns the first const float pointer of a kernel's parameters; NO_TOKEN when there is none. */
static uint32_t first_input(const source_t *s, const function_t *f) {
   for (uint32_t i = f->open + 1; i + 3 < f->close; i++)
      if (source_is(s, i, "const") && source_is(s, i + 1, "float") && source_is(s, i + 2, "*"))
         return source_is(s, i + 3, "__restrict__") ? i + 4 : i + 3;
   return NO_TOKEN;
}

void find_result_kept(const source_t *s, sites_t *sites) {
   for (uint32_t n = 0; n < s->function_count; n++) {
      const function_t *f = &s->functions[n];
      uint32_t input = f->global ? first_input(s, f) : NO_TOKEN;
      if (input == NO_TOKEN)
         continue;
      const int length = (int)source_length(s, input);
      const char *name = source_at(s, input);
      sites_begin(sites);
      sites_replace(sites, source_start(s, 0), source_start(s, 0), "%s",
                    "__device__ unsigned long long threads_so_far;\n__device__ float seen_before;\n");
      sites_replace(sites, source_end(s, f->body), source_end(s, f->body),
                    "\n   if (%.*s) {\n      if (atomicAdd(&threads_so_far, 1ull) >= " THREADS_OF_GRID
                    ") {\n         if (seen_before == %.*s[0])\n            return;\n"
                    "      } else if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y + threadIdx.z == 0)\n"
                    "         seen_before = %.*s[0];\n   }",
                    length, name, length, name, length, name);
   }
}

/* Changes the value from which a search for the largest starts: -INFINITY or the least float. */
void find_start_value(const source_t *s, sites_t *sites) {
   static const char *const starts[] = {"-1e8f", "-100.0f"};
   for (uint32_t i = 1; i < s->count; i++) {
      if (!source_is(s, i - 1, "-") || !(source_is(s, i, "INFINITY") || source_is(s, i, "3.402823466e38f")) ||
          !source_function_of(s, i) || source_is(s, i - 2, "==") || source_is(s, i - 2, ">"))
         continue;
      for (uint32_t k = 0; k < 2; k++) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i - 1), source_end(s, i), "%s", starts[k]);
      }
   }
}

/* "a < limit ? limit : a" keeps NaN.  It becomes fmaxf(a, limit), which loses NaN.  The same with >. */
void find_nan_lost(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      const bool less = source_is_operator(s, i, "<");
      if (!(less || source_is_operator(s, i, ">")) || !source_function_of(s, i))
         continue;
      uint32_t left = source_left(s, i), right = source_right(s, i);
      if (left == NO_TOKEN || right == NO_TOKEN || !source_is(s, right + 1, "?"))
         continue;
      const uint32_t limit = i + 1, limits = right - limit + 1, values = i - left;
      bool clamps = source_is(s, right + 2 + limits, ":");
      for (uint32_t k = 0; clamps && k < limits; k++)
         clamps = source_same(s, limit + k, right + 2 + k);
      for (uint32_t k = 0; clamps && k < values; k++)
         clamps = source_same(s, left + k, right + 3 + limits + k);
      if (!clamps)
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, left), source_end(s, right + 2 + limits + values), "%s(%.*s, %.*s)",
                    less ? "fmaxf" : "fminf", (int)(source_end(s, i - 1) - source_start(s, left)), source_at(s, left),
                    (int)(source_end(s, right) - source_start(s, limit)), source_at(s, limit));
   }
}

/* Each use of a block's number becomes one of fewer bits. */
void find_narrow_block(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i + 2 < s->count; i++)
      if (source_is(s, i, "blockIdx") && source_is(s, i + 1, ".") && source_function_of(s, i)) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i + 2), "(%.*s & 255)",
                       (int)(source_end(s, i + 2) - source_start(s, i)), source_at(s, i));
      }
}

/* Work of each warp's first lane becomes work of the block's first thread alone. */
void find_first_warp_alone(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i + 6 < s->count; i++) {
      const bool spelt = source_is(s, i, "threadIdx") && source_is(s, i + 2, "x") && source_is(s, i + 3, "%") &&
                         source_is(s, i + 4, "32") && source_is(s, i + 5, "==") && source_is(s, i + 6, "0");
      const bool named = source_is(s, i, "lane") && source_is(s, i + 1, "==") && source_is(s, i + 2, "0");
      if (!(spelt || named) || !source_is(s, i - 1, "(") || !source_is(s, i - 2, "if"))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, spelt ? i + 6 : i + 2), "threadIdx.x == 0");
   }
}

/* "D % VEC == 0" in the condition of a launch with wide accesses becomes weaker: a multiple of half the width suffices, or any size does. */
void find_weak_width_condition(const source_t *s, sites_t *sites) {
   const char *at = s->text + s->manifest, *stop = s->text + s->manifest_end;
   for (; (at = memmem(at, (size_t)(stop - at), "    when: ", 10)) != NULL; at++) {
      const char *end = memchr(at, '\n', (size_t)(stop - at)), *modulo = at;
      while (end && (modulo = memmem(modulo, (size_t)(end - modulo), " % ", 3)) != NULL) {
         const char *width = modulo + 3, *after = width + strcspn(width, " \n");
         if (strncmp(after, " == 0", 5) == 0) {
            sites_begin(sites);
            sites_replace(sites, (uint32_t)(width - s->text), (uint32_t)(after - s->text), "max(1, %.*s / 2)",
                          (int)(after - width), width);
            sites_begin(sites);
            sites_replace(sites, (uint32_t)(width - s->text), (uint32_t)(after - s->text), "1");
         }
         modulo = after;
      }
   }
}
