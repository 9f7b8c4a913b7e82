/* Where a kernel's shared variables lie.  There is a gap behind each variable, so that an access that runs past a variable hits the gap and not
 * its neighbour.  A kernel cannot know the distance, since arithmetic that leaves an object is undefined in C++.  Every extern array begins at the same
 * place, after the static ones.
 *
 * The bytes of a gap are a multiple of 128, a row of all banks, and of every alignment.  So a variable's element is in the same bank as without
 * gaps, and the counts of bank conflicts are the same.  If tiles may be swizzled, a gap is a multiple of the largest pattern too: a tile then begins as
 * far into a pattern as on a device, where a kernel that takes it to begin with one goes wrong.  Variables lie in the order of their declarations, as
 * ptxas 13.0 lays them out.  Immutable once laid out; any thread. */
#include "machine/decode/decode.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SHARED (1u << 20)
#define MOST_LAID_OUT (1u << 24) /* with the gaps */
#define OF_THE_SYSTEM 1024u
#define GAP 256u                 /* two rows of 32 words: a tile's next row does not reach over it */
#define PATTERN 1024u            /* eight rows of a swizzle of 128 bytes */
/* descriptors of matrices have addresses of 18 bits, and a block has up to 227 KiB */
#define MOST_PATTERN_GAPS 16u

/* How many bytes at the beginning the system keeps. */
static uint32_t kept_by_system(const ptx_module_t *module) {
   const char *target = module->target;
   return strncmp(target, "sm_", 3) == 0 && atoi(target + 3) >= 90 ? OF_THE_SYSTEM : 0;
}

static bool belongs(const decoder_t *decoder, const ptx_variable_t *variable) {
   return variable->space == PTX_SHARED &&
          (variable->function == PTX_NONE || decoder->function_pc[variable->function] != PTX_NONE);
}

static bool is_dynamic(const ptx_variable_t *variable) {
   return variable->external || variable->bytes == 0;
}

static uint64_t aligned(uint64_t offset, uint64_t alignment) {
   return (offset + alignment - 1) & ~(alignment - 1);
}

/* Whether the program has tensor copies or products of warpgroups. */
static bool may_swizzle(const decoder_t *decoder) {
   const ptx_module_t *module = decoder->module;
   for (uint32_t f = 0; f < module->function_count; f++)
      for (uint32_t n = 0; decoder->function_pc[f] != PTX_NONE && n < module->functions[f].statement_count;
           n++) {
         const char *opcode = module->functions[f].statements[n].opcode;
         if ((opcode[0] == 'w' && strncmp(opcode, "wgmma.mma_async", 15) == 0) ||
             (opcode[0] == 'c' && strncmp(opcode, "cp.async.bulk.tensor", 20) == 0))
            return true;
      }
   return false;
}

bool decode_lay_out_shared(decoder_t *decoder) {
   machine_program_t *program = decoder->program;
   const ptx_module_t *module = decoder->module;
   uint64_t dynamic_alignment = 16, gap = GAP, offset = 0;
   uint32_t count = 0;
   bool dynamic = false;
   for (uint32_t n = 0; n < module->variable_count; n++) {
      const ptx_variable_t *variable = &module->variables[n];
      if (!belongs(decoder, variable))
         continue;
      gap = variable->alignment > gap ? variable->alignment : gap;
      dynamic |= is_dynamic(variable);
      count += !is_dynamic(variable);
      if (is_dynamic(variable) && variable->alignment > dynamic_alignment)
         dynamic_alignment = variable->alignment;
   }
   if (count && count <= MOST_PATTERN_GAPS && gap < PATTERN && may_swizzle(decoder))
      gap = PATTERN;
   program->shared = calloc(count + 1, sizeof *program->shared);
   if (!program->shared)
      return decode_out_of_memory(decoder);
   program->shared_gap = (uint32_t)gap;
   if (count || dynamic)
      program->shared_first = kept_by_system(module);
   offset = program->shared_first;
   for (uint32_t n = 0; n < module->variable_count; n++) {
      const ptx_variable_t *variable = &module->variables[n];
      if (!belongs(decoder, variable) || is_dynamic(variable))
         continue;
      if (program->shared_count)
         offset += gap;
      offset = aligned(offset, variable->alignment);
      if (variable->bytes > MOST_SHARED ||
          offset + variable->bytes - program->shared_first - program->shared_count * gap > MOST_SHARED ||
          offset > MOST_LAID_OUT)
         return decode_unsupported(decoder, "more than 1 MiB of static shared memory");
      if (program->shared_count)
         program->shared[program->shared_count - 1].gap_end = (uint32_t)offset;
      program->shared[program->shared_count++] = (machine_shared_variable_t){
         variable->name, (uint32_t)offset, (uint32_t)variable->bytes, (uint32_t)(offset + variable->bytes)};
      decoder->shared_offset[n] = (uint32_t)offset;
      offset += variable->bytes;
   }
   program->shared_bytes = count ? (uint32_t)offset : 0;
   if (dynamic && program->shared_count)
      offset += gap;
   program->dynamic_shared_offset = (uint32_t)aligned(offset, dynamic_alignment);
   if (dynamic && program->shared_count)
      program->shared[program->shared_count - 1].gap_end = program->dynamic_shared_offset;
   for (uint32_t n = 0; n < module->variable_count; n++)
      if (belongs(decoder, &module->variables[n]) && is_dynamic(&module->variables[n]))
         decoder->shared_offset[n] = program->dynamic_shared_offset;
   return true;
}

static uint64_t distance(const machine_shared_variable_t *variable, uint64_t offset) {
   const uint64_t end = (uint64_t)variable->offset + variable->bytes;
   return offset < variable->offset ? variable->offset - offset : offset >= end ? offset - end + 1 : 0;
}

const machine_shared_variable_t *machine_nearest_shared(const machine_program_t *program, uint64_t offset) {
   const machine_shared_variable_t *nearest = NULL;
   for (uint32_t n = 0; n < program->shared_count; n++)
      if (!nearest || distance(&program->shared[n], offset) < distance(nearest, offset))
         nearest = &program->shared[n];
   return nearest;
}

uint64_t machine_shared_without_gaps(const machine_program_t *program, uint64_t bytes) {
   uint64_t gaps = 0;
   for (uint32_t n = 0; n < program->shared_count; n++) {
      const machine_shared_variable_t *variable = &program->shared[n];
      const bool has_gap = variable->gap_end > variable->offset + variable->bytes;
      gaps += has_gap && variable->gap_end <= bytes ? program->shared_gap : 0;
   }
   return bytes > program->shared_first ? bytes - gaps - program->shared_first : 0;
}
