/* Asks for warnings and reads them.  Every number of the answer is checked. */
#include "lift/warnings.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "kernel/byte_record.h"
#include "lift/parser_call.h"
#include "lift/parser_protocol.h"

void lift_warnings_free(rkb_lift_warnings_t *warnings) {
   if (!warnings)
      return;
   for (uint32_t i = 0; i < warnings->count; i++) {
      free((char *)(uintptr_t)warnings->list[i].option);
      free((char *)(uintptr_t)warnings->list[i].words);
   }
   free(warnings->list);
   free(warnings);
}

int lift_warnings_read(const void *bytes, size_t length, rkb_lift_warnings_t **out, char *refusal, size_t size, rkb_error_t *err) {
   record_reader_t in = {.data = bytes, .size = length};
   const uint32_t outcome = record_u32(&in);
   *out = NULL;
   if (outcome == LIFT_REFUSED && !in.bad) {
      char *why = record_text(&in, 4096);
      snprintf(refusal, size, "%s", why ? why : "the parser refuses the text");
      free(why);
      return RKB_OK;
   }
   rkb_lift_warnings_t *warnings = rkb_allocate(1, sizeof *warnings);
   const uint32_t count = record_count(&in, LIFT_MAX_WARNINGS, 20);
   warnings->list = rkb_allocate(count + 1, sizeof *warnings->list);
   while (!in.bad && warnings->count < count) {
      rkb_lift_warning_t *warning = &warnings->list[warnings->count++];
      warning->line = record_u32(&in);
      warning->option = record_text(&in, LIFT_MAX_WORDS);
      warning->words = record_text(&in, LIFT_MAX_WORDS);
   }
   if (in.bad || in.at != in.size || outcome != LIFT_WARNED) {
      lift_warnings_free(warnings);
      return rkb_fail(err, RKB_ERR_CONTRACT, "the answer of rkb-parser is no list of warnings");
   }
   *out = warnings;
   return RKB_OK;
}

int lift_warn(const char *text, bool (*cancelled)(void *argument), void *argument, rkb_lift_warnings_t **warnings, char *refusal,
              size_t size, rkb_error_t *err) {
   rkb_problems_t problems;
   lift_answer_t answer;
   *warnings = NULL;
   rkb_problems_init(&problems);
   manifest_t *manifest = (manifest_t *)rkb_manifest_parse("kernel.cu", text, strlen(text), &problems);
   rkb_problems_free(&problems);
   if (!manifest) {
      snprintf(refusal, size, "the text has no manifest");
      return RKB_OK;
   }
   int status = lift_ask_parser(LIFT_ASK_WARNINGS, text, manifest, cancelled, argument, &answer, refusal, size, err);
   if (status == RKB_OK && answer.data)
      status = lift_warnings_read(answer.data, answer.bytes, warnings, refusal, size, err);
   lift_answer_free(&answer);
   rkb_manifest_free(&manifest->public);
   return status;
}
