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

void machine_environment_place(machine_run_t *run, uint64_t number, uint32_t regions) {
   const uint64_t needed = regions + 2 * WINDOW_PARAM + 3, varied = number && needed < PLACES ? number : 0,
                  all = is_turned(varied) ? (PLACES << REGION_SHIFT) - 1 : 0;
   run->environment = number;
   run->origin = 1ull << REGION_SHIFT;
   order_regions(run, varied, regions);
   for (uint64_t window = WINDOW_SHARED; window <= WINDOW_PARAM; window++)
      run->window_base[window] = window << WINDOW_SHIFT;
   if (!varied)
      return;
   const uint64_t first = 1 + of_pair(number, 0) % (PLACES - needed), part = of_pair(number, ORIGINS) % ROOMS;
   run->origin = (all ? PLACES - first - regions : first) << REGION_SHIFT | (all ? ROOMS - 1 - part : part)
                                                                               << ROOM_SHIFT;
   for (uint64_t window = WINDOW_SHARED; window <= WINDOW_PARAM; window++) {
      const uint64_t at = (first + regions + 2 * window) << REGION_SHIFT |
                          of_pair(number, WINDOWS + window) % (1ull << (REGION_SHIFT - WINDOW_STEP))
                             << WINDOW_STEP;
      run->window_base[window] = (at ^ all) >> WINDOW_STEP << WINDOW_STEP;
   }
}

uint64_t machine_environment_base(const machine_run_t *run, uint32_t region, uint64_t alignment) {
   const uint64_t number = run->environment, room = (1ull << ROOM_SHIFT) / alignment;
   uint64_t steps = 1;
   if (number && room)
      steps = (of_pair(number, region + 1) % room | 1) ^ (is_turned(number) ? room - 1 : 0);
   return run->origin + ((uint64_t)run->place_of[region] << REGION_SHIFT) + steps * alignment;
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
