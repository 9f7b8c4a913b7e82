/* One parser process a text: writing the request, running it, reading the answer. */
#include "lift/parse.h"

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

/* Tune parameters are macros over the text; to the parser they are constants, so that the tree shows their names. */
static void declare_tune(const manifest_t *manifest, rkb_text_t *out) {
   for (uint32_t i = 0; i < manifest->public.tune_count; i++)
      rkb_text_format(out, "constexpr int %s = %lld;\n", manifest->public.tune[i].name,
                      (long long)manifest->public.tune[i].fallback);
}

/* Lines for the preprocessor hide code from the tree; #pragma and #include do not. */
static bool has_hidden_code(const char *text, char *refusal, size_t size) {
   uint32_t count;
   rkb_tokens_t *tokens = rkb_tokens_new(text, strlen(text));
   const rkb_token_t *list = rkb_tokens_at(tokens, &count);
   bool hidden = false;
   for (uint32_t i = 0; i < count && !hidden; i++) {
      if (list[i].kind != RKB_TOKEN_DIRECTIVE)
         continue;
      const char *word = text + list[i].start + 1;
      word += strspn(word, " \t");
      hidden = strncmp(word, "pragma", 6) != 0 && strncmp(word, "include", 7) != 0;
      if (hidden)
         snprintf(refusal, size, "line %u: a preprocessor line other than #pragma and #include hides code from the syntax tree",
                  list[i].line);
   }
   rkb_tokens_free(tokens);
   return hidden;
}

static void write_request(const char *text, const manifest_t *manifest, rkb_text_t *request) {
   unsigned char header[WIRE_HEADER_BYTES];
   rkb_text_t payload, declarations;
   rkb_text_init(&payload, LIFT_MAX_TEXT + LIFT_MAX_DECLARATIONS + 64);
   rkb_text_init(&declarations, LIFT_MAX_DECLARATIONS);
   rkb_text_add(&declarations, lift_declarations);
   declare_tune(manifest, &declarations);
   record_put_text(&payload, rkb_text_get(&declarations));
   record_put_text(&payload, text);
   record_header(header, payload.length);
   rkb_text_append(request, (const char *)header, sizeof header);
   rkb_text_append(request, payload.data, payload.length);
   rkb_text_free(&declarations);
   rkb_text_free(&payload);
}

/* What the process said; RKB_OK with *tree NULL and the refusal when it ended badly over this text. */
static int read_answer(const rkb_process_result_t *result, const char *text, lift_tree_t **tree, char *refusal, size_t size,
                       rkb_error_t *err) {
   uint64_t length = 0;
   if (result->timed_out || result->signal != 0) {
      snprintf(refusal, size, "the parser does not get through the text: %s",
               result->timed_out ? "it takes too long" : strsignal(result->signal));
      return RKB_OK;
   }
   if (result->exit_code != 0 || result->output_bytes < WIRE_HEADER_BYTES ||
       !record_header_length((const unsigned char *)result->output, LIFT_MAX_ANSWER, &length) ||
       length != result->output_bytes - WIRE_HEADER_BYTES) {
      /* 127: the dynamic loader found no libclang, and said so. */
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "rkb-parser gives no answer (%d) %.200s", result->exit_code, result->errors);
   }
   return lift_tree_read(result->output + WIRE_HEADER_BYTES, length, text, tree, refusal, size, err);
}

int lift_parse(const char *text, const manifest_t *manifest, bool (*cancelled)(void *argument), void *argument, lift_tree_t **tree,
               char *refusal, size_t size, rkb_error_t *err) {
   rkb_process_result_t *result = NULL;
   rkb_text_t request;
   *tree = NULL;
   if (strlen(text) >= LIFT_MAX_TEXT) {
      snprintf(refusal, size, "the text is longer than %d bytes", LIFT_MAX_TEXT);
      return RKB_OK;
   }
   if (has_hidden_code(text, refusal, size))
      return RKB_OK;
   char *program = lift_parser_path();
   if (!program)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE,
                      "rkb-parser is not here: it needs libclang; apt-get install libclang-dev, and build rkb again");
   rkb_text_init(&request, LIFT_MAX_TEXT + LIFT_MAX_DECLARATIONS + 128);
   write_request(text, manifest, &request);
   const char *arguments[] = {program, NULL};
   const rkb_process_spec_t spec = {.size = sizeof spec,
                                    .arguments = arguments,
                                    .directory = "/",
                                    .input = request.data,
                                    .input_bytes = request.length,
                                    .output_limit = LIFT_MAX_ANSWER + 64,
                                    .deadline_ns = DEADLINE_NS};
   int status = rkb_process_run(&spec, cancelled, argument, &result, err);
   if (status == RKB_OK && result->cancelled)
      status = rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
   if (status == RKB_OK)
      status = read_answer(result, text, tree, refusal, size, err);
   rkb_process_result_free(result);
   rkb_text_free(&request);
   free(program);
   return status;
}
