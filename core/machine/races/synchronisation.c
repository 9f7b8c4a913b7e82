/* Which access of one block comes before which access of another: releases and acquisitions through a location in
 * memory.  They are kept only from the first fence on, so that kernels without fences cost nothing more.  clocks.c
 * does the same within a block.
 *
 * A release by thread t of block b at time T covers three things: what t did before its fence; what the other threads of b did before the last
 * barrier before that fence; and what each of these threads did before its own fence, if that fence came before the last barrier before the
 * release.  The third holds because __threadfence() is fence.sc: once the reader has seen the release, the Fence-SC order puts that fence before
 * the reader's fence (PTX ISA, 'Fence-SC').  A read of the location by an atomic operation, or by a volatile or acquiring load, acquires every
 * release made there before.  It counts as acquiring also where no fence follows, as in the programming guide's own last-block reduction, and the
 * report says so.  A release also passes on what its block had acquired before, so that a message may go from block to block.
 *
 * Threads of a block also meet at __syncwarp(), at barriers of some warps and at mbarriers.  Where the block's clocks follow these (clocks/clocks.h), 't's
 * block before the last barrier' above means what the releasing thread knows of each other thread, and an acquisition counts for all who know of it.
 *
 * On the machine's thread. */
#include "machine/clocks/clocks.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/in_flight/copy_sources.h"
#include "machine/races/races.h"
#include "machine/races/reached_locations.h"

#include <stdlib.h>

typedef struct release {
   uint64_t serial;       /* of the block */
   uint32_t thread, time; /* of its fence: the release covers earlier accesses of this thread */
   uint32_t barrier_time; /* and accesses of any thread of the block before this time */
   uint32_t next;         /* the next older release in the same slot of by_block; PTX_NONE */
   uint32_t location, position;
   uint32_t proxied; /* its block had fenced the async proxy behind accesses before this time */
   /* For each thread of the block the time before which the release covers its accesses, in machine_sync.fences: the first, or PTX_NONE; how many. */
   uint32_t fences, threads;
} release_t;

struct machine_sync {
   machine_sync_locations_t at;
   machine_reached_locations_t reached;
   release_t *releases;
   uint32_t release_count, release_room;
   uint32_t *
      fences; /* copies of machine_block_t.fenced, and times up to which a thread knew of others at a fence or a release */
   uint32_t fence_count, fence_room;
   /* What the newest such times were made from, so that many releases in a row share them. */
   struct {
      uint64_t serial;
      const uint32_t *row;
      uint32_t time, at_fence, base, first;
   } newest;
   uint32_t *by_block; /* by serial modulo block_slots: the newest release */
   uint32_t block_slots;
};

struct machine_acquired {
   uint32_t location, count; /* the releases 0 .. count - 1 of the location */
   /* Which thread acquired them and when; the other threads of its block have acquired them after the next barrier. */
   uint32_t thread, time;
};

#define BLOCK_SLOTS 4096

static struct machine_sync *sync_of(machine_run_t *run) {
   if (!run->sync) {
      run->sync = calloc(1, sizeof *run->sync);
      if (run->sync) {
         run->sync->block_slots = BLOCK_SLOTS;
         run->sync->by_block = malloc(BLOCK_SLOTS * sizeof(uint32_t));
         if (!run->sync->by_block) {
            free(run->sync);
            run->sync = NULL;
         } else {
            memset(run->sync->by_block, 0xff, BLOCK_SLOTS * sizeof(uint32_t));
         }
      }
   }
   if (!run->sync)
      run->out_of_memory = true;
   return run->sync;
}

void machine_sync_free(machine_run_t *run) {
   if (!run->sync)
      return;
   machine_reached_free(&run->sync->reached);
   machine_sync_locations_free(&run->sync->at);
   free(run->sync->releases);
   free(run->sync->fences);
   free(run->sync->by_block);
   free(run->sync);
   run->sync = NULL;
}

/* What a thread knows of the others by less than barriers of the whole block; NULL: nothing, or it is not followed. */
static const uint32_t *knowledge_of(const machine_block_t *block, uint32_t thread) {
   if (!block->clocks || block->races != RACES_CLOCKS)
      return NULL;
   const uint32_t *row = machine_vector_clocks_row(block->clocks->knowledge, thread);
   bool knows = false;
   for (uint32_t t = 0; t < block->threads && !knows; t++)
      knows = t != thread && row[t] >= block->barrier_time;
   return knows ? row : NULL;
}

/* Room for a word of each thread of the block; PTX_NONE when memory ran out. */
static uint32_t new_times(struct machine_sync *sync, const machine_block_t *block) {
   while (sync->fence_room - sync->fence_count < block->threads)
      if (!machine_sync_grow((void **)&sync->fences, sync->fence_room, &sync->fence_room,
                             sizeof *sync->fences)) {
         block->run->out_of_memory = true;
         return PTX_NONE;
      }
   sync->fence_count += block->threads;
   return sync->fence_count - block->threads;
}

/* Keeps what the lane knows of other threads at its fence.  *last: the row of the lane before it, which kept its words at *kept. */
static void note_known(machine_warp_t *warp, uint32_t lane, const uint32_t **last, uint32_t *kept) {
   const machine_block_t *block = warp->block;
   const uint32_t *row = knowledge_of(block, warp->first_thread + lane);
   struct machine_sync *sync = row ? sync_of(warp->run) : NULL;
   if (!sync || row != *last) {
      *kept = sync ? new_times(sync, block) : PTX_NONE;
      *last = row;
      if (*kept != PTX_NONE) {
         memcpy(sync->fences + *kept, row, block->threads * sizeof *row);
         warp->run->work.burden += block->threads;
      }
   }
   warp->fence_known[lane] = *kept;
}

void machine_sync_fence(machine_warp_t *warp, uint32_t lanes) {
   machine_block_t *block = warp->block;
   const uint32_t *last = NULL;
   uint32_t kept = PTX_NONE;
   for (uint32_t l = 0; l < LANES; l++)
      if (lanes >> l & 1) {
         warp->fence_time[l] = block->time + 1; /* the fence covers accesses at earlier times */
         warp->fence_barrier[l] = block->barrier_time;
         note_known(warp, l, &last, &kept);
      }
   machine_tick(block);
}

/* A barrier of the whole block: from now on a release by any of its threads covers what the others have
 * fenced. */
void machine_sync_barrier(machine_block_t *block) {
   if (!block->launch->program->fences || !block->run->races)
      return;
   if (block->threads > block->fenced_room) {
      uint32_t *larger = realloc(block->fenced, block->threads * sizeof *larger);
      if (!larger) {
         block->run->out_of_memory = true;
         return;
      }
      block->fenced = larger;
      block->fenced_room = block->threads;
   }
   block->fenced_copy = PTX_NONE;
   block->fenced_any = false;
   for (uint32_t t = 0; t < block->threads; t++) {
      block->fenced[t] = block->warps[t / LANES].fence_time[t % LANES];
      block->fenced_any |= block->fenced[t] != 0;
   }
}

/* Keeps a copy of the block's fence times, one for all releases that follow a barrier. */
static bool keep_fences(struct machine_sync *sync, machine_block_t *block) {
   if (!block->fenced_any || block->fenced_copy != PTX_NONE)
      return true;
   block->fenced_copy = new_times(sync, block);
   if (block->fenced_copy != PTX_NONE)
      memcpy(sync->fences + block->fenced_copy, block->fenced, block->threads * sizeof *sync->fences);
   return block->fenced_copy != PTX_NONE;
}

/* The time before which a release by the lane now covers another thread's accesses, by less than barriers of the whole block: the lane knew of them at its
 * fence, or it knows of the thread's own fence behind them.  row: what the lane knows now; NULL: nothing. */
static uint32_t known_before(const struct machine_sync *sync, const machine_warp_t *warp, uint32_t lane,
                             const uint32_t *row, uint32_t thread) {
   const uint32_t fenced = warp->block->warps[thread / LANES].fence_time[thread % LANES],
                  at_fence = warp->fence_known[lane] != PTX_NONE
                                ? sync->fences[warp->fence_known[lane] + thread] + 1
                                : 0;
   return row && fenced <= row[thread] + 1 && fenced > at_fence ? fenced : at_fence;
}

/* The first of the times that a release by the lane covers: the block's copy of fence times, or one with what the lane knows besides.  PTX_NONE: there
 * are none, or memory ran out. */
static uint32_t covered_times(struct machine_sync *sync, machine_warp_t *warp, uint32_t lane) {
   machine_block_t *block = warp->block;
   const uint32_t *row = knowledge_of(block, warp->first_thread + lane);
   const uint32_t base = block->fenced_any ? block->fenced_copy : PTX_NONE,
                  at_fence = warp->fence_known[lane];
   if (!row && at_fence == PTX_NONE)
      return base;
   if (sync->newest.serial == block->serial && sync->newest.row == row && sync->newest.time == block->time &&
       sync->newest.at_fence == at_fence && sync->newest.base == base)
      return sync->newest.first;
   const uint32_t times = new_times(sync, block);
   for (uint32_t t = 0; times != PTX_NONE && t < block->threads; t++) {
      const uint32_t known = known_before(sync, warp, lane, row, t),
                     fenced = base != PTX_NONE ? sync->fences[base + t] : 0;
      sync->fences[times + t] = known > fenced ? known : fenced;
   }
   warp->run->work.burden += block->threads;
   sync->newest.serial = block->serial;
   sync->newest.row = row;
   sync->newest.time = block->time;
   sync->newest.at_fence = at_fence;
   sync->newest.base = base;
   sync->newest.first = times;
   return times;
}

/* The same for copies of its block.  If the releasing thread did not know that a copy had ended, the copy's time is later than the release's
 * (machine_global_copies_go_on). */
static bool covers_copies(const struct machine_sync *sync, const release_t *release, uint32_t time) {
   bool covered = time < release->barrier_time || time < release->time;
   for (uint32_t t = 0; release->fences != PTX_NONE && t < release->threads && !covered; t++)
      covered = time < sync->fences[release->fences + t];
   return covered;
}

/* Whether the release covers what a thread of its block (thread + 1, as in records) did at that time. */
static bool covers(const struct machine_sync *sync, const release_t *release, uint32_t thread,
                   uint32_t time) {
   if (thread == BLOCKS_COPIES)
      return covers_copies(sync, release, time);
   return time < release->barrier_time || (thread == release->thread + 1 && time < release->time) ||
          (release->fences != PTX_NONE && thread > 0 && thread <= release->threads &&
           time < sync->fences[release->fences + thread - 1]);
}

/* Lists are searched in order, and a kernel that synchronises all the time makes them long.  This many steps count as one thread-instruction. */
#define STEPS_OF_WORK 8u

static void count_steps(machine_run_t *run, uint64_t steps) {
   run->work.burden += 1 + steps / STEPS_OF_WORK;
}

/* Passes on what the releasing block had acquired itself, where the release covers the acquisition.  What follows from that is found when it is asked for. */
static bool pass_on(struct machine_sync *sync, const machine_block_t *block, const release_t *release) {
   machine_sync_location_t *to = &sync->at.all[release->location];
   uint64_t steps = block->acquired_count;
   for (uint32_t n = 0; n < block->acquired_count; n++) {
      const struct machine_acquired *acquired = &block->acquired[n];
      bool known = acquired->location == release->location ||
                   !covers(sync, release, acquired->thread + 1, acquired->time);
      for (uint32_t k = 0; k < to->passed_count && !known; k++, steps++)
         known = to->passed[k].location == acquired->location && to->passed[k].count >= acquired->count;
      if (known)
         continue;
      if (!machine_sync_grow((void **)&to->passed, to->passed_count, &to->passed_room, sizeof *to->passed))
         return false;
      to->passed[to->passed_count++] =
         (machine_passed_on_t){release->position, acquired->location, acquired->count};
   }
   count_steps(block->run, steps);
   return true;
}

void machine_sync_release(machine_warp_t *warp, uint32_t lane, uint64_t address, bool fenced) {
   machine_block_t *block = warp->block;
   if (fenced) { /* the operation is itself a release, of everything up to here */
      warp->fence_time[lane] = machine_tick(block);
      warp->fence_barrier[lane] = block->barrier_time;
      const uint32_t *last = NULL;
      uint32_t kept = PTX_NONE;
      note_known(warp, lane, &last, &kept);
   }
   if (!warp->fence_time[lane] && !block->fenced_any &&
       !(block->launch->program->fences && knowledge_of(block, warp->first_thread + lane)))
      return;
   struct machine_sync *sync = sync_of(warp->run);
   if (!sync)
      return;
   uint32_t where = machine_sync_location(&sync->at, address, true);
   if (where == PTX_NONE || !keep_fences(sync, block) ||
       !machine_sync_grow((void **)&sync->releases, sync->release_count, &sync->release_room,
                          sizeof *sync->releases)) {
      warp->run->out_of_memory = true;
      return;
   }
   uint32_t *newest = &sync->by_block[block->serial % sync->block_slots];
   sync->releases[sync->release_count] = (release_t){.serial = block->serial,
                                                     .thread = warp->first_thread + lane,
                                                     .time = warp->fence_time[lane],
                                                     .barrier_time = warp->fence_barrier[lane],
                                                     .next = *newest,
                                                     .location = where,
                                                     .position = sync->at.all[where].count++,
                                                     .proxied = block->proxy_fenced,
                                                     .fences = covered_times(sync, warp, lane),
                                                     .threads = block->threads};
   if (!pass_on(sync, block, &sync->releases[sync->release_count]))
      warp->run->out_of_memory = true;
   *newest = sync->release_count++;
   if (machine_copy_sources_kept(block))
      machine_global_copies_go_on(warp, lane);
}

/* The entry, if there is one, by which a thread has acquired releases of a location since its block's last barrier; the newest of several. */
static struct machine_acquired *acquired_by(machine_block_t *block, uint32_t location, uint32_t thread) {
   struct machine_acquired *found = NULL;
   uint32_t n = block->acquired_count;
   for (; n > 0 && !found; n--) {
      struct machine_acquired *known = &block->acquired[n - 1];
      if (known->location == location && known->thread == thread && known->time >= block->barrier_time)
         found = known;
   }
   count_steps(block->run, block->acquired_count - n);
   return found;
}

/* Notes that a thread has acquired the first count releases of a location.  False when memory ran out. */
static bool note_acquired(machine_block_t *block, uint32_t location, uint32_t count, uint32_t thread) {
   struct machine_acquired *known = acquired_by(block, location, thread);
   if (known && known->count >= count)
      return true;
   /* What was acquired before a fence stays apart from what was acquired after it. */
   if (known && known->time == block->time) {
      known->count = count;
      return true;
   }
   if (!machine_sync_grow((void **)&block->acquired, block->acquired_count, &block->acquired_room,
                          sizeof *block->acquired))
      return false;
   block->acquired[block->acquired_count++] = (struct machine_acquired){location, count, thread, block->time};
   return true;
}

void machine_sync_acquire(machine_warp_t *warp, uint32_t lane, uint64_t address) {
   machine_block_t *block = warp->block;
   struct machine_sync *sync = warp->run->sync;
   if (!sync)
      return;
   const uint32_t where = machine_sync_location(&sync->at, address, false),
                  thread = warp->first_thread + lane;
   if (where == PTX_NONE || !sync->at.all[where].count)
      return;
   if (!note_acquired(block, where, sync->at.all[where].count, thread))
      warp->run->out_of_memory = true;
}

/* Whether the lane knows of an acquisition by its block. */
static bool knows_acquired(const machine_warp_t *warp, uint32_t lane,
                           const struct machine_acquired *acquired) {
   const machine_block_t *block = warp->block;
   return acquired->thread == warp->first_thread + lane || acquired->time < block->barrier_time ||
          (block->clocks && machine_clocks_ordered_time(warp, lane, acquired->thread, acquired->time));
}

/* Whether a fence of the async proxy lies between what the release covers and the lane, to whom the acquisition is known.  It is not followed which thread of
 * the releasing block fenced. */
static bool is_proxied(const machine_warp_t *warp, uint32_t lane, const release_t *release,
                       const struct machine_acquired *acquired, uint32_t time) {
   if (machine_knows_fenced_global(warp->block->clocks->knowledge, warp->first_thread + lane,
                                   acquired->thread, acquired->time))
      return true;
   const bool taken = time < release->proxied;
   warp->run->report.copies_assumed |= taken;
   return taken;
}

static bool acquired_itself(const machine_warp_t *warp, uint32_t lane, const release_t *release,
                            uint32_t time, bool proxied) {
   const machine_block_t *block = warp->block;
   count_steps(warp->run, block->acquired_count);
   for (uint32_t n = 0; n < block->acquired_count; n++) {
      const struct machine_acquired *acquired = &block->acquired[n];
      if (acquired->location == release->location && acquired->count > release->position &&
          knows_acquired(warp, lane, acquired) &&
          (!proxied || is_proxied(warp, lane, release, acquired, time)))
         return true;
   }
   return false;
}

/* Whether the lane acquired the release by way of others, if it did not acquire it itself.  A fence of the async proxy is taken for granted there: it is not followed which block between has
 * one. */
static bool acquired_through_others(const machine_warp_t *warp, uint32_t lane, const release_t *release,
                                    bool proxied) {
   const machine_block_t *block = warp->block;
   struct machine_sync *sync = warp->run->sync;
   uint32_t known = 0;
   uint64_t steps = 0;
   bool room = true;
   for (uint32_t n = 0; n < block->acquired_count && room; n++) {
      const struct machine_acquired *acquired = &block->acquired[n];
      if (knows_acquired(warp, lane, acquired))
         room = machine_reached_begin(&sync->reached, known++,
                                      (machine_acquired_part_t){acquired->location, acquired->count});
   }
   room = room && machine_reached_follow(&sync->reached, &sync->at, known, &steps);
   warp->run->out_of_memory |= !room;
   count_steps(warp->run, steps);
   const bool acquired = room && machine_reached_count(&sync->reached, release->location) > release->position;
   warp->run->report.copies_assumed |= acquired && proxied;
   return acquired;
}

static bool is_ordered(const machine_warp_t *warp, uint32_t lane, uint64_t name, bool proxied) {
   const machine_block_t *block = warp->block;
   const struct machine_sync *sync = warp->run->sync;
   if (!sync || !block->acquired_count)
      return false;
   const uint64_t serial = machine_name_block(name) - 1;
   const uint32_t time = machine_name_time(name), thread = machine_name_thread(name);
   for (uint32_t r = sync->by_block[serial % sync->block_slots]; r != PTX_NONE; r = sync->releases[r].next) {
      const release_t *release = &sync->releases[r];
      warp->run->work.burden++;
      if (release->serial != serial || !covers(sync, release, thread, time) ||
          (!acquired_itself(warp, lane, release, time, proxied) &&
           ((proxied && acquired_itself(warp, lane, release, time, false)) ||
            !acquired_through_others(warp, lane, release, proxied))))
         continue;
      warp->run->report.relaxed_acquire |= !warp->fence_time[lane];
      return true;
   }
   return false;
}

bool machine_sync_ordered(const machine_warp_t *warp, uint32_t lane, uint64_t name) {
   return is_ordered(warp, lane, name, false);
}

bool machine_sync_fenced(const machine_warp_t *warp, uint32_t lane, uint64_t name) {
   return is_ordered(warp, lane, name, true);
}
