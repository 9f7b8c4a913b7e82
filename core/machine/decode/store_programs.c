/* The part of a program that decides which bytes of global memory its blocks store.  It is the program without all instructions that decide
 * values alone (a program slice, Weiser 1981; branches by Ferrante, Ottenstein, Warren: 'The Program Dependence Graph').  A store needs its
 * address and its guard, and each branch that decides whether threads come to it; a register needs whatever writes it.  At a branch that decides
 * nothing of this, execution continues where all its ways meet again, so that loops over factors are not executed.  If this part depends on
 * memory, there is no such program.
 *
 * It stores to the bytes to which the whole program would store, provided that the whole program ends: endless waits, and stops at errors, are not
 * in it.  Such a program is made from a decoded program and shares with it everything that does not differ.  Any thread. */
#include "machine/decode/operands.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 4096u /* basic blocks */
#define FIRST_REGISTER 2u /* number of the entry's first register */

typedef struct stores {
   const machine_program_t *from;
   machine_program_t *made;
   uint32_t end;           /* a block after all: where threads have left */
   uint32_t *order;        /* blocks from which the end can be reached, as a search from there leaves them */
   uint32_t *place;        /* in that order; PTX_NONE: it cannot be reached */
   uint32_t *meeting;      /* the block where all ways from a block meet */
   uint32_t *first_before; /* by block, of `before`: the blocks that it follows */
   uint32_t *before;
   uint32_t *first_writer; /* by register, of `writers`: instructions */
   uint32_t *writers;
   uint8_t *needed;              /* by register */
   uint8_t *kept;                /* by instruction */
   uint8_t *reached;             /* by block: something in it is kept */
   uint32_t *registers, *blocks; /* needed and reached, but their causes are not marked yet */
   uint32_t register_count, block_count, order_count;
   bool failed; /* it depends on memory, or on what is not known here */
} stores_t;

/* Blocks --------------------------------------------------------------------------------------------------------------- */

static const machine_instruction_t *last_of(const machine_program_t *program, uint32_t block) {
   const machine_block_info_t *info = &program->blocks[block];
   return &program->code[info->first + info->count - 1];
}

static bool ends_thread(const machine_instruction_t *i) {
   return i->kind == MACHINE_EXIT || i->kind == MACHINE_RETURN || i->kind == MACHINE_TRAP;
}

/* The k-th block after one, the end among them; PTX_NONE: there are fewer. */
static uint32_t next_of(const stores_t *s, uint32_t block, uint32_t k) {
   const bool leaves = ends_thread(last_of(s->from, block));
   if (leaves && k == 0)
      return s->end;
   return machine_successor(s->from, block, k - leaves);
}

static bool list_before(stores_t *s) {
   uint32_t total = 0, next;
   for (uint32_t b = 0; b < s->end; b++)
      for (uint32_t k = 0; (next = next_of(s, b, k)) != PTX_NONE; k++, total++)
         s->first_before[next + 2]++;
   for (uint32_t b = 2; b < s->end + 3; b++)
      s->first_before[b] += s->first_before[b - 1];
   s->before = calloc(total + 1, sizeof *s->before);
   for (uint32_t b = 0; s->before && b < s->end; b++)
      for (uint32_t k = 0; (next = next_of(s, b, k)) != PTX_NONE; k++)
         s->before[s->first_before[next + 1]++] = b;
   return s->before != NULL;
}

/* Blocks in post-order of a search from the end, backwards. */
static bool order_blocks(stores_t *s) {
   uint32_t top = 0, *stack = calloc(2 * ((size_t)s->end + 1), sizeof *stack), *at = stack + s->end + 1;
   uint8_t *seen = calloc(s->end + 1, 1);
   if (stack && seen) {
      stack[top++] = s->end;
      seen[s->end] = 1;
      at[s->end] = s->first_before[s->end];
   }
   while (top) {
      const uint32_t block = stack[top - 1];
      if (at[block] == s->first_before[block + 1]) {
         s->place[block] = s->order_count;
         s->order[s->order_count++] = block;
         top--;
         continue;
      }
      const uint32_t to = s->before[at[block]++];
      if (seen[to])
         continue;
      seen[to] = 1;
      at[to] = s->first_before[to];
      stack[top++] = to;
   }
   const bool made = stack && seen;
   free(stack);
   free(seen);
   return made;
}

static uint32_t common(const stores_t *s, uint32_t a, uint32_t b) {
   while (a != b) {
      while (s->place[a] < s->place[b])
         a = s->meeting[a];
      while (s->place[b] < s->place[a])
         b = s->meeting[b];
   }
   return a;
}

/* Where the ways from a block meet: dominators of the graph turned round (Cooper, Harvey, Kennedy). */
static void find_meetings(stores_t *s) {
   bool changed = true;
   for (uint32_t b = 0; b <= s->end; b++)
      s->meeting[b] = PTX_NONE;
   s->meeting[s->end] = s->end;
   while (changed) {
      changed = false;
      for (uint32_t n = s->order_count - 1; n-- > 0;) {
         uint32_t met = PTX_NONE, next;
         for (uint32_t k = 0; (next = next_of(s, s->order[n], k)) != PTX_NONE; k++)
            if (s->place[next] != PTX_NONE && s->meeting[next] != PTX_NONE)
               met = met == PTX_NONE ? next : common(s, met, next);
         changed |= met != s->meeting[s->order[n]];
         s->meeting[s->order[n]] = met;
      }
   }
}

/* Registers ------------------------------------------------------------------------------------------------------------ */

/* What it writes follows from registers and parameters alone. */
static bool is_computed(const machine_instruction_t *i, uint8_t kind) {
   return i->kind == MACHINE_VALUE || kind == RECORD_SELECT || kind == RECORD_SHUFFLE ||
          kind == RECORD_CONVERT || kind == RECORD_PACK || kind == RECORD_UNPACK ||
          (kind == RECORD_LOAD && (i->space == PTX_PARAM || i->space == PTX_CONST));
}

static bool writes_nothing(const machine_instruction_t *i, uint8_t kind) {
   return (i->kind == MACHINE_CUSTOM && kind == RECORD_NOTHING) ||
          (i->kind >= MACHINE_BRANCH && i->kind <= MACHINE_TRAP) || i->kind == MACHINE_NOTHING ||
          (i->kind == MACHINE_BARRIER && (i->operation == BARRIER_SYNC || i->operation == BARRIER_ARRIVE));
}

typedef void visit_t(stores_t *s, uint32_t number, uint32_t at);

static void visit_operand(stores_t *s, const ptx_function_t *function, const ptx_operand_t *operand,
                          uint32_t at, visit_t *visit) {
   const bool list = operand->kind == PTX_OPERAND_LIST;
   const ptx_operand_t *parts = list ? function->operands + operand->first : operand;
   for (uint32_t n = 0; n < (list ? operand->count : 1); n++)
      if (parts[n].kind == PTX_OPERAND_REGISTER)
         visit(s, FIRST_REGISTER + parts[n].index, at);
}

/* Every register that the instruction may write. */
static void visit_written(stores_t *s, uint32_t at, visit_t *visit) {
   const machine_instruction_t *i = &s->from->code[at];
   const uint8_t kind = machine_operands_kind(s->from, i);
   if (is_computed(i, kind)) {
      const machine_operands_t list = machine_operands(s->from, i, kind);
      for (uint32_t n = 0; n < list.destination_count; n++)
         visit(s, list.destinations[n], at);
      return;
   }
   const ptx_function_t *function = &s->from->module->functions[i->function];
   if (writes_nothing(i, kind) || !function->statement_count)
      return;
   /* A result is written first, and an address in its place says that there is none. */
   const ptx_statement_t *statement = &function->statements[i->statement];
   for (uint32_t n = 0; n < statement->operand_count; n++) {
      const ptx_operand_t *operand = &function->operands[statement->operand + n];
      if (operand->kind == PTX_OPERAND_ADDRESS || (n && !operand->paired))
         break;
      visit_operand(s, function, operand, at, visit);
   }
}

static void count_writer(stores_t *s, uint32_t number, uint32_t at) {
   (void)at;
   s->first_writer[number + 2]++;
}

static void list_writer(stores_t *s, uint32_t number, uint32_t at) {
   s->writers[s->first_writer[number + 1]++] = at;
}

static bool list_writers(stores_t *s) {
   for (uint32_t at = 0; at < s->from->count; at++)
      visit_written(s, at, count_writer);
   for (uint32_t n = 2; n < s->from->register_count + 2; n++)
      s->first_writer[n] += s->first_writer[n - 1];
   s->writers = calloc(s->first_writer[s->from->register_count + 1] + 1, sizeof *s->writers);
   for (uint32_t at = 0; s->writers && at < s->from->count; at++)
      visit_written(s, at, list_writer);
   return s->writers != NULL;
}

/* What is needed ----------------------------------------------------------------------------------------------------- */

static void need(stores_t *s, uint32_t number) {
   if (number > 1 && !s->needed[number] && !s->from->registers[number].constant) {
      s->needed[number] = 1;
      s->registers[s->register_count++] = number;
   }
}

static void reach(stores_t *s, uint32_t block) {
   if (!s->reached[block]) {
      s->reached[block] = 1;
      s->blocks[s->block_count++] = block;
   }
}

static void keep(stores_t *s, uint32_t at) {
   const machine_instruction_t *i = &s->from->code[at];
   if (s->kept[at])
      return;
   s->kept[at] = 1;
   need(s, i->guard);
   reach(s, i->block);
}

static void keep_store(stores_t *s, uint32_t at) {
   keep(s, at);
   need(s, s->from->code[at].ai);
}

static void keep_branch(stores_t *s, uint32_t block) {
   const machine_instruction_t *i = last_of(s->from, block);
   keep(s, (uint32_t)(i - s->from->code));
   if (i->kind == MACHINE_BRANCH_INDEX)
      need(s, i->ai);
}

static void keep_writers(stores_t *s, uint32_t number) {
   for (uint32_t n = s->first_writer[number]; n < s->first_writer[number + 1]; n++) {
      const machine_instruction_t *i = &s->from->code[s->writers[n]];
      const uint8_t kind = machine_operands_kind(s->from, i);
      s->failed |= !is_computed(i, kind);
      if (s->failed || s->kept[s->writers[n]])
         continue;
      keep(s, s->writers[n]);
      const machine_operands_t list = machine_operands(s->from, i, kind);
      for (uint32_t k = 0; k < list.source_count; k++)
         need(s, list.sources[k]);
   }
}

/* Branches that decide whether threads reach the block: on one way from such a branch the threads surely reach it, and before the branch this was
 * not sure. */
static void keep_deciding(stores_t *s, const uint32_t *first, const uint32_t *deciding, uint32_t block) {
   for (uint32_t n = first[block]; n < first[block + 1]; n++)
      keep_branch(s, deciding[n]);
}

/* Lists for each block the branches that decide whether threads come to it.  deciding NULL: only counts them. */
static void find_deciding(const stores_t *s, uint32_t *first, uint32_t *deciding) {
   for (uint32_t b = 0; b < s->end; b++) {
      uint32_t next;
      for (uint32_t k = 0; next_of(s, b, 1) != PTX_NONE && (next = next_of(s, b, k)) != PTX_NONE; k++)
         for (; next != s->meeting[b]; next = s->meeting[next])
            if (deciding)
               deciding[first[next + 1]++] = b;
            else
               first[next + 2]++;
   }
}

static bool follow(stores_t *s) {
   uint32_t *first = calloc((size_t)s->end + 3, sizeof *first), *deciding = NULL;
   if (first) {
      find_deciding(s, first, NULL);
      for (uint32_t b = 2; b < s->end + 3; b++)
         first[b] += first[b - 1];
      deciding = calloc((size_t)first[s->end + 2] + 1, sizeof *deciding);
   }
   if (deciding)
      find_deciding(s, first, deciding);
   while (deciding && !s->failed && (s->register_count || s->block_count))
      if (s->register_count)
         keep_writers(s, s->registers[--s->register_count]);
      else
         keep_deciding(s, first, deciding, s->blocks[--s->block_count]);
   const bool made = deciding != NULL;
   free(first);
   free(deciding);
   return made;
}

/* What programs have one --------------------------------------------------------------------------------------------- */

static bool copies_from_global(const char *opcode) {
   return strncmp(opcode, "cp.async.", 9) == 0 && !strstr(opcode, ".global.shared") &&
          (strncmp(opcode, "cp.async.bulk", 13) != 0 || strstr(opcode, ".shared::"));
}

/* Finds the stores.  False where something else may write global memory. */
static bool find_stores(stores_t *s) {
   for (uint32_t at = 0; at < s->from->count; at++) {
      const machine_instruction_t *i = &s->from->code[at];
      if (i->kind == MACHINE_CALL || i->class == RKB_CLASS_ATOMIC || i->function != s->from->code[0].function)
         return false;
      if (i->kind != MACHINE_CUSTOM || i->class != RKB_CLASS_GLOBAL)
         continue;
      const uint8_t kind = machine_operands_kind(s->from, i);
      if (kind == RECORD_STORE)
         keep_store(s, at);
      else if (kind != RECORD_LOAD && kind != RECORD_MATRIX_LOAD &&
               !copies_from_global(machine_opcode_of(s->from, i)))
         return false;
   }
   return true;
}

static bool is_known(const machine_program_t *program) {
   const ptx_function_t *entry = program->entry;
   bool named = entry->register_count + FIRST_REGISTER <= program->register_count;
   for (uint32_t n = 0; named && n < entry->register_count; n++)
      named = program->registers[FIRST_REGISTER + n].name == entry->registers[n].name;
   return named && program->count && program->block_count <= MOST_BLOCKS && !program->unsupported[0] &&
          !program->waits && !program->clocks && !program->placed;
}

/* The program -------------------------------------------------------------------------------------------------------- */

/* Stores zeros in place of values, which are not known. */
static void store_zeros(machine_program_t *made, machine_instruction_t *i) {
   const uint32_t zeros = made->registers[0].offset;
   i->bi = 0;
   i->b = zeros;
   for (uint32_t e = 0; e < i->extra_count; e++) {
      made->extras[i->extra + e].number = 0;
      made->extras[i->extra + e].offset = zeros;
   }
}

static void leave_out(const stores_t *s, machine_instruction_t *i) {
   const uint32_t next = s->meeting[i->block];
   const bool parts = i->guard || i->kind == MACHINE_BRANCH_INDEX;
   if (i->kind == MACHINE_BRANCH || i->kind == MACHINE_BRANCH_INDEX || ends_thread(i)) {
      if (!parts) /* the only way from here */
         return;
      i->kind = next == s->end ? MACHINE_EXIT : MACHINE_BRANCH;
      i->target = next == s->end ? 0 : s->from->blocks[next].first;
      i->extra_count = 0;
   } else {
      i->kind = MACHINE_NOTHING;
   }
   i->guard = 0;
   i->plain = false;
   i->flags = 0;
   i->class = RKB_CLASS_OTHER;
}

static void change(stores_t *s) {
   machine_program_t *made = s->made;
   for (uint32_t at = 0; at < made->count; at++) {
      machine_instruction_t *i = &made->code[at];
      machine_block_info_t *info = &made->blocks[i->block];
      i->flags &= (uint16_t)~FLAG_TOUCHES;
      if (!s->kept[at])
         leave_out(s, i);
      else if (machine_operands_kind(s->from, i) == RECORD_STORE && i->kind == MACHINE_CUSTOM)
         store_zeros(made, i);
      info->count -= i->kind == MACHINE_NOTHING;
      info->burden = 0;
   }
   made->tensor_count = made->warpgroup_form_count = 0;
   made->copies = made->warpgroups = made->asynchronous = made->cluster_barriers = made->named_barriers =
      false;
   made->small_operations = made->volatile_shared = false;
}

static bool copy(stores_t *s) {
   const machine_program_t *from = s->from;
   machine_program_t *made = s->made = calloc(1, sizeof *made);
   if (!made)
      return false;
   *made = *from;
   made->code = malloc((from->count + 1) * sizeof *made->code);
   made->extras = calloc(from->extra_count + 1, sizeof *made->extras);
   made->blocks = malloc((from->block_count + 1) * sizeof *made->blocks);
   if (!made->code || !made->extras || !made->blocks)
      return false;
   memcpy(made->code, from->code, from->count * sizeof *made->code);
   if (from->extra_count)
      memcpy(made->extras, from->extras, from->extra_count * sizeof *made->extras);
   memcpy(made->blocks, from->blocks, from->block_count * sizeof *made->blocks);
   return true;
}

static bool open_lists(stores_t *s) {
   const size_t blocks = (size_t)s->end + 1, registers = s->from->register_count;
   s->order = calloc(blocks, sizeof *s->order);
   s->place = malloc(blocks * sizeof *s->place);
   s->meeting = calloc(blocks, sizeof *s->meeting);
   s->first_before = calloc(blocks + 2, sizeof *s->first_before);
   s->first_writer = calloc(registers + 3, sizeof *s->first_writer);
   s->needed = calloc(registers + 1, 1);
   s->kept = calloc(s->from->count + 1, 1);
   s->reached = calloc(blocks, 1);
   s->registers = calloc(registers + 1, sizeof *s->registers);
   s->blocks = calloc(blocks, sizeof *s->blocks);
   if (!s->order || !s->place || !s->meeting || !s->first_before || !s->first_writer || !s->needed ||
       !s->kept || !s->reached || !s->registers || !s->blocks)
      return false;
   memset(s->place, 0xff, blocks * sizeof *s->place);
   return true;
}

static void close_lists(stores_t *s) {
   free(s->order);
   free(s->place);
   free(s->meeting);
   free(s->first_before);
   free(s->before);
   free(s->first_writer);
   free(s->writers);
   free(s->needed);
   free(s->kept);
   free(s->reached);
   free(s->registers);
   free(s->blocks);
}

machine_program_t *machine_store_program_make(const machine_program_t *program) {
   stores_t s = {.from = program, .end = program->block_count};
   bool made = is_known(program) && open_lists(&s) && list_before(&s) && order_blocks(&s) &&
               s.order_count == s.end + 1;
   if (made)
      find_meetings(&s);
   made = made && list_writers(&s) && find_stores(&s) && follow(&s) && !s.failed && copy(&s);
   if (made) {
      change(&s);
   } else {
      machine_store_program_free(s.made);
      s.made = NULL;
   }
   close_lists(&s);
   return s.made;
}

void machine_store_program_free(machine_program_t *program) {
   if (!program)
      return;
   free(program->code);
   free(program->extras);
   free(program->blocks);
   free(program);
}
