/* Sums of mma that are not aligned and cut off (tensor_multiply.c has those): single fused multiply-adds of halves and of doubles, and integers, whose sums
 * are exact (PTX ISA 9.0, 9.7.15).  On the machine's thread. */
#include "machine/lanes/byte_products.h"
#include "machine/lanes/double_nan.h"
#include "machine/lanes/tensor_product.h"

/* m8n8k4 on halves, which the architectures since 8.0 make of single fused multiply-adds: the products are summed from zero first, then the addend
 * is added.  Lanes 4 q .. 4 q + 3 and 16 + 4 q .. 16 + 4 q + 3 work together. */
static uint32_t quad_lane(uint32_t quad, uint32_t number) {
   return 4 * quad + number % 4 + (number < 4 ? 0 : 16);
}

static float quad_factor(const machine_tensor_product_t *p, bool of_b, uint32_t quad, uint32_t outer,
                         uint32_t k) {
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

void MACHINE_PASTE2(machine_multiply_quads, MACHINE_ISA)(const machine_tensor_product_t *p) {
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
void MACHINE_PASTE2(machine_multiply_doubles, MACHINE_ISA)(const machine_tensor_product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   double sum[TILE];
   machine_count_products(p->warp->run, (uint64_t)8 * tensor->halves * TENSOR_COLUMNS * tensor->k);
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

/* Whether the bytes of a row of a are zeros, as beyond the edge of a matrix. */
static bool row_has_no_bytes(const machine_tensor_product_t *p, uint32_t row_tile, uint32_t row) {
   uint32_t any = 0;
   for (uint32_t block = 0; block < p->tensor->blocks; block++) {
      const uint32_t *a =
         words_of(p, &p->a[tensor_a_register(p->tensor, row_tile, block, row / 8)]) + 4 * (row % 8);
      any |= a[0] | a[1] | a[2] | a[3];
   }
   return any == 0;
}

static void multiply_whole_tile(const machine_tensor_product_t *p, uint32_t row_tile, uint32_t column_tile,
                                uint32_t *sum) {
   const machine_tensor_t *tensor = p->tensor;
   const bool bytes = !tensor->bits && tensor->per_word == 4, signed_a = tensor->type[TENSOR_A] == TENSOR_S8,
              signed_b = tensor->type[TENSOR_B] == TENSOR_S8;
   take_sums(p, row_tile, column_tile, sum);
   machine_count_products(p->warp->run, (uint64_t)8 * tensor->halves * TENSOR_COLUMNS * tensor->k);
   for (uint32_t row = 0; row < 8u * tensor->halves; row++) {
      if (bytes && row_has_no_bytes(p, row_tile, row))
         continue;
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
}

static bool are_zeros(const machine_tensor_product_t *p, const machine_slot_t *registers, uint32_t count) {
   uint32_t any = 0;
   for (uint32_t n = 0; n < count; n++) {
      const uint32_t *words = words_of(p, &registers[n]);
      EACH_LANE any |= words[l];
   }
   return any == 0;
}

/* Sums to which only zeros are added, as beyond the edges of a matrix: results are their addends.  They count as made. */
static void keep_sums(const machine_tensor_product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   machine_warp_t *warp = p->warp;
   uint32_t kept[TENSOR_MOST_REGISTERS][LANES];
   for (uint32_t n = 0; n < tensor->row_tiles * tensor->column_tiles; n++)
      machine_count_products(warp->run, (uint64_t)8 * tensor->halves * TENSOR_COLUMNS * tensor->k);
   for (uint32_t n = 0; n < tensor->registers[TENSOR_C];
        n++) /* first: a result's register may be another one's addend */
      memcpy(kept[n], words_of(p, &p->c[n]), sizeof kept[n]);
   for (uint32_t n = 0; n < tensor->registers[TENSOR_D]; n++)
      memcpy(LANES_OF(uint32_t, p->d[n].offset), kept[n], sizeof kept[n]);
}

void MACHINE_PASTE2(machine_multiply_integers, MACHINE_ISA)(const machine_tensor_product_t *p) {
   const machine_tensor_t *tensor = p->tensor;
   uint32_t sum[MOST_TILES][TILE], tiles = 0;
   if (!tensor->bits &&
       (are_zeros(p, p->a, tensor->registers[TENSOR_A]) || are_zeros(p, p->b, tensor->registers[TENSOR_B]))) {
      keep_sums(p);
      return;
   }
   for (uint32_t row_tile = 0; row_tile < tensor->row_tiles; row_tile++)
      for (uint32_t column_tile = 0; column_tile < tensor->column_tiles; column_tile++)
         multiply_whole_tile(p, row_tile, column_tile, sum[tiles++]);
   tiles = 0;
   for (uint32_t row_tile = 0; row_tile < tensor->row_tiles; row_tile++)
      for (uint32_t column_tile = 0; column_tile < tensor->column_tiles; column_tile++)
         put_sums(p, row_tile, column_tile, sum[tiles++]);
}
