/* Bulk copies and their groups (PTX ISA 9.0, 9.7.9.25.4).  Part of the decoder.
 *
 *    cp.async.bulk.{shared::cluster,shared::cta}.global.mbarrier::complete_tx::bytes [to], [from], size, [mbarrier][, cache policy];
 *    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [to], [from], size, [mbarrier], blocks[, cache policy];
 *    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [from], size, [mbarrier];
 *    cp.async.bulk.global.shared::cta.bulk_group [to], [from], size[, cache policy];
 *    cp.reduce.async.bulk.global.shared::cta.bulk_group.operation[.noftz].type [to], [from], size[, cache policy];
 *    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.operation.type [to], [from], size, [mbarrier];
 *    cp.async.bulk.prefetch.L2.global [from], size;  cp.async.bulk.commit_group;  cp.async.bulk.wait_group[.read] n; */
#include "machine/decode/decode.h"

#include <string.h>

static enum decode_result finish(decoder_t *decoder, uint32_t at, uint32_t hints) {
   return decode_operand_count(decoder) == at + hints ? DECODE_DONE : decode_refuse(decoder);
}

static enum decode_result wait(decoder_t *decoder) {
   if (decode_operand_count(decoder) != 1 || decoder->operands[0].kind != PTX_OPERAND_INTEGER)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, "cp.async.bulk.wait_group"));
   decoder->instruction.immediate = (int64_t)(decoder->operands[0].value & 0xffffff);
   decoder->instruction.flags |= decode_modifier(decoder, "read") ? FLAG_READS : 0;
   return DECODE_DONE;
}

static enum decode_result move(decoder_t *decoder, bool reduces) {
   static const char *const refused[] = {"cp_mask", "ignore_oob", NULL};
   machine_slot_t size;
   const bool multicast = decode_modifier(decoder, "multicast::cluster"),
              to_peer = !decode_modifier(decoder, "global");
   const uint32_t hints = decode_modifier(decoder, "L2::cache_hint");
   const bool load = decode_modifier(decoder, "mbarrier::complete_tx::bytes");
   for (const char *const *word = refused; *word; word++)
      if (decode_modifier(decoder, *word))
         return decode_refuse(decoder);
   if (load == decode_modifier(decoder, "bulk_group") ||
       decode_operand_count(decoder) < 3u + load + multicast || (load && !to_peer && reduces) ||
       (to_peer && (!load || multicast || hints)) || (multicast && !load))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, reduces && to_peer ? "cp.reduce.async.bulk.shared"
                                   : reduces          ? "cp.reduce.async.bulk"
                                   : to_peer          ? "cp.async.bulk.shared"
                                   : load             ? "cp.async.bulk.load"
                                                      : "cp.async.bulk.store"));
   machine_instruction_t *i = &decoder->instruction;
   if (reduces) {
      i->type = (uint8_t)decode_type(decoder, 0);
      i->element_bytes = (uint8_t)ptx_type_bytes(i->type);
   }
   if (reduces && (!decode_bulk_reduction(decoder) || i->element_bytes < 2 || i->element_bytes > 8 ||
                   (to_peer && (i->element_bytes < 4 || ptx_type_is_float(i->type)))))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_address_extras(decoder, &decoder->operands[!load]) &&
               decode_address_extras(decoder, &decoder->operands[load]) &&
               decode_operand(decoder, &decoder->operands[2], 'w', &size) && decode_extra(decoder, size));
   if (load)
      FAIL_UNLESS(decode_address_extras(decoder, &decoder->operands[3]));
   if (multicast)
      FAIL_UNLESS(decode_multicast(decoder, &decoder->operands[4]));
   return finish(decoder, 3u + load + multicast, hints);
}

enum decode_result decode_bulk(decoder_t *decoder, bool reduces) {
   decoder->program->asynchronous = true;
   if (decode_modifier(decoder, "tensor"))
      return decode_tensor_copy(decoder, reduces);
   if (decode_modifier(decoder, "prefetch")) {
      decoder->instruction.kind = MACHINE_NOTHING;
      return DECODE_DONE;
   }
   if (decode_modifier(decoder, "commit_group"))
      return decode_operand_count(decoder) == 0 && decode_use(decoder, "cp.async.bulk.commit_group")
                ? DECODE_DONE
                : decode_refuse(decoder);
   return decode_modifier(decoder, "wait_group") ? wait(decoder) : move(decoder, reduces);
}
