/* Tensor maps that kernels change (PTX ISA 9.0, 9.7.9.26 and 9.7.13.6).  Part of the decoder.
 *
 *    tensormap.replace.tile.FIELD[.shared::cta | .global].b1024.type [map], [dimension,] value;
 *    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [from], 128;
 *    fence.proxy.tensormap::generic.release.scope;
 *    fence.proxy.tensormap::generic.acquire.scope [map], 128;
 */
#include "machine/decode/decode.h"
#include "machine/decode/operation_codes.h"

static const struct {
   const char *name;
   enum machine_map_field field;
   bool wide, ordered;
} fields[] = {{"global_address", MAP_ADDRESS, true, false},
              {"rank", MAP_RANK, false, false},
              {"box_dim", MAP_BOX, false, true},
              {"global_dim", MAP_DIM, false, true},
              {"global_stride", MAP_STRIDE, true, true},
              {"element_stride", MAP_STEP, false, true},
              {"elemtype", MAP_TYPE, false, false},
              {"interleave_layout", MAP_INTERLEAVE, false, false},
              {"swizzle_mode", MAP_SWIZZLE, false, false},
              {"fill_mode", MAP_FILL, false, false}};
#define FIELDS (sizeof fields / sizeof *fields)

static enum decode_result replace(decoder_t *decoder) {
   uint32_t n = 0;
   while (n < FIELDS && !decode_modifier(decoder, fields[n].name))
      n++;
   if (n == FIELDS || !decode_modifier(decoder, "tile") || !decode_modifier(decoder, "b1024") ||
       decode_modifier(decoder, fields[n].wide ? "b64" : "b32") != true ||
       decode_operand_count(decoder) != 2u + fields[n].ordered)
      return decode_refuse(decoder);
   machine_slot_t order = decode_constant(decoder, 0, 4), value;
   FAIL_UNLESS(decode_use(decoder, "tensormap.replace") &&
               decode_address_extras(decoder, &decoder->operands[0]) &&
               (!fields[n].ordered || decode_operand(decoder, &decoder->operands[1], 'w', &order)) &&
               decode_operand(decoder, &decoder->operands[1 + fields[n].ordered], fields[n].wide ? 'l' : 'w',
                              &value) &&
               decode_extra(decoder, order) && decode_extra(decoder, value));
   decoder->instruction.immediate = fields[n].field;
   decoder->instruction.space = decode_modifier(decoder, "shared::cta") ? PTX_SHARED : PTX_GENERIC;
   return DECODE_DONE;
}

/* The scope of a fence, for after the decoder has found the instruction. */
static void take_scope(decoder_t *decoder) {
   decoder->instruction.immediate = decode_modifier(decoder, "cta")       ? MAP_FENCE_BLOCK
                                    : decode_modifier(decoder, "cluster") ? MAP_FENCE_CLUSTER
                                                                          : MAP_FENCE_DEVICE;
}

static enum decode_result copy(decoder_t *decoder) {
   if (!decode_modifier(decoder, "global") || !decode_modifier(decoder, "shared::cta") ||
       !decode_modifier(decoder, "tensormap::generic") || !decode_modifier(decoder, "release") ||
       decode_operand_count(decoder) != 3)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, "tensormap.cp_fenceproxy") &&
               decode_address_extras(decoder, &decoder->operands[0]) &&
               decode_address_extras(decoder, &decoder->operands[1]));
   take_scope(decoder);
   return DECODE_DONE;
}

enum decode_result decode_tensor_map(decoder_t *decoder) {
   decoder->program->asynchronous = decoder->program->narrow_shared = true;
   return decode_modifier(decoder, "replace")         ? replace(decoder)
          : decode_modifier(decoder, "cp_fenceproxy") ? copy(decoder)
                                                      : decode_refuse(decoder);
}

enum decode_result decode_tensor_map_fence(decoder_t *decoder) {
   const bool acquires = decode_modifier(decoder, "acquire");
   if (acquires == decode_modifier(decoder, "release") ||
       decode_operand_count(decoder) != (acquires ? 2u : 0u))
      return decode_refuse(decoder);
   decoder->program->asynchronous = decoder->program->narrow_shared = true;
   FAIL_UNLESS(
      decode_use(decoder, acquires ? "fence.proxy.tensormap.acquire" : "fence.proxy.tensormap.release") &&
      (!acquires || decode_address_extras(decoder, &decoder->operands[0])));
   take_scope(decoder);
   return DECODE_DONE;
}
