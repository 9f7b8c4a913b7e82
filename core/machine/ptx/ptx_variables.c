/* Variable declarations with their initialisers.  Part of the reader; one thread. */
#include "machine/ptx/ptx_reader.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE_LIMIT (64u << 20)

static void read_element(ptx_reader_t *reader, ptx_variable_t *variable, uint64_t *at) {
   uint32_t width = ptx_type_bytes(variable->type);
   uint64_t value = 0;
   bool minus = ptx_take(reader, "-");
   if (reader->lexer.token.kind == PTX_TOKEN_NUMBER) {
      uint8_t kind;
      if (!ptx_number(reader->lexer.token.text, reader->lexer.token.length, &kind, &value)) {
         ptx_fail(reader, "an initialiser holds no number");
         return;
      }
      if (kind == PTX_OPERAND_FLOAT64 && variable->type == PTX_F32) {
         double wide;
         memcpy(&wide, &value, sizeof wide);
         float narrow = (float)wide;
         value = 0;
         memcpy(&value, &narrow, sizeof narrow);
      }
      ptx_next(reader);
      if (minus)
         value = -value;
   } else {
      ptx_relocation_t relocation = {.offset = (uint32_t)*at};
      if (ptx_take(reader, "generic")) {
         relocation.generic = true;
         ptx_expect(reader, "(");
      }
      const ptx_name_t *name = ptx_find(reader, reader->lexer.token.text, reader->lexer.token.length);
      if (name && name->kind == PTX_NAME_FUNCTION && !ptx_failed(reader)) {
         reader->module->function_pointers = true;
         ptx_fail(
            reader,
            "an initialiser holds the address of function '%.60s', and no call through a pointer is executed",
            name->text);
         return;
      }
      if (!name || name->kind != PTX_NAME_VARIABLE || width != 8) {
         ptx_fail(reader, "an initialiser names what is not a variable");
         return;
      }
      relocation.variable = name->index;
      reader->module->variables[name->index].named = true;
      ptx_next(reader);
      if (relocation.generic)
         ptx_expect(reader, ")");
      if (ptx_take(reader, "+"))
         relocation.addend = (int64_t)ptx_integer(reader);
      if (!PTX_GROW(reader, variable->relocations, variable->relocation_count))
         return;
      variable->relocations[variable->relocation_count++] = relocation;
   }
   if (*at + width > variable->bytes) {
      ptx_fail(reader, "an initialiser is longer than its variable");
      return;
   }
   memcpy(variable->initial + *at, &value, width < 8 ? width : 8);
   *at += width;
}

static void read_initialiser(ptx_reader_t *reader, ptx_variable_t *variable) {
   variable->initial = ptx_arena_alloc(reader->arena, variable->bytes + 1);
   if (!variable->initial) {
      ptx_fail(reader, "an initialiser needs more memory than the module may have");
      return;
   }
   uint64_t at = 0;
   if (!ptx_at(reader, "{")) {
      read_element(reader, variable, &at);
      return;
   }
   uint32_t depth = 0;
   do {
      if (ptx_take(reader, "{"))
         depth++;
      else if (ptx_take(reader, "}"))
         depth--;
      else if (!ptx_take(reader, ","))
         read_element(reader, variable, &at);
   } while (depth && !ptx_failed(reader) && reader->lexer.token.kind != PTX_TOKEN_END);
}

/* The caller numbers .param variables, since it knows whether they belong to a kernel or to a function. */
static void place_variable(ptx_reader_t *reader, ptx_variable_t *variable) {
   if (variable->space != PTX_LOCAL && variable->space != PTX_PARAM)
      return;
   uint64_t offset = (reader->frame_bytes + variable->alignment - 1) & ~(uint64_t)(variable->alignment - 1);
   if (offset + variable->bytes > (1u << 20)) {
      ptx_fail(reader, "one thread's local memory is over 1 MiB");
      return;
   }
   variable->offset = offset;
   reader->frame_bytes = (uint32_t)(offset + variable->bytes);
}

uint32_t ptx_read_variable(ptx_reader_t *reader, uint32_t space, bool external) {
   ptx_variable_t variable = {.space = space,
                              .external = external,
                              .alignment = 0,
                              .function = reader->function ? reader->function_index : PTX_NONE};
   uint32_t vector = 1;
   while (reader->lexer.token.kind == PTX_TOKEN_DOTTED) {
      const ptx_token_t *token = &reader->lexer.token;
      uint32_t type = ptx_type_named(token->text + 1, token->length - 1);
      if (type) {
         variable.type = type;
      } else if (ptx_at(reader, ".align")) {
         ptx_next(reader);
         uint64_t alignment = ptx_integer(reader);
         if (alignment == 0 || alignment > 65536 || (alignment & (alignment - 1)))
            ptx_fail(reader, "an alignment is not a power of two up to 65536");
         if (!variable.alignment) /* ".ptr .align" is about what the pointer points to */
            variable.alignment = (uint32_t)alignment;
         continue;
      } else if (ptx_at(reader, ".v2") || ptx_at(reader, ".v4")) {
         vector = (uint32_t)(token->text[2] - '0');
      } else if (ptx_at(reader, ".ptr")) {
         /* What follows is about what the pointer points to. */
         variable.alignment = ptx_type_bytes(variable.type);
      } else if (!(variable.alignment && (ptx_at(reader, ".global") || ptx_at(reader, ".const") ||
                                          ptx_at(reader, ".shared") || ptx_at(reader, ".local"))) &&
                 !ptx_at(reader, ".attribute")) {
         ptx_fail(reader, "'%.*s' is not part of a variable the machine knows", (int)(token->length & 63),
                  token->text);
      }
      ptx_next(reader);
   }
   if (reader->lexer.token.kind != PTX_TOKEN_NAME || ptx_type_bytes(variable.type) == 0) {
      ptx_fail(reader, "a variable has no name or no type");
      return PTX_NONE;
   }
   variable.name = ptx_text(reader);
   variable.bytes = (uint64_t)ptx_type_bytes(variable.type) * vector;
   if (!variable.alignment)
      variable.alignment = (uint32_t)variable.bytes;
   while (ptx_take(reader, "[")) {
      uint64_t length = ptx_at(reader, "]") ? 0 : ptx_integer(reader);
      if (length > VARIABLE_LIMIT || variable.bytes * length > VARIABLE_LIMIT)
         ptx_fail(reader, "a variable is over %u MiB", VARIABLE_LIMIT >> 20);
      variable.bytes *= length;
      ptx_expect(reader, "]");
   }
   if (ptx_take(reader, "="))
      read_initialiser(reader, &variable);
   place_variable(reader, &variable);
   ptx_module_t *module = reader->module;
   if (ptx_failed(reader) || !PTX_GROW(reader, module->variables, module->variable_count))
      return PTX_NONE;
   module->variables[module->variable_count] = variable;
   ptx_declare(reader, variable.name, PTX_NAME_VARIABLE, module->variable_count);
   return module->variable_count++;
}
