/* Watches a few bytes of global memory and notes which instruction of which thread wrote them last.  A wrong value is found only when the run is
 * over; a watched run then names the thread that stored it.  The watch can also note which threads accessed the bytes, for the other side of a
 * race (clocks/second_access.h).  A watched run uses copies of the programs, in which each instruction that stores, or accesses memory at all, has
 * a handler that first looks at the addresses.  So runs that watch nothing cost nothing more.  On the thread of its machine. */
#include "machine/clocks/second_access.h"

#include <stdlib.h>

struct machine_watch {
   uint64_t first, end; /* addresses */
   rkb_machine_finding_t writer;
   bool written;
   const machine_program_t **programs; /* by launch: the program that the copy replaces */
};

/* loads: loads count too. */
static bool is_watched(const machine_program_t *program, const machine_instruction_t *i, bool loads) {
   if (i->kind != MACHINE_CUSTOM || (i->space != PTX_GLOBAL && i->space != PTX_GENERIC))
      return false;
   const char *opcode = program->module->functions[i->function].statements[i->statement].opcode;
   return strncmp(opcode, "st.", 3) == 0 || strncmp(opcode, "atom.", 5) == 0 ||
          strncmp(opcode, "red.", 4) == 0 || (loads && strncmp(opcode, "ld.", 3) == 0);
}

static bool loads_alone(const machine_warp_t *warp, const machine_instruction_t *i) {
   return strncmp(warp->program->module->functions[i->function].statements[i->statement].opcode, "ld.", 3) ==
          0;
}

static void watched(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   struct machine_watch *watch = warp->run->watch;
   const uint64_t bytes = (uint64_t)i->element_bytes * i->elements;
   for (uint32_t l = 0; l < LANES; l++) {
      const uint64_t base = i->address_bytes == 8 ? LANES_OF(uint64_t, i->a)[l] : LANES_OF(uint32_t, i->a)[l],
                     address = base + (uint64_t)i->immediate;
      if (!(mask & warp->alive & warp->defined[i->ai] & 1u << l) || address >= watch->end ||
          address + bytes <= watch->first)
         continue;
      if (warp->run->keeps_lines) {
         machine_second_access_note_global(warp, l, address, bytes, !loads_alone(warp, i));
         continue;
      }
      watch->writer = (rkb_machine_finding_t){0};
      machine_describe(warp, l, &watch->writer);
      watch->written = true;
   }
   watch->programs[warp->block->launch->number]->code[i - warp->program->code].run(warp, i, mask);
}

static void free_copy(const machine_program_t *copy) {
   if (copy)
      free(copy->code);
   free((void *)(uintptr_t)copy);
}

/* A copy of the program with watching handlers for those instructions.  The copy shares everything
 * else that the program points to. */
static const machine_program_t *copy_watched(const machine_program_t *program, bool loads) {
   machine_program_t *copy = malloc(sizeof *copy);
   if (!copy)
      return NULL;
   *copy = *program;
   copy->code = malloc(program->count * sizeof *copy->code + 1);
   if (!copy->code) {
      free(copy);
      return NULL;
   }
   memcpy(copy->code, program->code, program->count * sizeof *copy->code);
   for (uint32_t n = 0; n < program->count; n++)
      if (is_watched(program, &copy->code[n], loads))
         copy->code[n].run = watched;
   return copy;
}

static bool exchange(machine_run_t *run, uint32_t launch) {
   const machine_program_t *program = run->programs[launch], *copy = NULL;
   for (uint32_t n = 0; n < launch && !copy; n++)
      if (run->watch->programs[n] == program)
         copy = run->programs[n];
   copy = copy ? copy : copy_watched(program, run->keeps_lines);
   if (!copy)
      return false;
   run->watch->programs[launch] = program;
   run->programs[launch] = copy;
   return true;
}

static void restore(machine_run_t *run) {
   const machine_program_t **programs = run->watch->programs;
   for (uint32_t n = 0; programs && n < run->plan->launch_count && programs[n]; n++) {
      bool shared = false; /* a later launch shares the copy */
      for (uint32_t k = n + 1; k < run->plan->launch_count; k++)
         shared |= programs[k] && run->programs[k] == run->programs[n];
      if (!shared)
         free_copy(run->programs[n]);
      run->programs[n] = programs[n];
   }
}

void rkb_machine_unwatch(rkb_machine_t *machine) {
   machine_run_t *run = &machine->run;
   if (!run->watch)
      return;
   restore(run);
   free(run->watch->programs);
   run->pool_program = NULL; /* the pool and the bypasses may refer to a copy */
   memset(run->bypasses, 0, sizeof run->bypasses);
   free(run->watch);
   run->watch = NULL;
}

static bool watch_addresses(rkb_machine_t *machine, uint64_t first, uint64_t end) {
   machine_run_t *run = &machine->run;
   rkb_machine_unwatch(machine);
   run->watch = calloc(1, sizeof *run->watch);
   bool made = run->watch &&
               (run->watch->programs = calloc(run->plan->launch_count + 1, sizeof *run->watch->programs));
   for (uint32_t n = 0; made && n < run->plan->launch_count; n++)
      made = exchange(run, n);
   if (!made) {
      rkb_machine_unwatch(machine);
      return false;
   }
   run->watch->first = first;
   run->watch->end = end;
   return true;
}

int rkb_machine_watch(rkb_machine_t *machine, uint32_t buffer, uint64_t offset, uint32_t bytes,
                      rkb_error_t *err) {
   const machine_run_t *run = &machine->run;
   if (buffer >= run->plan->buffer_count || run->module->error_line)
      return rkb_fail(err, RKB_ERR_INVALID, "there is no buffer %u to watch", buffer);
   const uint64_t first = run->regions[buffer].base + offset;
   return watch_addresses(machine, first, first + bytes)
             ? RKB_OK
             : rkb_fail(err, RKB_ERR_NOMEM, "no memory to watch a buffer");
}

bool rkb_machine_watched(const rkb_machine_t *machine, rkb_machine_finding_t *writer) {
   const struct machine_watch *watch = machine->run.watch;
   if (!watch || !watch->written)
      return false;
   *writer = watch->writer;
   return true;
}

/* The other side of a race --------------------------------------------------------------------------------------------------- */

bool rkb_machine_seek_second_access(rkb_machine_t *machine) {
   machine_run_t *run = &machine->run;
   machine_second_access_t *other = &run->second_access;
   if (other->wanted && !run->keeps_lines && !run->options.fetch)
      other->last = calloc(2 * (size_t)other->threads, sizeof *other->last);
   other->wanted = false;
   run->keeps_lines = other->last != NULL;
   if (run->keeps_lines && other->global && !watch_addresses(machine, other->first, other->end))
      machine_second_access_free(run);
   if (run->keeps_lines)
      run->pool_program = NULL; /* the block's memory gets clocks */
   return run->keeps_lines;
}

void machine_second_access_end(rkb_machine_t *machine) {
   machine_run_t *run = &machine->run;
   if (!run->keeps_lines)
      return;
   if (run->second_access.global)
      rkb_machine_unwatch(machine);
   machine_second_access_free(run);
   run->pool_program = NULL;
}
