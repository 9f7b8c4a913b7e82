/* Addresses: wrong strides, swapped indices, tiles and offsets off by one.  Stateless; any thread. */
#include "tools/faults/operators/operator.h"

/* Returns the bracket "[" around the token, within its statement.  NO_TOKEN: there is none. */
static uint32_t bracket_of(const source_t *s, uint32_t token) {
   uint32_t depth = 0;
   for (uint32_t i = token; i > 0 && !source_is(s, i, ";") && !source_is(s, i, "{") && !source_is(s, i, "}");
        i--) {
      if (source_is(s, i, "]"))
         depth++;
      else if (source_is(s, i, "[") && depth-- == 0)
         return i;
   }
   return NO_TOKEN;
}

/* Whether the statement begins with a type, as in float x[3], y[n]; or __shared__ float ... */
static bool is_declaration(const source_t *s, uint32_t bracket) {
   uint32_t start = source_statement_start(s, bracket);
   if (start == NO_TOKEN || source_is(s, start, "__shared__"))
      return true;
   if (!source_is(s, start, "float") && !source_is(s, start, "int") && !source_is(s, start, "const") &&
       !source_is(s, start, "constexpr"))
      return false;
   for (uint32_t i = start; i < bracket; i++) /* after an '=' the bracket is an access */
      if (source_is(s, i, "="))
         return false;
   return true;
}

static bool is_access(const source_t *s, uint32_t i) {
   return source_is(s, i, "[") && source_function_of(s, i) &&
          (source_is_name(s, i - 1) || source_is(s, i - 1, "]") || source_is(s, i - 1, ")")) &&
          !is_declaration(s, i);
}

/* a * b + c inside an index: the stride b becomes b + 1. */
void find_wrong_index_stride(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i + 2 < s->count; i++) {
      if (!source_is_operator(s, i, "*") || source_is(s, i + 1, "*") || source_is(s, i + 1, "(") ||
          source_is(s, i + 1, ">"))
         continue;
      uint32_t bracket = bracket_of(s, i);
      bool pointer = false; /* x + block * D */
      for (uint32_t k = source_statement_start(s, i); bracket == NO_TOKEN && k != NO_TOKEN && k < i; k++)
         pointer |= source_is(s, k, "reinterpret_cast") || (source_is(s, k, "*") && source_is(s, k + 2, "="));
      if (!(bracket != NO_TOKEN ? is_access(s, bracket) : pointer) || !source_function_of(s, i))
         continue;
      if (source_is(s, i + 2, ".") || source_is(s, i + 2, "["))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, i + 1), source_end(s, i + 1), "(%.*s + 1)",
                    (int)source_length(s, i + 1), source_at(s, i + 1));
   }
}

/* Turns t[a][b] into t[b][a]. */
void find_swapped_indices(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      uint32_t close = is_access(s, i) ? source_match(s, i) : NO_TOKEN;
      if (close == NO_TOKEN || !source_is(s, close + 1, "["))
         continue;
      uint32_t end = source_match(s, close + 1);
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, end), "%.*s%.*s",
                    (int)(source_end(s, end) - source_start(s, close + 1)), source_at(s, close + 1),
                    (int)(source_end(s, close) - source_start(s, i)), source_at(s, i));
   }
}

void find_swapped_block(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i + 2 < s->count; i++)
      if ((source_is(s, i, "blockIdx") || source_is(s, i, "threadIdx")) &&
          (source_is(s, i + 2, "y") || source_is(s, i + 2, "x"))) {
         /* A kernel that uses only x or only y gets no site; last_block_skipped and stale_input cover it. */
         bool planar = false;
         const function_t *f = source_function_of(s, i);
         for (uint32_t k = f ? f->body : s->count; f && k < f->end; k++)
            planar |= source_same(s, k, i) && source_is(s, k + 2, source_is(s, i + 2, "x") ? "y" : "x");
         if (!planar)
            continue;
         sites_begin(sites);
         sites_replace(sites, source_start(s, i + 2), source_end(s, i + 2),
                       source_is(s, i + 2, "x") ? "y" : "x");
      }
}

static bool is_float_expression(const source_t *s, uint32_t i) {
   uint32_t start = source_statement_start(s, i);
   const function_t *f = source_function_of(s, i);
   for (uint32_t k = start; start != NO_TOKEN && k < i; k++)
      if (source_is(s, k, "float") || source_is(s, k, "rsqrtf") || source_is(s, k, "expf") ||
          source_is(s, k, "sqrtf"))
         return true;
   return !f || start == NO_TOKEN || source_is(s, i - 1, "]") || source_is(s, i - 1, ")") ||
          source_is_float_local(s, f, i - 1);
}

void find_modulo_for_division(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      bool modulo = source_is_operator(s, i, "%");
      if (!modulo && (!source_is_operator(s, i, "/") || is_float_expression(s, i)))
         continue;
      const function_t *f = source_function_of(s, i);
      uint32_t start = f ? source_statement_start(s, i) : NO_TOKEN;
      if (!f || source_is(s, start, "constexpr") || source_is(s, start, "__shared__"))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, i), modulo ? "/" : "%%");
   }
}

void find_index_off_by_one(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      uint32_t close = is_access(s, i) ? source_match(s, i) : NO_TOKEN;
      if (close == NO_TOKEN)
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, close), source_start(s, close), " + 1");
   }
}

/* __shared__ float t[n] loses one element.  An array of two dims loses a row, unless a function takes it by reference. */
void find_tile_too_small(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i < s->count; i++) {
      if (!source_is(s, i, "__shared__"))
         continue;
      for (uint32_t k = i; k < s->count && !source_is(s, k, ";"); k++) {
         uint32_t close = source_is(s, k, "[") ? source_match(s, k) : NO_TOKEN;
         if (close == NO_TOKEN)
            continue;
         bool passed = false;
         for (uint32_t u = close; u < s->count && !passed; u++)
            passed = source_same(s, u, k - 1) && !source_is(s, u + 1, "[") &&
                     (source_is(s, u - 1, "(") || source_is(s, u - 1, ","));
         if (!passed && !source_is(s, k - 1, "]")) {
            sites_begin(sites);
            sites_replace(sites, source_start(s, close), source_start(s, close), " - 1");
         }
         k = close;
      }
   }
}
