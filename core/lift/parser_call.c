/* Runs one parser process per question: writes the request, runs the process, checks the frame. */
#include "lift/parser_call.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "kernel/byte_record.h"
#include "lift/parser_protocol.h"
#include "system/process.h"

static const uint64_t DEADLINE_NS = 60000000000u; /* the parser ends itself after 10 s of processor time */

char *lift_parser_path(void) {
   return rkb_find_program("rkb-parser");
}

/* For a compiler, tune parameters are macros.  The parser gets them as constants, so that the tree shows their names. */
static void declare_tune(const manifest_t *manifest, rkb_text_t *out) {
   for (uint32_t i = 0; i < manifest->public.tune_count; i++)
      rkb_text_format(out, "constexpr int %s = %lld;\n", manifest->public.tune[i].name,
                      (long long)manifest->public.tune[i].fallback);
}

static void write_request(uint32_t question, const char *text, const manifest_t *manifest, rkb_text_t *request) {
   unsigned char header[WIRE_HEADER_BYTES];
   rkb_text_t payload, declarations;
   rkb_text_init(&payload, LIFT_MAX_TEXT + LIFT_MAX_DECLARATIONS + 64);
   rkb_text_init(&declarations, LIFT_MAX_DECLARATIONS);
   rkb_text_add(&declarations, lift_declarations);
   declare_tune(manifest, &declarations);
   record_put_u32(&payload, question);
   record_put_text(&payload, rkb_text_get(&declarations));
   record_put_text(&payload, text);
   record_header(header, payload.length);
   rkb_text_append(request, (const char *)header, sizeof header);
   rkb_text_append(request, payload.data, payload.length);
   rkb_text_free(&declarations);
   rkb_text_free(&payload);
}

/* Takes the process's answer.  If this text made the process fail: RKB_OK with no bytes, and the refusal. */
static int take_answer(rkb_process_result_t *result, lift_answer_t *answer, char *refusal, size_t size, rkb_error_t *err) {
   uint64_t length = 0;
   if (result->timed_out || result->signal != 0) {
      snprintf(refusal, size, "the parser does not get through the text: %s",
               result->timed_out ? "it takes too long" : strsignal(result->signal));
      return RKB_OK;
   }
   if (result->exit_code != 0 || result->output_bytes < WIRE_HEADER_BYTES ||
       !record_header_length((const unsigned char *)result->output, LIFT_MAX_ANSWER, &length) ||
       length != result->output_bytes - WIRE_HEADER_BYTES) {
      /* 127: the dynamic loader found no libclang, and wrote a message. */
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "rkb-parser gives no answer (%d) %.200s", result->exit_code, result->errors);
   }
   answer->data = result->output + WIRE_HEADER_BYTES;
   answer->bytes = length;
   return RKB_OK;
}

int lift_ask_parser(uint32_t question, const char *text, const manifest_t *manifest, bool (*cancelled)(void *argument), void *argument,
                    lift_answer_t *answer, char *refusal, size_t size, rkb_error_t *err) {
   rkb_text_t request;
   *answer = (lift_answer_t){0};
   if (strlen(text) >= LIFT_MAX_TEXT) {
      snprintf(refusal, size, "the text is longer than %d bytes", LIFT_MAX_TEXT);
      return RKB_OK;
   }
   char *program = lift_parser_path();
   if (!program)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE,
                      "rkb-parser is not here: it needs libclang; apt-get install libclang-dev, and build rkb again");
   rkb_text_init(&request, LIFT_MAX_TEXT + LIFT_MAX_DECLARATIONS + 128);
   write_request(question, text, manifest, &request);
   const char *arguments[] = {program, NULL};
   const rkb_process_spec_t spec = {.size = sizeof spec,
                                    .arguments = arguments,
                                    .directory = "/",
                                    .input = request.data,
                                    .input_bytes = request.length,
                                    .output_limit = LIFT_MAX_ANSWER + 64,
                                    .deadline_ns = DEADLINE_NS};
   int status = rkb_process_run(&spec, cancelled, argument, &answer->result, err);
   if (status == RKB_OK && answer->result->cancelled)
      status = rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
   if (status == RKB_OK)
      status = take_answer(answer->result, answer, refusal, size, err);
   rkb_text_free(&request);
   free(program);
   return status;
}

void lift_answer_free(lift_answer_t *answer) {
   rkb_process_result_free(answer->result);
   *answer = (lift_answer_t){0};
}
