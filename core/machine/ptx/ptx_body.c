/* Reads the body of a function: registers, local variables, labels, instructions, nested scopes (inline assembly opens
 * them for its own registers).  Part of the reader; one thread. */
#include "machine/ptx/ptx_reader.h"

#include <stdio.h>
#include <string.h>

/* Registers ------------------------------------------------------------------------------------------- */

static void add_register(ptx_reader_t *reader, const char *name, uint32_t type) {
   ptx_function_t *function = reader->function;
   if (function->register_count >= PTX_MAX_REGISTERS) {
      ptx_fail(reader, "a function has more than %d registers", PTX_MAX_REGISTERS);
      return;
   }
   if (!name || !PTX_GROW(reader, function->registers, function->register_count))
      return;
   function->registers[function->register_count] = (ptx_register_t){name, type};
   ptx_declare(reader, name, PTX_NAME_REGISTER, function->register_count++);
}

/* ".reg .f32 %f<63>, %x;" declares %f0 .. %f62 and %x. */
static void read_registers(ptx_reader_t *reader) {
   uint32_t type = PTX_NO_TYPE;
   while (reader->lexer.token.kind == PTX_TOKEN_DOTTED) {
      const ptx_token_t *token = &reader->lexer.token;
      type = ptx_type_named(token->text + 1, token->length - 1);
      ptx_next(reader);
      if (!type) {
         ptx_fail(reader, "a register has a type the machine does not know");
         return;
      }
   }
   if (!type)
      ptx_fail(reader, "a register has no type");
   do {
      if (reader->lexer.token.kind != PTX_TOKEN_NAME) {
         ptx_fail(reader, "a register has no name");
         return;
      }
      char *name = ptx_text(reader);
      if (!ptx_take(reader, "<")) {
         add_register(reader, name, type);
         continue;
      }
      uint64_t count = ptx_integer(reader);
      ptx_expect(reader, ">");
      for (uint64_t i = 0; i < count && !ptx_failed(reader); i++) {
         char text[128];
         int length = snprintf(text, sizeof text, "%.100s%llu", name, (unsigned long long)i);
         add_register(reader, ptx_arena_text(reader->arena, text, (size_t)length), type);
      }
   } while (ptx_take(reader, ","));
   ptx_expect(reader, ";");
}

/* Labels ---------------------------------------------------------------------------------------------- */

/* A label's scope is the enclosing braces.  A use may come before its label; ptx_leave then looks for the
 * label in the outer scope. */
static uint32_t label_named(ptx_reader_t *reader, const char *text, size_t length) {
   const ptx_name_t *known = ptx_find(reader, text, length);
   if (known && known->kind == PTX_NAME_LABEL)
      return known->index;
   ptx_function_t *function = reader->function;
   char *name = ptx_arena_text(reader->arena, text, length);
   if (!name || !PTX_GROW(reader, function->labels, function->label_count))
      return PTX_NONE;
   function->labels[function->label_count] = (ptx_label_t){.name = name, .statement = PTX_NONE};
   ptx_declare(reader, name, PTX_NAME_LABEL, function->label_count);
   return function->label_count++;
}

/* Operands -------------------------------------------------------------------------------------------- */

static uint32_t add_operand(ptx_reader_t *reader, ptx_operand_t operand) {
   ptx_function_t *function = reader->function;
   if (!PTX_GROW(reader, function->operands, function->operand_count))
      return PTX_NONE;
   function->operands[function->operand_count] = operand;
   return function->operand_count++;
}

static bool read_special(ptx_reader_t *reader, ptx_operand_t *operand) {
   static const char *const names[] = {
#define PTX_X(name, text) text,
      PTX_SPECIALS(PTX_X)
#undef PTX_X
   };
   char text[64];
   const ptx_token_t *token = &reader->lexer.token;
   size_t length = token->length < 40 ? token->length : 40;
   memcpy(text, token->text, length);
   const char *after = token->text + token->length;
   if (after + 1 < reader->lexer.end && after[0] == '.' && strchr("xyz", after[1])) {
      text[length++] = '.';
      text[length++] = after[1];
   }
   text[length] = '\0';
   for (uint32_t i = 0; i < PTX_SPECIAL_COUNT; i++)
      if (strcmp(names[i], text) == 0) {
         bool dotted = strchr(text, '.') != NULL;
         *operand = (ptx_operand_t){.kind = PTX_OPERAND_SPECIAL, .value = i};
         reader->module->grid_workspace |= i == PTX_SPECIAL_WORKSPACE_HIGH || i == PTX_SPECIAL_WORKSPACE_LOW;
         ptx_next(reader);
         if (dotted)
            ptx_next(reader);
         return true;
      }
   return false;
}

static void read_name(ptx_reader_t *reader, ptx_operand_t *operand) {
   const ptx_token_t *token = &reader->lexer.token;
   const ptx_name_t *name = ptx_find(reader, token->text, token->length);
   if (!name && token->text[0] == '%') {
      if (!read_special(reader, operand))
         ptx_fail(reader, "register '%.*s' is not known", (int)(token->length & 63), token->text);
      return;
   }
   if (!name && ptx_at(reader, "WARP_SZ")) {
      *operand = (ptx_operand_t){.kind = PTX_OPERAND_INTEGER, .value = 32};
      ptx_next(reader);
      return;
   }
   static const uint8_t kinds[] = {[PTX_NAME_REGISTER] = PTX_OPERAND_REGISTER,
                                   [PTX_NAME_VARIABLE] = PTX_OPERAND_SYMBOL,
                                   [PTX_NAME_FUNCTION] = PTX_OPERAND_FUNCTION,
                                   [PTX_NAME_LABEL] = PTX_OPERAND_LABEL};
   if (name) {
      *operand = (ptx_operand_t){.kind = kinds[name->kind], .index = name->index};
      if (name->kind == PTX_NAME_VARIABLE)
         reader->module->variables[name->index].named = true;
   } else {
      *operand =
         (ptx_operand_t){.kind = PTX_OPERAND_LABEL, .index = label_named(reader, token->text, token->length)};
      if (operand->index == PTX_NONE)
         ptx_fail(reader, "out of memory for labels");
   }
   ptx_next(reader);
}

static void read_offset(ptx_reader_t *reader, ptx_operand_t *operand) {
   while (ptx_at(reader, "+") || ptx_at(reader, "-")) {
      ptx_take(reader, "+");
      operand->value += ptx_integer(reader);
   }
}

static ptx_operand_t read_operand(ptx_reader_t *reader, uint32_t depth);

static void read_list(ptx_reader_t *reader, ptx_operand_t *operand, const char *close, uint32_t depth) {
   ptx_operand_t parts[PTX_MAX_OPERANDS];
   uint32_t count = 0;
   while (!ptx_failed(reader) && !ptx_at(reader, close)) {
      if (count == PTX_MAX_OPERANDS) {
         ptx_fail(reader, "an operand list is longer than %d", PTX_MAX_OPERANDS);
         return;
      }
      parts[count++] = read_operand(reader, depth + 1);
      if (!ptx_take(reader, ","))
         break;
   }
   ptx_expect(reader, close);
   operand->kind = PTX_OPERAND_LIST;
   operand->count = count;
   operand->first = reader->function->operand_count;
   for (uint32_t i = 0; i < count; i++)
      if (add_operand(reader, parts[i]) == PTX_NONE)
         return;
}

static ptx_operand_t read_operand(ptx_reader_t *reader, uint32_t depth) {
   ptx_operand_t operand = {.kind = PTX_OPERAND_SINK};
   if (depth > 4) {
      ptx_fail(reader, "operand lists are nested too deep");
      return operand;
   }
   operand.negated = ptx_take(reader, "!");
   bool negated = operand.negated;
   if (ptx_take(reader, "{")) {
      read_list(reader, &operand, "}", depth);
   } else if (ptx_take(reader, "(")) {
      read_list(reader, &operand, ")", depth);
   } else if (ptx_take(reader, "[")) {
      ptx_operand_t base = read_operand(reader, depth + 1);
      read_offset(reader, &base);
      uint64_t value = base.value;
      if (base.kind != PTX_OPERAND_INTEGER)
         base.value = 0;
      else
         value = 0;
      ptx_operand_t coordinates = {.kind = PTX_OPERAND_SINK};
      const bool tensor = ptx_take(reader, ",");
      if (tensor)
         coordinates = read_operand(reader, depth + 1);
      if (!ptx_at(reader, "]"))
         ptx_fail(reader, "this form of address is not known to the machine");
      ptx_expect(reader, "]");
      operand = (ptx_operand_t){.kind = PTX_OPERAND_ADDRESS,
                                .value = value,
                                .first = add_operand(reader, base),
                                .count = 1u + tensor};
      if (operand.first == PTX_NONE || (tensor && add_operand(reader, coordinates) == PTX_NONE))
         operand.kind = PTX_OPERAND_SINK;
   } else if (reader->lexer.token.kind == PTX_TOKEN_NUMBER || ptx_at(reader, "-")) {
      bool minus = ptx_take(reader, "-");
      if (!ptx_number(reader->lexer.token.text, reader->lexer.token.length, &operand.kind, &operand.value))
         ptx_fail(reader, "'%.*s' is not a number", (int)(reader->lexer.token.length & 63),
                  reader->lexer.token.text);
      ptx_next(reader);
      if (minus)
         operand.value = operand.kind == PTX_OPERAND_INTEGER   ? -operand.value
                         : operand.kind == PTX_OPERAND_FLOAT32 ? operand.value ^ 0x80000000u
                                                               : operand.value ^ 0x8000000000000000u;
   } else if (ptx_at(reader, "_")) {
      ptx_next(reader);
   } else if (reader->lexer.token.kind == PTX_TOKEN_NAME) {
      read_name(reader, &operand);
      operand.negated = negated;
      if (operand.kind == PTX_OPERAND_SYMBOL)
         read_offset(reader, &operand);
   } else {
      ptx_fail(reader, "'%.*s' is not an operand the machine knows", (int)(reader->lexer.token.length & 63),
               reader->lexer.token.text);
   }
   return operand;
}

/* Statements ------------------------------------------------------------------------------------------ */

static void read_opcode(ptx_reader_t *reader, ptx_statement_t *statement) {
   char text[192];
   size_t length = 0;
   do {
      const ptx_token_t *token = &reader->lexer.token;
      if (length + token->length >= sizeof text) {
         ptx_fail(reader, "an opcode is longer than %zu bytes", sizeof text);
         return;
      }
      memcpy(text + length, token->text, token->length);
      length += token->length;
      ptx_next(reader);
   } while (reader->lexer.token.kind == PTX_TOKEN_DOTTED);
   statement->opcode = ptx_arena_text(reader->arena, text, length);
   if (!statement->opcode)
      ptx_fail(reader, "out of memory for opcodes");
}

static void read_instruction(ptx_reader_t *reader) {
   ptx_function_t *function = reader->function;
   ptx_statement_t statement = {.guard = PTX_NONE, .place = reader->place};
   statement.place.ptx_line = reader->lexer.token.line;
   if (ptx_take(reader, "@")) {
      statement.guard_negated = ptx_take(reader, "!");
      const ptx_name_t *name = ptx_find(reader, reader->lexer.token.text, reader->lexer.token.length);
      if (!name || name->kind != PTX_NAME_REGISTER || function->registers[name->index].type != PTX_PRED) {
         ptx_fail(reader, "a guard is not a predicate register");
         return;
      }
      statement.guard = name->index;
      ptx_next(reader);
   }
   if (reader->lexer.token.kind != PTX_TOKEN_NAME) {
      ptx_fail(reader, "'%.*s' begins no instruction", (int)(reader->lexer.token.length & 63),
               reader->lexer.token.text);
      return;
   }
   read_opcode(reader, &statement);
   ptx_operand_t parts[PTX_MAX_OPERANDS];
   uint32_t count = 0;
   bool paired = false;
   while (!ptx_failed(reader) && !ptx_at(reader, ";")) {
      if (count == PTX_MAX_OPERANDS) {
         ptx_fail(reader, "an instruction has more than %d operands", PTX_MAX_OPERANDS);
         return;
      }
      parts[count] = read_operand(reader, 0);
      parts[count++].paired = paired;
      paired = ptx_take(reader, "|");
      if (!paired && !ptx_take(reader, ","))
         break;
   }
   ptx_expect(reader, ";");
   statement.operand = function->operand_count;
   statement.operand_count = count;
   for (uint32_t i = 0; i < count && !ptx_failed(reader); i++)
      add_operand(reader, parts[i]);
   if (function->statement_count >= PTX_MAX_STATEMENTS)
      ptx_fail(reader, "a function has more than %d instructions", PTX_MAX_STATEMENTS);
   if (ptx_failed(reader) || !PTX_GROW(reader, function->statements, function->statement_count))
      return;
   function->statements[function->statement_count++] = statement;
}

static void read_location(ptx_reader_t *reader) {
   ptx_place_t place = {0};
   place.file = (uint32_t)ptx_integer(reader);
   place.line = (uint32_t)ptx_integer(reader);
   ptx_integer(reader);
   while (ptx_take(reader, ",")) {
      if (ptx_take(reader, "inlined_at")) {
         place.outer_file = (uint32_t)ptx_integer(reader);
         place.outer_line = (uint32_t)ptx_integer(reader);
         ptx_integer(reader);
      } else {
         ptx_next(reader); /* function_name */
         ptx_next(reader); /* its label */
         if (ptx_take(reader, "+"))
            ptx_integer(reader);
      }
   }
   if (place.line == 0) /* "line 0" means code of the compiler itself; the last known line helps more */
      return;
   reader->place = place;
}

static void read_branch_targets(ptx_reader_t *reader, uint32_t label) {
   ptx_operand_t list = {0};
   read_list(reader, &list, ";", 0);
   for (uint32_t i = 0; i < list.count && !ptx_failed(reader); i++)
      if (reader->function->operands[list.first + i].kind != PTX_OPERAND_LABEL)
         ptx_fail(reader, "a branch target is not a label");
   if (!ptx_failed(reader)) {
      reader->function->labels[label].target = list.first;
      reader->function->labels[label].target_count = list.count;
   }
}

static bool at_label(const ptx_reader_t *reader) {
   if (reader->lexer.token.kind != PTX_TOKEN_NAME)
      return false;
   ptx_lexer_t ahead = reader->lexer;
   ptx_lexer_next(&ahead);
   return ptx_token_is(&ahead.token, ":");
}

static void read_label(ptx_reader_t *reader) {
   uint32_t label = label_named(reader, reader->lexer.token.text, reader->lexer.token.length);
   ptx_next(reader);
   ptx_expect(reader, ":");
   if (label == PTX_NONE || ptx_failed(reader))
      return;
   if (ptx_take(reader, ".branchtargets")) {
      read_branch_targets(reader, label);
      return;
   }
   if (ptx_at(reader, ".calltargets") || ptx_at(reader, ".callprototype")) {
      while (!ptx_at(reader, ";") && reader->lexer.token.kind != PTX_TOKEN_END)
         ptx_next(reader);
      reader->function->labels[label].statement = reader->function->statement_count;
      return;
   }
   if (reader->function->labels[label].statement != PTX_NONE)
      ptx_fail(reader, "label '%.60s' stands twice", reader->function->labels[label].name);
   reader->function->labels[label].statement = reader->function->statement_count;
}

static void read_body_directive(ptx_reader_t *reader) {
   static const struct {
      const char *text;
      uint32_t space;
   } spaces[] = {{".local", PTX_LOCAL},
                 {".shared", PTX_SHARED},
                 {".param", PTX_PARAM},
                 {".global", PTX_GLOBAL},
                 {".const", PTX_CONST}};
   if (ptx_take(reader, ".reg")) {
      read_registers(reader);
   } else if (ptx_take(reader, ".loc")) {
      read_location(reader);
   } else if (ptx_take(reader, ".pragma")) {
      ptx_next(reader);
      ptx_expect(reader, ";");
   } else {
      for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
         if (ptx_take(reader, spaces[i].text)) {
            ptx_read_variable(reader, spaces[i].space, false);
            ptx_expect(reader, ";");
            return;
         }
      ptx_fail(reader, "'%.*s' begins nothing the machine knows in a function",
               (int)(reader->lexer.token.length & 63), reader->lexer.token.text);
   }
}

void ptx_read_body(ptx_reader_t *reader) {
   uint32_t braces = 1;
   /* A function without operands has an array of them too, so that a statement without operands has a valid
    * place in it. */
   if (!PTX_GROW(reader, reader->function->operands, reader->function->operand_count))
      return;
   ptx_enter(reader);
   while (braces && !ptx_failed(reader)) {
      if (reader->lexer.token.kind == PTX_TOKEN_END) {
         ptx_fail(reader, "a function does not end");
      } else if (ptx_take(reader, "{")) {
         braces++;
         ptx_enter(reader);
      } else if (ptx_take(reader, "}")) {
         braces--;
         ptx_leave(reader);
      } else if (at_label(reader)) {
         read_label(reader);
      } else if (reader->lexer.token.kind == PTX_TOKEN_DOTTED) {
         read_body_directive(reader);
      } else if (!ptx_take(reader, ";")) {
         read_instruction(reader);
      }
   }
   for (uint32_t i = 0; i < reader->function->label_count && !ptx_failed(reader); i++) {
      const ptx_label_t *label = &reader->function->labels[i];
      if (label->statement == PTX_NONE && !label->target_count)
         ptx_fail(reader, "label '%.60s' is used and stands nowhere", label->name);
   }
}
