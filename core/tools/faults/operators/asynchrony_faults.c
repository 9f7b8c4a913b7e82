/* Asynchronous copies, mbarriers, matrix products and clusters whose order is broken: a fence, a wait, an
 * arrival or a count is missing or wrong.  Kernels write these as inline assembly, in place or in small
 * functions of their own.  An operator looks for words of an instruction, and a site is the statement that
 * executes it.  Stateless; any thread. */
#include "tools/faults/operators/operator.h"
#include "tools/faults/operators/instruction_calls.h"

#include <ctype.h>
#include <string.h>

static void drop(const source_t *s, sites_t *sites, const char *words, const char *without) {
   instruction_calls_t calls;
   instruction_calls_find(s, words, without, &calls);
   for (uint32_t n = 0; n < calls.count; n++) {
      sites_begin(sites);
      sites_replace(sites, source_start(s, calls.list[n].first), source_end(s, calls.list[n].close + 1), ";");
   }
}

/* Changes the last operand E of the statement that executes an instruction to: the text `before`, E in brackets, the text `after`. */
static void change_operand(const source_t *s, sites_t *sites, const char *words, const char *without,
                           const char *before, const char *after) {
   instruction_calls_t calls;
   instruction_calls_find(s, words, without, &calls);
   for (uint32_t n = 0; n < calls.count; n++) {
      uint32_t first, last;
      if (!instruction_last_operand(s, &calls.list[n], &first, &last))
         continue;
      const uint32_t start = source_start(s, first), end = source_end(s, last);
      sites_begin(sites);
      sites_replace(sites, start, end, "%s(%.*s)%s", before, (int)(end - start), s->text + start, after);
   }
}

/* Changes `from` to `to` in the text of instructions that have certain words. */
static void change_text(const source_t *s, sites_t *sites, const char *words, const char *from,
                        const char *to) {
   for (uint32_t i = 0; i < s->count; i++) {
      const char *text = source_at(s, i), *at = instruction_says(s, i, words, NULL)
                                                   ? memmem(text, source_length(s, i), from, strlen(from))
                                                   : NULL;
      const function_t *f = at ? source_function_of(s, i) : NULL;
      if (!f || !instruction_is_called(s, f))
         continue;
      const uint32_t start = source_start(s, i) + (uint32_t)(at - text);
      sites_begin(sites);
      sites_replace(sites, start, start + (uint32_t)strlen(from), "%s", to);
   }
}

/* A wait for all groups except n becomes a wait for all except n + 1.  n is a digit in the text, an "n" operand, or an argument of a template. */
static void wait_late(const source_t *s, sites_t *sites, const char *words) {
   instruction_calls_t calls;
   instruction_calls_find(s, words, NULL, &calls);
   for (uint32_t n = 0; n < calls.count; n++) {
      const instruction_call_t *call = &calls.list[n];
      uint32_t first, last;
      if (!call->assembly && source_is(s, call->first + 1, "<") && call->open > call->first + 3) {
         const uint32_t start = source_start(s, call->first + 2), end = source_end(s, call->open - 2);
         sites_begin(sites);
         sites_replace(sites, start, end, "%.*s + 1", (int)(end - start), s->text + start);
      } else if (call->assembly && instruction_last_operand(s, call, &first, &last) &&
                 source_is(s, first - 2, "\"n\"")) {
         sites_begin(sites);
         sites_replace(sites, source_end(s, last), source_end(s, last), " + 1");
      }
   }
   for (uint32_t i = 0; i < s->count; i++) {
      const char *text = source_at(s, i), *at = instruction_says(s, i, words, NULL)
                                                   ? memmem(text, source_length(s, i), words, strlen(words))
                                                   : NULL;
      while (at && at < text + source_length(s, i) && *at != ' ')
         at++;
      if (!at || !isdigit((unsigned char)at[1]) || !source_function_of(s, i))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, i) + (uint32_t)(at - text) + 1,
                    source_start(s, i) + (uint32_t)(at - text) + 2, "%d", at[1] - '0' + 1);
   }
}

#define DROPS(name, words, without)                                                                          \
   void find_##name(const source_t *s, sites_t *sites) {                                                     \
      drop(s, sites, words, without);                                                                        \
   }
DROPS(drop_proxy_fence, "fence.proxy.async", NULL)
DROPS(drop_mbarrier_fence, "fence.mbarrier_init", NULL)
DROPS(drop_mbarrier_init, "mbarrier.init", NULL)
DROPS(drop_mbarrier_wait, "_wait.parity", NULL)
DROPS(drop_mbarrier_arrive, "mbarrier.arrive", "expect_tx")
DROPS(drop_expect, "expect_tx", NULL)
DROPS(drop_wgmma_fence, "wgmma.fence", NULL)
DROPS(drop_wgmma_commit, "wgmma.commit_group", NULL)
DROPS(drop_wgmma_wait, "wgmma.wait_group", NULL)
DROPS(drop_copy_commit, "cp.async.commit_group", NULL)
DROPS(drop_copy_wait, "cp.async.wait_", NULL)
DROPS(drop_bulk_commit, "cp.async.bulk.commit_group", NULL)
DROPS(drop_bulk_wait, "cp.async.bulk.wait_group", NULL)
DROPS(drop_bulk_copy, "complete_tx::bytes", "async.weak")
DROPS(drop_cluster_wait, "barrier.cluster.wait", NULL)
DROPS(drop_map_acquire, "tensormap::generic.acquire", NULL)
DROPS(drop_map_release, "fence.proxy.tensormap::generic.release", NULL)
DROPS(drop_map_copy, "tensormap.cp_fenceproxy", NULL)

#define CHANGES(name, words, without, before, after)                                                         \
   void find_##name(const source_t *s, sites_t *sites) {                                                     \
      change_operand(s, sites, words, without, before, after);                                               \
   }
CHANGES(short_expect, "expect_tx", NULL, "", " - 16")
CHANGES(long_expect, "expect_tx", NULL, "", " + 16")
CHANGES(wrong_parity, "_wait.parity", NULL, "", " ^ 1")
CHANGES(short_arrivals, "mbarrier.init", NULL, "", " - 1")
CHANGES(long_arrivals, "mbarrier.init", NULL, "", " + 1")

#define WAITS_LATE(name, words)                                                                              \
   void find_##name(const source_t *s, sites_t *sites) {                                                     \
      wait_late(s, sites, words);                                                                            \
   }
WAITS_LATE(copy_wait_late, "cp.async.wait_group")
WAITS_LATE(wgmma_wait_late, "wgmma.wait_group")
WAITS_LATE(bulk_wait_late, "cp.async.bulk.wait_group")

#define REWRITES(name, words, from, to)                                                                      \
   void find_##name(const source_t *s, sites_t *sites) {                                                     \
      change_text(s, sites, words, from, to);                                                                \
   }
REWRITES(untransposed_fragment, "ldmatrix", ".trans", "")
REWRITES(swapped_fragment, "mma.sync", "%5", "%6")
REWRITES(wrong_sign, "wgmma.mma_async", "1, 1, ", "1, -1, ")
REWRITES(wrong_major, "wgmma.mma_async", "0, 0;", "0, 1;")
REWRITES(relaxed_cluster, "barrier.cluster.arrive", "release", "relaxed")

void find_drop_warp_barrier(const source_t *s, sites_t *sites) {
   for (uint32_t i = 0; i + 3 < s->count; i++)
      if (source_is(s, i, "__syncwarp") && source_is(s, i + 3, ";")) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i), source_end(s, i + 3), ";");
      }
}

/* The buffer becomes that of another stage: "% STAGES" becomes a remainder by one stage less. */
void find_wrong_stage(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i + 1 < s->count; i++)
      if (source_is(s, i, "%") && source_function_of(s, i) &&
          (source_is(s, i + 1, "STAGES") || source_is(s, i + 1, "stages"))) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i + 1), source_end(s, i + 1), "(%.*s - 1)",
                       (int)source_length(s, i + 1), source_at(s, i + 1));
      }
}
