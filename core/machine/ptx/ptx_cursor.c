/* The reader's position in the text: the current token, expected tokens, numbers, and the first error.  Part
 * of the reader; one thread. */
#include "machine/ptx/ptx_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ptx_fail(ptx_reader_t *reader, const char *fmt, ...) {
   ptx_module_t *module = reader->module;
   if (!module->error_line) {
      va_list ap;
      va_start(ap, fmt);
      vsnprintf(module->error, sizeof module->error, fmt, ap);
      va_end(ap);
      module->error_line = reader->lexer.token.line ? reader->lexer.token.line : 1;
   }
   reader->lexer.at = reader->lexer.end;
   reader->lexer.token = (ptx_token_t){PTX_TOKEN_END, reader->lexer.end, 0, module->error_line};
}

bool ptx_failed(const ptx_reader_t *reader) {
   return reader->module->error_line != 0;
}

void ptx_next(ptx_reader_t *reader) {
   ptx_lexer_next(&reader->lexer);
}

bool ptx_at(const ptx_reader_t *reader, const char *text) {
   return ptx_token_is(&reader->lexer.token, text);
}

bool ptx_take(ptx_reader_t *reader, const char *text) {
   if (!ptx_at(reader, text))
      return false;
   ptx_next(reader);
   return true;
}

void ptx_expect(ptx_reader_t *reader, const char *text) {
   if (!ptx_take(reader, text))
      ptx_fail(reader, "expected '%s' before '%.*s'", text, (int)(reader->lexer.token.length & 63),
               reader->lexer.token.text);
}

char *ptx_text(ptx_reader_t *reader) {
   char *copy = ptx_arena_text(reader->arena, reader->lexer.token.text, reader->lexer.token.length);
   if (!copy)
      ptx_fail(reader, "the module needs more than %u MiB", PTX_MODULE_LIMIT >> 20);
   else
      ptx_next(reader);
   return copy;
}

bool ptx_grow(ptx_reader_t *reader, void **array, uint32_t count, size_t size) {
   void *larger = ptx_arena_grow(reader->arena, *array, count, size);
   if (!larger) {
      ptx_fail(reader, "the module needs more than %u MiB", PTX_MODULE_LIMIT >> 20);
      return false;
   }
   *array = larger;
   return true;
}

bool ptx_number(const char *text, size_t length, uint8_t *kind, uint64_t *value) {
   char copy[64];
   if (length == 0 || length >= sizeof copy)
      return false;
   memcpy(copy, text, length);
   copy[length] = '\0';
   char *end = copy;
   if (copy[0] == '0' && length > 1 && strchr("fFdD", copy[1])) {
      *kind = copy[1] == 'f' || copy[1] == 'F' ? PTX_OPERAND_FLOAT32 : PTX_OPERAND_FLOAT64;
      *value = strtoull(copy + 2, &end, 16);
   } else if (strpbrk(copy, ".eE") && !(copy[0] == '0' && length > 1 && strchr("xX", copy[1]))) {
      double real = strtod(copy, &end);
      *kind = PTX_OPERAND_FLOAT64;
      memcpy(value, &real, sizeof real);
   } else {
      *kind = PTX_OPERAND_INTEGER;
      if (copy[0] == '0' && length > 2 && strchr("bB", copy[1]))
         *value = strtoull(copy + 2, &end, 2);
      else
         *value = strtoull(copy, &end, 0);
      end += *end == 'U' || *end == 'u';
   }
   return *end == '\0' && end != copy;
}

uint64_t ptx_integer(ptx_reader_t *reader) {
   bool minus = ptx_take(reader, "-");
   uint8_t kind;
   uint64_t value = 0;
   if (reader->lexer.token.kind != PTX_TOKEN_NUMBER ||
       !ptx_number(reader->lexer.token.text, reader->lexer.token.length, &kind, &value) ||
       kind != PTX_OPERAND_INTEGER) {
      ptx_fail(reader, "expected an integer");
      return 0;
   }
   ptx_next(reader);
   return minus ? -value : value;
}

/* Variables ------------------------------------------------------------------------------------------ */
