/* Helpers of all parts of the decoder: the current opcode's modifiers, and the reason when decoding fails.  Part of the decoder. */
#include "machine/decode/decode.h"

#include <stdio.h>
#include <string.h>

bool decode_out_of_memory(decoder_t *decoder) {
   decoder->program->failed = true;
   return false;
}

bool decode_unsupported(decoder_t *decoder, const char *what) {
   machine_program_t *program = decoder->program;
   if (!program->unsupported[0]) {
      snprintf(program->unsupported, sizeof program->unsupported, "%s", what);
      program->unsupported_line = decoder->statement ? decoder->statement->place.ptx_line : 0;
   }
   return false;
}

bool decode_modifier(const decoder_t *decoder, const char *name) {
   for (uint32_t i = 1; i < decoder->modifier_count; i++)
      if (strcmp(decoder->modifiers[i], name) == 0)
         return true;
   return false;
}

uint32_t decode_type(const decoder_t *decoder, uint32_t nth_from_end) {
   for (uint32_t i = decoder->modifier_count; i-- > 1;) {
      uint32_t type = ptx_type_named(decoder->modifiers[i], strlen(decoder->modifiers[i]));
      if (type && nth_from_end-- == 0)
         return type;
   }
   return PTX_NO_TYPE;
}
