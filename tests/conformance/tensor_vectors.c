/* Operands and kernels of the matrix instructions (tensor_vectors.h). */
#include "tensor_vectors.h"
#include "warpgroup_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Types ------------------------------------------------------------------------------------------------------- */

typedef struct type {
   const char *name;
   uint32_t bits;               /* of an element */
   uint32_t exponent, mantissa; /* of a float; 0: an integer */
   const char *register_type;   /* of a fragment's register */
} type_t;

static const type_t types[] = {
   {"f16", 16, 5, 10, "b32"}, {"bf16", 16, 8, 7, "b32"}, {"tf32", 32, 8, 23, "b32"}, {"e4m3", 8, 4, 3, "b32"},
   {"e5m2", 8, 5, 2, "b32"},  {"f32", 32, 8, 23, "f32"}, {"f64", 64, 11, 52, "f64"}, {"s8", 8, 0, 0, "b32"},
   {"u8", 8, 0, 0, "b32"},    {"s4", 4, 0, 0, "b32"},    {"u4", 4, 0, 0, "b32"},     {"b1", 1, 0, 0, "b32"},
   {"s32", 32, 0, 0, "b32"},  {"b16", 16, 0, 0, "b32"}};

static const type_t *type_of(const char *name) {
   for (size_t n = 0; n < sizeof types / sizeof *types; n++)
      if (strcmp(types[n].name, name) == 0)
         return &types[n];
   return NULL;
}

/* Forms ------------------------------------------------------------------------------------------------------- */

static bool read_shape(tensor_form_t *form, const char *word) {
   int used = 0;
   return sscanf(word, "m%un%uk%u%n", &form->m, &form->n, &form->k, &used) == 3 && word[used] == '\0';
}

/* The types that an opcode names, in the order d, a, b, c; wmma on halves names d and c alone. */
static bool read_opcode(tensor_form_t *form) {
   char copy[128], *next = NULL;
   uint32_t named = 0, layouts = 0;
   snprintf(copy, sizeof copy, "%s", form->opcode);
   for (char *word = strtok_r(copy, ".", &next); word; word = strtok_r(NULL, ".", &next)) {
      if (read_shape(form, word))
         continue;
      if ((strcmp(word, "row") == 0 || strcmp(word, "col") == 0) && layouts < 2)
         snprintf(form->layout[layouts++], sizeof form->layout[0], "%s", word);
      else if (type_of(word) && named < 4)
         snprintf(form->type[named++], sizeof form->type[0], "%s", word);
   }
   if (named == 2) {
      memcpy(form->type[3], form->type[1], sizeof form->type[0]);
      snprintf(form->type[1], sizeof form->type[0], "f16");
      snprintf(form->type[2], sizeof form->type[0], "f16");
   }
   return form->m && (named == 2 || named == 4);
}

/* Registers of a fragment.  m8n8k4 on halves is four products, one for each two groups of four lanes; fragments of wmma hold each
 * element of a half twice. */
static void count_registers(tensor_form_t *form) {
   const bool quads =
      form->kind == TENSOR_MMA && form->m == 8 && form->k == 4 && strcmp(form->type[1], "f16") == 0;
   const uint32_t elements[4] = {form->m * form->n, form->m * form->k, form->k * form->n, form->m * form->n};
   for (int o = 0; o < 4; o++) {
      const type_t *type = type_of(form->type[o]);
      const uint32_t word = type->bits == 64 ? 64 : 32;
      form->bytes[o] = elements[o] * type->bits / 8 * (quads ? 4 : 1);
      form->registers[o] = form->bytes[o] * 8 / word / 32;
      if (form->kind == TENSOR_WMMA && strcmp(form->type[1], "f16") == 0 && (o == 1 || o == 2))
         form->registers[o] = 8;
   }
   form->outputs = elements[0] * (quads ? 4 : 1);
   form->output_bytes = type_of(form->type[0])->bits / 8;
}

bool tensor_parse(const char *line, tensor_form_t *out, const char **message) {
   char kind[16];
   int used = 0;
   *message = NULL;
   *out = (tensor_form_t){.kind = TENSOR_MMA};
   if (line[0] == '#' || sscanf(line, "%15s %127s%n", kind, out->opcode, &used) != 2)
      return false;
   snprintf(out->text, sizeof out->text, "%s %s", kind, out->opcode);
   out->total = TENSOR_OUTPUTS;
   out->threads = 32;
   if (strcmp(kind, "wgmma") == 0)
      return warpgroup_parse(line + used, out, message);
   if (strcmp(kind, "move") == 0) { /* four registers in, four out */
      out->kind = TENSOR_MOVE;
      for (int o = 0; o < 4; o++) {
         snprintf(out->type[o], sizeof out->type[0], "b16");
         out->registers[o] = 4;
         out->bytes[o] = 512;
      }
      out->outputs = 256;
      out->output_bytes = 2;
   } else {
      out->kind = strcmp(kind, "wmma") == 0 ? TENSOR_WMMA : TENSOR_MMA;
      if (!read_opcode(out)) {
         *message = "an opcode with a shape and its types is wanted";
         return false;
      }
      count_registers(out);
   }
   out->warps = TENSOR_OUTPUTS / out->outputs;
   return true;
}

/* Operands ---------------------------------------------------------------------------------------------------- */

enum draw {
   DRAW_ANY,
   DRAW_MIDDLING,
   DRAW_WIDE,
   DRAW_TINY,
   DRAW_CANCELLING,
   DRAW_SPECIAL,
   DRAW_HUGE,
   DRAW_SPARSE,
   DRAW_BORDER,
   DRAWS
};

static uint64_t float_of(const type_t *type, bool negative, int64_t exponent, uint64_t fraction) {
   const int64_t most = (1 << type->exponent) - 2;
   exponent = exponent < 0 ? 0 : exponent > most ? most : exponent;
   return (uint64_t)negative << (type->bits - 1) | (uint64_t)exponent << type->mantissa |
          (fraction & ((UINT64_C(1) << type->mantissa) - 1));
}

static uint64_t special(const type_t *type, uint64_t r) {
   const uint64_t sign = (r & 1) << (type->bits - 1), top = ((UINT64_C(1) << type->exponent) - 1)
                                                            << type->mantissa;
   switch (r >> 1 & 3) {
   case 0:
      return sign;
   case 1:
      return sign | top; /* infinity; of e4m3 a number */
   case 2:
      return sign | top | ((UINT64_C(1) << type->mantissa) - 1);
   default:
      return sign | (r >> 8 & ((UINT64_C(1) << type->mantissa) - 1));
   }
}

static uint64_t draw_float(const type_t *type, enum draw draw, uint64_t r) {
   const int64_t bias = (1 << (type->exponent - 1)) - 1, far = bias < 14 ? bias - 1 : 12;
   const uint64_t choice = XXH64(&r, sizeof r, 7);
   const bool negative = r >> 63;
   switch (draw) {
   case DRAW_ANY:
      return type->bits == 64 ? r : r & ((UINT64_C(1) << type->bits) - 1);
   case DRAW_MIDDLING:
      return float_of(type, negative, bias - 3 + (int64_t)(choice % 7), r);
   case DRAW_WIDE:
      return float_of(type, negative, bias - far + (int64_t)(choice % (2 * (uint64_t)far + 1)), r);
   case DRAW_TINY:
      return float_of(type, negative, (int64_t)(choice % 4), r);
   case DRAW_CANCELLING: { /* few magnitudes, so that large terms cancel each other exactly and small ones are left */
      const uint64_t half = UINT64_C(1) << (type->mantissa - 1);
      switch (choice % 4) {
      case 0:
      case 1:
         return float_of(type, negative, bias + far, choice & 256 ? half : 0);
      case 2:
         return float_of(type, negative, bias, choice & 256 ? r : 0);
      default:
         return float_of(type, negative, bias - far + (int64_t)(choice >> 8 & 3), r);
      }
   }
   case DRAW_SPECIAL:
      return choice % 24 == 0 ? special(type, choice >> 8)
                              : float_of(type, negative, bias - 3 + (int64_t)(choice % 7), r);
   case DRAW_HUGE:
      return float_of(type, negative, (1 << type->exponent) - 2 - (int64_t)(choice % 3), r);
   case DRAW_BORDER: /* products around the least normal number */
      return float_of(type, negative, bias / 2 - 12 + (int64_t)(choice % 24), r);
   default:
      return choice % 4 ? (uint64_t)negative << (type->bits - 1)
                        : float_of(type, negative, bias - 3 + (int64_t)(choice >> 8) % 7, r);
   }
}

/* Addends: what the products' class says, or zeros, middling, up to 2^30 away from 1, any bits, tiny. */
static uint64_t draw_addend(const type_t *type, enum draw draw, uint64_t which, uint64_t r) {
   const int64_t bias = (1 << (type->exponent - 1)) - 1, far = bias < 30 ? bias - 1 : 30;
   const uint64_t choice = XXH64(&r, sizeof r, 9);
   switch (which % 6) {
   case 0:
      return draw_float(type, draw, r);
   case 1:
      return r >> 63 << (type->bits - 1);
   case 2:
      return draw_float(type, DRAW_MIDDLING, r);
   case 3:
      return float_of(type, r >> 63, bias - far + (int64_t)(choice % (2 * (uint64_t)far + 1)), r);
   case 4:
      return draw_float(type, DRAW_ANY, r);
   default:
      return draw_float(type, DRAW_TINY, r);
   }
}

static uint64_t draw_integer(const type_t *type, enum draw draw, uint64_t r) {
   const uint64_t mask = type->bits == 64 ? UINT64_MAX : (UINT64_C(1) << type->bits) - 1,
                  half = (mask >> 1) + 1;
   if (draw % 2 == 0 || type->bits == 1)
      return r & mask;
   return (r >> 32) % 3 == 0   ? half
          : (r >> 32) % 3 == 1 ? half - 1
                               : (draw == DRAW_MIDDLING ? mask : r & mask);
}

/* Addends of integers, near the ends of their range where saturation shows. */
static uint64_t draw_sum(uint64_t which, uint64_t r) {
   return which % 4 == 0   ? r & UINT32_MAX
          : which % 4 == 1 ? 0x7fffffff - (r % 100000)
          : which % 4 == 2 ? 0x80000000 + (r % 100000)
                           : (r % 1001 - 500) & UINT32_MAX;
}

static uint64_t draw_element(const tensor_form_t *form, const type_t *type, uint32_t operand, uint64_t warp,
                             uint64_t element, uint64_t seed) {
   const uint64_t counter[3] = {operand, warp, element}, r = XXH64(counter, sizeof counter, seed);
   const uint64_t which = XXH64(&warp, sizeof warp, seed);
   const enum draw draw = warp % DRAWS;
   if (form->kind == TENSOR_MOVE)
      return r & UINT16_MAX;
   if (operand == 3)
      return type->exponent ? draw_addend(type, draw, which, r) : draw_sum(which, r);
   return type->exponent ? draw_float(type, draw, r) : draw_integer(type, draw, r);
}

void tensor_fill(const tensor_form_t *form, uint32_t operand, uint8_t *out) {
   const type_t *type = type_of(form->type[operand]);
   const uint64_t seed = XXH64(form->text, strlen(form->text), 1);
   const uint64_t elements = (uint64_t)form->bytes[operand] * 8 / type->bits;
   memset(out, 0, (size_t)form->warps * form->bytes[operand]);
   for (uint64_t warp = 0; warp < form->warps; warp++)
      for (uint64_t e = 0; e < elements; e++) {
         const uint64_t value = draw_element(form, type, operand, warp, e, seed), bit = e * type->bits;
         uint8_t *at = out + warp * form->bytes[operand] + bit / 8;
         if (type->bits < 8)
            *at |= (uint8_t)(value << bit % 8);
         else
            memcpy(at, &value, type->bits / 8);
      }
}

/* Kernels ----------------------------------------------------------------------------------------------------- */

typedef struct text {
   char *at;
   size_t left, length;
} text_t;

static void __attribute__((format(printf, 2, 3))) emit(text_t *out, const char *fmt, ...) {
   __builtin_va_list ap;
   __builtin_va_start(ap, fmt);
   const int n = vsnprintf(out->at, out->left, fmt, ap);
   __builtin_va_end(ap);
   const size_t used = n < 0 || (size_t)n >= out->left ? out->left : (size_t)n;
   out->at += used;
   out->left -= used;
   out->length += used;
}

static const char names[] = "dabc";

static void emit_list(text_t *out, char name, uint32_t count) {
   emit(out, "{");
   for (uint32_t r = 0; r < count; r++)
      emit(out, "%s%%%c%u", r ? ", " : "", name, r);
   emit(out, "}");
}

/* Where lane's register r of an operand lies, or where a warp's matrix does. */
static void emit_addresses(text_t *out, const tensor_form_t *form) {
   for (int o = 0; o < 4; o++) {
      const uint32_t word = type_of(form->type[o])->bits == 64 ? 8 : 4;
      emit(
         out,
         " ld.param.u64 %%p%c, [p_%c]; cvta.to.global.u64 %%p%c, %%p%c; mad.wide.u32 %%p%c, %%warp, %u, %%p%c;\n",
         names[o], names[o], names[o], names[o], names[o], form->bytes[o], names[o]);
      if (form->kind != TENSOR_WMMA)
         emit(out, " mad.wide.u32 %%p%c, %%lane, %u, %%p%c;\n", names[o], word, names[o]);
   }
}

static void emit_registers(text_t *out, const tensor_form_t *form, int operand, bool store) {
   const type_t *type = type_of(form->type[operand]);
   const uint32_t word = type->bits == 64 ? 8 : 4;
   for (uint32_t r = 0; r < form->registers[operand]; r++)
      if (store)
         emit(out, " st.global.%s [%%pd + %u], %%d%u;\n", type->register_type, r * 32 * word, r);
      else
         emit(out, " ld.global.%s %%%c%u, [%%p%c + %u];\n", type->register_type, names[operand], r,
              names[operand], r * 32 * word);
}

static void emit_wmma(text_t *out, const tensor_form_t *form) {
   char shape[32];
   snprintf(shape, sizeof shape, "m%un%uk%u", form->m, form->n, form->k);
   for (int o = 1; o < 4; o++) {
      const char *layout = o < 3 ? form->layout[o - 1] : "row";
      const bool rows = strcmp(layout, "row") == 0;
      emit(out, " wmma.load.%c.sync.aligned.%s.%s.global.%s ", names[o], layout, shape, form->type[o]);
      emit_list(out, names[o], form->registers[o]);
      emit(out, ", [%%p%c], %u;\n", names[o],
           o == 1   ? (rows ? form->k : form->m)
           : o == 2 ? (rows ? form->n : form->k)
                    : form->n);
   }
   const char *operation = strstr(form->opcode, "xor")        ? "xor.popc."
                           : strstr(form->opcode, "and.popc") ? "and.popc."
                                                              : "";
   char opcode[128];
   snprintf(opcode, sizeof opcode, "%s", form->opcode);
   if (operation[0])
      *strstr(opcode, operation[0] == 'x' ? ".xor" : ".and") = '\0';
   emit(out, " wmma.mma.%ssync.aligned.%s ", operation, opcode);
   for (int o = 0; o < 4; o++) {
      emit(out, o ? ", " : "");
      emit_list(out, names[o], form->registers[o]);
   }
   emit(out, ";\n wmma.store.d.sync.aligned.row.%s.global.%s [%%pd], ", shape, form->type[0]);
   emit_list(out, 'd', form->registers[0]);
   emit(out, ", %u;\n", form->n);
}

/* Moves of fragments: a's registers are put into shared memory by lane, rows are taken in an order that b's words choose. */
static void emit_move(text_t *out, const tensor_form_t *form) {
   const uint32_t count = strstr(form->opcode, ".x4") ? 4 : strstr(form->opcode, ".x2") ? 2 : 1;
   emit_registers(out, form, 1, false);
   emit(
      out,
      " mov.b32 %%d0, 0; mov.b32 %%d1, 0; mov.b32 %%d2, 0; mov.b32 %%d3, 0;\n"
      " ld.global.b32 %%b0, [%%pb]; mov.u32 %%base, room; shl.b32 %%at, %%lane, 2; add.u32 %%at, %%at, %%base;\n"
      " ld.global.b32 %%t, [%%pc]; mul.lo.u32 %%row, %%lane, 5; add.u32 %%row, %%row, 3; and.b32 %%row, %%row, 31;\n"
      " xor.b32 %%row, %%row, %%warp; and.b32 %%row, %%row, 31; shl.b32 %%row, %%row, 4; add.u32 %%row, %%row, %%base;\n");
   if (strncmp(form->opcode, "movmatrix", 9) == 0) {
      for (uint32_t r = 0; r < 4; r++)
         emit(out, " %s %%d%u, %%a%u;\n", form->opcode, r, r);
   } else if (strncmp(form->opcode, "ldmatrix", 8) == 0) {
      for (uint32_t r = 0; r < 4; r++)
         emit(out, " st.shared.b32 [%%at + %u], %%a%u;\n", 128 * r, r);
      emit(out, " bar.sync 0;\n %s ", form->opcode);
      emit_list(out, 'd', count);
      emit(out, ", [%%row];\n");
   } else {
      for (uint32_t r = 0; r < 4; r++)
         emit(out, " st.shared.b32 [%%at + %u], %%b0;\n", 128 * r);
      emit(out, " bar.sync 0;\n %s [%%row], ", form->opcode);
      emit_list(out, 'a', count);
      emit(out, ";\n bar.sync 0;\n");
      for (uint32_t r = 0; r < 4; r++)
         emit(out, " ld.shared.b32 %%d%u, [%%at + %u];\n", r, 128 * r);
   }
   emit_registers(out, form, 0, true);
}

size_t tensor_ptx(const tensor_form_t *form, char *out, size_t size) {
   if (form->kind == TENSOR_WARPGROUP)
      return warpgroup_ptx(form, out, size);
   text_t text = {.at = out, .left = size};
   emit(
      &text,
      ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry tensor(.param .u64 p_d, .param .u64 p_a, "
      ".param .u64 p_b, .param .u64 p_c)\n{\n .reg .b32 %%warp, %%lane, %%base, %%at, %%row, %%t;\n"
      " .shared .align 16 .b8 room[512];\n");
   for (int o = 0; o < 4; o++)
      emit(&text, " .reg .b64 %%p%c; .reg .%s %%%c<%u>;\n", names[o], type_of(form->type[o])->register_type,
           names[o], form->registers[o]);
   emit(&text, " mov.u32 %%warp, %%ctaid.x; mov.u32 %%lane, %%tid.x;\n");
   emit_addresses(&text, form);
   if (form->kind == TENSOR_WMMA) {
      emit_wmma(&text, form);
   } else if (form->kind == TENSOR_MOVE) {
      emit_move(&text, form);
   } else {
      for (int o = 1; o < 4; o++)
         emit_registers(&text, form, o, false);
      emit(&text, " %s ", form->opcode);
      for (int o = 0; o < 4; o++) {
         emit(&text, o ? ", " : "");
         emit_list(&text, names[o], form->registers[o]);
      }
      emit(&text, ";\n");
      emit_registers(&text, form, 0, true);
   }
   emit(&text, " ret;\n}\n");
   return text.left ? text.length : 0;
}

uint64_t tensor_hash(const void *data, size_t bytes) {
   return XXH64(data, bytes, 0);
}
