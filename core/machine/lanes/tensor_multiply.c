/* mma and wmma.mma: the fragments of a warp become small matrices of numbers, whose product (tensor_arithmetic.h) goes back into
 * fragments (PTX ISA 9.0, 9.7.15).  Definedness goes by rows and columns, taint by fragment, and the doubles beside float32 sums
 * are sums of exact products.  If not all 32 lanes take part, there is a finding. */
#include "machine/lanes/handlers.h"
#include "machine/lanes/half.h"
#include "machine/lanes/tensor_product.h"
#include "machine/lanes/tensor_zeros.h"
#include "machine/lanes/whole_warp.h"

#define SUM MACHINE_PASTE2(machine_tensor_sum, MACHINE_ISA)
#define TAKE MACHINE_PASTE2(machine_tensor_take, MACHINE_ISA)
#define DOUBLES MACHINE_PASTE2(machine_tensor_doubles, MACHINE_ISA)

/* Floats: factors ------------------------------------------------------------------------------------------------ */

/* Which elements of each word take part in one sum: of so many blocks from first_block on, elements first to end - 1. */
typedef struct step {
   uint32_t first_block, end_block, first, end, terms;
} step_t;

static step_t step_of(const machine_tensor_t *tensor, uint32_t number) {
   step_t step = {.end_block = tensor->blocks, .end = tensor->per_word};
   if (tensor->apart) {
      step.first = number * (tensor->per_word / tensor->steps);
      step.end = step.first + tensor->per_word / tensor->steps;
   } else if (tensor->steps > 1) {
      step.first_block = number;
      step.end_block = number + 1;
   }
   step.terms = 4 * (step.end_block - step.first_block) * (step.end - step.first);
   return step;
}

typedef uint32_t quarter_t __attribute__((vector_size(16), aligned(4), may_alias)); /* a row's four lanes */

static inline __attribute__((always_inline)) void spread_rows(const machine_tensor_product_t *p,
                                                              uint32_t tile, const step_t *step,
                                                              uint32_t bits, uint32_t *out) {
   const uint32_t halves = p->tensor->halves, kept = bits == 32 ? FULL_MASK : (1u << bits) - 1,
                  terms = step->terms;
   for (uint32_t block = step->first_block; block < step->end_block; block++)
      for (uint32_t e = step->first; e < step->end; e++, out += 4)
         for (uint32_t half = 0; half < halves; half++) {
            const uint32_t *words = words_of(p, &p->a[tensor_a_register(p->tensor, tile, block, half)]);
            for (uint32_t g = 0; g < 8; g++)
               *(quarter_t *)(out + (8 * half + g) * terms) =
                  *(const quarter_t *)(words + 4 * g) >> (bits * e & 31) & kept;
         }
}

static inline __attribute__((always_inline)) void spread_columns(const machine_tensor_product_t *p,
                                                                 uint32_t tile, const step_t *step,
                                                                 uint32_t bits, uint32_t *out) {
   const uint32_t kept = bits == 32 ? FULL_MASK : (1u << bits) - 1;
   for (uint32_t block = step->first_block; block < step->end_block; block++) {
      const uint32_t *words = words_of(p, &p->b[tensor_b_register(p->tensor, tile, block)]);
      uint32_t turned[4][TENSOR_COLUMNS];
      for (uint32_t g = 0; g < TENSOR_COLUMNS; g++)
         for (uint32_t t = 0; t < 4; t++)
            turned[t][g] = words[4 * g + t];
      for (uint32_t e = step->first; e < step->end; e++)
         for (uint32_t t = 0; t < 4; t++, out += TENSOR_COLUMNS)
            for (uint32_t g = 0; g < TENSOR_COLUMNS; g++)
               out[g] = turned[t][g] >> (bits * e & 31) & kept;
   }
}

static void take_rows(const machine_tensor_product_t *p, uint32_t tile, const step_t *step,
                      machine_tensor_factors_t *out) {
   uint32_t elements[TENSOR_ROWS * TENSOR_TERMS] __attribute__((aligned(32)));
   if (p->tensor->per_word == 2)
      spread_rows(p, tile, step, 16, elements);
   else if (p->tensor->per_word == 4)
      spread_rows(p, tile, step, 8, elements);
   else
      spread_rows(p, tile, step, 32, elements);
   TAKE(p->tensor->type[TENSOR_A], elements, 8u * p->tensor->halves * step->terms, out);
}

static void take_columns(const machine_tensor_product_t *p, uint32_t tile, const step_t *step,
                         machine_tensor_factors_t *out) {
   uint32_t elements[TENSOR_COLUMNS * TENSOR_TERMS] __attribute__((aligned(32)));
   if (p->tensor->per_word == 2)
      spread_columns(p, tile, step, 16, elements);
   else if (p->tensor->per_word == 4)
      spread_columns(p, tile, step, 8, elements);
   else
      spread_columns(p, tile, step, 32, elements);
   TAKE(p->tensor->type[TENSOR_B], elements, TENSOR_COLUMNS * step->terms, out);
}

/* Floats: doubles beside them ------------------------------------------------------------------------------------ */

/* TF32 factors are whole registers and have doubles of their own; the doubles of narrower factors come from their bits. */
static void doubles_of_rows(const machine_tensor_product_t *p, uint32_t tile, const step_t *step,
                            const machine_tensor_factors_t *factors, double *out) {
   machine_warp_t *warp = p->warp;
   if (p->tensor->type[TENSOR_A] != TENSOR_TF32) {
      DOUBLES(factors, 8u * p->tensor->halves * step->terms, out);
      return;
   }
   for (uint32_t block = step->first_block; block < step->end_block; block++)
      for (uint32_t half = 0; half < p->tensor->halves; half++) {
         const machine_slot_t *slot = &p->a[tensor_a_register(p->tensor, tile, block, half)];
         const double *from = SHADOW_OF(slot->offset);
         for (uint32_t l = 0; l < LANES; l++)
            out[(8 * half + l / 4) * step->terms + 4 * (block - step->first_block) + l % 4] = from[l];
      }
}

static void doubles_of_columns(const machine_tensor_product_t *p, uint32_t tile, const step_t *step,
                               const machine_tensor_factors_t *factors, double *out) {
   machine_warp_t *warp = p->warp;
   if (p->tensor->type[TENSOR_B] != TENSOR_TF32) {
      DOUBLES(factors, TENSOR_COLUMNS * step->terms, out);
      return;
   }
   for (uint32_t block = step->first_block; block < step->end_block; block++) {
      const machine_slot_t *slot = &p->b[tensor_b_register(p->tensor, tile, block)];
      const double *from = SHADOW_OF(slot->offset);
      for (uint32_t l = 0; l < LANES; l++)
         out[(4 * (block - step->first_block) + l % 4) * TENSOR_COLUMNS + l / 4] = from[l];
   }
}

typedef double four_t __attribute__((vector_size(32), aligned(8), may_alias));

/* Four rows at a time: each element's sum is one chain of additions, and eight of them hide each other's latency. */
static void add_doubles(uint32_t rows, uint32_t terms, const double *a, const double *b, double *sum) {
   for (uint32_t row = 0; row < rows; row += 4) {
      four_t *at = (four_t *)(sum + row * TENSOR_COLUMNS), total[8];
      const double *factors = a + row * terms;
      for (int n = 0; n < 8; n++)
         total[n] = at[n];
      for (uint32_t k = 0; k < terms; k++) {
         const four_t low = *(const four_t *)(b + k * TENSOR_COLUMNS),
                      high = *(const four_t *)(b + k * TENSOR_COLUMNS + 4);
         for (uint32_t r = 0; r < 4; r++) {
            total[2 * r] += low * factors[r * terms + k];
            total[2 * r + 1] += high * factors[r * terms + k];
         }
      }
      for (int n = 0; n < 8; n++)
         at[n] = total[n];
   }
}

/* Sums ------------------------------------------------------------------------------------------------------------- */

static void widen_sums(uint32_t *sum) {
   for (uint32_t n = 0; n < TILE; n++)
      sum[n] = canonical(half_to_float((uint16_t)sum[n]));
}

/* Adds the addend to the sum of the products, rounded to nearest. */
static void join(bool halves, const uint32_t *addend, uint32_t *sum) {
   for (uint32_t n = 0; n < TILE; n++)
      sum[n] = halves ? half_of(half_to_float((uint16_t)addend[n]) + half_to_float((uint16_t)sum[n]))
                      : canonical(bits_to_float(addend[n]) + bits_to_float(sum[n]));
}

static void multiply_tile(const machine_tensor_product_t *p, uint32_t row_tile, uint32_t column_tile,
                          bool zeros, uint32_t *sum, double *wide) {
   const machine_tensor_t *tensor = p->tensor;
   const uint32_t rows = 8u * tensor->halves;
   const bool halves = tensor->type[TENSOR_C] == TENSOR_F16 && tensor->type[TENSOR_D] == TENSOR_F16;
   machine_tensor_factors_t a, b;
   uint32_t addend[TILE];
   double da[TENSOR_ROWS * TENSOR_TERMS], db[TENSOR_COLUMNS * TENSOR_TERMS];
   take_sums(p, row_tile, column_tile, sum);
   if (tensor->type[TENSOR_C] == TENSOR_F16 && !halves)
      widen_sums(sum);
   if (zeros && holds_zeros(sum, wide, rows * TENSOR_COLUMNS)) {
      memset(sum, 0, rows * TENSOR_COLUMNS * sizeof *sum);
      return;
   }
   if (tensor->apart) {
      memcpy(addend, sum, sizeof addend);
      memset(sum, 0, sizeof addend);
   }
   for (uint32_t n = 0; n < tensor->steps; n++) {
      const step_t step = step_of(tensor, n);
      take_rows(p, row_tile, &step, &a);
      take_columns(p, column_tile, &step, &b);
      SUM(&tensor->rule, rows, step.terms, &a, &b, halves, sum);
      machine_count_products(p->warp->run, (uint64_t)rows * TENSOR_COLUMNS * step.terms);
      if (wide) {
         doubles_of_rows(p, row_tile, &step, &a, da);
         doubles_of_columns(p, column_tile, &step, &b, db);
         add_doubles(rows, step.terms, da, db, wide);
      }
   }
   if (tensor->apart)
      join(halves, addend, sum);
   for (uint32_t n = 0; n < TILE && tensor->type[TENSOR_D] == TENSOR_F16 && !halves; n++)
      sum[n] = half_of(bits_to_float(sum[n]));
}

/* The doubles with which the results begin. */
static void take_doubles(const machine_tensor_product_t *p, uint32_t row_tile, uint32_t column_tile,
                         double *wide) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   for (uint32_t half = 0; half < tensor->halves; half++, wide += 8 * TENSOR_COLUMNS) {
      const machine_slot_t *pair = pair_of(tensor, p->c, row_tile, column_tile, half);
      if (tensor->type[TENSOR_C] == TENSOR_F32) {
         weave_doubles(SHADOW_OF(pair[0].offset), SHADOW_OF(pair[1].offset), wide);
         continue;
      }
      const uint32_t *words =
         words_of(p, &p->c[tensor_c_register(tensor, row_tile, column_tile, half, 0, true)]);
      for (uint32_t l = 0; l < LANES; l++) {
         wide[2 * l] = half_to_float((uint16_t)words[l]);
         wide[2 * l + 1] = half_to_float((uint16_t)(words[l] >> 16));
      }
   }
}

static void fill_doubles(const machine_tensor_product_t *p, const machine_slot_t *registers, uint32_t count) {
   for (uint32_t n = 0; n < count; n++)
      machine_shadow_fill(p->warp, registers[n].offset, registers[n].number);
}

/* For products of zeros, which in small shapes most are, beyond the edges of a matrix: if all addends are zeros too, sets the results to zeros and
 * returns true. */
static bool stay_zeros(const machine_tensor_product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   uint32_t any = 0;
   if (tensor->type[TENSOR_C] != TENSOR_F32 || tensor->type[TENSOR_D] != TENSOR_F32)
      return false;
   for (uint32_t n = 0; n < tensor->registers[TENSOR_C]; n++) {
      const uint32_t *words = words_of(p, &p->c[n]);
      EACH_LANE any |= words[l];
   }
   if (any & INT32_MAX)
      return false;
   for (uint32_t n = 0; n < tensor->registers[TENSOR_D]; n++)
      memset(LANES_OF(uint32_t, p->d[n].offset), 0, LANES * sizeof(uint32_t));
   return true;
}

/* Computes all tiles before any result is written, because a result's register may also be a factor's. */
static void multiply_floats(const machine_tensor_product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   uint32_t sum[MOST_TILES][TILE] __attribute__((aligned(32))), tiles = 0;
   double wide[MOST_TILES][TILE];
   const bool doubles = warp->shadow && tensor->type[TENSOR_D] == TENSOR_F32, zeros = multiplies_zeros(p);
   if (zeros && !doubles && stay_zeros(p))
      return;
   if (doubles && tensor->type[TENSOR_C] == TENSOR_F32)
      fill_doubles(p, p->c, tensor->registers[TENSOR_C]);
   if (doubles && tensor->type[TENSOR_A] == TENSOR_TF32)
      fill_doubles(p, p->a, tensor->registers[TENSOR_A] + tensor->registers[TENSOR_B]);
   for (uint32_t row_tile = 0; row_tile < tensor->row_tiles; row_tile++)
      for (uint32_t column_tile = 0; column_tile < tensor->column_tiles; column_tile++, tiles++) {
         if (doubles)
            take_doubles(p, row_tile, column_tile, wide[tiles]);
         multiply_tile(p, row_tile, column_tile, zeros, sum[tiles], doubles ? wide[tiles] : NULL);
      }
   tiles = 0;
   for (uint32_t row_tile = 0; row_tile < tensor->row_tiles; row_tile++)
      for (uint32_t column_tile = 0; column_tile < tensor->column_tiles; column_tile++, tiles++) {
         put_sums(p, row_tile, column_tile, sum[tiles]);
         for (uint32_t half = 0; doubles && half < tensor->halves; half++) {
            const machine_slot_t *pair = pair_of(tensor, p->d, row_tile, column_tile, half);
            unweave_doubles(wide[tiles] + 8 * TENSOR_COLUMNS * half, SHADOW_OF(pair[0].offset),
                            SHADOW_OF(pair[1].offset));
         }
      }
}

/* Beside the values ------------------------------------------------------------------------------------------------ */

#define GROUPS_OF_FOUR 0x11111111u /* the first lane of each */

/* Which groups of four lanes are defined whole: the bit of the first lane of each. */
static uint32_t whole_groups(uint32_t lanes) {
   return lanes & lanes >> 1 & lanes >> 2 & lanes >> 3 & GROUPS_OF_FOUR;
}

/* Lane 4 g + t has the columns 2 t and 2 t + 1: the lanes whose even or odd column is among these groups. */
static uint32_t lanes_of_columns(uint32_t columns, uint32_t odd) {
   const uint32_t of_row = columns >> 4 * odd;
   return ((of_row & 1) | (of_row >> 7 & 2) | (of_row >> 14 & 4) | (of_row >> 21 & 8)) * GROUPS_OF_FOUR;
}

/* Whether no addend is defined. */
static bool adds_to_nothing(const machine_tensor_product_t *p) {
   uint32_t defined = 0;
   for (uint32_t n = 0; n < p->tensor->registers[TENSOR_C]; n++)
      defined |= p->warp->defined[p->c[n].number];
   return !defined;
}

/* A result is defined where the row of a, the column of b and the addend are. */
static void carry_definedness(const machine_tensor_product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   const bool pairs = tensor->type[TENSOR_D] == TENSOR_F16, pairs_in = tensor->type[TENSOR_C] == TENSOR_F16;
   uint32_t defined[2 * TENSOR_MOST_REGISTERS] = {0};
   const uint32_t row_tiles = adds_to_nothing(p) ? 0 : tensor->row_tiles;
   for (uint32_t row_tile = 0; row_tile < row_tiles; row_tile++)
      for (uint32_t column_tile = 0; column_tile < tensor->column_tiles; column_tile++)
         for (uint32_t half = 0; half < tensor->halves; half++) {
            uint32_t rows = FULL_MASK, columns = FULL_MASK;
            for (uint32_t block = 0; block < tensor->blocks; block++) {
               rows &= warp->defined[p->a[tensor_a_register(tensor, row_tile, block, half)].number];
               columns &= warp->defined[p->b[tensor_b_register(tensor, column_tile, block)].number];
            }
            rows = whole_groups(rows);
            columns = whole_groups(columns);
            if (!rows || !columns) /* as of most products where few elements are asked for */
               continue;
            for (uint32_t column = 0; column < 2; column++) {
               const uint32_t
                  c = p->c[tensor_c_register(tensor, row_tile, column_tile, half, column, pairs_in)].number,
                  d = tensor_c_register(tensor, row_tile, column_tile, half, column, pairs);
               const uint32_t lanes = rows * 15 & lanes_of_columns(columns, column) & warp->defined[c];
               defined[d] = pairs && column ? defined[d] & lanes : lanes;
            }
         }
   for (uint32_t n = 0; n < tensor->registers[TENSOR_D]; n++)
      warp->defined[p->d[n].number] = defined[n];
}

static uint64_t taint_of(const machine_tensor_product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   const machine_warp_t *warp = p->warp;
   uint64_t taint = 0;
   const uint32_t sources =
      tensor->registers[TENSOR_A] + tensor->registers[TENSOR_B] + tensor->registers[TENSOR_C];
   for (uint32_t n = 0; warp->taint && n < sources; n++)
      taint |= warp->taint[p->a[n].number];
   return taint;
}

static void carry(const machine_tensor_product_t *p, uint64_t taint, bool defined) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   const bool doubles = tensor->type[TENSOR_D] == TENSOR_F32 && !tensor->quads;
   for (uint32_t n = 0; n < tensor->registers[TENSOR_D]; n++) {
      if (defined)
         warp->defined[p->d[n].number] = FULL_MASK;
      set_taint(warp, p->d[n].number, taint, FULL_MASK);
      if (warp->valid)
         warp->valid[p->d[n].number] = doubles ? FULL_MASK : 0;
   }
}

static uint32_t defined_sources(const machine_tensor_product_t *p) {
   uint32_t defined = FULL_MASK;
   for (uint32_t n = 0; n < (uint32_t)p->tensor->registers[TENSOR_A] + p->tensor->registers[TENSOR_B] +
                               p->tensor->registers[TENSOR_C];
        n++)
      defined &= p->warp->defined[p->a[n].number];
   return defined;
}

/* Whether none of the results is defined, so that the numbers need not be computed. */
static bool none_defined(const machine_tensor_product_t *p) {
   uint32_t defined = 0;
   for (uint32_t n = 0; n < p->tensor->registers[TENSOR_D]; n++)
      defined |= p->warp->defined[p->d[n].number];
   return !defined;
}

OP(mma) {
   const machine_tensor_t *tensor = &warp->program->tensors[i->immediate];
   const machine_slot_t *extras = warp->program->extras + i->extra;
   const machine_tensor_product_t p = {.warp = warp,
                                       .tensor = tensor,
                                       .d = extras,
                                       .a = extras + tensor_first_extra(tensor, TENSOR_A),
                                       .b = extras + tensor_first_extra(tensor, TENSOR_B),
                                       .c = extras + tensor_first_extra(tensor, TENSOR_C)};
   if (!whole_warp(warp, mask))
      return;
   const bool defined = defined_sources(&p) == FULL_MASK;
   if (!defined && tensor->quads)
      for (uint32_t n = 0; n < tensor->registers[TENSOR_D]; n++)
         warp->defined[p.d[n].number] = 0;
   else if (!defined)
      carry_definedness(&p);
   /* A product of constants is computed even if it is not needed, because no taint would show where it decides something. */
   const uint64_t taint = taint_of(&p);
   const bool unasked = machine_unasked(warp->run, taint) || (!defined && none_defined(&p));
   if (unasked && (warp->run->options.asked || warp->run->options.charged))
      machine_count_products(warp->run, (uint64_t)tensor->m * tensor->n * tensor->k);
   if (unasked)
      ; /* the registers keep their old contents, which nothing will use */
   else if (tensor->quads)
      MACHINE_PASTE2(machine_multiply_quads, MACHINE_ISA)(&p);
   else if (tensor->type[TENSOR_D] == TENSOR_F64)
      MACHINE_PASTE2(machine_multiply_doubles, MACHINE_ISA)(&p);
   else if (tensor->type[TENSOR_D] == TENSOR_S32)
      MACHINE_PASTE2(machine_multiply_integers, MACHINE_ISA)(&p);
   else
      multiply_floats(&p);
   carry(&p, taint, defined);
}
