/* Barriers, fences, atomics, counters and shuffles taken away or misplaced.  Stateless; any thread. */
#include "tools/faults/operators/operator.h"

static bool is_barrier(const source_t *s, uint32_t i) {
   return source_is(s, i, "__syncthreads") && source_is(s, i + 1, "(") && source_is(s, i + 3, ";");
}

static bool is_fence(const source_t *s, uint32_t i) {
   return (source_is(s, i, "__threadfence") || source_is(s, i, "__threadfence_block")) &&
          source_is(s, i + 3, ";");
}

void find_drop_barrier(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i < s->count; i++)
      if (is_barrier(s, i)) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i + 3), ";");
      }
}

/* Whether a fence stands before the atomic addition by which a block announces its result.  Removing this fence is a fault.  Removing the fence of the
 * last block, which reads the results, changes nothing in the guide's example. */
static bool announces(const source_t *s, uint32_t i) {
   const function_t *f = source_function_of(s, i);
   for (uint32_t k = i; f && k < f->end; k++)
      if (source_is(s, k, "atomicAdd"))
         return true;
   return false;
}

void find_drop_fence(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i < s->count; i++)
      if (is_fence(s, i) && announces(s, i)) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i + 3), ";");
      }
}

/* Moves a barrier before the statement in front of it, if that is a simple statement or the body of an if or a loop. */
void find_barrier_earlier(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      if (!is_barrier(s, i) || !source_is(s, i - 1, ";"))
         continue;
      uint32_t start = source_statement_start(s, i - 1);
      /* If the statement is a body, moves the barrier before the whole if or loop. */
      while (start != NO_TOKEN && source_is(s, start - 1, ")"))
         start = source_match_back(s, start - 1) - 1;
      if (start == NO_TOKEN || is_barrier(s, start) || source_is(s, start, "__shared__"))
         continue;
      const function_t *f = source_function_of(s, i);
      bool declares =
         f && (source_is(s, start, "const") || source_is(s, start, "float") || source_is(s, start, "int"));
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, i + 3), ";");
      sites_replace(sites, source_start(s, start), source_start(s, start),
                    declares ? "__syncthreads(); " : "__syncthreads();\n   ");
   }
}

void find_barrier_later(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i < s->count; i++) {
      uint32_t end = is_barrier(s, i) ? source_statement_end(s, i + 4) : NO_TOKEN;
      if (end == NO_TOKEN || source_is(s, i + 4, "return") || is_barrier(s, i + 4))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, i + 3), ";");
      sites_replace(sites, source_end(s, end), source_end(s, end), " __syncthreads();");
   }
}

/* "if (a) b; barrier;" becomes "if (a) { b; barrier; }" where a depends on the thread. */
void find_barrier_in_branch(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      uint32_t start =
         is_barrier(s, i) && source_is(s, i - 1, ";") ? source_statement_start(s, i - 1) : NO_TOKEN;
      if (start == NO_TOKEN || !source_is(s, start - 1, ")"))
         continue;
      uint32_t open = source_match_back(s, start - 1);
      bool by_thread = false;
      for (uint32_t k = open; source_is(s, open - 1, "if") && k < start; k++)
         by_thread |= source_is(s, k, "threadIdx") || source_is(s, k, "lane");
      if (!by_thread)
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, start), source_start(s, start), "{ ");
      sites_replace(sites, source_end(s, i + 3), source_end(s, i + 3), " }");
   }
}

/* atomicAdd(&place, value); becomes place = place + value;  Only if the result of atomicAdd is not used. */
void find_plain_store(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      if (!source_is(s, i, "atomicAdd") || !source_is(s, i + 1, "(") || !source_is(s, i + 2, "&"))
         continue;
      uint32_t close = source_match(s, i + 1), comma = i + 3;
      while (comma < close && !source_is(s, comma, ",")) {
         if (source_is(s, comma, "[") || source_is(s, comma, "("))
            comma = source_match(s, comma);
         comma++;
      }
      if (!source_is(s, close + 1, ";") || comma >= close)
         continue;
      int place = (int)(source_end(s, comma - 1) - source_start(s, i + 3)),
          value = (int)(source_end(s, close - 1) - source_start(s, comma + 1));
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, close), "%.*s = %.*s + (%.*s)", place,
                    source_at(s, i + 3), place, source_at(s, i + 3), value, source_at(s, comma + 1));
   }
}

/* Removes "*counter = 0;" or "counter[0] = 0;" of an unsigned counter in memory, or its "init: zero" in the manifest. */
void find_counter_not_reset(const source_t *s, sites_t *sites) {
   static const char *const zeros[] = {"0", "0u", NULL};
   for (uint32_t i = 2; i + 2 < s->count; i++) {
      if (!source_is(s, i, "=") || !source_is_any(s, i + 1, zeros) || !source_is(s, i + 2, ";"))
         continue;
      uint32_t name = source_is(s, i - 1, "]") ? source_match_back(s, i - 1) - 1 : i - 1;
      const function_t *f = source_function_of(s, i);
      if (!f || !source_has_parameter(s, f, name, "unsigned", true))
         continue;
      uint32_t start = source_is(s, name - 1, "*") ? name - 1 : name;
      sites_begin(sites);
      sites_replace(sites, source_start(s, start), source_end(s, i + 1), "(void)0");
   }
}

void find_shuffle_mask(const source_t *s, sites_t *sites) {
   static const char *const masks[] = {"0x0000ffffu", "0xfffffffeu"};
   for (uint32_t i = 0; i < s->count; i++)
      for (uint32_t k = 0; k < 2 && source_is(s, i, "0xffffffffu"); k++) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i), "%s", masks[k]);
      }
}

/* Changes the distance at which a butterfly begins, or by what it shrinks. */
void find_shuffle_distance(const source_t *s, sites_t *sites) {
   for (uint32_t i = 2; i < s->count; i++) {
      if (source_is(s, i, "16") && source_is(s, i - 1, "=") && source_is(s, i - 2, "distance")) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i), "8");
      }
      if (source_is(s, i, "2") && source_is(s, i - 1, "/=") && source_is(s, i - 2, "distance")) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i), "4");
      }
   }
}

/* A shuffle gets segments of 16 lanes, or leaves the sum in the first lane only. */
void find_shuffle_width(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i < s->count; i++) {
      uint32_t close = source_is(s, i, "__shfl_xor_sync") ? source_match(s, i + 1) : NO_TOKEN;
      if (close == NO_TOKEN)
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, close), source_start(s, close), ", 16");
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, i), "__shfl_down_sync");
   }
}
