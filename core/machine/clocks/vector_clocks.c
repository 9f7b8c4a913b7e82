/* Each thread's knowledge of the other threads (vector_clocks.h).  On the machine's thread. */
#include "machine/clocks/vector_clocks.h"
#include "machine/clocks/clocks.h"
#include "machine/decode/operation_codes.h"

#include <immintrin.h>

#define MOST_ROWS 2048u /* with a row of its own for each thread, a cluster of 8,192 would need 600 MB */

machine_vector_clocks_t *machine_vector_clocks_new(machine_run_t *run, uint32_t threads, uint32_t barriers,
                                                   uint32_t proxies, bool generic) {
   const uint32_t most_actors = proxies ? MOST_ACTORS : 0, fences = proxies + generic;
   const size_t width = (size_t)threads * (1 + fences) + 2 * most_actors,
                room = threads < MOST_ROWS ? threads : MOST_ROWS, rows = (room + 1) * width,
                cleared =
                   sizeof(machine_vector_clocks_t) +
                   (barriers * width + (2 + (size_t)fences) * threads + 1 + barriers) * sizeof(uint32_t),
                bytes = cleared + rows * sizeof(uint32_t);
   machine_vector_clocks_t *knowledge = machine_alloc_uncleared(run, bytes);
   if (!knowledge)
      return NULL;
   memset(knowledge, 0, cleared); /* whoever takes a row sets all of its words */
   knowledge->threads = threads;
   knowledge->room = (uint32_t)room;
   knowledge->barriers = barriers;
   knowledge->most_actors = most_actors;
   knowledge->fences = fences;
   knowledge->proxies = proxies;
   knowledge->width = (uint32_t)width;
   knowledge->bytes = bytes;
   knowledge->of = (uint32_t *)(void *)(knowledge + 1);
   knowledge->own_fenced = knowledge->of + threads;
   knowledge->sharers = knowledge->own_fenced + fences * threads;
   knowledge->arrived = knowledge->sharers + threads + 1;
   knowledge->named = knowledge->arrived + barriers;
   knowledge->rows = knowledge->named + barriers * width;
   return knowledge;
}

void machine_vector_clocks_free(machine_run_t *run, machine_vector_clocks_t *knowledge) {
   if (knowledge)
      machine_release(run, knowledge, knowledge->bytes);
}

static void forget_arrivals(machine_vector_clocks_t *knowledge, uint32_t barrier) {
   if (knowledge->arrived[barrier])
      memset(knowledge->named + (size_t)barrier * knowledge->width, 0,
             machine_vector_clocks_used(knowledge) * sizeof(uint32_t));
   knowledge->arrived[barrier] = 0;
}

void machine_vector_clocks_begin(machine_vector_clocks_t *knowledge) {
   const size_t used = machine_vector_clocks_used(knowledge) * sizeof(uint32_t);
   memset(knowledge->of, 0, knowledge->threads * sizeof(uint32_t));
   memset(knowledge->own_fenced, 0, (size_t)knowledge->fences * knowledge->threads * sizeof(uint32_t));
   memset(knowledge->sharers, 0, (knowledge->threads + 1) * sizeof(uint32_t));
   memset(knowledge->rows, 0, used);
   knowledge->sharers[0] = knowledge->threads;
   for (uint32_t b = 0; b < knowledge->barriers; b++)
      forget_arrivals(knowledge, b);
   knowledge->actors = 0;
}

static uint32_t *row_at(const machine_vector_clocks_t *knowledge, uint32_t number) {
   return knowledge->rows + (size_t)number * knowledge->width;
}

uint32_t machine_vector_clocks_actor(machine_vector_clocks_t *knowledge) {
   if (knowledge->actors == knowledge->most_actors)
      return PTX_NONE;
   const uint32_t column = machine_vector_clocks_used(knowledge);
   for (uint32_t number = 0; number <= knowledge->threads; number++)
      if (knowledge->sharers[number])
         memset(row_at(knowledge, number) + column, 0, 2 * sizeof(uint32_t));
   for (uint32_t b = 0; b < knowledge->barriers; b++)
      memset(knowledge->named + (size_t)b * knowledge->width + column, 0, 2 * sizeof(uint32_t));
   return knowledge->actors++;
}

/* Counting ------------------------------------------------------------------------------------------------------------ */

/* Rows of many threads and actors lie outside of the nearest caches, so that joining two rows takes about as long as a hundred additions. */
#define WORDS_OF_WORK 8u
static void count_words(const machine_warp_t *warp, uint32_t words) {
   warp->run->work.burden += 1 + words / WORDS_OF_WORK;
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

/* Takes the larger of each two words.  Following threads one by one spends most of its time here, because rows are joined at each wait at an
 * mbarrier. */
static void join(uint32_t *restrict to, const uint32_t *restrict from, uint32_t words) {
   join_from(__builtin_cpu_supports("avx2") ? join_eights(to, from, words) : 0, to, from, words);
}

/* Rows that threads share ---------------------------------------------------------------------------------------------- */

/* The number of a row that no thread has.  The row may hold words from before, so the caller sets all of
 * them.  Where each thread of a large block has a row of its own, the search looks at all of these. */
static uint32_t free_row(const machine_warp_t *warp) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   uint32_t number = 0;
   while (number < knowledge->room && knowledge->sharers[number])
      number++;
   count_words(warp, number);
   if (number == knowledge->room && knowledge->room < knowledge->threads && !warp->run->stop) {
      machine_find_launch(warp->run, RKB_MACHINE_UNKNOWN, "limit.budget",
                          "more than %u threads of a cluster know different things of each other", MOST_ROWS);
      warp->run->stop = true;
   }
   return number;
}

/* Finds the lanes that share the first lane's row (*same) and returns the other lanes. */
static uint32_t take_sharers(const machine_warp_t *warp, uint32_t lanes, uint32_t *number, uint32_t *same) {
   const uint32_t *of = warp->block->clocks->knowledge->of + warp->first_thread;
   *number = of[__builtin_ctz(lanes)];
   *same = 0;
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      *same |= (uint32_t)(of[lane] == *number) << lane;
   }
   return lanes & ~*same;
}

static void give_row(machine_warp_t *warp, uint32_t lanes, uint32_t number) {
   machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   for (uint32_t left = lanes; left; left &= left - 1) {
      uint32_t *of = &knowledge->of[warp->first_thread + (uint32_t)__builtin_ctz(left)];
      knowledge->sharers[*of]--;
      knowledge->sharers[number]++;
      *of = number;
   }
}

/* Gives lanes that share a row a row of their own, which they may then change. */
static uint32_t *own_row(machine_warp_t *warp, uint32_t lanes, uint32_t number) {
   machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   if (knowledge->sharers[number] == (uint32_t)__builtin_popcount(lanes))
      return row_at(knowledge, number);
   const uint32_t made = free_row(warp);
   memcpy(row_at(knowledge, made), row_at(knowledge, number),
          machine_vector_clocks_used(knowledge) * sizeof(uint32_t));
   count_words(warp, machine_vector_clocks_used(knowledge));
   give_row(warp, lanes, made);
   return row_at(knowledge, made);
}

/* Joins into a row what the lanes themselves did up to a time, and up to where they fenced it. */
static void note_own(const machine_warp_t *warp, uint32_t lanes, uint32_t time, uint32_t *to) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t threads = knowledge->threads;
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t thread = warp->first_thread + (uint32_t)__builtin_ctz(left),
                     words = threads * knowledge->fences;
      to[thread] = time > to[thread] ? time : to[thread];
      for (uint32_t n = thread; n < words; n += threads) {
         const uint32_t fenced = knowledge->own_fenced[n];
         to[threads + n] = fenced > to[threads + n] ? fenced : to[threads + n];
      }
   }
}

/* Joins into a row what the lanes know, what they themselves did up to a time, and up to where they fenced
 * it. */
static void join_lanes(const machine_warp_t *warp, uint32_t lanes, uint32_t time, uint32_t *to) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   uint32_t number, same;
   for (uint32_t left = lanes; left;) {
      left = take_sharers(warp, left, &number, &same);
      join(to, row_at(knowledge, number), machine_vector_clocks_used(knowledge));
      count_words(warp, machine_vector_clocks_used(knowledge));
   }
   note_own(warp, lanes, time, to);
}

static void set_clocks(machine_warp_t *warp, uint32_t lanes, uint32_t clock) {
   for (uint32_t left = lanes; left; left &= left - 1)
      warp->block->clocks->own[warp->first_thread + (uint32_t)__builtin_ctz(left)] = clock;
}

void machine_vector_clocks_warp_sync(machine_warp_t *warp, uint32_t lanes, uint32_t now) {
   machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   if (!lanes)
      return;
   uint32_t number, same;
   set_clocks(warp, lanes, now);
   if (take_sharers(warp, lanes, &number, &same) == 0) {
      note_own(warp, lanes, now - 1, own_row(warp, lanes, number));
      return;
   }
   const uint32_t made = free_row(warp);
   memset(row_at(knowledge, made), 0, machine_vector_clocks_used(knowledge) * sizeof(uint32_t));
   join_lanes(warp, lanes, now - 1, row_at(knowledge, made));
   give_row(warp, lanes, made);
}

/* The warp arrived whole and its lanes have exchanged what they know, so one lane's row stands for all of
 * them. */
void machine_vector_clocks_arrive(machine_block_t *block, uint32_t warp, uint32_t barrier) {
   machine_vector_clocks_t *knowledge = block->clocks->knowledge;
   machine_warp_t *who = &block->warps[warp];
   uint32_t *phase = knowledge->named + (size_t)barrier * knowledge->width;
   knowledge->arrived[barrier] = 1;
   if (who->alive)
      join_lanes(who, who->alive & (~who->alive + 1), block->time - 1, phase);
   for (uint32_t l = 0; l < LANES && who->first_thread + l < knowledge->threads; l++)
      phase[who->first_thread + l] = block->time - 1; /* the thread's own clock is later */
}

/* The barrier's row has what all who arrived know.  The warps that waited share a copy of it from now on. */
void machine_vector_clocks_leave(machine_block_t *block, uint32_t first, uint32_t warps, uint32_t barrier) {
   const machine_vector_clocks_t *knowledge = block->clocks->knowledge;
   const uint32_t made = free_row(block->warps);
   memcpy(row_at(knowledge, made), knowledge->named + (size_t)barrier * knowledge->width,
          machine_vector_clocks_used(knowledge) * sizeof(uint32_t));
   for (uint32_t left = warps; left; left &= left - 1) {
      machine_warp_t *warp = &block->warps[first + (uint32_t)__builtin_ctz(left)];
      give_row(warp, warp->alive, made);
   }
}

void machine_vector_clocks_complete(machine_block_t *block, uint32_t barrier) {
   forget_arrivals(block->clocks->knowledge, barrier);
}

/* After this, every thread knows what any thread knew, and everything that was done before. */
void machine_vector_clocks_barrier(machine_block_t *block) {
   machine_vector_clocks_t *knowledge = block->clocks->knowledge;
   const uint32_t threads = knowledge->threads, used = machine_vector_clocks_used(knowledge),
                  made = free_row(block->warps), now = block->time;
   uint32_t *joined = row_at(knowledge, made);
   /* All threads get the newest clock, so only the words behind the clocks are joined. */
   memset(joined + threads, 0, (used - threads) * sizeof(uint32_t));
   if (knowledge->fences)
      join(joined + threads, knowledge->own_fenced, threads * knowledge->fences);
   uint32_t rows = 1;
   for (uint32_t number = 0; knowledge->fences && number <= threads; number++)
      if (knowledge->sharers[number]) {
         join(joined + threads, row_at(knowledge, number) + threads, used - threads);
         rows++;
      }
   count_words(block->warps, rows * used);
   for (uint32_t t = 0; t < threads; t++) {
      joined[t] = now - 1;
      knowledge->of[t] = made;
   }
   memset(knowledge->sharers, 0, (threads + 1) * sizeof(uint32_t));
   knowledge->sharers[made] = threads;
}

/* Mbarriers and fences ------------------------------------------------------------------------------------------------- */

void machine_vector_clocks_release(machine_warp_t *warp, uint32_t lanes, uint32_t *row) {
   join_lanes(warp, lanes, warp->block->time, row);
   set_clocks(warp, lanes, machine_tick(warp->block));
}

void machine_vector_clocks_release_fenced(machine_warp_t *warp, uint32_t lanes, uint32_t *row) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t threads = knowledge->threads, used = machine_vector_clocks_used(knowledge);
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left), thread = warp->first_thread + lane,
                     time = machine_released_at(knowledge, thread),
                     *own = machine_vector_clocks_row(knowledge, thread);
      if (!time)
         continue;
      join(row, own + threads * knowledge->fences, threads);
      join(row + threads, own + threads, used - threads);
      count_words(warp, used);
      note_own(warp, 1u << lane, time, row);
      /* what it knows of actors it may have learned since its fence */
      warp->run->report.relaxed_arrival |= knowledge->most_actors != 0;
   }
}

__attribute__((target("avx2"))) static uint32_t eights_in(const uint32_t *row, const uint32_t *from,
                                                          uint32_t words) {
   uint32_t n = 0;
   for (; n + 8 <= words; n += 8) {
      const __m256i known = _mm256_loadu_si256((const __m256i *)(const void *)(row + n)),
                    other = _mm256_loadu_si256((const __m256i *)(const void *)(from + n)),
                    same = _mm256_cmpeq_epi32(_mm256_max_epu32(known, other), known);
      if (_mm256_movemask_epi8(same) != -1)
         break;
   }
   return n;
}

static bool has_all(const uint32_t *row, const uint32_t *from, uint32_t words) {
   uint32_t n = __builtin_cpu_supports("avx2") ? eights_in(row, from, words) : 0;
   while (n < words && from[n] <= row[n])
      n++;
   return n == words;
}

void machine_vector_clocks_acquire(machine_warp_t *warp, uint32_t lanes, const uint32_t *row) {
   machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t used = machine_vector_clocks_used(knowledge);
   uint32_t number, same;
   for (uint32_t left = lanes; left;) {
      left = take_sharers(warp, left, &number, &same);
      count_words(warp, used);
      if (!has_all(row_at(knowledge, number), row, used))
         join(own_row(warp, same, number), row, used);
   }
}

/* first: where a row has the words about fences of one space. */
static void fence_space(machine_warp_t *warp, uint32_t lanes, uint32_t first, uint32_t then) {
   machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t threads = knowledge->threads;
   uint32_t number, same;
   for (uint32_t left = lanes; left;) {
      left = take_sharers(warp, left, &number, &same);
      uint32_t *row = row_at(knowledge, number);
      count_words(warp, threads);
      if (!has_all(row + first, row, threads)) {
         row = own_row(warp, same, number);
         join(row + first, row, threads);
      }
   }
   for (uint32_t left = lanes; left; left &= left - 1)
      knowledge->own_fenced[first - threads + warp->first_thread + (uint32_t)__builtin_ctz(left)] = then;
}

void machine_vector_clocks_fence(machine_warp_t *warp, uint32_t lanes, uint32_t spaces) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t then = warp->block->time, now = machine_tick(warp->block);
   if (knowledge->proxies && (knowledge->proxies == 1 || (spaces & FENCES_SHARED)))
      fence_space(warp, lanes, knowledge->threads, then);
   if (knowledge->proxies == 2 && (spaces & FENCES_GLOBAL))
      fence_space(warp, lanes, 2 * knowledge->threads, then);
   set_clocks(warp, lanes, now);
}

void machine_vector_clocks_fence_generic(machine_warp_t *warp, uint32_t lanes) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t then = warp->block->time, now = machine_tick(warp->block);
   if (knowledge->fences > knowledge->proxies)
      fence_space(warp, lanes, knowledge->threads * knowledge->fences, then);
   set_clocks(warp, lanes, now);
}

void machine_vector_clocks_note(machine_warp_t *warp, uint32_t lanes, uint32_t actor, uint32_t count,
                                bool sees) {
   machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const size_t column = machine_vector_clocks_lead(knowledge) + 2 * (size_t)actor;
   uint32_t number, same;
   for (uint32_t left = lanes; left;) {
      left = take_sharers(warp, left, &number, &same);
      const uint32_t *before = row_at(knowledge, number) + column;
      if ((before[0] >= count || !sees) && before[1] >= count)
         continue;
      uint32_t *known = own_row(warp, same, number) + column;
      known[0] = count > known[0] && sees ? count : known[0];
      known[1] = count > known[1] ? count : known[1];
   }
}

void machine_vector_clocks_carry(const machine_warp_t *warp, uint32_t lane, uint32_t *row) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t *own = machine_vector_clocks_row(knowledge, warp->first_thread + lane);
   for (uint32_t n = machine_vector_clocks_lead(knowledge) + 1; n < machine_vector_clocks_used(knowledge);
        n += 2)
      row[n] = own[n] > row[n] ? own[n] : row[n];
}
