/* The environment of a run.  On the machine's thread. */
#include "machine/state/environment.h"

#include <stdio.h>

/* Addresses have 47 bits, so there is room for 2,048 regions of 2^36 bytes. */
#define PLACES 2048ull
#define MOST_SLOTS 64u /* most warps of a multiprocessor */
/* A region begins in the first 2^34 bytes of its 2^36 and has less than 2^35 bytes, so at least 2^34 bytes lie between two regions.  The origin of
 * all of them is a multiple of 2^34, so each bit of an address varies. */
#define ROOM_SHIFT 34
#define ROOMS 4u
#define WINDOW_STEP 24 /* windows are aligned to 16 MiB */
/* These numbers differ from the numbers of the regions. */
#define ORDERS 0x100000u
#define ORIGINS 0x200000u
#define WINDOWS 0x300000u
#define GAPS 0x400000u
#define ELECTIONS (1ull << 32)
/* Regions that lie close together.  Memory allocators put a buffer 512 bytes or less behind the end of another, or up to some pages behind it. */
#define CLOSE_STEP 512u
#define CLOSE_STEPS 128u

static uint64_t mixed(uint64_t number) {
   number = (number + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
   number = (number ^ number >> 29) * 0x94d049bb133111ebull;
   return number ^ number >> 32;
}

/* Two numbers that differ only in their lowest bit give two environments: where an address bit is 0 in one of them, it is 1 in the other. */
static uint64_t of_pair(uint64_t number, uint64_t purpose) {
   return mixed((number | 1) + purpose);
}

static bool is_turned(uint64_t number) {
   return number & 1;
}

/* Of four numbers in turn, the first of which is a multiple of four, the third and the fourth are a pair.  In the second the regions lie close
 * together: some begin where another ends. */
static bool is_close(uint64_t number) {
   return (number & 3) == 1;
}

/* Puts the regions in any order, because on a device a later buffer need not lie behind an earlier one. */
static void order_regions(machine_run_t *run, uint64_t number, uint32_t regions) {
   for (uint32_t n = 0; n < regions; n++)
      run->region_there[n] = (uint16_t)n;
   for (uint32_t n = regions; number && n > 1; n--) {
      const uint32_t other = (uint32_t)(of_pair(number, ORDERS + n) % n);
      const uint16_t region = run->region_there[n - 1];
      run->region_there[n - 1] = run->region_there[other];
      run->region_there[other] = region;
   }
   for (uint32_t n = 0; is_turned(number) && n < regions / 2; n++) {
      const uint16_t region = run->region_there[n];
      run->region_there[n] = run->region_there[regions - 1 - n];
      run->region_there[regions - 1 - n] = region;
   }
   for (uint32_t n = 0; n < regions; n++)
      run->place_of[run->region_there[n]] = (uint16_t)n;
}

static uint64_t far_base(const machine_run_t *run, uint32_t region, uint64_t alignment) {
   const uint64_t number = run->environment, room = (1ull << ROOM_SHIFT) / alignment;
   uint64_t steps = 1;
   if (number && room)
      steps = (of_pair(number, region + 1) % room | 1) ^ (is_turned(number) ? room - 1 : 0);
   return run->origin + ((uint64_t)run->place_of[region] << REGION_SHIFT) + steps * alignment;
}

/* Half of the regions begin at the first aligned address behind the region before them. */
static void place_close_together(machine_run_t *run) {
   uint64_t at = run->origin;
   for (uint32_t n = 0; n < run->region_count; n++) {
      machine_region_t *region = &run->regions[run->region_there[n]];
      const uint64_t drawn = mixed(run->environment + GAPS + n);
      at += drawn & 1 ? (drawn >> 1) % CLOSE_STEPS * CLOSE_STEP : 0;
      region->base = (at + region->alignment - 1) / region->alignment * region->alignment;
      at = region->base + (region->bytes ? region->bytes : 1); /* no two regions have one address */
   }
}

void machine_environment_place(machine_run_t *run, uint64_t number) {
   const uint32_t regions = run->region_count;
   const uint64_t needed = regions + 2 * WINDOW_PARAM + 3, spare = needed < PLACES ? PLACES - needed : 0, varied = spare ? number : 0,
                  all = is_turned(varied) ? (PLACES << REGION_SHIFT) - 1 : 0;
   run->environment = number;
   run->close = is_close(varied);
   run->origin = 1ull << REGION_SHIFT;
   order_regions(run, varied, regions);
   for (uint64_t window = WINDOW_SHARED; window <= WINDOW_PARAM; window++)
      run->window_base[window] = window << WINDOW_SHIFT;
   const uint64_t first = varied ? 1 + of_pair(number, 0) % spare : 1, part = of_pair(number, ORIGINS) % ROOMS;
   for (uint64_t window = WINDOW_SHARED; varied && window <= WINDOW_PARAM; window++) {
      const uint64_t at = (first + regions + 2 * window) << REGION_SHIFT |
                          of_pair(number, WINDOWS + window) % (1ull << (REGION_SHIFT - WINDOW_STEP))
                             << WINDOW_STEP;
      run->window_base[window] = (at ^ all) >> WINDOW_STEP << WINDOW_STEP;
   }
   if (varied)
      run->origin = (all ? PLACES - first - regions : first) << REGION_SHIFT | (all ? ROOMS - 1 - part : part) << ROOM_SHIFT;
   if (run->close)
      place_close_together(run);
   for (uint32_t n = 0; !run->close && n < regions; n++)
      run->regions[n].base = far_base(run, n, run->regions[n].alignment);
}

uint32_t machine_environment_elect(const machine_run_t *run, uint32_t lanes) {
   uint64_t before = run->environment
                        ? mixed(run->environment + ELECTIONS + lanes) % (uint32_t)__builtin_popcount(lanes)
                        : 0;
   for (; before; before--)
      lanes &= lanes - 1;
   return (uint32_t)__builtin_ctz(lanes);
}

/* The number of regions that begin at the address or before it, where they lie close together. */
static uint32_t begun_before(const machine_run_t *run, uint64_t address) {
   uint32_t least = 0, most = run->region_count;
   while (least < most) {
      const uint32_t middle = (least + most) / 2;
      if (run->regions[run->region_there[middle]].base <= address)
         least = middle + 1;
      else
         most = middle;
   }
   return least;
}

machine_region_t *machine_region_at(machine_run_t *run, uint64_t address) {
   const uint64_t place = run->close ? begun_before(run, address) - 1ull : (address - run->origin) >> REGION_SHIFT;
   return place < run->region_count ? &run->regions[run->region_there[place]] : NULL;
}

machine_region_t *machine_region_behind(machine_run_t *run, uint64_t address) {
   const uint64_t place = run->close ? begun_before(run, address) : ((address - run->origin) >> REGION_SHIFT) + 1;
   return place < run->region_count ? &run->regions[run->region_there[place]] : NULL;
}

uint32_t machine_environment_special(const machine_block_t *block, uint32_t special, uint32_t warp) {
   static const uint32_t multiprocessors[] = {132, 114, 144, 108};
   const machine_run_t *run = block->launch->run;
   const uint64_t number = run->environment;
   const uint32_t count = number ? multiprocessors[mixed(number + 1) % 4] : 1;
   switch (special) {
   case PTX_SPECIAL_NSMID:
      return count;
   case PTX_SPECIAL_SMID:
      return number ? (uint32_t)(mixed(number ^ block->serial) % count) : 0;
   case PTX_SPECIAL_NWARPID:
      return number ? MOST_SLOTS : block->cluster.warps;
   case PTX_SPECIAL_WARPID:
      return number ? (uint32_t)((warp + mixed(number + 2)) % MOST_SLOTS) : warp;
   default: /* %gridid */
      return number ? (uint32_t)mixed(number + block->launch->number) : 0;
   }
}

static const struct {
   uint32_t special, bit;
   const char *name;
} registers[] = {
   {PTX_SPECIAL_SMID, TAINT_SMID, "smid"},       {PTX_SPECIAL_NSMID, TAINT_NSMID, "nsmid"},
   {PTX_SPECIAL_WARPID, TAINT_WARPID, "warpid"}, {PTX_SPECIAL_NWARPID, TAINT_NWARPID, "nwarpid"},
   {PTX_SPECIAL_GRIDID, TAINT_GRIDID, "gridid"}, {PTX_SPECIAL_CLOCK, TAINT_CLOCK, "clock"},
};

uint64_t machine_environment_taint(uint32_t special) {
   for (size_t n = 0; n < sizeof registers / sizeof *registers; n++)
      if (registers[n].special == special)
         return 1ull << registers[n].bit;
   return 0;
}

void machine_environment_find(machine_run_t *run, uint64_t taint) {
   for (size_t n = 0; n < sizeof registers / sizeof *registers; n++) {
      char reason[48];
      if (!(taint >> registers[n].bit & 1))
         continue;
      snprintf(reason, sizeof reason, "environment.%s", registers[n].name);
      machine_find_launch(run, RKB_MACHINE_SUSPECT, reason,
                          "a result or the path depends on %%%s, which says where or when a thread runs",
                          registers[n].name);
   }
}
