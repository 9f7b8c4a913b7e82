/* Matrix instructions: mma, wmma, ldmatrix, stmatrix, movmatrix (PTX ISA 9.0, 9.7.15).  Sparse products, scaled blocks and what later
 * architectures add are refused by name.  Part of the decoder. */
#include "machine/decode/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types and shapes ----------------------------------------------------------------------------------------------- */

static const struct {
   const char *name;
   uint8_t bits;
   const char *mma, *wmma; /* names of shapes, each between blanks */
} types[] = {[TENSOR_F16] = {"f16", 16, " m8n8k4 m16n8k8 m16n8k16 ", " m16n16k16 m8n32k16 m32n8k16 "},
             [TENSOR_BF16] = {"bf16", 16, " m16n8k8 m16n8k16 ", " m16n16k16 m8n32k16 m32n8k16 "},
             [TENSOR_TF32] = {"tf32", 32, " m16n8k4 m16n8k8 ", " m16n16k8 "},
             [TENSOR_E4M3] = {"e4m3", 8, " m16n8k16 m16n8k32 ", ""},
             [TENSOR_E5M2] = {"e5m2", 8, " m16n8k16 m16n8k32 ", ""},
             [TENSOR_F32] = {"f32", 32, "", ""},
             [TENSOR_F64] = {"f64", 64, " m8n8k4 m16n8k4 m16n8k8 m16n8k16 ", " m8n8k4 "},
             [TENSOR_S8] = {"s8", 8, " m8n8k16 m16n8k16 m16n8k32 ", " m16n16k16 m8n32k16 m32n8k16 "},
             [TENSOR_U8] = {"u8", 8, " m8n8k16 m16n8k16 m16n8k32 ", " m16n16k16 m8n32k16 m32n8k16 "},
             [TENSOR_S4] = {"s4", 4, " m8n8k32 m16n8k32 m16n8k64 ", " m8n8k32 "},
             [TENSOR_U4] = {"u4", 4, " m8n8k32 m16n8k32 m16n8k64 ", " m8n8k32 "},
             [TENSOR_B1] = {"b1", 1, " m8n8k128 m16n8k128 m16n8k256 ", " m8n8k128 "},
             [TENSOR_S32] = {"s32", 32, "", ""}};

static int type_named(const char *name) {
   for (size_t n = 0; n < sizeof types / sizeof *types; n++)
      if (strcmp(types[n].name, name) == 0)
         return (int)n;
   return -1;
}

static bool read_shape(machine_tensor_t *tensor, const char *word) {
   unsigned m, n, k;
   int used = 0;
   if (sscanf(word, "m%3un%3uk%3u%n", &m, &n, &k, &used) != 3 || word[used])
      return false;
   tensor->m = (uint16_t)m;
   tensor->n = (uint16_t)n;
   tensor->k = (uint16_t)k;
   return true;
}

/* The type of a sum for a type of factors. */
static int sum_type(uint32_t factor) {
   return factor == TENSOR_F64 ? TENSOR_F64 : factor >= TENSOR_S8 ? TENSOR_S32 : TENSOR_F32;
}

static bool is_float_sum(uint32_t type) {
   return type == TENSOR_F32 || type == TENSOR_F16;
}

static bool types_fit(const machine_tensor_t *tensor, bool wmma) {
   const uint32_t d = tensor->type[TENSOR_D], a = tensor->type[TENSOR_A], b = tensor->type[TENSOR_B],
                  c = tensor->type[TENSOR_C];
   const bool eight = (a == TENSOR_E4M3 || a == TENSOR_E5M2) && (b == TENSOR_E4M3 || b == TENSOR_E5M2),
              bytes = (a == TENSOR_S8 || a == TENSOR_U8) && (b == TENSOR_S8 || b == TENSOR_U8),
              nibbles = (a == TENSOR_S4 || a == TENSOR_U4) && (b == TENSOR_S4 || b == TENSOR_U4);
   if (a != b && !eight && ((!bytes && !nibbles) || wmma))
      return false;
   if (a == TENSOR_F16)
      return is_float_sum(d) && is_float_sum(c) && (wmma || d == c || (tensor->k == 4 && d == TENSOR_F32));
   if (eight)
      return is_float_sum(d) && d == c;
   return (int)d == sum_type(a) && (int)c == sum_type(a);
}

static bool shape_fits(const machine_tensor_t *tensor, bool wmma) {
   char shape[32];
   snprintf(shape, sizeof shape, " m%un%uk%u ", tensor->m, tensor->n, tensor->k);
   const uint32_t a = tensor->type[TENSOR_A];
   return strstr(wmma ? types[a].wmma : types[a].mma, shape) != NULL;
}

/* Sets how devices of an architecture form sums (docs/decisions/tensor-arithmetic.md).  Compute capability
 * 9.0 was measured; the others are as published: 8.x keeps a bit less and takes eight halves, or four TF32,
 * at a time. */
static void choose_rule(machine_tensor_t *tensor, unsigned architecture, bool wmma) {
   const uint32_t a = tensor->type[TENSOR_A];
   const bool eight = a == TENSOR_E4M3 || a == TENSOR_E5M2;
   tensor->rule = (machine_tensor_rule_t){.fraction = architecture < 90 ? 24 : 25, .least = TENSOR_LEAST};
   tensor->steps = 1;
   if (eight && architecture >= 90) { /* as halves: the two lower bytes of each word first */
      tensor->steps = 2;
      tensor->apart = true;
   } else if (eight) {
      tensor->steps = tensor->blocks;
      tensor->rule.fraction = 13;
   } else if (architecture < 90 || (wmma && a == TENSOR_TF32)) {
      tensor->steps = tensor->blocks;
   }
}

static void measure(machine_tensor_t *tensor, bool wmma) {
   const uint32_t bits = types[tensor->type[TENSOR_A]].bits, word = bits == 64 ? 64 : 32;
   tensor->per_word = (uint8_t)(word / bits);
   tensor->blocks = (uint8_t)(tensor->k / (4u * tensor->per_word));
   tensor->halves = tensor->m > 8 ? 2 : 1;
   tensor->row_tiles = (uint8_t)(tensor->m / (8u * tensor->halves));
   tensor->column_tiles = (uint8_t)(tensor->n / 8u);
   tensor->quads = !wmma && tensor->type[TENSOR_A] == TENSOR_F16 && tensor->k == 4;
   const uint32_t results = tensor->m * tensor->n / 32u;
   tensor->registers[TENSOR_A] =
      tensor->quads ? 2 : (uint8_t)(tensor->row_tiles * tensor->blocks * tensor->halves);
   tensor->registers[TENSOR_B] = tensor->quads ? 2 : (uint8_t)(tensor->column_tiles * tensor->blocks);
   for (int o = TENSOR_D; o <= TENSOR_C; o += TENSOR_C - TENSOR_D)
      tensor->registers[o] =
         (uint8_t)((tensor->quads ? 8 : results) / (tensor->type[o] == TENSOR_F16 ? 2 : 1));
   if (wmma && tensor->type[TENSOR_A] == TENSOR_F16) /* each element is in several registers */
      tensor->registers[TENSOR_A] = tensor->registers[TENSOR_B] = TENSOR_MOST_REGISTERS;
}

static unsigned architecture_of(const decoder_t *decoder) {
   return strncmp(decoder->module->target, "sm_", 3) == 0 ? (unsigned)atoi(decoder->module->target + 3) : 90;
}

/* Returns the index of an equal form, and adds the form where there is none; PTX_NONE when memory ran out. */
static uint32_t keep(decoder_t *decoder, const machine_tensor_t *tensor) {
   machine_program_t *program = decoder->program;
   for (uint32_t n = 0; n < program->tensor_count; n++)
      if (memcmp(&program->tensors[n], tensor, sizeof *tensor) == 0)
         return n;
   machine_tensor_t *larger = realloc(program->tensors, (program->tensor_count + 1) * sizeof *larger);
   if (!larger) {
      decode_out_of_memory(decoder);
      return PTX_NONE;
   }
   program->tensors = larger;
   /* With its padding, since forms are compared by their bytes. */
   memcpy(&larger[program->tensor_count], tensor, sizeof *tensor);
   return program->tensor_count++;
}

/* Operands ------------------------------------------------------------------------------------------------------- */

/* The registers of a fragment, in a list or alone, as extras. */
static bool fragment(decoder_t *decoder, const ptx_operand_t *operand, uint32_t count, uint32_t type,
                     bool destination) {
   const bool list = operand->kind == PTX_OPERAND_LIST;
   const ptx_operand_t *parts = list ? decoder->function->operands + operand->first : operand;
   const uint32_t bytes = type == TENSOR_F64 ? 8 : 4;
   if ((list ? operand->count : 1) != count)
      return decode_unsupported(decoder, decoder->statement->opcode);
   for (uint32_t n = 0; n < count; n++) {
      const char letter = type == TENSOR_F64                   ? (destination ? 'l' : 'D')
                          : type == TENSOR_F32 && !destination ? 'f'
                                                               : 'w';
      machine_slot_t slot;
      if (parts[n].kind == PTX_OPERAND_REGISTER && decode_declared_bytes(decoder, &parts[n]) != bytes)
         return decode_unsupported(decoder, decoder->statement->opcode);
      if (destination ? !decode_destination(decoder, &parts[n], letter, &slot)
                      : !decode_operand(decoder, &parts[n], letter, &slot))
         return false;
      if (!decode_extra(decoder, slot))
         return false;
      if (destination && n == 0)
         decode_place(&decoder->instruction, 'd', slot);
   }
   return true;
}

static enum decode_result multiply(decoder_t *decoder, machine_tensor_t *tensor, bool wmma) {
   machine_instruction_t *i = &decoder->instruction;
   if (!shape_fits(tensor, wmma) || !types_fit(tensor, wmma) || decode_operand_count(decoder) != 4 ||
       (tensor->saturates && sum_type(tensor->type[TENSOR_A]) != TENSOR_S32) ||
       (tensor->type[TENSOR_A] == TENSOR_B1) != (tensor->bits != 0))
      return decode_refuse(decoder);
   measure(tensor, wmma);
   choose_rule(tensor, architecture_of(decoder), wmma);
   FAIL_UNLESS(decode_use(decoder, "mma"));
   for (int o = TENSOR_D; o <= TENSOR_C; o++)
      FAIL_UNLESS(
         fragment(decoder, &decoder->operands[o], tensor->registers[o], tensor->type[o], o == TENSOR_D));
   i->elements = tensor->registers[TENSOR_D];
   i->immediate = keep(decoder, tensor);
   return i->immediate == PTX_NONE ? DECODE_FAILED : DECODE_DONE;
}

/* mma.sync.aligned.SHAPE.row.col[.satfinite].d.a.b.c[.xor.popc] and wmma.mma[.xor.popc].sync.aligned.row.col.SHAPE.d[.a.b].c[.satfinite].  With
 * doubles also .rn, which is meant where no rounding is named; CUDA's own header for wmma writes it. */
enum decode_result decode_multiply(decoder_t *decoder, bool wmma) {
   machine_tensor_t tensor;
   memset(&tensor, 0, sizeof tensor);
   uint32_t named = 0, layouts = 0;
   bool nearest = false;
   for (uint32_t n = wmma ? 2 : 1; n < decoder->modifier_count; n++) {
      const char *word = decoder->modifiers[n];
      const int type = type_named(word);
      if (type >= 0 && named < 4) {
         tensor.type[named++] = (uint8_t)type;
      } else if ((strcmp(word, "row") == 0 || strcmp(word, "col") == 0) && layouts < 2) {
         tensor.columns[layouts++] = word[0] == 'c';
      } else if (strcmp(word, "satfinite") == 0) {
         tensor.saturates = true;
      } else if (strcmp(word, "rn") == 0) {
         nearest = true;
      } else if (strcmp(word, "xor") == 0 || strcmp(word, "and") == 0) {
         tensor.bits = (uint8_t)word[0];
      } else if (strcmp(word, "sync") != 0 && strcmp(word, "aligned") != 0 && strcmp(word, "popc") != 0 &&
                 !read_shape(&tensor, word)) {
         return decode_refuse(decoder);
      }
   }
   if (wmma && named == 2) { /* with halves only d and c are named */
      tensor.type[TENSOR_C] = tensor.type[1];
      tensor.type[TENSOR_A] = tensor.type[TENSOR_B] = TENSOR_F16;
      named = 4;
   }
   const bool quads = tensor.type[TENSOR_A] == TENSOR_F16 && tensor.k == 4;
   if (named != 4 || layouts != 2 || (nearest && tensor.type[TENSOR_A] != TENSOR_F64) ||
       !decode_modifier(decoder, "aligned") ||
       (!wmma && !quads && (tensor.columns[0] || !tensor.columns[1])) ||
       (decode_modifier(decoder, "popc") && !tensor.bits))
      return decode_refuse(decoder);
   return multiply(decoder, &tensor, wmma);
}

/* Moves ------------------------------------------------------------------------------------------------------------ */

static uint8_t space_named(const char *word) {
   return strcmp(word, "global") == 0                                       ? PTX_GLOBAL
          : strcmp(word, "shared") == 0 || strcmp(word, "shared::cta") == 0 ? PTX_SHARED
                                                                            : 0;
}

static void choose_space(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   i->space = PTX_GENERIC;
   for (uint32_t n = 1; n < decoder->modifier_count; n++)
      if (space_named(decoder->modifiers[n]))
         i->space = space_named(decoder->modifiers[n]);
}

/* wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE[.space].type r, [p][, stride]; wmma.store.d likewise with [p], r. */
enum decode_result decode_fragment_move(decoder_t *decoder, bool store) {
   machine_instruction_t *i = &decoder->instruction;
   machine_tensor_t tensor;
   memset(&tensor, 0, sizeof tensor);
   const char *which = decoder->modifiers[2];
   const uint32_t count = decode_operand_count(decoder);
   int type = -1, layouts = 0;
   for (uint32_t n = 3; n < decoder->modifier_count; n++) {
      const char *word = decoder->modifiers[n];
      if (type_named(word) >= 0) {
         type = type_named(word);
      } else if (strcmp(word, "row") == 0 || strcmp(word, "col") == 0) {
         tensor.by_columns = word[0] == 'c';
         layouts++;
      } else if (strcmp(word, "sync") != 0 && strcmp(word, "aligned") != 0 && !space_named(word) &&
                 !read_shape(&tensor, word)) {
         return decode_refuse(decoder);
      }
   }
   const bool sum = which[0] == 'c' || which[0] == 'd';
   if (decoder->modifier_count < 6 || which[1] || !strchr(store ? "d" : "abc", which[0]) || type < 0 ||
       layouts != 1 || count < 2 || count > 3 || !decode_modifier(decoder, "aligned"))
      return decode_refuse(decoder);
   tensor.operand = which[0] == 'a'   ? TENSOR_A
                    : which[0] == 'b' ? TENSOR_B
                    : which[0] == 'c' ? TENSOR_C
                                      : TENSOR_D;
   /* A load or store of sums does not say what the factors are; where sums are depends on the shape alone. */
   const bool halves = sum && is_float_sum((uint32_t)type);
   const uint32_t factor = !sum                 ? (uint32_t)type
                           : type == TENSOR_F64 ? TENSOR_F64
                           : type == TENSOR_S32 ? (tensor.k == 128  ? TENSOR_B1
                                                   : tensor.k == 32 ? TENSOR_S4
                                                                    : TENSOR_S8)
                           : tensor.k == 8      ? TENSOR_TF32
                                                : TENSOR_F16;
   for (int o = TENSOR_D; o <= TENSOR_C; o++)
      tensor.type[o] = (uint8_t)(o == TENSOR_A || o == TENSOR_B ? factor
                                 : halves || sum                ? (uint32_t)type
                                                                : (uint32_t)sum_type(factor));
   if (!shape_fits(&tensor, true) || !types_fit(&tensor, true) ||
       (types[factor].bits < 8 && !sum && tensor.by_columns != (tensor.operand == TENSOR_B)))
      return decode_refuse(decoder);
   measure(&tensor, true);
   FAIL_UNLESS(decode_use(decoder, store ? "wmma.store" : "wmma.load"));
   const ptx_operand_t *registers = &decoder->operands[store ? 1 : 0],
                       *address = &decoder->operands[store ? 0 : 1];
   const uint32_t total = tensor.registers[tensor.operand];
   FAIL_UNLESS(fragment(decoder, registers, total, (uint32_t)type, !store));
   machine_slot_t stride;
   const uint32_t least = tensor.operand == TENSOR_A   ? (tensor.by_columns ? tensor.m : tensor.k)
                          : tensor.operand == TENSOR_B ? (tensor.by_columns ? tensor.k : tensor.n)
                                                       : (tensor.by_columns ? tensor.m : tensor.n);
   if (count == 2)
      stride = decode_constant(decoder, least, 4);
   else if (!decode_operand(decoder, &decoder->operands[2], 'w', &stride))
      return DECODE_FAILED;
   decode_place(i, 'b', stride);
   choose_space(decoder);
   FAIL_UNLESS(decode_address(decoder, address));
   const int64_t offset = i->immediate;
   i->elements = (uint8_t)total;
   /* Lanes that store halves apart are distinguished; reads side by side do not conflict. */
   i->element_bytes = type == TENSOR_F64                                           ? 8
                      : store && halves && type == TENSOR_F16 && tensor.by_columns ? 2
                                                                                   : 4;
   i->class = i->space == PTX_SHARED ? RKB_CLASS_SHARED : RKB_CLASS_GLOBAL;
   decoder->program->narrow_shared |= i->space != PTX_GLOBAL;
   i->target = keep(decoder, &tensor);
   i->immediate = offset;
   return i->target == PTX_NONE ? DECODE_FAILED : DECODE_DONE;
}

/* ldmatrix.sync.aligned.m8n8.xN[.trans][.shared].b16 r, [p] and stmatrix [p], r; movmatrix.sync.aligned.m8n8.trans.b16 d, a */
enum decode_result decode_matrix_move(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   const char *base = decoder->modifiers[0];
   const bool registers = strcmp(base, "movmatrix") == 0, store = strcmp(base, "stmatrix") == 0;
   uint32_t count = registers ? 1 : 0;
   for (uint32_t n = 1; n < decoder->modifier_count; n++) {
      const char *word = decoder->modifiers[n];
      if (!registers && word[0] == 'x' &&
          (strcmp(word, "x1") == 0 || strcmp(word, "x2") == 0 || strcmp(word, "x4") == 0))
         count = (uint32_t)(word[1] - '0');
      else if (strcmp(word, "sync") != 0 && strcmp(word, "aligned") != 0 && strcmp(word, "m8n8") != 0 &&
               strcmp(word, "b16") != 0 && strcmp(word, "trans") != 0 &&
               (registers || space_named(word) != PTX_SHARED))
         return decode_refuse(
            decoder); /* 8-bit forms with shapes of their own come with compute capability 10.0 */
   }
   if (!count || !decode_modifier(decoder, "b16") || !decode_modifier(decoder, "m8n8") ||
       decode_operand_count(decoder) != 2 || (registers && !decode_modifier(decoder, "trans")))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, base));
   const bool transposed = decode_modifier(decoder, "trans");
   if (registers) {
      FAIL_UNLESS(fragment(decoder, &decoder->operands[0], 1, TENSOR_F16, true) &&
                  fragment(decoder, &decoder->operands[1], 1, TENSOR_F16, false));
   } else {
      choose_space(decoder);
      FAIL_UNLESS(fragment(decoder, &decoder->operands[store ? 1 : 0], count, TENSOR_F16, !store) &&
                  decode_address(decoder, &decoder->operands[store ? 0 : 1]));
      i->element_bytes = 4;
      i->class = RKB_CLASS_SHARED;
   }
   i->elements = (uint8_t)count;
   i->operation = transposed;
   return DECODE_DONE;
}

enum decode_result decode_tensor(decoder_t *decoder) {
   const char *base = decoder->modifiers[0];
   if (strcmp(base, "mma") == 0)
      return decode_multiply(decoder, false);
   if (strcmp(base, "wmma") != 0)
      return decode_matrix_move(decoder);
   const char *what = decoder->modifier_count > 1 ? decoder->modifiers[1] : "";
   return strcmp(what, "mma") == 0     ? decode_multiply(decoder, true)
          : strcmp(what, "load") == 0  ? decode_fragment_move(decoder, false)
          : strcmp(what, "store") == 0 ? decode_fragment_move(decoder, true)
                                       : decode_refuse(decoder);
}
