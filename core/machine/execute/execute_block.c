/* Runs one block: prepares its warps and shared memory, lets every warp run in turn, releases barriers. */
#include "machine/in_flight/copy_sources.h"
#include "machine/in_flight/grid_dependency.h"
#include "machine/clocks/shared_signals.h"
#include "machine/async/bulk_copies.h"
#include "machine/state/environment.h"
#include "machine/in_flight/cluster_barrier.h"
#include "machine/in_flight/cluster_peers.h"
#include "machine/in_flight/copies.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/operations.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/async/warpgroups.h"
#include "machine/races/races.h"
#include "machine/state/recording.h"

#include <stdlib.h>

#define IDLE_TURNS 3u         /* turns without a change after which a waiting block is stopped */
/* accesses of the kind that a waiting lane makes; a warp that waits has made more by then */
#define WAITING_STRONG 10000u
#define REGISTER_BYTES                                                                                       \
   16u /* bytes of each register that are cleared when a warp starts: definedness, taint, shadow */
#define START_BURDEN 32u /* the work of starting a warp apart from that */

/* The memory of the warps of one block stays from block to block, so constants are written into the registers
 * only once. */

static size_t padded(size_t bytes) {
   return (bytes + 63) & ~(size_t)63;
}

static void forget_block(machine_run_t *run) {
   machine_block_t *block = &run->block;
   machine_signals_free(run, block->signals);
   machine_clocks_free(run, block->clocks);
   machine_spread_free(block);
   machine_copies_free(run, block->copies);
   machine_warpgroups_free(run, block->warpgroups);
   machine_operations_free(run, block->operations);
   machine_copy_sources_free(run, block->copy_sources);
   machine_mbarriers_free(run, block->mbarriers);
   machine_bulk_groups_free(run, block->bulk_groups);
   machine_cluster_barrier_free(run, block->cluster_barrier);
   machine_peers_free(run, block->peers);
   free(block->acquired);
   free(block->fenced);
   *block = (machine_block_t){0};
   run->pool_program = NULL;
   run->local = run->local_defined = NULL;
   run->local_shadow = NULL;
}

void machine_pool_free(machine_run_t *run) {
   forget_block(run);
   machine_release(run, run->pool, run->pool_bytes);
   machine_release(run, run->warps, run->pool_warps * sizeof *run->warps);
   run->pool = NULL;
   run->warps = NULL;
   run->pool_room = 0;
}

/* Takes memory for the warps.  It takes the last launch's memory where that is large enough, because new pages from the system cost more than
 * setting zeros.  That memory is not cleared: a block clears the records of which registers hold a value (start_warp), as it must after an earlier
 * block of its launch too.  *used: it is the last launch's memory.  New memory is not cleared here either; machine_pool_prepare clears each part
 * that it takes. */
static bool take_pool(machine_run_t *run, size_t bytes, uint32_t warps, bool *used) {
   const size_t kept = run->pool_bytes + run->pool_warps * sizeof *run->warps,
                asked = bytes + warps * sizeof *run->warps;
   *used = run->pool && bytes <= run->pool_room && warps <= run->pool_warps_room &&
           machine_account(run, kept, asked);
   if (!*used) {
      machine_pool_free(run);
      run->pool = machine_alloc_uncleared(run, bytes);
      run->warps = machine_alloc(run, warps * sizeof *run->warps);
      run->pool_room = bytes;
      run->pool_warps_room = warps;
   }
   run->pool_bytes = bytes;
   run->pool_warps = warps;
   return run->pool && run->warps;
}

static void write_constants(machine_warp_t *warp, uint32_t cluster_blocks) {
   const machine_program_t *program = warp->program;
   for (uint32_t n = program->special_count; n < program->constant_count; n++) {
      const machine_register_info_t *info = &program->registers[program->constants[n]];
      if (info->bytes == 0) {
         memcpy(warp->registers + info->offset, &info->bits, sizeof(uint32_t));
         continue;
      }
      const uint64_t bits =
         info->bits |
         (info->shared_address && cluster_blocks > 1 ? machine_rank_bits(warp->rank, warp->rank) : 0);
      for (int l = 0; l < LANES; l++)
         if (info->bytes == 8)
            LANES_OF(uint64_t, info->offset)[l] = bits;
         else
            LANES_OF(uint32_t, info->offset)[l] = (uint32_t)bits;
   }
}

static void *take_part(uint8_t **at, size_t bytes, bool clear) {
   uint8_t *const part = *at;
   *at += bytes;
   return clear ? memset(part, 0, bytes) : part;
}

bool machine_pool_prepare(machine_run_t *run, const machine_program_t *program,
                          const machine_cluster_t *cluster) {
   const uint32_t warps = cluster->blocks * cluster->warps,
                  shared_bytes = cluster->blocks * cluster->shared_span;
   /* Blocks of a cluster, or operations of the async proxy, have to be followed. */
   const bool follows = program->asynchronous || program->cluster_barriers || cluster->blocks > 1;
   forget_block(run);
   const size_t registers = padded(program->file_bytes), numbers = program->register_count;
   const size_t one = registers + padded(numbers * 4) + (run->taint ? padded(numbers * 8) : 0) +
                      (run->shadow ? 2 * registers + padded(numbers * 4) : 0);
   const size_t local = padded((size_t)program->frame_bytes * LANES * warps);
   /* A finding about volatile code of one warp names the lanes that read, and only the records of clocks tell which lanes these are. */
   const bool clocks = run->races && (program->warp_sync || program->named_barriers ||
                                      program->volatile_shared || follows || run->keeps_lines);
   const uint32_t shift = clocks && !program->narrow_shared ? 4
                          : program->shared_granule == 1    ? 0
                          : program->shared_granule == 2    ? 1
                                                            : 2;
   const size_t shared = padded(shared_bytes + 64), granules = (shared_bytes >> shift) + 16;
   const size_t records =
      !run->races ? 0 : padded(granules * (clocks ? sizeof(machine_shared_record_t) : sizeof(uint32_t)));
   const size_t shadows = run->shadow ? padded((shared_bytes / 4 + 16) * sizeof(double)) : 0;
   bool used;
   if (!take_pool(run, warps * one + local * (run->shadow ? 4 : 2) + 2 * shared + records + shadows + 64,
                  warps, &used))
      return false;
   machine_block_t *block = &run->block;
   uint8_t *at = (uint8_t *)(((uintptr_t)run->pool + 63) & ~(uintptr_t)63);
   /* New memory is cleared, so that no run depends on what other runs left.  Doubles of registers need not be cleared: only valid ones are
    * read, and none is valid at the start. */
#define TAKE_DIRTY(bytes) (at += (bytes), at - (bytes))
#define TAKE(bytes) take_part(&at, bytes, !used)
   for (uint32_t w = 0; w < warps; w++) {
      machine_warp_t *warp = &run->warps[w];
      *warp = (machine_warp_t){.run = run,
                               .block = block,
                               .program = program,
                               .number = w,
                               .first_thread = w * LANES,
                               .rank = w / cluster->warps,
                               .place = w % cluster->warps};
      warp->registers = TAKE(registers);
      warp->defined = (uint32_t *)(void *)TAKE(padded(numbers * 4));
      if (run->taint)
         warp->taint = (uint64_t *)(void *)TAKE(padded(numbers * 8));
      if (run->shadow) {
         warp->shadow = (double *)(void *)TAKE_DIRTY(2 * registers);
         warp->valid = (uint32_t *)(void *)TAKE(padded(numbers * 4));
      }
      write_constants(warp, cluster->blocks);
   }
   run->local = TAKE(local);
   run->local_defined = TAKE(local);
   run->local_shadow = run->shadow ? (double *)(void *)TAKE(2 * local) : NULL;
   block->run = run;
   block->cluster = *cluster;
   block->warps = run->warps;
   block->warp_count = warps;
   block->shared = TAKE(shared);
   block->shared_defined = TAKE(shared);
   block->shared_bytes = shared_bytes;
   block->shared_shift = shift;
   block->races = !run->races ? RACES_NONE : clocks ? RACES_CLOCKS : RACES_FAST;
   if (clocks) {
      block->shared_records = (machine_shared_record_t *)(void *)TAKE(records);
      if (used) /* no record is of a later epoch */
         memset(block->shared_records, 0, records);
      block->shared_epoch = 0;
      block->clocks = machine_clocks_new(run, cluster, program);
      if (!block->clocks)
         return false;
      block->signals = cluster->blocks == 1 && program->signals
                          ? machine_signals_new(run, warps * LANES, block->clocks->knowledge->width)
                          : NULL;
   } else if (run->races) {
      block->shared_races = (uint32_t *)(void *)TAKE(records);
      machine_shared_clear(block);
   }
   if (run->races && program->copies) {
      block->copies = machine_copies_new(run, shared_bytes, warps * LANES);
      if (!block->copies)
         return false;
   }
   if (run->races && follows) {
      block->operations = machine_operations_new(run, program, shared_bytes, shift);
      block->copy_sources = machine_copy_sources_new(run);
      if (!block->operations || !block->copy_sources)
         return false;
   }
   if (run->races && cluster->blocks > 1) {
      block->peers = machine_peers_new(run, warps * LANES, cluster->blocks);
      if (!block->peers)
         return false;
   }
   if (follows) {
      block->mbarriers = machine_mbarriers_new(run, shared_bytes, warps * LANES,
                                               block->clocks ? block->clocks->knowledge->width : 0);
      block->bulk_groups = machine_bulk_groups_new(run, warps * LANES);
      block->cluster_barrier =
         machine_cluster_barrier_new(run, warps * LANES, block->clocks ? block->clocks->knowledge->width : 0);
      if (!block->mbarriers || !block->bulk_groups || !block->cluster_barrier)
         return false;
   }
   if (program->warpgroups && !(block->warpgroups = machine_warpgroups_new(run, program, warps)))
      return false;
   block->shared_shadow = run->shadow ? (double *)(void *)TAKE(shadows) : NULL;
#undef TAKE
#undef TAKE_DIRTY
   run->pool_program = program;
   return true;
}

static void start_warp(machine_block_t *block, machine_warp_t *warp) {
   const machine_program_t *program = warp->program;
   const uint32_t all = block->cluster.threads, before = warp->place * LANES,
                  threads = all > before ? all - before : 0;
   warp->alive = threads >= LANES ? FULL_MASK : (1u << threads) - 1;
   warp->state = threads ? WARP_READY : WARP_DONE;
   warp->fragment_count = threads != 0;
   warp->lost = 0;
   warp->parted = warp->apart = false;
   warp->fragments[0] = (machine_fragment_t){.mask = warp->alive};
   warp->spin = 0;
   warp->carry = warp->carry_defined = 0;
   warp->carry_taint = 0;
   warp->strong = warp->loads = warp->copy_waits = 0;
   warp->copies_open = false;
   memset(warp->fence_time, 0, sizeof warp->fence_time);
   memset(warp->fence_barrier, 0, sizeof warp->fence_barrier);
   memset(warp->fence_known, 0xff, sizeof warp->fence_known);
   memset(warp->defined, 0, program->register_count * sizeof *warp->defined);
   for (uint32_t n = 0; n < program->constant_count; n++)
      warp->defined[program->constants[n]] = FULL_MASK;
   if (warp->taint)
      memset(warp->taint, 0, program->register_count * sizeof *warp->taint);
   for (uint32_t n = 0; warp->taint && program->placed && n < program->special_count; n++)
      warp->taint[program->constants[n]] =
         machine_environment_taint(program->registers[program->constants[n]].special);
   if (warp->valid)
      memset(warp->valid, 0, program->register_count * sizeof *warp->valid);
   machine_write_block_index(block, warp);
}

void machine_block_start(machine_launch_t *launch, uint64_t linear) {
   machine_run_t *run = launch->run;
   machine_block_t *block = &run->block;
   const rkb_plan_launch_t *plan = launch->plan;
   block->launch = launch;
   block->index[0] = (uint32_t)(linear % plan->grid[0]);
   block->index[1] = (uint32_t)(linear / plan->grid[0] % plan->grid[1]);
   block->index[2] = (uint32_t)(linear / plan->grid[0] / plan->grid[1]);
   block->serial = launch->first_serial + linear;
   block->threads = block->cluster.blocks > 1 ? block->warp_count * LANES : block->cluster.threads;
   block->measured = run->options.requests && !run->counts.counted_enough;
   block->time = block->barrier_time = 1;
   block->acquired_count = 0;
   block->fenced_any = false;
   block->proxy_fenced = 0;
   block->shared_taint = 0;
   memset(block->barriers, 0, block->cluster.blocks * sizeof block->barriers[0]);
   memset(block->shared_defined, 0, block->shared_bytes);
   run->undefinings++;
   const size_t local = (size_t)launch->program->frame_bytes * LANES * block->warp_count;
   if (run->local)
      memset(run->local_defined, 0, local);
   /* what the system keeps is no work of the kernel's */
   const uint32_t kept = block->cluster.shared_bytes ? launch->program->shared_first : 0;
   machine_count_bytes(run,
                       block->shared_bytes - block->cluster.blocks * kept + local +
                          (uint64_t)launch->program->register_count * REGISTER_BYTES * block->warp_count);
   run->work.burden += START_BURDEN * block->warp_count;
   machine_grid_dependency_block(block);
   machine_signals_begin(block);
   machine_copies_begin(block);
   machine_mbarriers_begin(block);
   machine_bulk_groups_begin(block);
   machine_cluster_barrier_begin(block);
   machine_peers_begin(block);
   machine_operations_begin(block);
   machine_copy_sources_begin(block);
   machine_warpgroups_begin(block);
   machine_shared_new_epoch(block);
   block->shared_epoch++;
   if (block->clocks)
      machine_clocks_reset(block->clocks, block->time);
   if (block->clocks)
      machine_vector_clocks_begin(block->clocks->knowledge);
   for (uint32_t w = 0; w < block->warp_count; w++)
      start_warp(block, &block->warps[w]);
   machine_order_warps(block);
}

bool machine_block_turn(machine_block_t *block) {
   machine_run_t *run = block->run;
   uint32_t done = 0, ready = 0;
   for (uint32_t w = 0; w < block->warp_count && !run->stop; w++) {
      machine_warp_t *warp = &block->warps[machine_warp_in_order(block, w)];
      if (warp->state == WARP_READY) {
         machine_warp_run(warp);
         run->changes += warp->state == WARP_DONE;
      }
   }
   for (uint32_t w = 0; w < block->warp_count; w++) { /* one warp may have woken another */
      done += block->warps[w].state == WARP_DONE;
      ready += block->warps[w].state == WARP_READY;
   }
   if (run->stop || done == block->warp_count)
      return true;
   if (ready && !block->launch->program->named_barriers)
      return false;
   if (machine_barriers_release(block)) {
      run->changes++;
   } else if (!ready) {
      if (machine_mbarriers_unstick(block))
         return false;
      if (!machine_mbarriers_stuck(block))
         machine_barriers_stuck(block);
      return true;
   }
   return false;
}

void machine_block_end(machine_block_t *block) {
   machine_run_t *run = block->run;
   machine_warpgroups_end(block);
   machine_operations_end(block);
   machine_peers_end(block);
   for (uint32_t w = 0; w < block->warp_count; w++) {
      const machine_warp_t *warp = &block->warps[w];
      run->counts.longest_warp =
         warp->spin > run->counts.longest_warp ? warp->spin : run->counts.longest_warp;
      const uint64_t loads = warp->loads + (warp->copy_waits + COPY_WAIT - 1) / COPY_WAIT;
      run->counts.longest_loads = loads > run->counts.longest_loads ? loads : run->counts.longest_loads;
   }
}

/* The blocks of a sample are executed one after the other.  So a block that polls memory without seeing a change may wait for another block, and
 * then it can never go on. */
static void stop_waiting(machine_block_t *block) {
   for (uint32_t w = 0; w < block->warp_count && block->launch->program->waits && !block->run->stop; w++) {
      machine_warp_t *warp = &block->warps[w];
      if (warp->state == WARP_READY && warp->strong > WAITING_STRONG)
         machine_stop_hang(warp);
   }
}

void machine_block_run(machine_launch_t *launch, uint64_t linear) {
   machine_run_t *run = launch->run;
   machine_block_t *block = &run->block;
   machine_block_start(launch, linear);
   if (run->record)
      machine_record_block(run->record, block);
   uint32_t idle = 0;
   for (uint64_t before = run->changes; !machine_block_turn(block); before = run->changes) {
      idle = run->changes == before ? idle + 1 : 0;
      if (idle == IDLE_TURNS)
         stop_waiting(block);
   }
   machine_block_end(block);
}
