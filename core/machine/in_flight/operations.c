/* Accesses to shared memory by the async proxy (operations.h): for each unit the operation that wrote it last and those that have read it
 * since; for each granule the last generic write.  A unit has 16 bytes, which is what bulk copies and products move at once; in programs
 * with operations that move less it has four.  On the machine's thread. */
#include "machine/in_flight/operation_units.h"
#include "machine/in_flight/copies.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/clocks/clocks.h"
#include "machine/clocks/second_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPERATIONS (1u << 22) /* of a block */
#define UNKNOWN_CLOCK UINT32_MAX   /* of a write that no thread can know of */

machine_operations_t *machine_operations_new(machine_run_t *run, const machine_program_t *program,
                                             uint32_t shared_bytes, uint32_t shift) {
   machine_operations_t *made = machine_alloc(run, sizeof *made);
   if (!made)
      return NULL;
   made->unit_shift = program->small_operations ? 2 : 4;
   made->unit_count = (shared_bytes >> made->unit_shift) + 16;
   made->granules = (shared_bytes >> shift) + 16;
   made->shift = shift;
   made->units = machine_alloc(run, made->unit_count * sizeof *made->units);
   made->written = machine_alloc(run, made->granules * sizeof *made->written);
   made->pages = (shared_bytes >> PAGE_SHIFT) + 2;
   made->stamps = machine_alloc(run, made->pages * sizeof *made->stamps);
   if (made->units && made->written && made->stamps)
      return made;
   machine_operations_free(run, made);
   return NULL;
}

void machine_operations_free(machine_run_t *run, machine_operations_t *operations) {
   if (!operations)
      return;
   free(operations->all);
   if (operations->units)
      machine_release(run, operations->units, operations->unit_count * sizeof *operations->units);
   if (operations->written)
      machine_release(run, operations->written, operations->granules * sizeof *operations->written);
   if (operations->stamps)
      machine_release(run, operations->stamps, operations->pages * sizeof *operations->stamps);
   machine_release(run, operations, sizeof *operations);
}

void machine_operations_begin(machine_block_t *block) {
   machine_operations_t *operations = block->operations;
   if (!operations)
      return;
   operations->count = 0;
   memset(operations->units, 0, operations->unit_count * sizeof *operations->units);
   machine_count_bytes(block->run, operations->unit_count * sizeof *operations->units);
   if (operations->written_end > operations->written_first)
      memset(operations->written + operations->written_first, 0,
             (operations->written_end - operations->written_first) * sizeof *operations->written);
   operations->written_first = operations->granules;
   operations->written_end = 0;
   memset(operations->tiles, 0, sizeof operations->tiles);
   memset(operations->stamps, 0, operations->pages * sizeof *operations->stamps);
   operations->stamp = 0;
}

/* Actors ------------------------------------------------------------------------------------------------------------ */

uint32_t machine_actor_new(machine_block_t *block) {
   if (!block->operations)
      return PTX_NONE;
   const uint32_t actor = machine_vector_clocks_actor(block->clocks->knowledge);
   block->run->work.burden += block->clocks->knowledge->threads / 16; /* each thread's row gets a column */
   if (actor == PTX_NONE && !block->run->stop) {
      machine_find_launch(block->run, RKB_MACHINE_UNKNOWN, "limit.budget",
                          "a block has more than %u mbarriers and threads with groups of copies",
                          MOST_ACTORS);
      block->run->stop = true;
   }
   return actor;
}

void machine_actor_observed(machine_warp_t *warp, uint32_t lanes, uint32_t actor, uint32_t count) {
   if (actor != PTX_NONE && warp->block->operations)
      machine_vector_clocks_note(warp, lanes, actor, count, true);
}

void machine_actor_noticed(machine_warp_t *warp, uint32_t lanes, uint32_t actor, uint32_t count) {
   if (actor != PTX_NONE && warp->block->operations)
      machine_vector_clocks_note(warp, lanes, actor, count, false);
}

bool machine_actor_known(const machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count) {
   return actor == PTX_NONE || !warp->block->operations ||
          machine_known_count(warp->block->clocks->knowledge, warp->first_thread + lane, actor) >= count;
}

bool machine_actor_passed(const machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count) {
   return actor == PTX_NONE || !warp->block->operations ||
          machine_passed_count(warp->block->clocks->knowledge, warp->first_thread + lane, actor) >= count;
}

uint32_t machine_operation_start(machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count,
                                 const char *what) {
   machine_operations_t *operations = warp->block->operations;
   if (!operations || actor == PTX_NONE)
      return 0;
   if (operations->count + 1 >= operations->room) {
      const uint32_t room = operations->room ? 2 * operations->room : 256;
      machine_operation_t *larger =
         room <= MOST_OPERATIONS ? realloc(operations->all, room * sizeof *larger) : NULL;
      if (!larger) {
         warp->run->out_of_memory = true;
         return 0;
      }
      operations->all = larger;
      operations->room = room;
   }
   operations->all[++operations->count] = (machine_operation_t){
      .actor = actor, .count = count, .thread = warp->first_thread + lane, .pc = warp->pc, .what = what};
   return operations->count;
}

uint32_t machine_reduction_start(machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count,
                                 const char *what) {
   const uint32_t number = machine_operation_start(warp, lane, actor, count, what);
   if (number)
      warp->block->operations->all[number].reduces = true;
   return number;
}

uint32_t machine_store_start(machine_warp_t *warp, uint32_t lane, uint32_t actor, uint32_t count,
                             bool reduces) {
   const uint32_t number = reduces
                              ? machine_reduction_start(warp, lane, actor, count, "an asynchronous reduction")
                              : machine_operation_start(warp, lane, actor, count, "an asynchronous store");
   if (number)
      warp->block->operations->all[number].generic = true;
   return number;
}

const machine_operation_t *machine_operation_at(const machine_block_t *block, uint32_t operation) {
   return operation && block->operations ? &block->operations->all[operation] : NULL;
}

/* Findings ------------------------------------------------------------------------------------------------------------ */

static rkb_machine_finding_t *complete_finding(machine_warp_t *warp, rkb_machine_finding_t *finding,
                                               uint32_t offset, uint32_t bytes) {
   if (!finding)
      return NULL;
   finding->offset = machine_own_byte(warp->block, offset);
   finding->bytes = bytes;
   snprintf(finding->symbol, sizeof finding->symbol, "shared memory");
   snprintf(finding->space, sizeof finding->space, "shared");
   return finding;
}

/* Reports an access of the lane, or of an operation that it starts, against an operation whose end the lane has not observed. */
static void report_unfinished(machine_warp_t *warp, uint32_t lane, const char *subject, bool store,
                              uint32_t offset, uint32_t bytes, const machine_operation_t *other, bool reads) {
   rkb_machine_finding_t *finding = complete_finding(
      warp,
      machine_find(
         warp, RKB_MACHINE_REJECT, "race.async", lane,
         "%s%s %u bytes at byte %u of shared memory that %s started by %s in line %u may still be %s: no wait "
         "of this thread, or of one that it is ordered after, has seen its end",
         subject, store ? "writes" : "reads", bytes, machine_own_byte(warp->block, offset), other->what,
         other->thread == warp->first_thread + lane ? "the same thread" : "another thread",
         machine_source_line(warp->program, other->pc), reads ? "reading" : "writing"),
      offset, bytes);
   machine_find_other_at(finding, warp->block, other->thread, other->pc,
                         "the other's operation began first; no wait orders its end before this");
}

/* Returns the instruction of the thread's own write there; PTX_NONE: it is not kept, because the thread did not write there or other threads wrote
 * there later. */
static uint32_t written_by(const machine_operations_t *operations, uint32_t offset, uint32_t bytes,
                           uint32_t thread) {
   for (uint32_t g = offset >> operations->shift; g <= (offset + bytes - 1) >> operations->shift; g++)
      if (operations->written[g].thread == thread + 1)
         return operations->written[g].pc;
   return PTX_NONE;
}

static void report_unordered(machine_warp_t *warp, uint32_t lane, const machine_operation_t *operation,
                             bool store, uint32_t offset, uint32_t bytes, bool other_wrote, uint32_t other) {
   static const char order[] =
      "the other access came first; nothing orders the start of the operation after it";
   const uint32_t pc =
      other_wrote && other != PTX_NONE ? written_by(warp->block->operations, offset, bytes, other) : PTX_NONE;
   char where[48] = "";
   if (pc != PTX_NONE)
      snprintf(where, sizeof where, " in line %u", machine_source_line(warp->program, pc));
   rkb_machine_finding_t *finding = complete_finding(
      warp,
      machine_find(
         warp, RKB_MACHINE_REJECT, "race.async", lane,
         "starts %s that %s %u bytes at byte %u of shared memory, which %s %s%s, with no synchronisation "
         "between them",
         operation->what, store ? "writes" : "reads", bytes, machine_own_byte(warp->block, offset),
         other == PTX_NONE ? "several threads" : "another thread", other_wrote ? "wrote" : "read", where),
      offset, bytes);
   if (pc != PTX_NONE)
      machine_find_other_at(finding, warp->block, other, pc, order);
   else
      machine_second_access_find(warp, finding, other, other_wrote, offset, bytes, order);
}

static void report_unfenced(machine_warp_t *warp, uint32_t lane, const machine_operation_t *operation,
                            bool store, uint32_t offset, uint32_t bytes, const generic_write_t *write) {
   rkb_machine_finding_t *finding = complete_finding(
      warp,
      machine_find(
         warp, RKB_MACHINE_REJECT, "race.proxy", lane,
         "starts %s that %s %u bytes at byte %u of shared memory, which %s wrote in line %u through the generic "
         "proxy: no fence.proxy.async lies between the two",
         operation->what, store ? "writes" : "reads", bytes, machine_own_byte(warp->block, offset),
         write->thread == warp->first_thread + lane + 1 ? "the same thread" : "another thread",
         machine_source_line(warp->program, write->pc)),
      offset, bytes);
   machine_find_other_at(finding, warp->block, write->thread - 1, write->pc,
                         "the write came first, and no proxy fence orders it before the operation");
}

/* Checks --------------------------------------------------------------------------------------------------------------- */

bool machine_operation_known(const machine_warp_t *warp, uint32_t lane,
                             const machine_operation_t *operation) {
   return machine_known_count(warp->block->clocks->knowledge, warp->first_thread + lane, operation->actor) >=
          operation->count;
}

/* The first operation on a unit that conflicts with the lane's access and whose end the lane has not observed; NULL: none. */
static const machine_operation_t *unfinished(const machine_warp_t *warp, uint32_t lane,
                                             const async_unit_t *unit, bool store, uint32_t own,
                                             bool *reads) {
   const machine_operation_t *all = warp->block->operations->all;
   *reads = false;
   if (unit->writer && unit->writer != own && !(own && all[own].reduces && all[unit->writer].reduces) &&
       !machine_operation_known(warp, lane, &all[unit->writer]))
      return &all[unit->writer];
   *reads = true;
   for (uint32_t n = 0; store && n < MOST_READERS && unit->reader[n]; n++)
      if (unit->reader[n] != own && !machine_operation_known(warp, lane, &all[unit->reader[n]]))
         return &all[unit->reader[n]];
   return NULL;
}

bool machine_operations_touched(machine_warp_t *warp, uint32_t lane, uint32_t offset, uint32_t bytes,
                                bool store, bool atomic) {
   machine_operations_t *operations = warp->block->operations;
   const uint32_t shift = operations->unit_shift;
   for (uint32_t n = offset >> shift; n <= (offset + bytes - 1) >> shift; n++) {
      bool reads;
      const machine_operation_t *other = unfinished(warp, lane, &operations->units[n], store, 0, &reads);
      if (other) {
         report_unfinished(warp, lane, "", store, offset, bytes, other, reads);
         return true;
      }
      operations->units[n].generic = true;
      operations->units[n].atomic |= atomic;
   }
   if (!store)
      return false;
   const generic_write_t write = {warp->first_thread + lane + 1, machine_lane_clock(warp, lane), warp->pc};
   const uint32_t first = offset >> operations->shift, end = ((offset + bytes - 1) >> operations->shift) + 1;
   for (uint32_t g = first; g < end; g++)
      operations->written[g] = write;
   operations->written_first = first < operations->written_first ? first : operations->written_first;
   operations->written_end = end > operations->written_end ? end : operations->written_end;
   operations_stamp(operations, offset, bytes);
   return false;
}

void machine_operations_copying(machine_block_t *block, uint32_t offset, uint32_t bytes) {
   machine_operations_t *operations = block->operations;
   if (!operations)
      return;
   for (uint32_t g = offset >> operations->shift; g <= (offset + bytes - 1) >> operations->shift; g++)
      operations->written[g].clock = UNKNOWN_CLOCK;
}

/* Checks the threads' accesses to a unit before the operation: they are ordered before it, and writes are fenced. */
static bool check_generic(machine_warp_t *warp, uint32_t lane, uint32_t number, uint32_t unit, bool store) {
   machine_operations_t *operations = warp->block->operations;
   const machine_operation_t *operation = &operations->all[number];
   const uint32_t first = unit << operations->unit_shift, bytes = 1u << operations->unit_shift;
   uint32_t other;
   bool wrote;
   if (warp->block->copies && machine_copies_touched(warp, lane, first, bytes, store))
      return false;
   if (!machine_shared_ordered(warp, lane, first, bytes, store, &wrote, &other)) {
      report_unordered(warp, lane, operation, store, first, bytes, wrote, other);
      return false;
   }
   for (uint32_t g = first >> operations->shift;
        !operation->generic && g <= (first + bytes - 1) >> operations->shift; g++) {
      const generic_write_t *write = &operations->written[g];
      if (write->thread && !machine_knows_fenced(warp->block->clocks->knowledge, warp->first_thread + lane,
                                                 write->thread - 1, write->clock)) {
         report_unfenced(warp, lane, operation, store, first, bytes, write);
         return false;
      }
   }
   return true;
}

bool machine_operation_check(machine_warp_t *warp, uint32_t lane, uint32_t number, uint32_t unit,
                             bool store) {
   const machine_operations_t *operations = warp->block->operations;
   bool reads;
   const machine_operation_t *other = unfinished(warp, lane, &operations->units[unit], store, number, &reads);
   if (other) {
      char subject[96];
      snprintf(subject, sizeof subject, "starts %s that ", operations->all[number].what);
      report_unfinished(warp, lane, subject, store, unit << operations->unit_shift,
                        1u << operations->unit_shift, other, reads);
      return false;
   }
   return !operations->units[unit].generic || check_generic(warp, lane, number, unit, store);
}

/* A later group of an actor replaces the actor's earlier groups.  A group that the lane knows to be done need not be kept. */
bool machine_operation_add_reader(machine_warp_t *warp, uint32_t lane, async_unit_t *unit, uint32_t number) {
   const machine_operation_t *all = warp->block->operations->all;
   for (uint32_t n = 0; n < MOST_READERS; n++) {
      const uint32_t reader = unit->reader[n];
      if (reader && all[reader].actor != all[number].actor &&
          !machine_operation_known(warp, lane, &all[reader]))
         continue;
      unit->reader[n] = number;
      return true;
   }
   machine_find(warp, RKB_MACHINE_UNKNOWN, "limit.budget", lane,
                "more than %u asynchronous operations in no order read one place in shared memory",
                MOST_READERS);
   warp->run->stop = true;
   return false;
}

/* The work of looking at each unit of so many bytes. */
static void count_units(const machine_warp_t *warp, uint32_t bytes) {
   warp->run->work.burden += 1 + (2 * (uint64_t)bytes >> warp->block->operations->unit_shift);
}

bool machine_operation_reads(machine_warp_t *warp, uint32_t lane, uint32_t number, uint32_t offset,
                             uint32_t bytes) {
   machine_operations_t *operations = warp->block->operations;
   if (!number || !operations)
      return true;
   count_units(warp, bytes);
   for (uint32_t n = offset >> operations->unit_shift; n <= (offset + bytes - 1) >> operations->unit_shift;
        n++)
      if (!machine_operation_check(warp, lane, number, n, false) ||
          !machine_operation_add_reader(warp, lane, &operations->units[n], number))
         return false;
   return true;
}

/* Whether the same operations accessed two units; false if threads accessed the second one. */
static bool same_operations(const async_unit_t *unit, const async_unit_t *other) {
   return !other->generic && unit->writer == other->writer &&
          memcmp(unit->reader, other->reader, sizeof unit->reader) == 0;
}

bool machine_operation_writes(machine_warp_t *warp, uint32_t lane, uint32_t number, uint32_t offset,
                              uint32_t bytes) {
   machine_operations_t *operations = warp->block->operations;
   if (!number || !operations)
      return true;
   const uint32_t shift = operations->unit_shift, unit = 1u << shift;
   count_units(warp, bytes);
   operations_stamp(operations, offset, bytes);
   async_unit_t before = {.generic = true};
   for (uint32_t n = offset >> shift; n <= (offset + bytes - 1) >> shift; n++) {
      /* What was found of a unit holds for the next one if the same operations accessed it, and no thread did. */
      if ((operations->units[n].generic || !same_operations(&operations->units[n], &before)) &&
          !machine_operation_check(warp, lane, number, n, true))
         return false;
      before = operations->units[n];
      if (before.generic) {
         machine_shared_forget(warp->block, n << shift, unit);
         for (uint32_t g = (n << shift) >> operations->shift;
              g <= ((n << shift) + unit - 1) >> operations->shift; g++)
            operations->written[g].thread = 0;
      }
      operations->units[n] = (async_unit_t){.writer = number};
   }
   return true;
}

void machine_operation_owns(machine_block_t *block, uint32_t number, uint32_t offset, uint32_t bytes) {
   const uint32_t shift = number ? block->operations->unit_shift : 0;
   if (number)
      operations_stamp(block->operations, offset, bytes);
   for (uint32_t n = offset >> shift; number && n <= (offset + bytes - 1) >> shift; n++)
      block->operations->units[n] = (async_unit_t){.writer = number, .generic = true};
}

/* The end of a block --------------------------------------------------------------------------------------------------- */

/* By actor: how many of its phases or groups some thread of the block of that rank knows to be done. */
static void observed_by_anyone(const machine_block_t *block, uint32_t rank, uint32_t most[MOST_ACTORS]) {
   const machine_vector_clocks_t *knowledge = block->clocks->knowledge;
   const uint32_t first = rank * block->cluster.warps * LANES;
   for (uint32_t actor = 0; actor < knowledge->actors; actor++)
      most[actor] = 0;
   for (uint32_t t = first; t < first + block->cluster.threads; t++)
      for (uint32_t actor = 0; actor < knowledge->actors; actor++) {
         const uint32_t count = machine_known_count(knowledge, t, actor);
         most[actor] = count > most[actor] ? count : most[actor];
      }
}

static void report_unobserved(machine_block_t *block, const machine_operation_t *operation, uint32_t unit,
                              bool reads) {
   machine_warp_t *warp = &block->warps[operation->thread / LANES];
   const uint32_t offset = unit << block->operations->unit_shift;
   warp->pc = operation->pc;
   rkb_machine_finding_t *finding = complete_finding(
      warp,
      machine_find(warp, RKB_MACHINE_REJECT, "race.async", operation->thread % LANES,
                   "%s started here may still be %s byte %u of shared memory when the block ends: no "
                   "thread waits for it",
                   operation->what, reads ? "reading" : "writing", machine_own_byte(block, offset)),
      offset, 1u << block->operations->unit_shift);
   machine_find_alone(finding,
                      "the operation began, then the block ended: no thread of it waits between the two");
}

/* Looks at the shared memory of one block, which exists until the block's threads have ended. */
static void check_units(machine_block_t *block, uint32_t rank) {
   const machine_operations_t *operations = block->operations;
   const uint32_t unit = 1u << operations->unit_shift,
                  units = (block->cluster.shared_span + unit - 1) >> operations->unit_shift,
                  first = rank * units;
   uint32_t last = 0, most[MOST_ACTORS]; /* most units are of one operation */
   block->run->work.burden +=
      (uint64_t)block->cluster.threads * block->clocks->knowledge->actors / 4 + units / 4;
   observed_by_anyone(block, rank, most);
   for (uint32_t n = first; n < first + units && n < operations->unit_count && !block->run->stop; n++)
      for (uint32_t k = 0; k <= MOST_READERS && !block->run->stop; k++) {
         const uint32_t number = k ? operations->units[n].reader[k - 1] : operations->units[n].writer;
         if (!number || number == last)
            continue;
         if (operations->all[number].count > most[operations->all[number].actor])
            report_unobserved(block, &operations->all[number], n, k != 0);
         last = number;
      }
}

void machine_operations_end(machine_block_t *block) {
   const machine_operations_t *operations = block->operations;
   for (uint32_t rank = 0; operations && operations->count && rank < block->cluster.blocks; rank++)
      check_units(block, rank);
}
