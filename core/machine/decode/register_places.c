/* Where registers lie in a warp's register file.  PTX has a register for nearly every result, 384 bytes of values and doubles for 32 lanes, and
 * few of them are alive at a time.  Registers that live within one basic block share places, so that the file of a warp stays in the processor's
 * first cache.  Registers that no instruction names share one place, since each run clears the files of a block's warps.
 * Definedness, taint and the validity of doubles are kept for each register and not shared.
 *
 * Lanes that have diverged wait at the ends of basic blocks alone, so while one fragment is inside of a block, no other lane holds a
 * register of that kind.  This allows a record (recording.h) to give all lanes of such a register a value at once.  A destination shares no
 * place with what its instruction reads.  Runs on the thread that decodes. */
#include "machine/decode/operands.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX
#define MOST_BYTES (8u * LANES) /* of a register */

typedef struct life {
   uint32_t block;       /* the block of the first mention */
   uint32_t first, last; /* the first and last instruction that mention it; first NOWHERE: none does */
   bool shares;          /* it lives within its block, and its first destination is always written */
   uint32_t next;        /* the next register with the same last mention; 0: none */
} life_t;

typedef struct places {
   machine_program_t *program;
   life_t *lives;
   uint32_t *ends;    /* by instruction: the first register whose last mention is there; 0: none */
   uint32_t *free[2]; /* offsets of free places of 4 and of 8 bytes a lane */
   uint32_t count[2];
   uint32_t bytes; /* bytes of the file so far */
} places_t;

static uint32_t size_of(const machine_register_info_t *info) {
   return info->bytes == 8 ? 8 * LANES : info->bytes ? 4 * LANES : 64;
}

static void mention(places_t *p, uint32_t number, uint32_t at, bool written) {
   const machine_register_info_t *info = &p->program->registers[number];
   const uint32_t block = p->program->code[at].block;
   life_t *life = &p->lives[number];
   if (life->first == NOWHERE) {
      life->first = at;
      life->block = block;
      life->shares = written && number > 1 && info->bytes && !info->constant;
   }
   life->last = at;
   life->shares &= life->block == block;
}

static bool has(const uint16_t *list, uint32_t count, uint32_t number) {
   for (uint32_t n = 0; n < count; n++)
      if (list[n] == number)
         return true;
   return false;
}

/* Mentions the destinations first: a register's first mention decides. */
static void mention_all(places_t *p, uint32_t at) {
   const machine_instruction_t *i = &p->program->code[at];
   const uint8_t kind = machine_operands_kind(p->program, i);
   const bool known = i->kind <= MACHINE_CUSTOM && kind != RECORD_OTHER && kind != RECORD_NOTHING;
   const machine_operands_t list =
      known ? machine_operands(p->program, i, kind) : (machine_operands_t){.source_count = 0};
   for (uint32_t n = 0; n < list.destination_count; n++) {
      const uint16_t number = list.destinations[n];
      mention(p, number, at, !i->guard && !has(list.sources, list.source_count, number));
   }
   const uint16_t others[] = {i->guard, i->di, i->ai, i->bi, i->ci};
   for (size_t n = 0; n < sizeof others / sizeof *others; n++)
      mention(p, others[n], at, false);
   for (size_t n = 0; i->kind == MACHINE_WAIT && n < sizeof others / sizeof *others; n++)
      p->lives[others[n]].shares = false; /* it is executed again when other lanes have run */
   const bool has_extras = i->kind != MACHINE_BRANCH_INDEX && i->kind != MACHINE_CALL;
   for (uint32_t e = 0; has_extras && e < i->extra_count; e++)
      mention(p, p->program->extras[i->extra + e].number, at, false);
}

/* Drops moves of constants to registers that nothing reads any more, because the decoder gave the constant to
 * the readers.  They still count as executed. */
static void drop_moves(places_t *p) {
   for (uint32_t at = 0; at < p->program->count; at++) {
      machine_instruction_t *i = &p->program->code[at];
      const life_t *life = &p->lives[i->di];
      if (i->kind == MACHINE_VALUE && i->di > 1 && !i->guard && life->first == at && life->last == at &&
          p->program->registers[i->ai].constant && i->bi == 0 && i->ci == 0 && i->extra_count == 0)
         i->kind = MACHINE_NOTHING;
   }
}

static uint32_t take(places_t *p, const machine_register_info_t *info) {
   const uint32_t wide = info->bytes == 8;
   if (p->count[wide])
      return p->free[wide][--p->count[wide]];
   p->bytes += size_of(info);
   return p->bytes - size_of(info);
}

/* A module declares more registers than its instructions name: nine tenths of them, where inlined code was simplified. */
static bool is_named(const places_t *p, uint32_t number) {
   return p->lives[number].first != NOWHERE || number <= 1 || p->program->registers[number].constant;
}

static void place_all(places_t *p, uint32_t *offset) {
   const machine_program_t *program = p->program;
   const uint32_t nobodys = p->bytes; /* the place of all registers that no instruction names */
   p->bytes += MOST_BYTES;
   for (uint32_t n = 0; n < program->register_count; n++)
      if (!is_named(p, n)) {
         offset[n] = nobodys;
      } else if (!p->lives[n].shares) {
         offset[n] = p->bytes;
         p->bytes += size_of(&program->registers[n]);
      } else {
         p->lives[n].next = p->ends[p->lives[n].last];
         p->ends[p->lives[n].last] = n;
      }
   /* Registers begin in the order of the instructions; a list links the registers of one instruction. */
   for (uint32_t at = 0; at < program->count; at++) {
      const machine_instruction_t *i = &program->code[at];
      const machine_operands_t list = machine_operands(program, i, machine_operands_kind(program, i));
      for (uint32_t n = 0; n < list.destination_count; n++) {
         const uint32_t number = list.destinations[n];
         if (p->lives[number].shares && p->lives[number].first == at && offset[number] == NOWHERE)
            offset[number] = take(p, &program->registers[number]);
      }
      for (uint32_t n = p->ends[at]; n; n = p->lives[n].next)
         p->free[program->registers[n].bytes == 8][p->count[program->registers[n].bytes == 8]++] = offset[n];
   }
}

static void move_operands(machine_program_t *program, const uint32_t *offset) {
   for (uint32_t at = 0; at < program->count; at++) {
      machine_instruction_t *i = &program->code[at];
      i->d = offset[i->di];
      i->a = offset[i->ai];
      i->b = offset[i->bi];
      i->c = offset[i->ci];
   }
   for (uint32_t e = 0; e < program->extra_count; e++)
      program->extras[e].offset = offset[program->extras[e].number];
   for (uint32_t n = 0; n < program->register_count; n++)
      program->registers[n].offset = offset[n];
}

bool machine_place_registers(machine_program_t *program) {
   const size_t registers = program->register_count;
   places_t p = {.program = program};
   uint32_t *offset = malloc(registers * sizeof *offset);
   p.lives = malloc(registers * sizeof *p.lives);
   p.ends = calloc(program->count + 1, sizeof *p.ends);
   p.free[0] = malloc(registers * sizeof *p.free[0]);
   p.free[1] = malloc(registers * sizeof *p.free[1]);
   const bool made = offset && p.lives && p.ends && p.free[0] && p.free[1];
   if (made) {
      memset(offset, 0xff, registers * sizeof *offset);
      for (size_t n = 0; n < registers; n++)
         p.lives[n] = (life_t){.first = NOWHERE};
      for (uint32_t at = 0; at < program->count; at++)
         mention_all(&p, at);
      drop_moves(&p);
      place_all(&p, offset);
      move_operands(program, offset);
      program->file_bytes = p.bytes;
   }
   free(offset);
   free(p.lives);
   free(p.ends);
   free(p.free[0]);
   free(p.free[1]);
   return made;
}
