/* What the speed model needs to know about memory requests.  Of global memory it counts sectors of 32 bytes: how many, how many different ones,
 * and for which source line.  Of shared memory it counts wavefronts (bank conflicts: 32 banks of 4 bytes).  They are counted in the blocks marked
 * 'measured', and scaled to all executed blocks. */
#include "machine/counts/access_shape.h"
#include "machine/state/execution.h"

#include <stdlib.h>
#include <string.h>

#define SECTOR_SLOTS (1u << 18)
/* Slots before a table grows: most launches touch few sectors, and clearing all slots is 4 MB of writes. */
#define FIRST_SLOTS (1u << 10)
#define MAX_LINES 256

struct line {
   rkb_line_counters_t counters;
   machine_access_causes_t causes;
};

/* A sector that was asked for: which of the measured blocks asked last, and how many sectors it had asked for
 * by then. */
struct slot {
   uint64_t sector; /* the sector's number + 1; 0: free */
   uint32_t block, at;
};

/* Requests to shared memory whose wavefronts were counted, by instruction.  The number depends on the
 * distances between the lanes, not on where the first lane is, and in most loops these are the same in every
 * turn. */
#define KEPT_REQUESTS 64u

struct kept_request {
   uint32_t mask, bytes, wavefronts; /* mask 0: no request is kept */
   uint32_t distance[LANES];         /* from the mask's first lane; 0 for lanes outside the mask */
};

struct machine_sectors {
   struct kept_request requests[KEPT_REQUESTS];
   struct slot *slots[2]; /* one table for loads, one for stores */
   uint32_t room[2];      /* how many slots: a power of two */
   uint32_t used[2];      /* SECTOR_SLOTS where memory for more slots ran out */
   uint32_t thinned[2];   /* how often half of all sectors was left out because the table was full */
   uint64_t row[2];       /* where the last row of sectors began */
   /* Sectors that were asked for; a sector counts again only when it was not asked for just before. */
   uint32_t asked;
   struct line lines[MAX_LINES];
   uint32_t line_count;
};

void machine_counters_begin(machine_run_t *run) {
   run->counts.measured = (rkb_launch_counters_t){0};
   run->counts.measured_blocks = run->counts.measured_barriers = run->counts.cluster_arrivals =
      run->counts.longest_warp = run->counts.longest_loads = 0;
   if (!run->options.requests)
      return;
   struct machine_sectors *sectors = run->counts.sectors;
   if (!sectors)
      sectors = run->counts.sectors = machine_alloc(run, sizeof *sectors);
   for (int n = 0; sectors && n < 2; n++) {
      free(sectors->slots[n]);
      sectors->slots[n] = calloc(FIRST_SLOTS, sizeof *sectors->slots[n]);
      sectors->room[n] = FIRST_SLOTS;
      sectors->used[n] = sectors->slots[n] ? 0 : SECTOR_SLOTS;
      sectors->thinned[n] = 0;
   }
   if (sectors) {
      sectors->asked = 0;
      memset(sectors->lines, 0, sizeof sectors->lines);
      sectors->line_count = 0;
   }
}

void machine_counters_free(machine_run_t *run) {
   for (int n = 0; run->counts.sectors && n < 2; n++)
      free(run->counts.sectors->slots[n]);
   free(run->counts.sectors);
   run->counts.sectors = NULL;
}

/* The place where a sector's slot is looked for.  The eight sectors of 256 bytes belong into neighbouring slots, which are on two cache lines:
 * rows ask for several of them, and a table of many sectors is larger than the nearest caches. */
static uint64_t place_of(const struct machine_sectors *sectors, bool store, uint64_t sector) {
   return ((sector >> 3) * 0x9e3779b97f4a7c15ull >> 49 << 3 | (sector & 7)) & (sectors->room[store] - 1);
}

/* Returns the slot of a sector, or the free slot where it belongs. */
static struct slot *slot_of(struct machine_sectors *sectors, bool store, uint64_t sector) {
   const uint64_t mask = sectors->room[store] - 1;
   uint64_t at = place_of(sectors, store, sector);
   while (sectors->slots[store][at].sector && sectors->slots[store][at].sector != sector + 1)
      at = (at + 1) & mask;
   return &sectors->slots[store][at];
}

/* Whether a sector belongs to the sample of sectors that stands for all of them.  The sample has all sectors at first, then a half, then a
 * quarter.  Only the sector's number decides, by bits that do not depend on how the sectors of a row or a tile follow one another. */
static bool stands_for_all(const struct machine_sectors *sectors, bool store, uint64_t sector) {
   return !sectors->thinned[store] || ((sector ^ sector >> 15) * 0xd6e8feb86659fd93ull >> 40 &
                                       ((1u << sectors->thinned[store]) - 1)) == 0;
}

/* Makes room in a table that is three quarters full: doubles the number of slots, or leaves out half of the sectors where there are enough. */
static void make_room(struct machine_sectors *sectors, bool store) {
   const uint32_t before = sectors->room[store], after = before < SECTOR_SLOTS ? 2 * before : before;
   struct slot *kept = sectors->slots[store], *slots = calloc(after, sizeof *slots);
   if (!slots) {
      sectors->used[store] = SECTOR_SLOTS; /* then the table counts as full */
      return;
   }
   sectors->slots[store] = slots;
   sectors->room[store] = after;
   sectors->thinned[store] += after == before;
   sectors->used[store] = 0;
   for (uint32_t n = 0; n < before; n++)
      if (kept[n].sector && stands_for_all(sectors, store, kept[n].sector - 1)) {
         *slot_of(sectors, store, kept[n].sector - 1) = kept[n];
         sectors->used[store]++;
      }
   free(kept);
}

/* Whether so few sectors lie between two requests that they come from one place of a program: lanes side by
 * side, or neighbouring warps. */
static bool is_near(uint32_t distance) {
   return distance >> RKB_REUSE_LEAST == 0;
}

/* Counts a load of a sector that the same block asked for so many sectors ago; it counts once for each sector that this one stands for. */
static void count_reuse(rkb_launch_counters_t *c, uint32_t distance, uint32_t all) {
   const int range = is_near(distance) ? 0 : 31 - __builtin_clz(distance) - RKB_REUSE_LEAST;
   c->reused_sectors[range < RKB_REUSE_RANGES ? range : RKB_REUSE_RANGES - 1] += all;
}

/* Counts each sector once, and the same block's later loads of it.  When the table is full, it keeps half of the sectors, and each of them counts
 * twice; when it is full again, a quarter, and so on.  This happens: 66 blocks that read rows of 537 MB have 254,000 sectors each.  Where memory
 * for the table ran out, the counts are too small. */
static inline __attribute__((always_inline)) void touch_slot(struct machine_sectors *sectors,
                                                             struct slot *slot, uint64_t sector, bool store,
                                                             uint32_t block, rkb_launch_counters_t *c) {
   const uint32_t all = 1u << sectors->thinned[store];
   const bool known = slot->sector != 0, own = known && slot->block == block;
   if (own && !store)
      count_reuse(c, sectors->asked - slot->at, all);
   sectors->asked += !own || !is_near(sectors->asked - slot->at) ? all : 0;
   *slot = (struct slot){sector + 1, block, sectors->asked};
   if (known)
      return;
   if (store)
      c->distinct_store_sectors += all;
   else
      c->distinct_load_sectors += all;
   if (++sectors->used[store] > sectors->room[store] / 4 * 3)
      make_room(sectors, store);
}

static void touch(struct machine_sectors *sectors, uint64_t sector, bool store, uint32_t block,
                  rkb_launch_counters_t *c) {
   if (sectors->used[store] < SECTOR_SLOTS && stands_for_all(sectors, store, sector))
      touch_slot(sectors, slot_of(sectors, store, sector), sector, store, block, c);
}

#define ROWS_AHEAD 4u

/* Reads ahead in the table, as if the rows of a tile went on as the last two did. */
static void read_ahead(struct machine_sectors *sectors, bool store, uint64_t first) {
   const uint64_t ahead = first + ROWS_AHEAD * (first - sectors->row[store]);
   sectors->row[store] = first;
   if (sectors->used[store] < SECTOR_SLOTS) /* else there may be no table */
      __builtin_prefetch(&sectors->slots[store][place_of(sectors, store, ahead)], 1);
}

/* The same for sectors that follow each other.  If a sector has a slot, it is mostly the one behind the slot of the sector before. */
static void touch_row(struct machine_sectors *sectors, uint64_t first, uint32_t count, bool store,
                      uint32_t block, rkb_launch_counters_t *c) {
   uint32_t next = UINT32_MAX;
   read_ahead(sectors, store, first);
   for (uint64_t sector = first; sector < first + count; sector++) {
      if (sectors->used[store] == SECTOR_SLOTS || !stands_for_all(sectors, store, sector))
         continue;
      struct slot *slot = next < sectors->room[store] && sectors->slots[store][next].sector == sector + 1
                             ? &sectors->slots[store][next]
                             : slot_of(sectors, store, sector);
      next = (uint32_t)(slot - sectors->slots[store]) + 1;
      touch_slot(sectors, slot, sector, store, block, c); /* may move all slots */
   }
}

/* Returns the counters of the source line that the warp executes; NULL when there are too many lines. */
static struct line *find_line(machine_warp_t *warp, bool store) {
   struct machine_sectors *all = warp->run->counts.sectors;
   const machine_instruction_t *i = &warp->program->code[warp->pc];
   const ptx_place_t *place = &warp->program->module->functions[i->function].statements[i->statement].place;
   const uint32_t line =
      place->outer_line && place->outer_file != place->file ? place->outer_line : place->line;
   for (uint32_t n = 0; n <= all->line_count && n < MAX_LINES; n++) {
      struct line *slot = &all->lines[n];
      if (n == all->line_count)
         *slot = (struct line){.counters = {.line = line, .is_store = store}};
      all->line_count += n == all->line_count;
      if (slot->counters.line == line && slot->counters.is_store == store)
         return slot;
   }
   return NULL;
}

static int by_waste(const void *a, const void *b) {
   const rkb_line_counters_t *x = &((const struct line *)a)->counters,
                             *y = &((const struct line *)b)->counters;
   uint64_t p = x->sectors - x->least, q = y->sectors - y->least;
   return p != q               ? (p < q ? 1 : -1)
          : x->line != y->line ? (x->line < y->line ? -1 : 1)
                               : (int)x->is_store - (int)y->is_store;
}

void machine_counters_end(machine_run_t *run, rkb_launch_counters_t *c, uint64_t executed) {
   const rkb_launch_counters_t *m = &run->counts.measured;
   c->longest_warp = run->counts.longest_warp;
   c->longest_loads = run->counts.longest_loads;
   if (!run->counts.measured_blocks || !run->counts.sectors)
      return;
   machine_count_chains(run, c);
   const double scale = (double)executed / (double)run->counts.measured_blocks;
#define SCALE(name) c->name += (uint64_t)((double)m->name * scale)
   SCALE(load_requests);
   SCALE(load_sectors);
   SCALE(load_least);
   SCALE(store_requests);
   SCALE(store_sectors);
   SCALE(store_least);
   SCALE(distinct_load_sectors);
   SCALE(distinct_store_sectors);
   SCALE(shared_requests);
   SCALE(shared_wavefronts);
   SCALE(bulk_sectors);
   SCALE(bulk_phases);
   SCALE(bulk_barriers);
   SCALE(remote_accesses);
   for (uint32_t r = 0; r < RKB_REUSE_RANGES; r++)
      SCALE(reused_sectors[r]);
#undef SCALE
   struct machine_sectors *all = run->counts.sectors;
   qsort(all->lines, all->line_count, sizeof all->lines[0], by_waste);
   for (uint32_t n = 0; n < RKB_MAX_COUNTED_LINES && n < all->line_count; n++) {
      c->lines[n] = all->lines[n].counters;
      c->accesses[n] = machine_access_cause(&all->lines[n].causes);
      c->lines[n].requests = (uint64_t)((double)c->lines[n].requests * scale);
      c->lines[n].sectors = (uint64_t)((double)c->lines[n].sectors * scale);
      c->lines[n].least = (uint64_t)((double)c->lines[n].least * scale);
   }
}

static uint32_t count_sectors(machine_warp_t *warp, const uint64_t *address, uint32_t mask, uint32_t bytes,
                              bool store) {
   uint64_t seen[LANES * 2], most = 0;
   uint32_t count = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      for (uint64_t sector = address[l] >> 5; sector <= (address[l] + bytes - 1) >> 5; sector++) {
         bool known = false;
         for (uint32_t n = count; sector <= most && n-- > 0 && !known;) /* behind all others it is new */
            known = seen[n] == sector;
         if (known || count == LANES * 2)
            continue;
         seen[count++] = sector;
         most = sector > most ? sector : most;
         touch(warp->run->counts.sectors, sector, store, (uint32_t)warp->run->counts.measured_blocks,
               &warp->run->counts.measured);
      }
   }
   return count;
}

/* Whether lanes first to last - 1 ask no bank for two different words. */
static bool have_no_conflict(const uint64_t *address, uint32_t mask, uint32_t words, uint32_t first,
                             uint32_t last) {
   uint64_t held[32], before = UINT64_MAX, not_row = 0;
   uint32_t busy = 0;
   bool conflict = false;
   for (uint32_t l = first; l < last; l++) { /* a row of 32 words: the usual case of wide accesses */
      const uint64_t used = 0 - (uint64_t)(mask >> l & 1);
      not_row |= used & ((address[l] >> 2) ^ ((address[first] >> 2) + (uint64_t)(l - first) * words));
   }
   if (!not_row && (mask >> first & 1) && (last - first) * words <= LANES)
      return true;
   for (uint32_t l = first; l < last && !conflict; l++) {
      if (!(mask >> l & 1) || address[l] == before) /* neighbours often ask for the same word */
         continue;
      before = address[l];
      for (uint32_t w = 0; w < words; w++) {
         const uint64_t word = (address[l] >> 2) + w;
         const uint32_t bank = (uint32_t)word & 31;
         conflict |= (busy >> bank & 1) && held[bank] != word;
         busy |= 1u << bank;
         held[bank] = word;
      }
   }
   return !conflict;
}

/* Returns the most different words that lie in one bank. */
static uint32_t count_wavefronts(const uint64_t *address, uint32_t mask, uint32_t bytes) {
   uint32_t words = (bytes + 3) / 4, most = 0;
   if (words == 1 && mask) { /* a row of words, or one word for all: the usual cases */
      const uint64_t first = address[__builtin_ctz(mask)] >> 2, lane = (uint64_t)__builtin_ctz(mask);
      uint64_t not_row = 0, not_one = 0;
      for (uint32_t l = 0; l < LANES; l++) {
         const uint64_t used = 0 - (uint64_t)(mask >> l & 1), word = address[l] >> 2;
         not_row |= used & (word ^ (first + l - lane));
         not_one |= used & (word ^ first);
      }
      if (!not_row || !not_one)
         return 1;
   }
   uint64_t list[32][32];
   uint8_t used[32];
   /* Wide accesses go in halves or quarters of a warp: each part is a wavefront of its own. */
   for (uint32_t part = 0; part < words; part++) {
      uint32_t first = part * LANES / words, last = (part + 1) * LANES / words, worst = 0;
      uint64_t before = UINT64_MAX; /* neighbours often ask for the same word */
      const uint32_t lanes = mask & (FULL_MASK >> (LANES - (last - first)) << first);
      if (have_no_conflict(address, mask, words, first, last)) {
         most += lanes != 0;
         continue;
      }
      memset(used, 0, sizeof used);
      for (uint32_t l = first; l < last; l++)
         for (uint32_t w = 0; w < words && (mask >> l & 1); w++) {
            uint64_t word = (address[l] >> 2) + w;
            uint32_t bank = (uint32_t)word & 31;
            bool known = word == before;
            before = word;
            if (known)
               continue;
            for (uint32_t n = 0; n < used[bank]; n++)
               known |= list[bank][n] == word;
            if (!known && used[bank] < 32)
               list[bank][used[bank]++] = word;
            worst = used[bank] > worst ? used[bank] : worst;
         }
      most += worst;
   }
   return most ? most : 1;
}

static uint32_t kept_wavefronts(struct machine_sectors *all, uint32_t pc, const uint64_t *address,
                                uint32_t mask, uint32_t bytes) {
   struct kept_request *kept = &all->requests[pc % KEPT_REQUESTS];
   const uint64_t first = address[__builtin_ctz(mask)];
   uint32_t distance[LANES];
   if (first % 4 != 0)
      return count_wavefronts(address, mask, bytes);
   for (uint32_t l = 0; l < LANES; l++)
      distance[l] = mask >> l & 1 ? (uint32_t)(address[l] - first) : 0;
   if (kept->mask != mask || kept->bytes != bytes || memcmp(kept->distance, distance, sizeof distance) != 0) {
      *kept = (struct kept_request){
         .mask = mask, .bytes = bytes, .wavefronts = count_wavefronts(address, mask, bytes)};
      memcpy(kept->distance, distance, sizeof distance);
   }
   return kept->wavefronts;
}

/* Counts a request whose sectors are known. */
static void add_request(machine_warp_t *warp, struct line *line, uint64_t sectors, uint64_t least,
                        bool store) {
   rkb_launch_counters_t *c = &warp->run->counts.measured;
   if (line) {
      line->counters.requests++;
      line->counters.sectors += sectors;
      line->counters.least += least;
   }
   if (store) {
      c->store_requests++;
      c->store_sectors += sectors;
      c->store_least += least;
   } else {
      warp->loads += !warp->loads_open;
      warp->loads_open = true;
      c->load_requests++;
      c->load_sectors += sectors;
      c->load_least += least;
   }
}

void machine_count_whole_sectors(machine_warp_t *warp, uint64_t address, uint32_t count, bool store) {
   struct machine_sectors *all = warp->run->counts.sectors;
   if (!all)
      return;
   touch_row(all, address >> 5, count, store, (uint32_t)warp->run->counts.measured_blocks,
             &warp->run->counts.measured);
   add_request(warp, find_line(warp, store), count, count, store);
}

static uint32_t remote_lanes(const machine_warp_t *warp, const uint64_t address[LANES], uint32_t mask) {
   uint32_t remote = 0;
   for (uint32_t l = 0; l < LANES; l++)
      remote += (mask >> l & 1) && machine_rank_meant(address[l], warp->rank) != warp->rank;
   return remote;
}

void machine_count_request(machine_warp_t *warp, const uint64_t address[LANES], uint32_t mask, uint32_t bytes,
                           bool store) {
   rkb_launch_counters_t *c = &warp->run->counts.measured;
   if (!mask || !warp->run->counts.sectors)
      return;
   const uint64_t window = address[__builtin_ctz(mask)] >> WINDOW_SHIFT;
   if (window == WINDOW_SHARED) {
      c->shared_requests++;
      if (warp->block->cluster.blocks > 1)
         c->remote_accesses += remote_lanes(warp, address, mask);
      c->shared_wavefronts += kept_wavefronts(warp->run->counts.sectors, warp->pc, address, mask, bytes);
      return;
   }
   if (window != 0)
      return;
   const uint64_t sectors = count_sectors(warp, address, mask, bytes, store);
   const uint64_t least = ((uint64_t)lane_count(mask) * bytes + 31) / 32;
   struct line *line = find_line(warp, store);
   if (line && sectors > least) {
      const rkb_line_access_t access = machine_access_shape(address, mask, bytes);
      machine_access_count(&line->causes, &access, sectors - least);
   }
   add_request(warp, line, sectors, least, store);
}
