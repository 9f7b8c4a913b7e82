/* Mbarriers and fences (PTX ISA 9.0, 9.7.13.4 and 9.7.13.15).  Part of the decoder.
 *
 *    mbarrier.init[.shared].b64 [place], count;      mbarrier.inval[.shared].b64 [place];
 *    mbarrier.arrive[_drop][.expect_tx | .noComplete][.order.scope][.shared].b64 state | _, [place][, count | bytes];
 *    mbarrier.expect_tx | complete_tx[.relaxed.scope][.shared].b64 [place], bytes;
 *    mbarrier.test_wait | try_wait[.parity][.order.scope][.shared].b64 passed, [place], state | parity[, time];
 *    mbarrier.pending_count.b64 count, state;        cp.async.mbarrier.arrive[.noinc][.shared].b64 [place]; */
#include "machine/decode/operation_codes.h"
#include "machine/decode/decode.h"

#include <stdio.h>
#include <string.h>

static bool is(const char *word, const char *const *names) {
   for (; *names; names++)
      if (strcmp(word, *names) == 0)
         return true;
   return false;
}

/* The modifiers behind the operation: space, order and scope. */
static bool take_modifiers(decoder_t *decoder, uint32_t from) {
   static const char *const passed_over[] = {"b64",    "acquire",   "release",    "cta",   "cluster",
                                             "parity", "expect_tx", "noComplete", "noinc", NULL};
   machine_instruction_t *i = &decoder->instruction;
   for (uint32_t n = from; n < decoder->modifier_count; n++) {
      const char *word = decoder->modifiers[n];
      if (strcmp(word, "shared") == 0 || strcmp(word, "shared::cta") == 0 ||
          strcmp(word, "shared::cluster") == 0)
         i->space = PTX_SHARED, i->flags |= word[6] && word[9] == 'l' ? FLAG_CLUSTER : 0;
      else if (strcmp(word, "relaxed") == 0)
         i->flags |= FLAG_RELAXED, decoder->program->relaxed_arrivals = true;
      else if (!is(word, passed_over))
         return false;
   }
   return true;
}

static bool take_number(decoder_t *decoder, const ptx_operand_t *operand, char letter) {
   machine_slot_t slot;
   if (!decode_operand(decoder, operand, letter, &slot))
      return false;
   decode_place(&decoder->instruction, 'b', slot);
   return true;
}

static bool take_key(decoder_t *decoder, const char *operation) {
   machine_instruction_t *i = &decoder->instruction;
   static const char *const variants[] = {"expect_tx", "noComplete", "parity"};
   char key[64];
   size_t length = (size_t)snprintf(key, sizeof key, "mbarrier.%.20s", operation);
   for (size_t n = 0; n < sizeof variants / sizeof *variants; n++)
      if (decode_modifier(decoder, variants[n]) && strcmp(operation, variants[n]) != 0)
         length += (size_t)snprintf(key + length, sizeof key - length, ".%s", variants[n]);
   i->space = PTX_GENERIC;
   decoder->program->asynchronous = decoder->program->narrow_shared = true;
   return decode_use(decoder, key);
}

static enum decode_result wait(decoder_t *decoder) {
   const uint32_t count = decode_operand_count(decoder);
   const bool parity = decode_modifier(decoder, "parity");
   machine_slot_t slot;
   if (count != 3 && !(count == 4 && decode_modifier(decoder, "try_wait")))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_destination(decoder, &decoder->operands[0], 'p', &slot));
   decode_place(&decoder->instruction, 'd', slot);
   FAIL_UNLESS(decode_address(decoder, &decoder->operands[1]) &&
               take_number(decoder, &decoder->operands[2], parity ? 'w' : 'l'));
   return DECODE_DONE;
}

static enum decode_result arrive(decoder_t *decoder, bool drops) {
   const uint32_t count = decode_operand_count(decoder);
   machine_slot_t slot;
   const bool named = count && decoder->operands[0].kind != PTX_OPERAND_ADDRESS;
   if (count < 1u + named || count > 2u + named ||
       (count == 1u + named &&
        (decode_modifier(decoder, "expect_tx") || decode_modifier(decoder, "noComplete"))))
      return decode_refuse(decoder);
   if (named) {
      FAIL_UNLESS(decode_destination(decoder, &decoder->operands[0], 'l', &slot));
      decode_place(&decoder->instruction, 'd', slot);
   }
   FAIL_UNLESS(decode_address(decoder, &decoder->operands[named]));
   if (count == 2u + named)
      FAIL_UNLESS(take_number(decoder, &decoder->operands[1 + named], 'w'));
   decoder->instruction.flags |= drops ? FLAG_SECOND : 0;
   return DECODE_DONE;
}

static enum decode_result count_pending(decoder_t *decoder) {
   machine_slot_t slot;
   if (decode_operand_count(decoder) != 2)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_destination(decoder, &decoder->operands[0], 'w', &slot));
   decode_place(&decoder->instruction, 'd', slot);
   FAIL_UNLESS(decode_operand(decoder, &decoder->operands[1], 'l', &slot));
   decode_place(&decoder->instruction, 'a', slot);
   return DECODE_DONE;
}

enum decode_result decode_mbarrier(decoder_t *decoder) {
   static const char *const operations[] = {"init",          "inval",       "arrive",    "arrive_drop",
                                            "expect_tx",     "complete_tx", "test_wait", "try_wait",
                                            "pending_count", NULL};
   const char *operation = decoder->modifier_count > 1 ? decoder->modifiers[1] : "";
   if (!is(operation, operations))
      return decode_refuse(decoder);
   FAIL_UNLESS(take_key(decoder, operation));
   if (!take_modifiers(decoder, 2))
      return decode_refuse(decoder);
   if (strcmp(operation, "pending_count") == 0)
      return count_pending(decoder);
   if (strstr(operation, "_wait"))
      return wait(decoder);
   if (strncmp(operation, "arrive", 6) == 0)
      return arrive(decoder, operation[6] != '\0');
   const uint32_t count = strcmp(operation, "inval") == 0 ? 1 : 2;
   if (decode_operand_count(decoder) != count)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_address(decoder, &decoder->operands[0]));
   if (count == 2)
      FAIL_UNLESS(take_number(decoder, &decoder->operands[1], 'w'));
   return DECODE_DONE;
}

enum decode_result decode_copy_arrival(decoder_t *decoder) {
   decoder->instruction.space = PTX_GENERIC;
   decoder->program->asynchronous = true;
   if (decode_operand_count(decoder) != 1 || decoder->modifier_count < 4 ||
       strcmp(decoder->modifiers[3], "arrive") != 0 || !take_modifiers(decoder, 4))
      return decode_refuse(decoder);
   decoder->program->small_operations = true;
   FAIL_UNLESS(decode_use(decoder, "cp.async.mbarrier.arrive") &&
               decode_address(decoder, &decoder->operands[0]));
   decoder->instruction.flags |= decode_modifier(decoder, "noinc") ? FLAG_SAT : 0;
   return DECODE_DONE;
}

/* fence.proxy.async[.space]: between the generic proxy and the async one, in either direction. */
static enum decode_result proxy_fence(decoder_t *decoder) {
   static const char *const known[] = {"async",
                                       "async::generic",
                                       "async.global",
                                       "global",
                                       "shared",
                                       "shared::cta",
                                       "shared::cluster",
                                       "acquire",
                                       "release",
                                       "sync_restrict::shared::cta",
                                       "sync_restrict::shared::cluster",
                                       "cluster",
                                       NULL};
   for (uint32_t n = 2; n < decoder->modifier_count; n++)
      if (!is(decoder->modifiers[n], known))
         return decode_refuse(decoder);
   decoder->program->asynchronous = true;
   const bool all = decoder->modifier_count == 3,
              global = decode_modifier(decoder, "global") || decode_modifier(decoder, "async.global");
   decoder->program->global_proxy_fence |= all || global;
   decoder->program->only_global_proxy_fence |= global;
   decoder->program->shared_proxy_fence |= !all && !global;
   FAIL_UNLESS(decode_use(decoder, "fence.proxy.async"));
   decoder->instruction.immediate =
      (all || !global ? FENCES_SHARED : 0) | (all || global ? FENCES_GLOBAL : 0);
   return DECODE_DONE;
}

enum decode_result decode_fence(decoder_t *decoder) {
   if (decoder->modifier_count > 2 && strcmp(decoder->modifiers[1], "proxy") == 0)
      return strncmp(decoder->modifiers[2], "async", 5) == 0       ? proxy_fence(decoder)
             : strncmp(decoder->modifiers[2], "tensormap", 9) == 0 ? decode_tensor_map_fence(decoder)
                                                                   : decode_refuse(decoder);
   if (decode_modifier(decoder, "mbarrier_init")) {
      decoder->program->asynchronous = true;
      return decode_use(decoder, "fence.mbarrier_init") ? DECODE_DONE : DECODE_FAILED;
   }
   if (decode_modifier(decoder, "proxy") || !decode_use(decoder, "fence"))
      return decode_refuse(decoder);
   /* A fence for the block alone orders nothing for other blocks.  Inside a block it orders with relaxed operations on mbarriers and on words of shared
    * memory. */
   decoder->program->generic_fences = true;
   if (decode_modifier(decoder, "cta"))
      decoder->instruction.flags |= FLAG_BLOCK;
   else
      decoder->program->fences = true;
   return DECODE_DONE;
}
