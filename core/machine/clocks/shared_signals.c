/* What threads know of each other through words of shared memory (shared_signals.h): for each word a row of knowledge, and for each thread the words that
 * it has read since its last fence.  On the machine's thread. */
#include "machine/clocks/shared_signals.h"
#include "machine/clocks/clocks.h"
#include "machine/clocks/vector_clocks.h"

#define MOST_SIGNALS 32u /* one bit each in machine_signals.seen */

struct machine_signals {
   uint32_t offset[MOST_SIGNALS], count;
   uint32_t *row[MOST_SIGNALS]; /* made when the first block needs it */
   uint32_t *seen;              /* by thread: words that it has read since its last fence */
   uint32_t threads, width;
};

machine_signals_t *machine_signals_new(machine_run_t *run, uint32_t threads, uint32_t width) {
   machine_signals_t *signals = machine_alloc(run, sizeof *signals);
   if (!signals)
      return NULL;
   signals->threads = threads;
   signals->width = width;
   signals->seen = machine_alloc(run, threads * sizeof *signals->seen);
   if (signals->seen)
      return signals;
   machine_signals_free(run, signals);
   return NULL;
}

void machine_signals_free(machine_run_t *run, machine_signals_t *signals) {
   if (!signals)
      return;
   for (uint32_t n = 0; n < MOST_SIGNALS; n++)
      machine_release(run, signals->row[n], signals->width * sizeof(uint32_t));
   machine_release(run, signals->seen, signals->threads * sizeof *signals->seen);
   machine_release(run, signals, sizeof *signals);
}

void machine_signals_begin(machine_block_t *block) {
   machine_signals_t *signals = block->signals;
   if (!signals || !signals->count)
      return;
   signals->count = 0;
   memset(signals->seen, 0, signals->threads * sizeof *signals->seen);
}

bool machine_signals_any(const machine_block_t *block) {
   return block->signals && block->signals->count;
}

static uint32_t find(const machine_signals_t *signals, uint32_t offset) {
   uint32_t n = 0;
   while (n < signals->count && signals->offset[n] != offset)
      n++;
   return n;
}

void machine_signal_given(machine_warp_t *warp, uint32_t lane, uint32_t offset, bool releases, bool adds) {
   machine_signals_t *signals = warp->block->signals;
   const bool tells =
      signals && (releases || warp->block->clocks->knowledge->own_released[warp->first_thread + lane]);
   const uint32_t n = signals ? find(signals, offset) : 0;
   if (!signals || n == MOST_SIGNALS || (n == signals->count && !tells))
      return;
   if (!signals->row[n] && !(signals->row[n] = machine_alloc(warp->run, signals->width * sizeof(uint32_t))))
      return;
   if (n == signals->count || !adds)
      memset(signals->row[n], 0, signals->width * sizeof(uint32_t));
   if (n == signals->count)
      signals->offset[signals->count++] = offset;
   if (releases)
      machine_vector_clocks_release(warp, 1u << lane, signals->row[n]);
   else if (tells)
      machine_vector_clocks_release_fenced(warp, 1u << lane, signals->row[n]);
}

void machine_signal_seen(machine_warp_t *warp, uint32_t lane, uint32_t offset, bool acquires) {
   machine_signals_t *signals = warp->block->signals;
   const uint32_t n = signals ? find(signals, offset) : 0;
   if (!signals || n == signals->count)
      return;
   if (acquires)
      machine_vector_clocks_acquire(warp, 1u << lane, signals->row[n]);
   else
      signals->seen[warp->first_thread + lane] |= 1u << n;
}

void machine_signals_fence(machine_warp_t *warp, uint32_t lanes) {
   machine_signals_t *signals = warp->block->signals;
   for (; lanes && signals && signals->count; lanes &= lanes - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
      uint32_t *seen = &signals->seen[warp->first_thread + lane];
      for (; *seen; *seen &= *seen - 1)
         machine_vector_clocks_acquire(warp, 1u << lane, signals->row[__builtin_ctz(*seen)]);
   }
}
