/* mma and wmma.mma: the fragments of a warp become small matrices of numbers, whose product (tensor_arithmetic.h) goes back into
 * fragments (PTX ISA 9.0, 9.7.15).  Definedness goes by rows and columns, taint by fragment, and the doubles beside float32 sums
 * are sums of exact products.  All 32 lanes take part, or the instruction is wrong. */
#include "machine/lanes/byte_products.h"
#include "machine/lanes/handlers.h"
#include "machine/lanes/double_nan.h"
#include "machine/lanes/half.h"
#include "machine/lanes/whole_warp.h"

#define TILE (TENSOR_ROWS * TENSOR_COLUMNS)
#define MOST_TILES 4u
#define SUM MACHINE_PASTE2(machine_tensor_sum, MACHINE_ISA)
#define TAKE MACHINE_PASTE2(machine_tensor_take, MACHINE_ISA)
#define DOUBLES MACHINE_PASTE2(machine_tensor_doubles, MACHINE_ISA)

typedef struct product { /* an instruction being executed */
   machine_warp_t *warp;
   const machine_tensor_t *tensor;
   const machine_slot_t *d, *a, *b, *c;
} product_t;

static inline const uint32_t *words_of(const product_t *p, const machine_slot_t *slot) {
   const machine_warp_t *warp = p->warp;
   return LANES_OF(uint32_t, slot->offset);
}

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

static inline __attribute__((always_inline)) void
spread_rows(const product_t *p, uint32_t tile, const step_t *step, uint32_t bits, uint32_t *out) {
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

static inline __attribute__((always_inline)) void
spread_columns(const product_t *p, uint32_t tile, const step_t *step, uint32_t bits, uint32_t *out) {
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

static void take_rows(const product_t *p, uint32_t tile, const step_t *step, machine_tensor_factors_t *out) {
   uint32_t elements[TENSOR_ROWS * TENSOR_TERMS] __attribute__((aligned(32)));
   if (p->tensor->per_word == 2)
      spread_rows(p, tile, step, 16, elements);
   else if (p->tensor->per_word == 4)
      spread_rows(p, tile, step, 8, elements);
   else
      spread_rows(p, tile, step, 32, elements);
   TAKE(p->tensor->type[TENSOR_A], elements, 8u * p->tensor->halves * step->terms, out);
}

static void take_columns(const product_t *p, uint32_t tile, const step_t *step,
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

/* TF32 factors are whole registers, with doubles of their own; narrower ones are what their bits say. */
static void doubles_of_rows(const product_t *p, uint32_t tile, const step_t *step,
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

static void doubles_of_columns(const product_t *p, uint32_t tile, const step_t *step,
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

/* Two registers are eight rows of a tile: lane 4 g + t has the columns 2 t and 2 t + 1 of row g. */
#define WEAVE(name, type)                                                                                    \
   static inline void name(const type *even, const type *odd, type *rows) {                                  \
      for (uint32_t l = 0; l < LANES; l++) {                                                                 \
         rows[2 * l] = even[l];                                                                              \
         rows[2 * l + 1] = odd[l];                                                                           \
      }                                                                                                      \
   }                                                                                                         \
   static inline void un##name(const type *rows, type *even, type *odd) {                                    \
      for (uint32_t l = 0; l < LANES; l++) {                                                                 \
         even[l] = rows[2 * l];                                                                              \
         odd[l] = rows[2 * l + 1];                                                                           \
      }                                                                                                      \
   }
WEAVE(weave_words, uint32_t)
WEAVE(weave_doubles, double)

/* The first of the two registers of eight rows; the other one follows. */
static inline const machine_slot_t *pair_of(const machine_tensor_t *tensor, const machine_slot_t *registers,
                                            uint32_t row_tile, uint32_t column_tile, uint32_t half) {
   return &registers[tensor_c_register(tensor, row_tile, column_tile, half, 0, false)];
}

static void take_sums(const product_t *p, uint32_t row_tile, uint32_t column_tile, uint32_t *sum) {
   const machine_tensor_t *tensor = p->tensor;
   for (uint32_t half = 0; half < tensor->halves; half++, sum += 8 * TENSOR_COLUMNS) {
      const machine_slot_t *pair = pair_of(tensor, p->c, row_tile, column_tile, half);
      if (tensor->type[TENSOR_C] != TENSOR_F16) {
         weave_words(words_of(p, &pair[0]), words_of(p, &pair[1]), sum);
         continue;
      }
      const uint32_t *words =
         words_of(p, &p->c[tensor_c_register(tensor, row_tile, column_tile, half, 0, true)]);
      for (uint32_t l = 0; l < LANES; l++) {
         sum[2 * l] = words[l] & 0xffff;
         sum[2 * l + 1] = words[l] >> 16;
      }
   }
}

static void put_sums(const product_t *p, uint32_t row_tile, uint32_t column_tile, const uint32_t *sum) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   for (uint32_t half = 0; half < tensor->halves; half++, sum += 8 * TENSOR_COLUMNS) {
      const machine_slot_t *pair = pair_of(tensor, p->d, row_tile, column_tile, half);
      if (tensor->type[TENSOR_D] != TENSOR_F16) {
         unweave_words(sum, LANES_OF(uint32_t, pair[0].offset), LANES_OF(uint32_t, pair[1].offset));
         continue;
      }
      uint32_t *words =
         LANES_OF(uint32_t, p->d[tensor_c_register(tensor, row_tile, column_tile, half, 0, true)].offset);
      for (uint32_t l = 0; l < LANES; l++)
         words[l] = (sum[2 * l] & 0xffff) | sum[2 * l + 1] << 16;
   }
}

static uint32_t canonical(float value) {
   return value != value ? 0x7fffffffu : float_to_bits(value);
}

static uint16_t half_of(float value) {
   return value != value ? 0x7fff : double_to_half(value, ROUND_NEAREST);
}

static void widen_sums(uint32_t *sum) {
   for (uint32_t n = 0; n < TILE; n++)
      sum[n] = canonical(half_to_float((uint16_t)sum[n]));
}

/* What was summed from zero joins the addend, rounded to nearest. */
static void join(bool halves, const uint32_t *addend, uint32_t *sum) {
   for (uint32_t n = 0; n < TILE; n++)
      sum[n] = halves ? half_of(half_to_float((uint16_t)addend[n]) + half_to_float((uint16_t)sum[n]))
                      : canonical(bits_to_float(addend[n]) + bits_to_float(sum[n]));
}

/* *zero: all halves in the registers are zeros; *finite: none is infinite or NaN. */
static void look_at_halves(const product_t *p, const machine_slot_t *registers, uint32_t count, uint32_t type,
                           bool *zero, bool *finite) {
   const uint32_t low = type == TENSOR_BF16 ? 0x7f80u : 0x7c00u, high = low << 16;
   uint32_t any = 0, large = 0;
   for (uint32_t n = 0; n < count; n++) {
      const uint32_t *words = words_of(p, &registers[n]);
      EACH_LANE {
         any |= words[l];
         large |= (uint32_t)((words[l] & high) == high) | (uint32_t)((words[l] & low) == low);
      }
   }
   *zero = (any & 0x7fff7fffu) == 0;
   *finite = !large;
}

/* Whether the instruction multiplies zeros by finite numbers, as beyond the edges of a matrix.  Only of halves: doubles beside other zeros may be other
 * numbers. */
static bool multiplies_zeros(const product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   const uint32_t type = tensor->type[TENSOR_A];
   bool zero_a, finite_a, zero_b, finite_b;
   if ((type != TENSOR_BF16 && type != TENSOR_F16) || type != tensor->type[TENSOR_B])
      return false;
   look_at_halves(p, p->a, tensor->registers[TENSOR_A], type, &zero_a, &finite_a);
   look_at_halves(p, p->b, tensor->registers[TENSOR_B], type, &zero_b, &finite_b);
   return (zero_a && finite_b) || (zero_b && finite_a);
}

/* Whether all sums, and the doubles beside them, are zeros: such a tile stays +0 when zeros are added. */
static bool holds_zeros(const uint32_t *sum, const double *wide, uint32_t count) {
   uint64_t any = 0;
   for (uint32_t n = 0; n < count; n++)
      any |= sum[n] & INT32_MAX;
   for (uint32_t n = 0; wide && n < count; n++) {
      uint64_t bits;
      memcpy(&bits, &wide[n], sizeof bits);
      any |= bits;
   }
   return any == 0;
}

static void multiply_tile(const product_t *p, uint32_t row_tile, uint32_t column_tile, bool zeros,
                          uint32_t *sum, double *wide) {
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

/* The doubles that results begin from. */
static void take_doubles(const product_t *p, uint32_t row_tile, uint32_t column_tile, double *wide) {
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

static void fill_doubles(const product_t *p, const machine_slot_t *registers, uint32_t count) {
   for (uint32_t n = 0; n < count; n++)
      machine_shadow_fill(p->warp, registers[n].offset, registers[n].number);
}

/* All tiles before any result is written: a result's register may be a factor's. */
static void multiply_floats(const product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   uint32_t sum[MOST_TILES][TILE] __attribute__((aligned(32))), tiles = 0;
   double wide[MOST_TILES][TILE];
   const bool doubles = warp->shadow && tensor->type[TENSOR_D] == TENSOR_F32, zeros = multiplies_zeros(p);
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

/* m8n8k4 on halves, which the architectures since 8.0 make of single fused multiply-adds: of the products first, from zero on, then
 * the addend.  Lanes 4 q .. 4 q + 3 and 16 + 4 q .. 16 + 4 q + 3 work together. */
static uint32_t quad_lane(uint32_t quad, uint32_t number) {
   return 4 * quad + number % 4 + (number < 4 ? 0 : 16);
}

static float quad_factor(const product_t *p, bool of_b, uint32_t quad, uint32_t outer, uint32_t k) {
   const bool by_lane = of_b ? p->tensor->columns[1] : !p->tensor->columns[0];
   const uint32_t lane = by_lane ? quad_lane(quad, outer) : quad_lane(quad, k + (outer < 4 ? 0 : 4)),
                  element = by_lane ? k : outer % 4;
   const uint32_t word = words_of(p, of_b ? &p->b[element / 2] : &p->a[element / 2])[lane];
   return half_to_float((uint16_t)(word >> 16 * (element % 2)));
}

/* Where row and column of a result lie: as halves, or as floats. */
static uint32_t quad_place(uint32_t quad, uint32_t row, uint32_t column, bool halves, uint32_t *element) {
   *element = halves ? column : (row & 2) | (column & 4) | (column & 1);
   return halves ? quad_lane(quad, row) : quad_lane(quad, (row & 4) | (column & 2) | (row & 1));
}

static void multiply_quads(const product_t *p) {
   const bool halves_in = p->tensor->type[TENSOR_C] == TENSOR_F16,
              halves_out = p->tensor->type[TENSOR_D] == TENSOR_F16;
   machine_warp_t *warp = p->warp;
   float results[4][8][8];
   for (uint32_t quad = 0; quad < 4; quad++)
      for (uint32_t row = 0; row < 8; row++)
         for (uint32_t column = 0; column < 8; column++) {
            uint32_t element, lane = quad_place(quad, row, column, halves_in, &element);
            const uint32_t word = words_of(p, &p->c[halves_in ? element / 2 : element])[lane];
            const float addend =
               halves_in ? half_to_float((uint16_t)(word >> 16 * (element % 2))) : bits_to_float(word);
            float x[4], y[4];
            for (uint32_t k = 0; k < 4; k++) {
               x[k] = quad_factor(p, false, quad, row, k);
               y[k] = quad_factor(p, true, quad, column, k);
            }
            const float low = fmaf(x[1], y[1], x[0] * y[0]), high = fmaf(x[3], y[3], x[2] * y[2]);
            results[quad][row][column] =
               halves_out
                  ? addend + low + high
                  : addend + fmaf(x[3], y[3], fmaf(x[2], y[2], fmaf(x[1], y[1], fmaf(x[0], y[0], 0))));
         }
   for (uint32_t quad = 0; quad < 4; quad++)
      for (uint32_t row = 0; row < 8; row++)
         for (uint32_t column = 0; column < 8; column++) {
            uint32_t element, lane = quad_place(quad, row, column, halves_out, &element);
            const float value = results[quad][row][column];
            if (halves_out)
               ((uint16_t *)(void *)LANES_OF(uint32_t, p->d[element / 2].offset))[2 * lane + element % 2] =
                  half_of(value);
            else
               LANES_OF(uint32_t, p->d[element].offset)[lane] = canonical(value);
         }
}

/* Doubles: fused multiply-adds, one after the other. */
static void multiply_doubles(const product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   double sum[TILE];
   for (uint32_t half = 0; half < tensor->halves; half++) {
      const machine_slot_t *pair = pair_of(tensor, p->c, 0, 0, half);
      weave_doubles(LANES_OF(double, pair[0].offset), LANES_OF(double, pair[1].offset),
                    sum + 8 * TENSOR_COLUMNS * half);
   }
   for (uint32_t row = 0; row < 8u * tensor->halves; row++)
      for (uint32_t column = 0; column < TENSOR_COLUMNS; column++)
         for (uint32_t k = 0; k < tensor->k; k++) {
            const double *a = LANES_OF(double, p->a[tensor_a_register(tensor, 0, k / 4, row / 8)].offset);
            const double *b = LANES_OF(double, p->b[tensor_b_register(tensor, 0, k / 4)].offset);
            double *at = &sum[row * TENSOR_COLUMNS + column];
            const double x = a[4 * (row % 8) + k % 4], y = b[4 * column + k % 4];
            *at = settle3(fma(x, y, *at), x, y, *at);
         }
   for (uint32_t half = 0; half < tensor->halves; half++) {
      const machine_slot_t *pair = pair_of(tensor, p->d, 0, 0, half);
      unweave_doubles(sum + 8 * TENSOR_COLUMNS * half, LANES_OF(double, pair[0].offset),
                      LANES_OF(double, pair[1].offset));
   }
}

/* Integers: a word of a against a word of b. */
static int32_t dot_words(const machine_tensor_t *tensor, uint32_t x, uint32_t y) {
   if (tensor->bits)
      return __builtin_popcount(tensor->bits == 'x' ? x ^ y : x & y);
   const uint32_t width = 32u / tensor->per_word, unused = 32 - width;
   const bool signed_a = tensor->type[TENSOR_A] == TENSOR_S8 || tensor->type[TENSOR_A] == TENSOR_S4,
              signed_b = tensor->type[TENSOR_B] == TENSOR_S8 || tensor->type[TENSOR_B] == TENSOR_S4;
   int32_t sum = 0;
   for (uint32_t e = 0; e < tensor->per_word; e++) {
      const uint32_t high_x = x << (unused - width * e), high_y = y << (unused - width * e);
      sum += (signed_a ? (int32_t)high_x >> unused : (int32_t)(high_x >> unused)) *
             (signed_b ? (int32_t)high_y >> unused : (int32_t)(high_y >> unused));
   }
   return sum;
}

static void multiply_whole_tile(const product_t *p, uint32_t row_tile, uint32_t column_tile, uint32_t *sum) {
   const machine_tensor_t *tensor = p->tensor;
   const bool bytes = !tensor->bits && tensor->per_word == 4, signed_a = tensor->type[TENSOR_A] == TENSOR_S8,
              signed_b = tensor->type[TENSOR_B] == TENSOR_S8;
   take_sums(p, row_tile, column_tile, sum);
   for (uint32_t row = 0; row < 8u * tensor->halves; row++)
      for (uint32_t column = 0; column < TENSOR_COLUMNS; column++) {
         uint32_t *at = &sum[row * TENSOR_COLUMNS + column];
         int64_t total = (int32_t)*at;
         for (uint32_t block = 0; block < tensor->blocks; block++) {
            const uint32_t *a = words_of(p, &p->a[tensor_a_register(tensor, row_tile, block, row / 8)]),
                           *b = words_of(p, &p->b[tensor_b_register(tensor, column_tile, block)]);
            if (bytes)
               total += sum_byte_products((const uint8_t *)(a + 4 * (row % 8)), signed_a,
                                          (const uint8_t *)(b + 4 * column), signed_b);
            for (uint32_t t = 0; t < 4 && !bytes; t++)
               total += dot_words(tensor, a[4 * (row % 8) + t], b[4 * column + t]);
         }
         if (tensor->saturates)
            total = total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total;
         *at = (uint32_t)total;
      }
}

static void multiply_integers(const product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   uint32_t sum[MOST_TILES][TILE], tiles = 0;
   for (uint32_t row_tile = 0; row_tile < tensor->row_tiles; row_tile++)
      for (uint32_t column_tile = 0; column_tile < tensor->column_tiles; column_tile++)
         multiply_whole_tile(p, row_tile, column_tile, sum[tiles++]);
   tiles = 0;
   for (uint32_t row_tile = 0; row_tile < tensor->row_tiles; row_tile++)
      for (uint32_t column_tile = 0; column_tile < tensor->column_tiles; column_tile++)
         put_sums(p, row_tile, column_tile, sum[tiles++]);
}

/* Beside the values ------------------------------------------------------------------------------------------------ */

/* Eight bits: which groups of four lanes are defined whole. */
static uint32_t whole_groups(uint32_t lanes) {
   uint32_t groups = 0;
   for (uint32_t g = 0; g < 8; g++)
      groups |= (uint32_t)((lanes >> 4 * g & 15) == 15) << g;
   return groups;
}

/* A result is defined where the row of a, the column of b and the addend are. */
static void carry_definedness(const product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   const bool pairs = tensor->type[TENSOR_D] == TENSOR_F16, pairs_in = tensor->type[TENSOR_C] == TENSOR_F16;
   uint32_t defined[2 * TENSOR_MOST_REGISTERS] = {0};
   for (uint32_t row_tile = 0; row_tile < tensor->row_tiles; row_tile++)
      for (uint32_t column_tile = 0; column_tile < tensor->column_tiles; column_tile++)
         for (uint32_t half = 0; half < tensor->halves; half++) {
            uint32_t rows = FULL_MASK, columns = FULL_MASK;
            for (uint32_t block = 0; block < tensor->blocks; block++) {
               rows &= warp->defined[p->a[tensor_a_register(tensor, row_tile, block, half)].number];
               columns &= warp->defined[p->b[tensor_b_register(tensor, column_tile, block)].number];
            }
            rows = whole_groups(rows);
            columns = whole_groups(columns);
            for (uint32_t column = 0; column < 2; column++) {
               const uint32_t
                  c = p->c[tensor_c_register(tensor, row_tile, column_tile, half, column, pairs_in)].number,
                  d = tensor_c_register(tensor, row_tile, column_tile, half, column, pairs);
               uint32_t lanes = 0;
               for (uint32_t l = 0; l < LANES; l++)
                  lanes |= (rows >> l / 4 & columns >> (2 * (l % 4) + column) & warp->defined[c] >> l & 1)
                           << l;
               defined[d] = pairs && column ? defined[d] & lanes : lanes;
            }
         }
   for (uint32_t n = 0; n < tensor->registers[TENSOR_D]; n++)
      warp->defined[p->d[n].number] = defined[n];
}

static void carry(const product_t *p, bool defined) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   uint64_t taint = 0;
   const uint32_t sources =
      tensor->registers[TENSOR_A] + tensor->registers[TENSOR_B] + tensor->registers[TENSOR_C];
   for (uint32_t n = 0; warp->taint && n < sources; n++)
      taint |= warp->taint[p->a[n].number];
   const bool doubles = tensor->type[TENSOR_D] == TENSOR_F32 && !tensor->quads;
   for (uint32_t n = 0; n < tensor->registers[TENSOR_D]; n++) {
      if (defined)
         warp->defined[p->d[n].number] = FULL_MASK;
      set_taint(warp, p->d[n].number, taint, FULL_MASK);
      if (warp->valid)
         warp->valid[p->d[n].number] = doubles ? FULL_MASK : 0;
   }
}

static uint32_t defined_sources(const product_t *p) {
   uint32_t defined = FULL_MASK;
   for (uint32_t n = 0; n < (uint32_t)p->tensor->registers[TENSOR_A] + p->tensor->registers[TENSOR_B] +
                               p->tensor->registers[TENSOR_C];
        n++)
      defined &= p->warp->defined[p->a[n].number];
   return defined;
}

/* Whether nothing will ask for the numbers: results without a value are the same to whoever reads them. */
static bool none_defined(const product_t *p) {
   uint32_t defined = 0;
   for (uint32_t n = 0; n < p->tensor->registers[TENSOR_D]; n++)
      defined |= p->warp->defined[p->d[n].number];
   return !defined;
}

OP(mma) {
   const machine_tensor_t *tensor = &warp->program->tensors[i->immediate];
   const machine_slot_t *extras = warp->program->extras + i->extra;
   const product_t p = {.warp = warp,
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
   if (warp->run->options.no_values || (!defined && none_defined(&p)))
      ; /* what is there is as good as any */
   else if (tensor->quads)
      multiply_quads(&p);
   else if (tensor->type[TENSOR_D] == TENSOR_F64)
      multiply_doubles(&p);
   else if (tensor->type[TENSOR_D] == TENSOR_S32)
      multiply_integers(&p);
   else
      multiply_floats(&p);
   carry(&p, defined);
}
