/* Buffers and module variables as regions of the address space, and the findings of accesses outside them.
 * On the machine's thread. */
#include "machine/state/execution.h"

#include <stdio.h>
#include <stdlib.h>

/* allocations that the C library maps anew (stage/confined/job_memory.c) */
#define DENSE_LEAST ((size_t)32 << 20)

void *machine_alloc(machine_run_t *run, size_t bytes) {
   void *memory = machine_alloc_uncleared(run, bytes);
   return memory ? memset(memory, 0, bytes) : NULL;
}

void *machine_alloc_uncleared(machine_run_t *run, size_t bytes) {
   if (bytes == 0)
      bytes = 1;
   if (bytes > run->options.memory_bytes - run->memory) {
      run->out_of_memory = true;
      return NULL;
   }
   void *memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
   if (!memory) {
      run->out_of_memory = true;
      return NULL;
   }
   if (bytes >= DENSE_LEAST)
      machine_dense(memory, bytes);
   machine_account(run, 0, bytes);
   return memory;
}

bool machine_account(machine_run_t *run, size_t kept, size_t asked) {
   if (asked > kept && asked - kept > run->options.memory_bytes - run->memory)
      return false;
   run->memory = run->memory - kept + asked;
   if (run->memory > run->report.memory_peak)
      run->report.memory_peak = run->memory;
   return true;
}

void machine_release(machine_run_t *run, void *memory, size_t bytes) {
   if (!memory)
      return;
   free(memory);
   run->memory -= bytes ? bytes : 1;
}

/* A page of a sparse variable takes eight times its bytes: the bytes, their shadow (twice as much), and the
 * records of their writers and readers. */
#define SPARSE_PAGE_SHIFT 12
#define SPARSE_TIMES 8u

/* Counts a page of a sparse variable when its first piece is met. */
static void count_page(machine_run_t *run, const machine_region_t *region, uint64_t piece) {
   const uint64_t in_page = 1u << (SPARSE_PAGE_SHIFT - PIECE_SHIFT), first = piece & ~(in_page - 1);
   bool counted = false;
   for (uint64_t n = first; n < first + in_page && n << PIECE_SHIFT < region->bytes; n++)
      counted |= n != piece && machine_is_met(region, n);
   if (!counted && !machine_account(run, 0, SPARSE_TIMES << SPARSE_PAGE_SHIFT))
      run->out_of_memory = run->stop = true;
}

void machine_shadow_piece(machine_region_t *region, uint64_t piece) {
   const uint64_t words = region->bytes / 4 + 1, first = (piece << PIECE_SHIFT) / 4,
                  end = first + (1u << PIECE_SHIFT) / 4;
   for (uint64_t w = first; region->shadow && w < end && w < words; w++)
      region->shadow[w] = machine_no_shadow();
}

static void meet_pieces(machine_run_t *run, machine_region_t *region, uint64_t offset, uint64_t bytes) {
   for (uint64_t piece = offset >> PIECE_SHIFT; piece <= (offset + bytes - 1) >> PIECE_SHIFT; piece++) {
      const uint64_t first = piece << PIECE_SHIFT, left = region->bytes - first, whole = 1u << PIECE_SHIFT;
      if (machine_is_met(region, piece))
         continue;
      region->met[piece >> 3] |= (uint8_t)(1u << (piece & 7));
      if (region->met_by && !region->met_by[first >> MET_BY_SHIFT])
         region->met_by[first >> MET_BY_SHIFT] = 1 + run->place;
      if (region->sparse) {
         count_page(run, region, piece);
         machine_shadow_piece(region, piece);
      }
      machine_pack_piece(region, piece);
      if (!region->fetched)
         continue;
      const uint64_t made = left < whole ? left : whole;
      /* Taint shows which values depend on it, so its own values need not be made. */
      const bool unasked = machine_unasked(run, region->taint);
      if (!unasked && run->options.fetch(run->options.fetch_argument, region->buffer, first, made,
                                         region->data + machine_lies_at(region, first)) != RKB_OK)
         run->out_of_memory = run->stop = true;
      if (region->defined)
         memset(region->defined + first, !region->stale, made);
   }
}

void machine_meet(machine_run_t *run, machine_region_t *region, uint64_t offset, uint64_t bytes, bool store) {
   if (region->fetched || region->sparse || store)
      meet_pieces(run, region, offset, bytes);
   if (store && region->stored)
      machine_partial_store(run, region, offset, bytes);
   else if (region->wanted)
      machine_partial_read(region, offset, bytes);
}

static uint64_t distance(const machine_region_t *region, uint64_t address) {
   return !region                                  ? UINT64_MAX
          : address < region->base                 ? region->base - address
          : address - region->base < region->bytes ? 0
                                                   : address - region->base - region->bytes;
}

/* Returns the region for which an address is meant: the region at its place, or the next region if that is nearer. */
static machine_region_t *nearest_region(machine_run_t *run, uint64_t address) {
   machine_region_t *here = machine_region_at(run, address), *behind = machine_region_behind(run, address);
   return distance(behind, address) < distance(here, address) ? behind : here;
}

static const char *space_name(uint64_t window) {
   return window == WINDOW_SHARED  ? "shared"
          : window == WINDOW_LOCAL ? "local"
          : window == WINDOW_PARAM ? "param"
                                   : "global";
}

/* The name that a shared variable has in the source: _ZZ<function>E<length><name>, with _<number> where there are several. */
static int source_name(const char *symbol, const char **name) {
   *name = symbol;
   for (const char *at = symbol; strncmp(symbol, "_ZZ", 3) == 0 && (at = strchr(at, 'E')) != NULL; at++) {
      char *rest;
      const unsigned long length = strtoul(at + 1, &rest, 10);
      if (length && length <= strlen(rest) && (rest[length] == '\0' || rest[length] == '_')) {
         *name = rest;
         return (int)length;
      }
   }
   return (int)strlen(symbol);
}

/* An access outside every shared variable.  Variables lie apart here (shared_layout.c), so the message names
 * the nearest one; the address itself would not say where a device puts it. */
static rkb_machine_finding_t *shared_fault(machine_warp_t *warp, uint32_t lane, uint64_t offset,
                                           uint32_t bytes, bool store) {
   const machine_program_t *program = warp->program;
   const machine_shared_variable_t *variable = machine_nearest_shared(program, offset);
   const uint64_t end = warp->block->cluster.shared_bytes;
   const char *name;
   if (!variable || (end > program->shared_bytes && offset >= program->dynamic_shared_offset))
      return machine_find(warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", lane,
                          "%s %u bytes at byte %lld of dynamic shared memory, which has %llu bytes",
                          store ? "writes" : "reads", bytes,
                          (long long)(int32_t)offset - (long long)program->dynamic_shared_offset,
                          (unsigned long long)(end > program->dynamic_shared_offset
                                                  ? end - program->dynamic_shared_offset
                                                  : 0));
   const int length = source_name(variable->name, &name);
   return machine_find(
      warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", lane,
      "%s %u bytes at byte %lld of the shared variable %.*s, which has %u bytes", store ? "writes" : "reads",
      bytes, (long long)(int32_t)offset - (long long)variable->offset, length, name, variable->bytes);
}

void machine_fault(machine_warp_t *warp, uint32_t lane, uint64_t address, uint32_t space, uint32_t bytes,
                   bool store) {
   machine_run_t *run = warp->run;
   const uint64_t window = address >> WINDOW_SHIFT;
   uint64_t low = address & ((1ull << WINDOW_SHIFT) - 1);
   if (window == WINDOW_SHARED && warp->block->cluster.blocks > 1 &&
       machine_rank_meant(low, warp->rank) < warp->block->cluster.blocks)
      low &= (1u << CLUSTER_SHIFT) - 1; /* the address names another block of the cluster */
   const char *verb = store ? "writes" : "reads", *name = space_name(window);
   machine_region_t *region = window == 0 ? nearest_region(run, address) : NULL;
   rkb_machine_finding_t *finding;
   int64_t offset = region ? (int64_t)(address - region->base) : (int64_t)low;
   uint64_t size = region                    ? region->bytes
                   : window == WINDOW_SHARED ? warp->block->cluster.shared_bytes
                   : window == WINDOW_LOCAL  ? warp->program->frame_bytes
                                             : warp->program->parameter_bytes;
   if (region && store && region->read_only && offset >= 0 && (uint64_t)offset + bytes <= size)
      finding =
         machine_find(warp, RKB_MACHINE_REJECT, region->constant ? "memory.out_of_bounds" : "input.modified",
                      lane, "%s %u bytes at byte %lld of %s, which may only be read", verb, bytes,
                      (long long)offset, region->name);
   else if ((window == 0 && !region) || window > WINDOW_PARAM || (window == WINDOW_PARAM && store) ||
            (space != PTX_GENERIC && space != PTX_GLOBAL && space != PTX_CONST && window == 0))
      finding = machine_find(warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", lane,
                             "%s %u bytes at address 0x%llx, which belongs to no buffer", verb, bytes,
                             (unsigned long long)address);
   else if (window == WINDOW_SHARED && (low + bytes > size || machine_touches_gap(warp->program, low, bytes)))
      finding = shared_fault(warp, lane, low, bytes, store);
   else if (offset >= 0 && (uint64_t)offset + bytes <= size && (address & (bytes - 1)))
      finding = machine_find(warp, RKB_MACHINE_REJECT, "memory.misaligned", lane,
                             "%s %u bytes at byte %lld of %s, which is not a multiple of %u", verb, bytes,
                             (long long)offset, region ? region->name : name, bytes);
   else
      finding = machine_find(warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", lane,
                             "%s %u bytes at byte %lld of %s, which has %llu bytes", verb, bytes,
                             (long long)offset, region ? region->name : name, (unsigned long long)size);
   if (finding) {
      finding->buffer = region ? region->buffer : UINT32_MAX;
      snprintf(finding->space, sizeof finding->space, "%s", name);
      snprintf(finding->symbol, sizeof finding->symbol, "%s", region ? region->name : "");
      finding->offset = offset;
      finding->bytes = bytes;
   }
}

void machine_undefined_address(machine_warp_t *warp, uint32_t lanes) {
   machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", (uint32_t)__builtin_ctz(lanes),
                "an address is computed from a value that was never written");
}

void machine_uninitialised_atomic(machine_warp_t *warp, uint32_t lane, const uint64_t *offset,
                                  const machine_region_t *region, uint32_t bytes) {
   rkb_machine_finding_t *finding =
      machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", lane,
                   "an atomic operation updates byte %llu of %s, which was never given a value",
                   (unsigned long long)*offset, region ? region->name : "shared memory");
   if (finding) {
      finding->buffer = region ? region->buffer : UINT32_MAX;
      snprintf(finding->space, sizeof finding->space, "%s", region ? "global" : "shared");
      snprintf(finding->symbol, sizeof finding->symbol, "%s", region ? region->name : "");
      finding->offset = (int64_t)*offset;
      finding->bytes = bytes;
   }
}

void machine_undefined_store(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset,
                             uint32_t bytes) {
   machine_run_t *run = warp->run;
   if (region->undefined_store)
      return;
   if (run->kept_count == run->kept_room) {
      uint32_t room = run->kept_room ? 2 * run->kept_room : 8;
      rkb_machine_finding_t *larger = realloc(run->kept, room * sizeof *larger);
      if (!larger) {
         run->out_of_memory = true;
         return;
      }
      run->kept = larger;
      run->kept_room = room;
   }
   rkb_machine_finding_t *finding = &run->kept[run->kept_count++];
   memset(finding, 0, sizeof *finding);
   machine_describe(warp, lane, finding);
   finding->standing = RKB_MACHINE_REJECT;
   finding->buffer = region->buffer;
   finding->offset = (int64_t)offset;
   finding->bytes = bytes;
   snprintf(finding->reason, sizeof finding->reason, "memory.uninitialised");
   snprintf(finding->space, sizeof finding->space, "global");
   snprintf(finding->symbol, sizeof finding->symbol, "%s", region->name);
   region->undefined_store = run->kept_count;
}

/* Outputs after a run ------------------------------------------------------------------------------------------ */

uint64_t rkb_machine_undefined(const rkb_machine_t *machine, uint32_t buffer, uint32_t bytes, uint64_t *first,
                               bool *written) {
   const machine_region_t *region = &machine->run.regions[buffer];
   uint64_t count = 0;
   *first = 0;
   *written = false;
   if (!region->defined || memchr(region->defined, 0, region->bytes) == NULL)
      if (!region->defined || memchr(region->defined, UNDEFINED_STORE, region->bytes) == NULL)
         return 0;
   for (uint64_t at = 0; at + bytes <= region->bytes; at += bytes) {
      bool whole = true, stored = true;
      for (uint32_t n = 0; n < bytes; n++) {
         whole &= region->defined[at + n] == 1;
         stored &= region->defined[at + n] != 0;
      }
      if (whole)
         continue;
      if (count++ == 0) {
         *first = at / bytes;
         *written = stored;
      }
   }
   return count;
}

static uint64_t count_unwritten(const machine_region_t *region, uint64_t at, uint64_t end, uint32_t bytes) {
   uint64_t count = 0;
   if (end <= at || !memchr(region->defined + at, 0, end - at))
      return 0;
   for (; at + bytes <= end; at += bytes)
      count += memchr(region->defined + at, 0, bytes) != NULL;
   return count;
}

uint64_t rkb_machine_unwritten(const rkb_machine_t *machine, uint32_t buffer, uint32_t bytes) {
   const machine_region_t *region = &machine->run.regions[buffer];
   const uint64_t whole = 1u << PIECE_SHIFT;
   uint64_t count = 0;
   if (!region->defined)
      return 0;
   if (!region->met)
      return count_unwritten(region, 0, region->bytes, bytes);
   uint64_t before = 0;
   for (uint64_t piece = 0; (piece = machine_next_met(region, piece)) << PIECE_SHIFT < region->bytes; before = ++piece) {
      const uint64_t first = piece << PIECE_SHIFT, left = region->bytes - first;
      const uint64_t size = left < whole ? left : whole;
      count += (piece - before) * (whole / bytes) + count_unwritten(region, first, first + size, bytes);
   }
   const uint64_t rest = region->bytes - (before << PIECE_SHIFT);
   return before << PIECE_SHIFT < region->bytes ? count + rest / bytes : count;
}

void rkb_machine_find_undefined(rkb_machine_t *machine, uint32_t buffer, uint64_t element, uint32_t bytes,
                                bool written, uint64_t count) {
   machine_run_t *run = &machine->run;
   const machine_region_t *region = &run->regions[buffer];
   rkb_machine_finding_t *finding;
   if (written && region->undefined_store) {
      finding = machine_find_launch(
         run, RKB_MACHINE_REJECT, "memory.uninitialised",
         "stores a value that was never given one to %s; %llu elements hold such values at the end",
         region->name, (unsigned long long)count);
      if (finding) {
         rkb_machine_finding_t kept = run->kept[region->undefined_store - 1];
         memcpy(kept.message, finding->message, sizeof kept.message);
         kept.occurrences = 1;
         *finding = kept;
      }
      return;
   }
   finding = machine_find_launch(
      run, RKB_MACHINE_REJECT, written ? "memory.uninitialised" : "output.unwritten",
      "element %llu of %s %s (%llu such elements)", (unsigned long long)element, region->name,
      written ? "holds a value that was never given one" : "is never written", (unsigned long long)count);
   if (finding) {
      finding->buffer = buffer;
      finding->offset = (int64_t)(element * bytes);
      finding->bytes = bytes;
      snprintf(finding->space, sizeof finding->space, "global");
      snprintf(finding->symbol, sizeof finding->symbol, "%s", region->name);
   }
}

void rkb_machine_shadow(const rkb_machine_t *machine, uint32_t buffer, double *out) {
   const machine_region_t *region = &machine->run.regions[buffer];
   for (uint64_t n = 0; n < region->bytes / 4; n++) {
      float value;
      memcpy(&value, region->data + 4 * n, sizeof value);
      out[n] = region->shadow && machine_has_shadow(region->shadow[n]) ? region->shadow[n] : (double)value;
   }
}

#define EIGHT_VALUES UINT64_C(0x0101010101010101) /* bytes that all hold values */

static uint64_t eight_at(const machine_region_t *region, uint64_t at) {
   uint64_t eight;
   memcpy(&eight, region->defined + at, sizeof eight);
   return eight;
}

/* The first byte, from this one on, that holds no value; end: none. */
static uint64_t end_of_values(const machine_region_t *region, uint64_t at, uint64_t end) {
   while (at + 8 <= end && eight_at(region, at) == EIGHT_VALUES)
      at += 8;
   while (at < end && region->defined[at] == 1)
      at++;
   return at;
}

static void visit_defined(const machine_region_t *region, uint64_t at, uint64_t end,
                          void (*visit)(void *argument, uint64_t first, uint64_t bytes), void *argument) {
   while (at < end) {
      const uint64_t first = at;
      at = end_of_values(region, at, end);
      if (at > first)
         visit(argument, first, at - first);
      else if (at + 8 <= end &&
               (eight_at(region, at) == 0 || eight_at(region, at) == UNDEFINED_STORE * EIGHT_VALUES))
         at += 8;
      else
         at++;
   }
}

bool rkb_machine_holds(const rkb_machine_t *machine, uint32_t buffer, uint64_t first, uint64_t bytes) {
   const machine_region_t *region = &machine->run.regions[buffer];
   bool all = first <= region->bytes && bytes <= region->bytes - first;
   for (uint64_t n = first; all && region->defined && n < first + bytes; n++)
      all = region->defined[n] == 1;
   return all;
}

_Static_assert(1u << MET_BY_SHIFT == RKB_MACHINE_MET_BYTES, "callers ask once for so many bytes");

bool rkb_machine_met_by(const rkb_machine_t *machine, uint32_t buffer, uint64_t byte, uint32_t *launch,
                        uint32_t *place) {
   const machine_region_t *region = &machine->run.regions[buffer];
   const uint32_t met_by = region->met_by ? region->met_by[byte >> MET_BY_SHIFT] : 0;
   *launch = (met_by - 1) >> PLACE_BITS;
   *place = (met_by - 1) & MOST_PLACES;
   return met_by != 0;
}

void rkb_machine_written(const rkb_machine_t *machine, uint32_t buffer,
                         void (*visit)(void *argument, uint64_t first, uint64_t bytes), void *argument) {
   const machine_region_t *region = &machine->run.regions[buffer];
   const uint64_t whole = 1u << PIECE_SHIFT;
   if (!region->defined) {
      visit(argument, 0, region->bytes);
      return;
   }
   if (!region->met) {
      visit_defined(region, 0, region->bytes, visit, argument);
      return;
   }
   for (uint64_t piece = 0; (piece = machine_next_met(region, piece)) << PIECE_SHIFT < region->bytes; piece++) {
      const uint64_t first = piece << PIECE_SHIFT, left = region->bytes - first;
      visit_defined(region, first, first + (left < whole ? left : whole), visit, argument);
   }
}
