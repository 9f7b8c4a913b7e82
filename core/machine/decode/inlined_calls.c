/* Writes a kernel and the functions that it calls as one function (inlined_calls.h), so that conditions in a called function are followed like
 * those in the kernel itself.  Registers, labels and operands of each call are its own.  A value that is stored to a parameter's place and loaded
 * from it goes through a register for each place.  Where the address of such a place is taken, the statements stay as they are, and the value is
 * unknown.  No state. */
#include "machine/decode/inlined_calls.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STATEMENTS (UINT32_C(1) << 20)
#define MOST_CALLS 4096u
#define MOST_DEPTH 32u

/* One execution of a function's text. */
struct frame {
   const ptx_function_t *function;
   const struct frame *caller;
   const ptx_operand_t *arguments, *results;     /* lists of the call; NULL: none */
   uint32_t number, registers, operands, labels; /* where its own begin */
   uint32_t depth;
};

/* The register for a place in a parameter. */
struct passed {
   uint32_t frame, variable, index;
   uint64_t offset;
};

struct writer {
   const ptx_module_t *module;
   ptx_function_t *to;
   struct passed *passed;
   uint32_t passed_count, frame_count;
   uint32_t statement_room, operand_room, label_room, register_room, passed_room;
   bool failed;
};

static bool begins(const char *opcode, const char *word) {
   const size_t length = strlen(word);
   return strncmp(opcode, word, length) == 0 && (opcode[length] == '.' || opcode[length] == '\0');
}

/* Makes room for so many more; false: there is none. */
static bool grow(struct writer *w, void **list, uint32_t count, uint32_t more, uint32_t *room, size_t bytes) {
   if (count + more <= *room)
      return true;
   const uint32_t wanted = 2 * (count + more);
   void *larger = wanted < 16 * MOST_STATEMENTS ? realloc(*list, wanted * bytes) : NULL;
   if (!larger) {
      w->failed = true;
      return false;
   }
   *list = larger;
   *room = wanted;
   return true;
}

static uint32_t add_registers(struct writer *w, const ptx_register_t *registers, uint32_t count) {
   ptx_function_t *to = w->to;
   const uint32_t first = to->register_count;
   if (!grow(w, (void **)&to->registers, first, count, &w->register_room, sizeof *to->registers))
      return 0;
   for (uint32_t n = 0; n < count; n++)
      to->registers[first + n] = registers[n];
   to->register_count += count;
   return first;
}

static uint32_t add_label(struct writer *w, const ptx_label_t *label) {
   ptx_function_t *to = w->to;
   if (!grow(w, (void **)&to->labels, to->label_count, 1, &w->label_room, sizeof *to->labels))
      return 0;
   to->labels[to->label_count] = *label;
   return to->label_count++;
}

static uint32_t add_operand(struct writer *w, const ptx_operand_t *operand) {
   ptx_function_t *to = w->to;
   if (!grow(w, (void **)&to->operands, to->operand_count, 1, &w->operand_room, sizeof *to->operands))
      return 0;
   to->operands[to->operand_count] = *operand;
   return to->operand_count++;
}

static void add_statement(struct writer *w, const ptx_statement_t *statement) {
   ptx_function_t *to = w->to;
   if (to->statement_count >= MOST_STATEMENTS)
      w->failed = true;
   if (w->failed ||
       !grow(w, (void **)&to->statements, to->statement_count, 1, &w->statement_room, sizeof *to->statements))
      return;
   to->statements[to->statement_count++] = *statement;
}

static const ptx_operand_t *operands_of(const struct frame *frame, const ptx_statement_t *statement) {
   return &frame->function->operands[statement->operand];
}

/* Parameters ------------------------------------------------------------------------------------------------------------ */

/* The variable in which the value lies: an argument of the function is a variable of the caller's. */
static void resolve(const struct frame **frame, uint32_t *variable) {
   bool again = true;
   while (again && (*frame)->caller) {
      const ptx_function_t *function = (*frame)->function;
      const struct frame *at = *frame, *caller = at->caller;
      const ptx_operand_t *passed = caller->function->operands;
      again = false;
      for (uint32_t n = 0;
           n < function->parameter_count && at->arguments && n < at->arguments->count && !again; n++)
         if (function->parameters[n] == *variable &&
             passed[at->arguments->first + n].kind == PTX_OPERAND_SYMBOL) {
            *variable = passed[at->arguments->first + n].index;
            again = true;
         }
      for (uint32_t n = 0; n < function->result_count && at->results && n < at->results->count && !again; n++)
         if (function->results[n] == *variable && passed[at->results->first + n].kind == PTX_OPERAND_SYMBOL) {
            *variable = passed[at->results->first + n].index;
            again = true;
         }
      if (again)
         *frame = caller;
   }
}

static uint32_t register_of(struct writer *w, const struct frame *frame, uint32_t variable, uint64_t offset,
                            uint32_t type) {
   static const char name[] = "%passed";
   resolve(&frame, &variable);
   for (uint32_t n = 0; n < w->passed_count; n++)
      if (w->passed[n].frame == frame->number && w->passed[n].variable == variable &&
          w->passed[n].offset == offset)
         return w->passed[n].index;
   if (!grow(w, (void **)&w->passed, w->passed_count, 1, &w->passed_room, sizeof *w->passed))
      return 0;
   const ptx_register_t one = {.name = name, .type = type};
   w->passed[w->passed_count] = (struct passed){
      .frame = frame->number, .variable = variable, .index = add_registers(w, &one, 1), .offset = offset};
   return w->passed[w->passed_count++].index;
}

/* Whether the statement loads or stores what functions pass; then its address, its value (one or a list) and the type. */
static bool passes(const struct writer *w, const struct frame *frame, const ptx_statement_t *statement,
                   const ptx_operand_t **address, const ptx_operand_t **value, uint32_t *type) {
   const ptx_operand_t *operands = operands_of(frame, statement);
   const bool loads = begins(statement->opcode, "ld.param"), stores = begins(statement->opcode, "st.param");
   if ((!loads && !stores) || statement->operand_count != 2)
      return false;
   *address = &operands[loads ? 1 : 0];
   *value = &operands[loads ? 0 : 1];
   *type = ptx_type_named(strrchr(statement->opcode, '.') + 1, strlen(strrchr(statement->opcode, '.') + 1));
   if ((*address)->kind != PTX_OPERAND_ADDRESS || ptx_type_bytes(*type) == 0)
      return false;
   const ptx_operand_t *symbol = &frame->function->operands[(*address)->first];
   if (symbol->kind != PTX_OPERAND_SYMBOL || w->module->variables[symbol->index].space != PTX_PARAM)
      return false;
   /* What the launch gives stays a load. */
   for (uint32_t n = 0; !frame->caller && n < frame->function->parameter_count; n++)
      if (frame->function->parameters[n] == symbol->index)
         return false;
   return true;
}

static ptx_operand_t in_frame(const struct frame *frame, ptx_operand_t operand) {
   if (operand.kind == PTX_OPERAND_REGISTER)
      operand.index += frame->registers;
   else if (operand.kind == PTX_OPERAND_LABEL)
      operand.index += frame->labels;
   else if (operand.kind == PTX_OPERAND_LIST || operand.kind == PTX_OPERAND_ADDRESS)
      operand.first += frame->operands;
   return operand;
}

static const char *move_of(uint32_t bytes) {
   return bytes == 8 ? "mov.b64" : bytes == 2 ? "mov.b16" : bytes == 1 ? "mov.b8" : "mov.b32";
}

static void pass(struct writer *w, const struct frame *frame, const ptx_statement_t *statement,
                 const ptx_operand_t *address, const ptx_operand_t *value, uint32_t type) {
   const ptx_operand_t *symbol = &frame->function->operands[address->first];
   const uint32_t bytes = ptx_type_bytes(type), count = value->kind == PTX_OPERAND_LIST ? value->count : 1;
   for (uint32_t n = 0; n < count && !w->failed; n++) {
      const ptx_operand_t *own =
         value->kind == PTX_OPERAND_LIST ? &frame->function->operands[value->first + n] : value;
      const ptx_operand_t place = {.kind = PTX_OPERAND_REGISTER,
                                   .index = register_of(w, frame, symbol->index,
                                                        symbol->value + address->value + n * bytes, type)},
                          moved = in_frame(frame, *own);
      ptx_statement_t move = *statement;
      const bool loads = begins(statement->opcode, "ld.param");
      move.opcode = move_of(bytes);
      move.guard = statement->guard == PTX_NONE ? PTX_NONE : statement->guard + frame->registers;
      move.operand = add_operand(w, loads ? &moved : &place);
      (void)add_operand(w, loads ? &place : &moved);
      move.operand_count = 2;
      add_statement(w, &move);
   }
}

/* Functions ------------------------------------------------------------------------------------------------------------- */

static void write_function(struct writer *w, struct frame *frame);

static void jump(struct writer *w, const ptx_statement_t *like, uint32_t guard, bool negated,
                 uint32_t label) {
   const ptx_operand_t to = {.kind = PTX_OPERAND_LABEL, .index = label};
   ptx_statement_t statement = *like;
   statement.opcode = "bra";
   statement.guard = guard;
   statement.guard_negated = negated;
   statement.operand = add_operand(w, &to);
   statement.operand_count = 1;
   add_statement(w, &statement);
}

/* False: the function is not in the text, and the statement stays. */
static bool write_call(struct writer *w, const struct frame *frame, const ptx_statement_t *statement) {
   const ptx_operand_t *operands = operands_of(frame, statement);
   struct frame called = {.caller = frame, .depth = frame->depth + 1};
   const ptx_label_t after = {.name = "", .statement = PTX_NONE};
   for (uint32_t k = 0; k < statement->operand_count; k++) {
      if (operands[k].kind == PTX_OPERAND_FUNCTION)
         called.function = &w->module->functions[operands[k].index];
      else if (operands[k].kind == PTX_OPERAND_LIST && called.function)
         called.arguments = &operands[k];
      else if (operands[k].kind == PTX_OPERAND_LIST)
         called.results = &operands[k];
   }
   if (!called.function || !called.function->defined)
      return false;
   if (called.depth > MOST_DEPTH || w->frame_count == MOST_CALLS) {
      w->failed = true;
      return true;
   }
   const uint32_t end = add_label(w, &after);
   if (statement->guard != PTX_NONE)
      jump(w, statement, statement->guard + frame->registers, !statement->guard_negated, end);
   write_function(w, &called);
   w->to->labels[end].statement = w->to->statement_count;
   return true;
}

static void write_statement(struct writer *w, const struct frame *frame, const ptx_statement_t *statement,
                            uint32_t end) {
   const ptx_operand_t *address, *value;
   uint32_t type;
   if (begins(statement->opcode, "call") && write_call(w, frame, statement))
      return;
   if (passes(w, frame, statement, &address, &value, &type)) {
      pass(w, frame, statement, address, value, type);
      return;
   }
   const uint32_t guard = statement->guard == PTX_NONE ? PTX_NONE : statement->guard + frame->registers;
   if (frame->caller && begins(statement->opcode, "ret")) {
      jump(w, statement, guard, statement->guard_negated, end);
      return;
   }
   ptx_statement_t copy = *statement;
   copy.guard = guard;
   copy.operand += frame->operands;
   add_statement(w, &copy);
}

static void write_function(struct writer *w, struct frame *frame) {
   const ptx_function_t *function = frame->function;
   const ptx_label_t after = {.name = "", .statement = PTX_NONE};
   uint32_t *at = malloc((function->statement_count + 1) * sizeof *at);
   w->failed |= !at;
   frame->number = w->frame_count++;
   frame->registers = add_registers(w, function->registers, function->register_count);
   frame->operands = w->to->operand_count;
   frame->labels = w->to->label_count;
   for (uint32_t n = 0; n < function->operand_count && !w->failed; n++) {
      const ptx_operand_t operand = in_frame(frame, function->operands[n]);
      (void)add_operand(w, &operand);
   }
   for (uint32_t n = 0; n < function->label_count && !w->failed; n++) {
      ptx_label_t label = function->labels[n];
      label.target += frame->operands;
      (void)add_label(w, &label);
   }
   const uint32_t end = add_label(w, &after);
   for (uint32_t n = 0; n < function->statement_count && !w->failed; n++) {
      at[n] = w->to->statement_count;
      write_statement(w, frame, &function->statements[n], end);
   }
   for (uint32_t n = 0; n < function->label_count && !w->failed; n++) {
      const uint32_t statement = function->labels[n].statement;
      if (statement != PTX_NONE)
         w->to->labels[frame->labels + n].statement =
            statement < function->statement_count ? at[statement] : w->to->statement_count;
   }
   if (!w->failed)
      w->to->labels[end].statement = w->to->statement_count;
   free(at);
}

static bool calls(const ptx_function_t *function) {
   bool any = false;
   for (uint32_t n = 0; n < function->statement_count && !any; n++)
      any = function->statements[n].opcode[0] == 'c' && begins(function->statements[n].opcode, "call");
   return any;
}

ptx_function_t *machine_inline_calls(const ptx_module_t *module, const ptx_function_t *kernel) {
   struct frame frame = {.function = kernel};
   struct writer w = {.module = module};
   if (!calls(kernel))
      return NULL;
   w.to = calloc(1, sizeof *w.to);
   if (!w.to)
      return NULL;
   *w.to = *kernel;
   w.to->registers = NULL;
   w.to->operands = NULL;
   w.to->statements = NULL;
   w.to->labels = NULL;
   w.to->register_count = w.to->operand_count = w.to->statement_count = w.to->label_count = 0;
   write_function(&w, &frame);
   free(w.passed);
   if (!w.failed)
      return w.to;
   machine_inlined_free(w.to);
   return NULL;
}

void machine_inlined_free(ptx_function_t *function) {
   if (!function)
      return;
   free(function->registers);
   free(function->operands);
   free(function->statements);
   free(function->labels);
   free(function);
}
