/* Splits the statements of a function by their results (split_statements.h).  No state. */
#include "machine/decode/split_statements.h"
#include "machine/decode/conditions.h"

#include <stdlib.h>
#include <string.h>

/* Statements that change nothing but their results, whose results depend only on their operands and on the other threads' operands. */
static bool is_pure(const char *opcode) {
   static const char *const words[] = {
      "abs",  "activemask", "add",  "addc",  "and",   "bfe",   "bfi",  "bfind", "bmsk", "brev",  "clz",
      "cnot", "copysign",   "cvt",  "div",   "dp2a",  "dp4a",  "ex2",  "fma",   "fns",  "lg2",   "lop3",
      "mad",  "mad24",      "madc", "match", "max",   "min",   "mma",  "mov",   "mul",  "mul24", "neg",
      "not",  "or",         "popc", "prmt",  "redux", "rem",   "sad",  "selp",  "set",  "setp",  "shf",
      "shl",  "shr",        "slct", "sub",   "subc",  "szext", "tanh", "testp", "vote", "xor"};
   uint32_t n = 0;
   while (n < sizeof words / sizeof *words && !machine_condition_word(opcode, 0, words[n]))
      n++;
   return n < sizeof words / sizeof *words;
}

static bool has_word(const char *opcode, const char *word) {
   const size_t length = strlen(word);
   const char *at = strchr(opcode, '.');
   while (at && !(strncmp(at + 1, word, length) == 0 && (at[length + 1] == '.' || at[length + 1] == '\0')))
      at = strchr(at + 1, '.');
   return at != NULL;
}

bool machine_takes_carry(const ptx_statement_t *statement) {
   const char *o = statement->opcode;
   return machine_condition_word(o, 0, "addc") || machine_condition_word(o, 0, "subc") ||
          machine_condition_word(o, 0, "madc");
}

bool machine_leaves_carry(const ptx_statement_t *statement) {
   return has_word(statement->opcode, "cc");
}

static bool is_value(const ptx_operand_t *operand) {
   return operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_INTEGER ||
          operand->kind == PTX_OPERAND_FLOAT32 || operand->kind == PTX_OPERAND_FLOAT64 ||
          operand->kind == PTX_OPERAND_SPECIAL;
}

/* Adds an operand, or the operands of a list; false: too many, or no values. */
static bool add(const ptx_function_t *function, const ptx_operand_t *operand, const ptx_operand_t **list,
                uint32_t most, uint32_t *count, bool of_results) {
   const bool is_list = operand->kind == PTX_OPERAND_LIST;
   const uint32_t length = is_list ? operand->count : 1;
   for (uint32_t n = 0; n < length; n++) {
      const ptx_operand_t *one = is_list ? &function->operands[operand->first + n] : operand;
      const bool fits =
         of_results ? one->kind == PTX_OPERAND_REGISTER || one->kind == PTX_OPERAND_SINK : is_value(one);
      if (*count == most || !fits)
         return false;
      list[(*count)++] = one;
   }
   return true;
}

bool machine_split_results(const ptx_function_t *function, const ptx_statement_t *statement,
                           const ptx_operand_t *results[MOST_SPLIT_RESULTS], uint32_t *count) {
   const ptx_operand_t *operands = &function->operands[statement->operand];
   bool fits = statement->operand_count > 0;
   *count = 0;
   for (uint32_t k = 0; fits && k < statement->operand_count && (k == 0 || operands[k].paired); k++)
      fits = add(function, &operands[k], results, MOST_SPLIT_RESULTS, count, true);
   return fits;
}

bool machine_split_sources(const ptx_function_t *function, const ptx_statement_t *statement,
                           const ptx_operand_t *sources[MOST_SPLIT_SOURCES], uint32_t *count) {
   const ptx_operand_t *operands = &function->operands[statement->operand];
   bool fits = true;
   uint32_t k = statement->operand_count > 0;
   *count = 0;
   while (k < statement->operand_count && operands[k].paired)
      k++;
   for (; fits && k < statement->operand_count; k++)
      fits = add(function, &operands[k], sources, MOST_SPLIT_SOURCES, count, false);
   return fits;
}

/* Whether the tables of operations say what the statement computes. */
static bool is_understood(const ptx_function_t *function, const ptx_statement_t *statement) {
   const ptx_operand_t *operands = &function->operands[statement->operand];
   struct step step = {.statement = statement};
   bool plain = statement->operand_count > 1 && statement->operand_count <= 5;
   for (uint32_t k = 0; k < statement->operand_count && plain; k++)
      plain = is_value(&operands[k]) && !operands[k].paired;
   return plain && !machine_takes_carry(statement) && !machine_leaves_carry(statement) &&
          machine_condition_read(statement->opcode, &step);
}

/* Shuffles and everything with an address keep their form. */
static bool is_alone(const ptx_function_t *function, const ptx_statement_t *statement) {
   const ptx_operand_t *results[MOST_SPLIT_RESULTS], *sources[MOST_SPLIT_SOURCES];
   uint32_t count;
   return is_pure(statement->opcode) && !is_understood(function, statement) &&
          machine_split_results(function, statement, results, &count) &&
          machine_split_sources(function, statement, sources, &count);
}

/* What is said of memory.  An mbarrier is a number in memory: what it was made with is what its states tell first. */
static enum split_kind kind_of_access(const char *opcode) {
   static const char *const other[] = {"global", "param", "const"};
   const bool loads = machine_condition_word(opcode, 0, "ld"),
              stores = machine_condition_word(opcode, 0, "st");
   for (uint32_t n = 0; n < sizeof other / sizeof *other; n++)
      if (has_word(opcode, other[n]))
         return SPLIT_NOT;
   if (loads || stores)
      return loads ? SPLIT_LOAD : SPLIT_STORE;
   if (machine_condition_word(opcode, 0, "cvta"))
      return SPLIT_COPY;
   if (!machine_condition_word(opcode, 0, "mbarrier"))
      return SPLIT_NOT;
   return machine_condition_word(opcode, 1, "init")            ? SPLIT_STORE
          : machine_condition_word(opcode, 1, "arrive")        ? SPLIT_LOAD
          : machine_condition_word(opcode, 1, "pending_count") ? SPLIT_COPY
                                                               : SPLIT_NOT;
}

static bool is_place(const ptx_function_t *function, const ptx_operand_t *operand) {
   if (operand->kind != PTX_OPERAND_ADDRESS || operand->count > 1)
      return false;
   const uint8_t kind = function->operands[operand->first].kind;
   return kind == PTX_OPERAND_REGISTER || kind == PTX_OPERAND_SYMBOL;
}

static enum split_kind kind_of(const ptx_function_t *function, const ptx_statement_t *statement,
                               bool with_memory) {
   const ptx_operand_t *operands = &function->operands[statement->operand];
   const uint32_t count = statement->operand_count;
   if (is_alone(function, statement))
      return SPLIT_ALONE;
   if (!with_memory || count < 2)
      return SPLIT_NOT;
   if (machine_condition_word(statement->opcode, 0, "mov") && operands[1].kind == PTX_OPERAND_SYMBOL)
      return SPLIT_COPY;
   const enum split_kind kind = kind_of_access(statement->opcode);
   const uint32_t value = kind == SPLIT_STORE, place = kind == SPLIT_LOAD;
   if (kind == SPLIT_COPY)
      return operands[0].kind == PTX_OPERAND_REGISTER &&
                   (operands[1].kind == PTX_OPERAND_REGISTER || operands[1].kind == PTX_OPERAND_SYMBOL)
                ? kind
                : SPLIT_NOT;
   const bool fits = kind != SPLIT_NOT && is_place(function, &operands[place]) && !operands[1].paired &&
                     (operands[value].kind == PTX_OPERAND_LIST ||
                      (place ? operands[0].kind == PTX_OPERAND_REGISTER : is_value(&operands[value])));
   return fits ? kind : SPLIT_NOT;
}

struct splitting {
   const ptx_function_t *from;
   bool with_memory;
   struct split_text *text;
   uint8_t *kinds;   /* by statement of the kernel: enum split_kind */
   uint32_t *at;     /* by statement of the kernel: its first in the text */
   uint32_t nowhere; /* the register of stores */
   uint32_t carry;   /* the register of the carry that was left last; PTX_NONE: none */
   uint32_t operand_room, statement_room, register_room;
};

static void write_result(struct splitting *s, const ptx_statement_t *statement, uint32_t to, uint32_t result,
                         const ptx_operand_t *const *sources, uint32_t count) {
   ptx_function_t *f = &s->text->function;
   ptx_statement_t one = *statement;
   one.operand = f->operand_count;
   f->operands[f->operand_count++] = (ptx_operand_t){.kind = PTX_OPERAND_REGISTER, .index = to};
   for (uint32_t k = 0; k < count; k++)
      f->operands[f->operand_count++] = *sources[k];
   if (machine_takes_carry(statement) && s->carry != PTX_NONE)
      f->operands[f->operand_count++] = (ptx_operand_t){.kind = PTX_OPERAND_REGISTER, .index = s->carry};
   one.operand_count = f->operand_count - one.operand;
   s->text->origins[f->statement_count] = (struct split_origin){SPLIT_ALONE, statement, result};
   f->statements[f->statement_count++] = one;
}

static void split(struct splitting *s, const ptx_statement_t *statement) {
   ptx_function_t *f = &s->text->function;
   const ptx_operand_t *results[MOST_SPLIT_RESULTS], *sources[MOST_SPLIT_SOURCES];
   uint32_t result_count, count;
   (void)machine_split_results(s->from, statement, results, &result_count);
   (void)machine_split_sources(s->from, statement, sources, &count);
   for (uint32_t n = 0; n < result_count; n++)
      if (results[n]->kind == PTX_OPERAND_REGISTER)
         write_result(s, statement, results[n]->index, n, sources, count);
   if (!machine_leaves_carry(statement))
      return;
   const uint32_t carry = f->register_count;
   f->registers[f->register_count++] = (ptx_register_t){.name = "%carry", .type = PTX_PRED};
   write_result(s, statement, carry, result_count, sources, count);
   s->carry = carry;
}

/* The number by which an address begins, or its register. */
static ptx_operand_t base_of(const ptx_operand_t *operand) {
   if (operand->kind != PTX_OPERAND_SYMBOL)
      return *operand;
   return (ptx_operand_t){.kind = PTX_OPERAND_INTEGER,
                          .value = machine_split_address(operand->index) + operand->value};
}

static void begin(struct splitting *s, const ptx_statement_t *statement, enum split_kind kind) {
   ptx_function_t *f = &s->text->function;
   s->text->origins[f->statement_count] = (struct split_origin){kind, statement, 0};
   f->statements[f->statement_count] = *statement;
   f->statements[f->statement_count].operand = f->operand_count;
   f->statements[f->statement_count].operand_count = 0;
}

static void append(struct splitting *s, ptx_operand_t operand) {
   ptx_function_t *f = &s->text->function;
   f->operands[f->operand_count++] = operand;
   f->statements[f->statement_count].operand_count++;
}

/* Writes each value that is loaded or stored as a statement of its own. */
static void write_access(struct splitting *s, const ptx_statement_t *statement, enum split_kind kind) {
   const ptx_operand_t *operands = &s->from->operands[statement->operand],
                       *place = &operands[kind == SPLIT_LOAD], *values = &operands[kind == SPLIT_STORE];
   const bool list = values->kind == PTX_OPERAND_LIST;
   const char *type = strrchr(statement->opcode, '.') + 1;
   const uint32_t bytes = ptx_type_bytes(ptx_type_named(type, strlen(type)));
   for (uint32_t n = 0; n < (list ? values->count : 1) && n < MOST_SPLIT_RESULTS; n++) {
      const ptx_operand_t *value = list ? &s->from->operands[values->first + n] : values;
      ptx_function_t *f = &s->text->function;
      if (kind == SPLIT_LOAD ? value->kind != PTX_OPERAND_REGISTER : !is_value(value))
         continue;
      begin(s, statement, kind);
      append(s, kind == SPLIT_LOAD ? *value
                                   : (ptx_operand_t){.kind = PTX_OPERAND_REGISTER, .index = s->nowhere});
      append(s, base_of(&s->from->operands[place->first]));
      append(s, (ptx_operand_t){.kind = PTX_OPERAND_INTEGER, .value = place->value + n * bytes});
      if (kind == SPLIT_STORE)
         append(s, *value);
      f->statements[f->statement_count++].guard = kind == SPLIT_STORE ? PTX_NONE : statement->guard;
   }
}

static void write_copy(struct splitting *s, const ptx_statement_t *statement) {
   const ptx_operand_t *operands = &s->from->operands[statement->operand];
   begin(s, statement, SPLIT_COPY);
   append(s, operands[0]);
   append(s, base_of(&operands[1]));
   s->text->function.statement_count++;
}

/* How much room the text takes. */
static bool measure(struct splitting *s) {
   bool any = false;
   for (uint32_t n = 0; n < s->from->statement_count; n++) {
      const ptx_statement_t *statement = &s->from->statements[n];
      s->statement_room++;
      s->kinds[n] = (uint8_t)kind_of(s->from, statement, s->with_memory);
      if (s->kinds[n] == SPLIT_NOT)
         continue;
      any = true;
      s->statement_room += MOST_SPLIT_RESULTS;
      s->operand_room += (MOST_SPLIT_RESULTS + 1) * (MOST_SPLIT_SOURCES + 2);
      s->register_room += machine_leaves_carry(statement);
   }
   return any;
}

static void write_all(struct splitting *s) {
   ptx_function_t *f = &s->text->function;
   for (uint32_t n = 0; n < s->from->statement_count; n++) {
      s->at[n] = f->statement_count;
      const ptx_statement_t *statement = &s->from->statements[n];
      const enum split_kind kind = s->kinds[n];
      if (kind == SPLIT_ALONE)
         split(s, statement);
      else if (kind == SPLIT_COPY)
         write_copy(s, statement);
      else if (kind != SPLIT_NOT)
         write_access(s, statement, kind);
      else
         f->statements[f->statement_count++] = *statement;
   }
   for (uint32_t n = 0; n < f->label_count; n++) {
      const uint32_t to = f->labels[n].statement;
      if (to != PTX_NONE)
         f->labels[n].statement = to < s->from->statement_count ? s->at[to] : f->statement_count;
   }
}

static void *copy_of(const void *from, uint32_t count, uint32_t room, size_t bytes) {
   void *copy = malloc(((size_t)room + 1) * bytes);
   if (copy && count)
      memcpy(copy, from, count * bytes);
   return copy;
}

struct split_text *machine_split_statements(const ptx_function_t *function, bool with_memory) {
   struct splitting s = {.from = function,
                         .with_memory = with_memory,
                         .nowhere = function->register_count,
                         .carry = PTX_NONE,
                         .operand_room = function->operand_count,
                         .register_room = function->register_count + 1};
   struct split_text *text = NULL;
   s.kinds = malloc((size_t)function->statement_count + 1);
   if (s.kinds && measure(&s))
      text = s.text = calloc(1, sizeof *text);
   if (!text) {
      free(s.kinds);
      return NULL;
   }
   ptx_function_t *f = &text->function;
   *f = *function;
   f->statement_count = 0;
   f->operands = copy_of(function->operands, function->operand_count, s.operand_room, sizeof *f->operands);
   f->registers =
      copy_of(function->registers, function->register_count, s.register_room, sizeof *f->registers);
   f->labels = copy_of(function->labels, function->label_count, function->label_count, sizeof *f->labels);
   f->statements = calloc((size_t)s.statement_room + 1, sizeof *f->statements);
   text->origins = calloc((size_t)s.statement_room + 1, sizeof *text->origins);
   s.at = calloc((size_t)function->statement_count + 1, sizeof *s.at);
   const bool made = f->operands && f->registers && f->labels && f->statements && text->origins && s.at;
   if (made) {
      f->registers[f->register_count++] = (ptx_register_t){.name = "%nowhere", .type = PTX_B64};
      write_all(&s);
   }
   free(s.at);
   free(s.kinds);
   if (made)
      return text;
   machine_split_free(text);
   return NULL;
}

void machine_split_free(struct split_text *text) {
   if (!text)
      return;
   free(text->function.operands);
   free(text->function.registers);
   free(text->function.labels);
   free(text->function.statements);
   free(text->origins);
   free(text);
}
