/* What threads know of each other through words of shared memory (shared_signals.h): for each word a row of knowledge, and for each thread the words that
 * it has read since its last fence.  A thread's fence acquires what the words told when it read them: before a word tells more, those that read it take
 * what it told so far.  On the machine's thread. */
#include "machine/clocks/shared_signals.h"
#include "machine/clocks/clocks.h"
#include "machine/clocks/vector_clocks.h"

#define MOST_SIGNALS 32u /* one bit each in machine_signals.seen */

struct machine_signals {
   uint32_t offset[MOST_SIGNALS], count;
   uint32_t *row[MOST_SIGNALS]; /* made when the first block needs it */
   uint32_t giver[MOST_SIGNALS]; /* thread + 1 whose volatile store the word holds; 0: none */
   uint32_t seers[MOST_SIGNALS]; /* threads that have the word in seen */
   uint32_t *seen;   /* by thread: words that it has read since its last fence, and that told no more since */
   uint32_t **taken; /* by thread: what other words told when it read them; NULL: made when it is needed */
   uint8_t *holds;   /* by thread: whether its taken row has anything */
   uint32_t threads, width;
};

machine_signals_t *machine_signals_new(machine_run_t *run, uint32_t threads, uint32_t width) {
   machine_signals_t *signals = machine_alloc(run, sizeof *signals);
   if (!signals)
      return NULL;
   signals->threads = threads;
   signals->width = width;
   signals->seen = machine_alloc(run, threads * sizeof *signals->seen);
   signals->taken = machine_alloc(run, threads * sizeof *signals->taken);
   signals->holds = machine_alloc(run, threads);
   if (signals->seen && signals->taken && signals->holds)
      return signals;
   machine_signals_free(run, signals);
   return NULL;
}

void machine_signals_free(machine_run_t *run, machine_signals_t *signals) {
   if (!signals)
      return;
   for (uint32_t n = 0; n < MOST_SIGNALS; n++)
      machine_release(run, signals->row[n], signals->width * sizeof(uint32_t));
   for (uint32_t t = 0; signals->taken && t < signals->threads; t++)
      machine_release(run, signals->taken[t], signals->width * sizeof(uint32_t));
   machine_release(run, signals->holds, signals->threads);
   machine_release(run, signals->taken, signals->threads * sizeof *signals->taken);
   machine_release(run, signals->seen, signals->threads * sizeof *signals->seen);
   machine_release(run, signals, sizeof *signals);
}

void machine_signals_begin(machine_block_t *block) {
   machine_signals_t *signals = block->signals;
   if (!signals || !signals->count)
      return;
   signals->count = 0;
   memset(signals->seen, 0, signals->threads * sizeof *signals->seen);
   memset(signals->seers, 0, sizeof signals->seers);
   memset(signals->holds, 0, signals->threads);
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

bool machine_signal_tells(const machine_warp_t *warp, uint32_t lane) {
   const machine_block_t *block = warp->block;
   return block->signals && machine_released_at(block->clocks->knowledge, warp->first_thread + lane);
}

/* The thread keeps what word n tells now.  Where there is no memory for that, it keeps nothing. */
static void take(machine_warp_t *warp, uint32_t n, uint32_t thread) {
   machine_signals_t *signals = warp->block->signals;
   uint32_t **taken = &signals->taken[thread];
   signals->seen[thread] &= ~(1u << n);
   signals->seers[n]--;
   if (!*taken && !(*taken = machine_alloc(warp->run, signals->width * sizeof(uint32_t))))
      return;
   if (!signals->holds[thread])
      memset(*taken, 0, signals->width * sizeof(uint32_t));
   signals->holds[thread] = 1;
   warp->run->work.burden += signals->width / 8;
   for (uint32_t w = 0; w < signals->width; w++)
      (*taken)[w] = signals->row[n][w] > (*taken)[w] ? signals->row[n][w] : (*taken)[w];
}

void machine_signal_given(machine_warp_t *warp, uint32_t lane, uint32_t offset,
                          const machine_instruction_t *i, bool adds) {
   machine_signals_t *signals = warp->block->signals;
   const bool releases = i->flags & FLAG_RELEASE,
              tells = signals && (releases || machine_signal_tells(warp, lane));
   const uint32_t n = signals ? find(signals, offset) : 0;
   if (!signals || n == MOST_SIGNALS || (n == signals->count && !tells))
      return;
   if (!signals->row[n] && !(signals->row[n] = machine_alloc(warp->run, signals->width * sizeof(uint32_t))))
      return;
   for (uint32_t t = 0; n < signals->count && signals->seers[n] && t < signals->threads; t++)
      if (signals->seen[t] >> n & 1)
         take(warp, n, t);
   if (n == signals->count || !adds)
      memset(signals->row[n], 0, signals->width * sizeof(uint32_t));
   if (n == signals->count)
      signals->offset[signals->count++] = offset;
   signals->giver[n] = tells && (i->flags & FLAG_VOLATILE) ? warp->first_thread + lane + 1 : 0;
   if (releases)
      machine_vector_clocks_release(warp, 1u << lane, signals->row[n]);
   else if (tells)
      machine_vector_clocks_release_fenced(warp, 1u << lane, signals->row[n]);
}

bool machine_signal_is_of(const machine_block_t *block, uint32_t offset, uint32_t thread) {
   const machine_signals_t *signals = block->signals;
   const uint32_t n = signals ? find(signals, offset) : 0;
   return signals && n < signals->count && signals->giver[n] == thread + 1;
}

void machine_signal_seen(machine_warp_t *warp, uint32_t lane, uint32_t offset, bool acquires) {
   machine_signals_t *signals = warp->block->signals;
   const uint32_t n = signals ? find(signals, offset) : 0;
   if (!signals || n == signals->count)
      return;
   uint32_t *seen = &signals->seen[warp->first_thread + lane];
   if (acquires) {
      machine_vector_clocks_acquire(warp, 1u << lane, signals->row[n]);
   } else if (!(*seen >> n & 1)) {
      *seen |= 1u << n;
      signals->seers[n]++;
   }
}

void machine_signals_fence(machine_warp_t *warp, uint32_t lanes) {
   machine_signals_t *signals = warp->block->signals;
   for (; lanes && signals && signals->count; lanes &= lanes - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(lanes), thread = warp->first_thread + lane;
      uint32_t *seen = &signals->seen[thread];
      for (; *seen; *seen &= *seen - 1) {
         signals->seers[__builtin_ctz(*seen)]--;
         machine_vector_clocks_acquire(warp, 1u << lane, signals->row[__builtin_ctz(*seen)]);
      }
      if (signals->holds[thread])
         machine_vector_clocks_acquire(warp, 1u << lane, signals->taken[thread]);
      signals->holds[thread] = 0;
   }
}
