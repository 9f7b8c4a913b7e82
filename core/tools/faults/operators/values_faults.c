/* Numbers: accumulators, constants, precision, inputs that are not read.  Stateless; any thread. */
#include <string.h>
#include "tools/faults/operators/operator.h"

/* Removes the initial value of float sum = 0.0f and float sum[n] = {}. */
void find_uninitialised_accumulator(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i + 1 < s->count; i++) {
      const function_t *f = source_is(s, i, "=") ? source_function_of(s, i) : NULL;
      bool zero = source_is(s, i + 1, "0.0f"), braces = source_is(s, i + 1, "{") && source_is(s, i + 2, "}");
      uint32_t name = source_is(s, i - 1, "]") ? source_match_back(s, i - 1) - 1 : i - 1;
      if (!f || !(zero || braces) || !source_is_name(s, name) || source_is(s, name - 1, "]"))
         continue;
      uint32_t start = source_statement_start(s, name);
      if (start == NO_TOKEN || !source_is(s, start, "float"))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, zero ? i + 1 : i + 2), "%s", "");
   }
}

/* A float constant that matters changes by a thousandth, or by one. */
void find_literal_off(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      if (s->code[i].kind != RKB_TOKEN_NUMBER || !source_function_of(s, i) ||
          source_at(s, i)[source_length(s, i) - 1] != 'f' ||
          !memchr(source_at(s, i), '.', source_length(s, i)))
         continue;
      sites_begin(sites);
      if (source_is(s, i, "0.0f"))
         sites_replace(sites, source_start(s, i), source_end(s, i), "0.01f");
      else if (memchr(source_at(s, i), '8', source_length(s, i)) &&
               source_length(s, i) > 12) /* the least float, from which a search for the largest starts */
         sites_replace(sites, source_start(s, source_is(s, i - 1, "-") ? i - 1 : i), source_end(s, i),
                       "0.0f");
      else
         sites_replace(sites, source_start(s, i), source_end(s, i), "(%.*s * 1.001f)",
                       (int)source_length(s, i), source_at(s, i));
   }
}

/* The count by which a float expression divides changes. */
void find_count_off(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i + 1 < s->count; i++) {
      const function_t *f = source_is_operator(s, i, "/") ? source_function_of(s, i) : NULL;
      if (!f || !(source_has_parameter(s, f, i + 1, "int", false) || source_is(s, i + 1, "size")))
         continue;
      uint32_t start = source_statement_start(s, i);
      bool real = source_is(s, i - 1, ")") || source_is(s, i - 1, "]") || source_is_float_local(s, f, i - 1);
      bool floats = false;
      for (uint32_t k = start; start != NO_TOKEN && k < i; k++)
         floats |= source_is(s, k, "float") || source_is(s, k, "rsqrtf") ||
                   (source_is(s, k, "]") && source_is(s, k + 1, "=")) ||
                   (source_is(s, k, "return") && f->name > 0);
      if (!real || !floats || source_is(s, start, "int") || source_is(s, start + 1, "int"))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, i + 1), source_end(s, i + 1), "(%.*s + 1)",
                    (int)source_length(s, i + 1), source_at(s, i + 1));
   }
}

/* eps, scale and the other float parameters of a kernel are left out, or multiplied by 1.5. */
void find_attribute_off(const source_t *s, sites_t *sites) {
   for (uint32_t n = 0; n < s->function_count; n++) {
      const function_t *f = &s->functions[n];
      for (uint32_t i = f->body; f->global && i < f->end; i++) {
         if (!source_is_name(s, i) || !source_has_parameter(s, f, i, "float", false))
            continue;
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i), "(%.*s * 1.5f)", (int)source_length(s, i),
                       source_at(s, i));
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i), "0.0f");
      }
   }
}

/* The text of a function that rounds.  It is inserted before the first token. */
static const char bf16_text[] =
   "__device__ float rounded(float x) { return __uint_as_float((__float_as_uint(x) + 0x7fffu + "
   "(__float_as_uint(x) >> 16 & 1u)) & 0xffff0000u); }\n";
static const char tf32_text[] = "__device__ float rounded(float x) { return "
                                "__uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }\n";
static const char half_text[] =
   "#include <cuda_fp16.h>\n__device__ float rounded(float x) { return __half2float(__float2half_rn(x)); }\n";

/* sum += e; becomes sum = rounded(sum + (e)); where sum is a float of the function. */
static void narrow_sums(const source_t *s, sites_t *sites, const char *helper) {
   for (uint32_t i = 1; i < s->count; i++) {
      const function_t *f = source_is(s, i, "+=") ? source_function_of(s, i) : NULL;
      uint32_t end = f ? source_statement_end(s, i) : NO_TOKEN, name = i - 1;
      if (end == NO_TOKEN)
         continue;
      while (source_is(s, name, "]"))
         name = source_match_back(s, name) - 1;
      if (!source_is_float_local(s, f, name))
         continue;
      int sum = (int)(source_end(s, i - 1) - source_start(s, name)),
          added = (int)(source_end(s, end - 1) - source_start(s, i + 1));
      sites_begin(sites);
      sites_replace(sites, source_start(s, 0), source_start(s, 0), "%s", helper);
      sites_replace(sites, source_start(s, i), source_end(s, end - 1), "= rounded(%.*s + (%.*s))", sum,
                    source_at(s, name), added, source_at(s, i + 1));
   }
}

void find_half_accumulation(const source_t *s, sites_t *sites) {
   narrow_sums(s, sites, half_text);
}
void find_bf16_accumulation(const source_t *s, sites_t *sites) {
   narrow_sums(s, sites, bf16_text);
}

/* The factors of sum += a * b; are cut to ten bits of mantissa, as tensor cores do. */
void find_tf32_products(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      const function_t *f = source_is(s, i, "+=") ? source_function_of(s, i) : NULL;
      uint32_t end = f ? source_statement_end(s, i) : NO_TOKEN, times = NO_TOKEN, name = i - 1;
      if (end == NO_TOKEN)
         continue;
      while (source_is(s, name, "]"))
         name = source_match_back(s, name) - 1;
      for (uint32_t k = i + 1; k < end && times == NO_TOKEN; k++) {
         if (source_is(s, k, "[") || source_is(s, k, "("))
            k = source_match(s, k);
         else if (source_is_operator(s, k, "*"))
            times = k;
      }
      if (times == NO_TOKEN || !source_is_float_local(s, f, name))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, 0), source_start(s, 0), "%s", tf32_text);
      sites_replace(sites, source_start(s, i + 1), source_end(s, end - 1), "rounded(%.*s) * rounded(%.*s)",
                    (int)(source_end(s, times - 1) - source_start(s, i + 1)), source_at(s, i + 1),
                    (int)(source_end(s, end - 1) - source_start(s, times + 1)), source_at(s, times + 1));
   }
}

/* A read of a const float pointer always reads the first element, or becomes a constant. */
static void replace_reads(const source_t *s, sites_t *sites, bool stale) {
   for (uint32_t i = 0; i + 1 < s->count; i++) {
      const function_t *f =
         source_is(s, i + 1, "[") && source_is_name(s, i) ? source_function_of(s, i) : NULL;
      uint32_t close = f ? source_match(s, i + 1) : NO_TOKEN;
      bool plain = f && source_has_parameter(s, f, i, "float", true);
      if (!plain || source_is(s, close + 1, "=") || source_is(s, close + 1, ".") || source_is(s, i - 1, "&"))
         continue;
      bool is_const = false;
      for (uint32_t k = f->open; k < f->close; k++)
         is_const |= source_same(s, k, i) && source_is(s, k - 3, "const");
      if (!is_const || (stale && source_is(s, i + 2, "0")))
         continue;
      sites_begin(sites);
      if (stale)
         sites_replace(sites, source_end(s, i + 1), source_start(s, close), "0");
      else
         sites_replace(sites, source_start(s, i), source_end(s, close), "0.25f");
   }
   for (uint32_t i = 0; i + 3 < s->count; i++) { /* packs: value.at[k] */
      uint32_t close = source_is(s, i, "at") && source_is(s, i - 1, ".") && source_is(s, i + 1, "[")
                          ? source_match(s, i + 1)
                          : NO_TOKEN;
      if (close == NO_TOKEN || source_is(s, close + 1, "=") || source_is(s, i + 2, "0") ||
          !source_function_of(s, i))
         continue;
      sites_begin(sites);
      if (stale)
         sites_replace(sites, source_end(s, i + 1), source_start(s, close), "0");
      else
         sites_replace(sites, source_start(s, i - 2), source_end(s, close), "0.25f");
   }
}

void find_stale_input(const source_t *s, sites_t *sites) {
   replace_reads(s, sites, true);
}
void find_ignored_input(const source_t *s, sites_t *sites) {
   replace_reads(s, sites, false);
}

/* place = condition ? value : 0.0f; becomes if (condition) place = value; */
void find_unpadded_tile(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i + 1 < s->count; i++) {
      if (!source_is(s, i, "?") || !source_function_of(s, i))
         continue;
      uint32_t start = source_statement_start(s, i), assign = i, end = source_statement_end(s, i);
      if (start == NO_TOKEN || end == NO_TOKEN || !source_is(s, end - 1, "0.0f") ||
          !source_is(s, end - 2, ":"))
         continue;
      while (assign > start && !source_is(s, assign, "="))
         assign--;
      if (!source_is(s, assign, "=") || !source_is(s, assign - 1, "]"))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, start), source_end(s, end), "if (%.*s) %.*s = %.*s;",
                    (int)(source_end(s, i - 1) - source_start(s, assign + 1)), source_at(s, assign + 1),
                    (int)(source_end(s, assign - 1) - source_start(s, start)), source_at(s, start),
                    (int)(source_end(s, end - 3) - source_start(s, i + 1)), source_at(s, i + 1));
   }
}
