/* The environment of a run.  On the machine's thread. */
#include "machine/state/environment.h"

#include <stdio.h>

/* Addresses have 47 bits, so there is room for 2,048 regions of 2^36 bytes. */
#define PLACES 2048u
#define MOST_SLOTS 64u /* most warps of a multiprocessor */

static uint64_t mixed(uint64_t number) {
   number = (number + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
   number = (number ^ number >> 29) * 0x94d049bb133111ebull;
   return number ^ number >> 32;
}

void machine_environment_place(machine_run_t *run, uint64_t number, uint32_t regions) {
   run->environment = number;
   run->first_place = 1;
   for (uint64_t window = WINDOW_SHARED; window <= WINDOW_PARAM; window++)
      run->window_base[window] = window << WINDOW_SHIFT;
   const uint32_t needed = regions + 2 * (uint32_t)WINDOW_PARAM + 2;
   if (number == 0 || needed >= PLACES)
      return;
   run->first_place = 1 + mixed(number) % (PLACES - needed);
   for (uint64_t window = WINDOW_SHARED; window <= WINDOW_PARAM; window++)
      run->window_base[window] = (run->first_place + regions + 2 * window - 1) << REGION_SHIFT;
}

uint64_t machine_environment_base(const machine_run_t *run, uint32_t region, uint64_t alignment) {
   const uint64_t steps = run->environment ? 2 * (mixed(run->environment + region + 1) % 512) + 1 : 1;
   return ((run->first_place + region) << REGION_SHIFT) + steps * alignment;
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
