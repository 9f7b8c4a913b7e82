/* Compiles on a screening worker (screen_slot.h).  Only the thread that has taken the slot calls this. */
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "kernel/compile_record.h"
#include "kernel/compiler_protocol.h"
#include "kernel/candidate_finding.h"
#include "stage/confined/confined_fork.h"
#include "stage/screen/screen_protocol.h"
#include "stage/screen/screen_slot.h"

/* Whether the bytes are valid UTF-8 without NUL, which can be shown and stored. */
static bool is_text(const char *text, size_t length) {
   for (size_t at = 0, bytes; at < length; at += bytes)
      if ((bytes = rkb_utf8_character(text + at, length - at)) == 0 || !text[at])
         return false;
   return true;
}

/* Checks the answer of another machine: it must be a finding and an output that a compiler of this program can give. */
static bool can_be(const compile_output_t *output, const rkb_finding_t *finding, const compile_input_t *input) {
   static const char *const reasons[] = {"", "build.error", "tool.compile_time", "tool.compile_memory",
                                         "tool.compiler_crash"};
   bool known = false;
   for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
      known = known || strcmp(finding->reason, reasons[i]) == 0;
   known = known && is_text(finding->message, strlen(finding->message)) && is_text(output->log, output->log_bytes) &&
           is_text(output->ptx, output->ptx_bytes);
   for (uint32_t i = 0; known && i < input->expression_count; i++)
      known = is_text(output->lowered[i], output->lowered_bytes[i]);
   return known && (finding->reason[0] || (output->ptx_bytes && (output->cubin_bytes || !input->want_cubin)));
}

/* Takes over payload.  False when the frame does not answer the slot's last request. */
static bool read_answer(const rkb_screen_slot_t *slot, char *payload, record_reader_t *in, const compile_input_t *input, int *status,
                        compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err) {
   const bool ours = record_u32(in) == SCREEN_COMPILED && record_u64(in) == slot->number;
   const int said = (int)record_u32(in);
   char *message = record_text(in, sizeof err->message - 1);
   const bool uncertain = record_u32(in) != 0;
   bool good = ours && !in->bad && message && is_text(message, strlen(message)) && said <= RKB_OK && said >= RKB_ERR_LIMIT;
   if (good && said == RKB_OK) {
      good = compile_output_read(payload, in, input->expression_count, output, finding);
      output->uncertain = uncertain;
      if (good && !can_be(output, finding, input)) {
         compile_output_free(output);
         rkb_finding_clear(finding);
         good = false;
      }
   } else {
      free(payload);
   }
   *status = good && said != RKB_OK ? rkb_fail(err, said, "%s", message) : RKB_OK;
   free(message);
   return good;
}

int screen_slot_compile(void *argument, const compile_input_t *input, bool (*cancelled)(void *), void *cancel_argument,
                        compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err) {
   rkb_screen_slot_t *slot = argument;
   rkb_text_t request;
   char *payload = NULL;
   record_reader_t in;
   int status = RKB_OK;
   rkb_text_init(&request, COMPILER_MAX_REQUEST);
   record_put_u32(&request, SCREEN_COMPILE);
   record_put_u64(&request, ++slot->number);
   compile_input_write(input, &request);
   if (request.cut) {
      rkb_text_free(&request);
      return rkb_fail(err, RKB_ERR_LIMIT, "the source and its options are larger than 2 MiB");
   }
   const bool answered =
      confined_send(&slot->peer, request.data, request.length, cancelled, cancel_argument) &&
      confined_receive(&slot->peer, SCREEN_MAX_COMPILED, &payload, &in, cancelled, cancel_argument);
   rkb_text_free(&request);
   if (answered && read_answer(slot, payload, &in, input, &status, output, finding, err))
      return status;
   if (!answered)
      free(payload);
   if (cancelled && cancelled(cancel_argument)) {
      rkb_screen_drop(slot, NULL);
      return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
   }
   rkb_screen_drop(slot, "it ended, or did not keep the protocol, in the middle of a compile");
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the screening worker was lost");
}
