/* Tensor copies (PTX ISA 9.0, 9.7.9.25.5).  Part of the decoder.
 *
 *    cp.async.bulk.tensor.Nd.{shared::cluster,shared::cta}.global[.tile].mbarrier::complete_tx::bytes [to], [map, {...}], [mbarrier]
 *    cp.async.bulk.tensor.Nd.{shared::cluster,shared::cta}.global.im2col.mbarrier::complete_tx::bytes [to], [map, {...}], [mbarrier], {...}
 *    cp.async.bulk.tensor.Nd.global.shared::cta[.tile|.im2col_no_offs].bulk_group [map, {...}], [from]
 *    cp.reduce.async.bulk.tensor.Nd.global.shared::cta.operation[.tile|.im2col_no_offs].bulk_group [map, {...}], [from]
 *
 * the second with the offsets of pixels, and the first two with the blocks of the cluster that get the tile behind, where .multicast::cluster says so; each with a cache policy behind, where
 * .L2::cache_hint says so. */
#include "machine/decode/decode.h"

#include <string.h>

static uint32_t rank_of(const decoder_t *decoder) {
   static const char *const names[] = {"1d", "2d", "3d", "4d", "5d"};
   for (uint32_t n = 0; n < 5; n++)
      if (decode_modifier(decoder, names[n]))
         return n + 1;
   return 0;
}

/* [map, {c0, ...}]: the address of the map and its coordinates, as extras. */
static bool map_and_coordinates(decoder_t *decoder, const ptx_operand_t *operand, uint32_t rank) {
   if (operand->kind != PTX_OPERAND_ADDRESS || operand->count != 2)
      return decode_unsupported(decoder, "a tensor without coordinates");
   ptx_operand_t base = *operand;
   const ptx_operand_t *list = &decoder->function->operands[operand->first + 1];
   base.count = 1;
   if (!decode_address_extras(decoder, &base))
      return false;
   if (list->kind != PTX_OPERAND_LIST || list->count != rank)
      return decode_unsupported(decoder, "coordinates of another number than the tensor's dimensions");
   for (uint32_t k = 0; k < rank; k++) {
      machine_slot_t slot;
      if (!decode_operand(decoder, &decoder->function->operands[list->first + k], 'w', &slot) ||
          !decode_extra(decoder, slot))
         return false;
   }
   return true;
}

/* {w, ...}: what is added to the coordinates of pixels. */
static bool pixel_offsets(decoder_t *decoder, const ptx_operand_t *list, uint32_t count) {
   if (list->kind != PTX_OPERAND_LIST || list->count != count)
      return decode_unsupported(decoder, "offsets of another number than the dimensions of pixels");
   for (uint32_t k = 0; k < count; k++) {
      machine_slot_t slot;
      if (!decode_operand(decoder, &decoder->function->operands[list->first + k], 'w', &slot) ||
          !decode_extra(decoder, slot))
         return false;
   }
   return true;
}

enum decode_result decode_tensor_copy(decoder_t *decoder, bool reduces) {
   static const char *const refused[] = {
      "im2col::w", "tile::gather4", "tile::scatter4", "im2col::w::128", "cta_group::1", "cta_group::2", NULL};
   machine_instruction_t *i = &decoder->instruction;
   const uint32_t rank = rank_of(decoder), hints = decode_modifier(decoder, "L2::cache_hint");
   const bool load = decode_modifier(decoder, "mbarrier::complete_tx::bytes"),
              multicast = decode_modifier(decoder, "multicast::cluster"),
              offsets = decode_modifier(decoder, "im2col"),
              pixels = offsets || decode_modifier(decoder, "im2col_no_offs");
   for (const char *const *word = refused; *word; word++)
      if (decode_modifier(decoder, *word))
         return decode_refuse(decoder);
   if (decode_modifier(decoder, "prefetch")) {
      i->kind = MACHINE_NOTHING;
      return DECODE_DONE;
   }
   if (!rank || (load && reduces) || load == decode_modifier(decoder, "bulk_group") || (multicast && !load) ||
       (pixels && (offsets != load || rank < 3)) ||
       decode_operand_count(decoder) != 2u + load + offsets + multicast + hints)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, reduces ? "cp.reduce.async.bulk.tensor"
                                   : load  ? "cp.async.bulk.tensor.load"
                                           : "cp.async.bulk.tensor.store"));
   if (reduces && !decode_bulk_reduction(decoder))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_address_extras(decoder, &decoder->operands[!load]) &&
               map_and_coordinates(decoder, &decoder->operands[load], rank));
   if (load)
      FAIL_UNLESS(decode_address_extras(decoder, &decoder->operands[2]));
   if (offsets)
      FAIL_UNLESS(pixel_offsets(decoder, &decoder->operands[3], rank - 2));
   if (multicast)
      FAIL_UNLESS(decode_multicast(decoder, &decoder->operands[3 + offsets]));
   i->immediate = pixels;
   i->elements = (uint8_t)rank;
   return DECODE_DONE;
}
