/* What each thread knows of the others (knowledge.h).  On the machine's thread. */
#include "machine/races/knowledge.h"
#include "machine/races/races.h"

#include <immintrin.h>

machine_knowledge_t *machine_knowledge_new(machine_run_t *run, uint32_t threads, uint32_t barriers) {
   const size_t width = 2 * ((size_t)threads + MOST_ACTORS),
                bytes = sizeof(machine_knowledge_t) + (threads + barriers + 1) * width * sizeof(uint32_t);
   machine_knowledge_t *knowledge = machine_alloc(run, bytes);
   if (!knowledge)
      return NULL;
   knowledge->threads = threads;
   knowledge->barriers = barriers;
   knowledge->width = (uint32_t)width;
   knowledge->bytes = bytes;
   knowledge->rows = (uint32_t *)(void *)(knowledge + 1);
   knowledge->named = knowledge->rows + threads * width;
   knowledge->joined = knowledge->named + barriers * width;
   return knowledge;
}

void machine_knowledge_free(machine_run_t *run, machine_knowledge_t *knowledge) {
   if (knowledge)
      machine_release(run, knowledge, knowledge->bytes);
}

void machine_knowledge_begin(machine_knowledge_t *knowledge, uint32_t time) {
   const size_t used = machine_knowledge_used(knowledge) * sizeof(uint32_t);
   for (uint32_t t = 0; t < knowledge->threads; t++) {
      uint32_t *row = machine_knowledge_row(knowledge, t);
      memset(row, 0, used);
      row[t] = time;
   }
   for (uint32_t b = 0; b < knowledge->barriers; b++)
      memset(knowledge->named + (size_t)b * knowledge->width, 0, used);
   knowledge->actors = 0;
}

uint32_t machine_knowledge_actor(machine_knowledge_t *knowledge) {
   return knowledge->actors < MOST_ACTORS ? knowledge->actors++ : PTX_NONE;
}

/* Joining -------------------------------------------------------------------------------------------------------------- */

static void join_from(uint32_t n, uint32_t *restrict to, const uint32_t *restrict from, uint32_t words) {
   for (; n < words; n++)
      to[n] = from[n] > to[n] ? from[n] : to[n];
}

__attribute__((target("avx2"))) static uint32_t join_eights(uint32_t *restrict to,
                                                            const uint32_t *restrict from, uint32_t words) {
   uint32_t n = 0;
   for (; n + 8 <= words; n += 8) {
      const __m256i one = _mm256_loadu_si256((const __m256i *)(const void *)(to + n)),
                    other = _mm256_loadu_si256((const __m256i *)(const void *)(from + n));
      _mm256_storeu_si256((__m256i *)(void *)(to + n), _mm256_max_epu32(one, other));
   }
   return n;
}

/* Rows of threads that wait at mbarriers are joined at each wait: the larger part of what following them costs. */
static void join(uint32_t *restrict to, const uint32_t *restrict from, uint32_t words) {
   join_from(__builtin_cpu_supports("avx2") ? join_eights(to, from, words) : 0, to, from, words);
}

static uint32_t *row_of(const machine_warp_t *warp, uint32_t lane) {
   return machine_knowledge_row(warp->block->clocks->knowledge, warp->first_thread + lane);
}

/* A lane's own clock, here and among the clocks of its warp. */
static void set_clock(machine_warp_t *warp, uint32_t lane, uint32_t clock) {
   row_of(warp, lane)[warp->first_thread + lane] = clock;
   warp->block->clocks->lane[(size_t)(warp->number * LANES + lane) * LANES + lane] = clock;
}

void machine_knowledge_warp_sync(machine_warp_t *warp, uint32_t lanes, uint32_t now) {
   machine_knowledge_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t used = machine_knowledge_used(knowledge), before = now - 1;
   memset(knowledge->joined, 0, used * sizeof(uint32_t));
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      join(knowledge->joined, row_of(warp, lane), used);
      knowledge->joined[warp->first_thread + lane] = before;
   }
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      uint32_t *row = row_of(warp, lane);
      memcpy(row, knowledge->joined, used * sizeof(uint32_t));
      row[warp->first_thread + lane] = now;
   }
}

/* The warp came whole, and its lanes have told each other all: any of them speaks for it. */
void machine_knowledge_arrive(machine_block_t *block, uint32_t warp, uint32_t barrier) {
   machine_knowledge_t *knowledge = block->clocks->knowledge;
   machine_warp_t *who = &block->warps[warp];
   uint32_t *phase = knowledge->named + (size_t)barrier * knowledge->width;
   if (who->alive)
      join(phase, row_of(who, (uint32_t)__builtin_ctz(who->alive)), machine_knowledge_used(knowledge));
   for (uint32_t l = 0; l < LANES && who->first_thread + l < knowledge->threads; l++)
      phase[who->first_thread + l] = block->time - 1; /* its clock is past this */
}

void machine_knowledge_leave(machine_block_t *block, uint32_t warp, uint32_t barrier) {
   machine_knowledge_t *knowledge = block->clocks->knowledge;
   machine_warp_t *who = &block->warps[warp];
   const uint32_t *phase = knowledge->named + (size_t)barrier * knowledge->width;
   for (uint32_t left = who->alive; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left), own = row_of(who, lane)[who->first_thread + lane];
      join(row_of(who, lane), phase, machine_knowledge_used(knowledge));
      row_of(who, lane)[who->first_thread + lane] = own;
   }
}

void machine_knowledge_complete(machine_block_t *block, uint32_t barrier) {
   machine_knowledge_t *knowledge = block->clocks->knowledge;
   memset(knowledge->named + (size_t)barrier * knowledge->width, 0,
          machine_knowledge_used(knowledge) * sizeof(uint32_t));
}

/* Everybody knows what anybody knew, and all that was done before. */
void machine_knowledge_barrier(machine_block_t *block) {
   machine_knowledge_t *knowledge = block->clocks->knowledge;
   const uint32_t used = machine_knowledge_used(knowledge), now = block->time;
   /* Of clocks all know the newest; only what follows them is to be joined. */
   memset(knowledge->joined, 0, used * sizeof(uint32_t));
   for (uint32_t t = 0; t < knowledge->threads; t++)
      join(knowledge->joined + knowledge->threads, machine_knowledge_row(knowledge, t) + knowledge->threads,
           used - knowledge->threads);
   for (uint32_t t = 0; t < knowledge->threads; t++)
      knowledge->joined[t] = now - 1;
   for (uint32_t t = 0; t < knowledge->threads; t++) {
      uint32_t *row = machine_knowledge_row(knowledge, t);
      memcpy(row, knowledge->joined, used * sizeof(uint32_t));
      row[t] = now;
   }
}

/* Mbarriers and fences ------------------------------------------------------------------------------------------------- */

void machine_knowledge_release(machine_warp_t *warp, uint32_t lanes, uint32_t *row) {
   const uint32_t used = machine_knowledge_used(warp->block->clocks->knowledge), then = warp->block->time,
                  now = machine_tick(warp->block);
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      set_clock(warp, lane, then);
      join(row, row_of(warp, lane), used);
      set_clock(warp, lane, now);
   }
}

void machine_knowledge_acquire(machine_warp_t *warp, uint32_t lanes, const uint32_t *row) {
   const uint32_t used = machine_knowledge_used(warp->block->clocks->knowledge);
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left), thread = warp->first_thread + lane;
      uint32_t *own = row_of(warp, lane);
      const uint32_t clock = own[thread];
      join(own, row, used);
      own[thread] = clock;
   }
}

void machine_knowledge_fence(machine_warp_t *warp, uint32_t lanes) {
   const uint32_t threads = warp->block->clocks->knowledge->threads, then = warp->block->time,
                  now = machine_tick(warp->block);
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      uint32_t *row = row_of(warp, lane);
      set_clock(warp, lane, then);
      join(row + threads, row, threads);
      set_clock(warp, lane, now);
   }
}

void machine_knowledge_note(machine_warp_t *warp, uint32_t lanes, uint32_t actor, uint32_t count) {
   const size_t column = 2 * ((size_t)warp->block->clocks->knowledge->threads + actor);
   for (uint32_t left = lanes; left; left &= left - 1) {
      uint32_t *known = row_of(warp, (uint32_t)__builtin_ctz(left)) + column;
      known[0] = count > known[0] ? count : known[0];
      known[1] = count > known[1] ? count : known[1];
   }
}

void machine_knowledge_carry(const machine_warp_t *warp, uint32_t lane, uint32_t *row) {
   const machine_knowledge_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t *own = row_of(warp, lane);
   for (uint32_t n = 2 * knowledge->threads + 1; n < machine_knowledge_used(knowledge); n += 2)
      row[n] = own[n] > row[n] ? own[n] : row[n];
}
