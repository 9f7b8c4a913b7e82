/* A compile's input and output as bytes (compile_record.h).  Owns nothing. */
#include "kernel/compile_record.h"

#include <stdlib.h>
#include <string.h>
#include "kernel/compiler_protocol.h"
#include "kernel/candidate_finding.h"

void compile_input_write(const compile_input_t *input, rkb_text_t *out) {
   record_put_text(out, input->name);
   record_put_bytes(out, input->source, input->source_bytes);
   record_put_u32(out, input->option_count);
   for (uint32_t i = 0; i < input->option_count; i++)
      record_put_text(out, input->options[i]);
   record_put_u32(out, input->expression_count);
   for (uint32_t i = 0; i < input->expression_count; i++)
      record_put_text(out, input->expressions[i]);
   record_put_u32(out, input->want_cubin);
}

static const char *read_text(record_reader_t *in, rkb_arena_t *arena, size_t limit, size_t *length) {
   const char *text = record_bytes(in, length, limit);
   return rkb_arena_text(arena, text ? text : "", *length);
}

static const char *const *read_texts(record_reader_t *in, rkb_arena_t *arena, uint32_t most, size_t limit,
                                     uint32_t *count) {
   size_t length;
   *count = record_count(in, most, 8);
   const char **list = rkb_arena_array(arena, *count + 1, sizeof *list);
   for (uint32_t i = 0; i < *count; i++)
      list[i] = read_text(in, arena, limit, &length);
   return list;
}

bool compile_input_read(record_reader_t *in, rkb_arena_t *arena, compile_input_t *input) {
   size_t length;
   *input = (compile_input_t){.name = read_text(in, arena, COMPILER_MAX_OPTION, &length)};
   input->source = read_text(in, arena, COMPILER_MAX_SOURCE, &input->source_bytes);
   input->options = read_texts(in, arena, COMPILER_MAX_OPTIONS, COMPILER_MAX_OPTION, &input->option_count);
   input->expressions = read_texts(in, arena, COMPILER_MAX_NAMES, COMPILER_MAX_NAME, &input->expression_count);
   input->want_cubin = record_u32(in) != 0;
   return !in->bad;
}

void compile_output_write(const compile_output_t *output, uint32_t expressions, const rkb_finding_t *finding,
                          rkb_text_t *out) {
   record_put_text(out, finding->reason);
   record_put_text(out, finding->message);
   record_put_u32(out, finding->line);
   record_put_u32(out, finding->column);
   record_put_u64(out, output->cpu_ns);
   record_put_u64(out, output->memory_bytes);
   record_put_bytes(out, output->log, output->log_bytes);
   record_put_bytes(out, output->ptx, output->ptx_bytes);
   record_put_bytes(out, output->cubin, output->cubin_bytes);
   record_put_u32(out, expressions);
   for (uint32_t i = 0; i < expressions; i++)
      record_put_bytes(out, output->lowered[i], output->lowered_bytes[i]);
}

static void read_finding(record_reader_t *in, rkb_finding_t *finding) {
   size_t reason_bytes, message_bytes;
   const char *reason = record_bytes(in, &reason_bytes, sizeof finding->reason - 1),
              *message = record_bytes(in, &message_bytes, sizeof finding->message - 1);
   rkb_finding_clear(finding);
   if (reason && message && (memchr(reason, '\0', reason_bytes) || memchr(message, '\0', message_bytes)))
      in->bad = true; /* the reader needs NUL-terminated texts */
   if (reason && message && reason_bytes && !in->bad) {
      memcpy(finding->reason, reason, reason_bytes);
      memcpy(finding->message, message, message_bytes);
   }
   finding->line = record_u32(in);
   finding->column = record_u32(in);
}

bool compile_output_read(void *payload, record_reader_t *in, uint32_t expressions, compile_output_t *output,
                         rkb_finding_t *finding) {
   *output = (compile_output_t){.answer = payload};
   read_finding(in, finding);
   output->cpu_ns = record_u64(in);
   output->memory_bytes = record_u64(in);
   output->log = record_bytes(in, &output->log_bytes, COMPILER_MAX_LOG);
   output->ptx = record_bytes(in, &output->ptx_bytes, COMPILER_MAX_PTX);
   output->cubin = record_bytes(in, &output->cubin_bytes, COMPILER_MAX_CUBIN);
   if (expressions > COMPILER_MAX_NAMES || record_count(in, COMPILER_MAX_NAMES, 8) != expressions)
      in->bad = true;
   for (uint32_t i = 0; i < expressions && !in->bad; i++)
      output->lowered[i] = record_bytes(in, &output->lowered_bytes[i], COMPILER_MAX_NAME);
   if (!in->bad)
      return true;
   rkb_finding_clear(finding);
   compile_output_free(output);
   return false;
}

void compile_output_free(compile_output_t *output) {
   free(output->answer);
   memset(output, 0, sizeof *output);
}
