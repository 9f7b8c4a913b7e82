/* Draws the numbers of inputs (input_numbers.h). */
#include "task/input_numbers.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "reference/dtype.h"
#include "task/inputs.h"

/* For a recipe of numbers uniform between -scale and scale, finds scale; false for other recipes. */
static bool uniform_of(const rkb_recipe_t *recipe, double *scale) {
   switch (recipe->kind) {
   case RKB_INIT_KAIMING:
      *scale = sqrt(1 / recipe->first);
      return true;
   case RKB_INIT_XAVIER:
      *scale = sqrt(6 / (recipe->first + recipe->second));
      return true;
   default:
      return false;
   }
}

/* As rkb_random_real: 53 bits over 2^53.  Each half of them becomes the fraction of a double; every step is exact.  There is no instruction
 * for such a conversion side by side before AVX-512, and these are shifts and sums. */
static inline double uniform_from(uint64_t bits) {
   const uint64_t high_bits =
                     bits >> 43 | UINT64_C(0x4530000000000000), /* 2^84 + 2^32 times the upper 21 bits */
      low_bits = (bits >> 11 & UINT32_MAX) | UINT64_C(0x4330000000000000); /* 2^52 + the lower 32 */
   double high, low;
   memcpy(&high, &high_bits, sizeof high);
   memcpy(&low, &low_bits, sizeof low);
   return ((high - 0x1p84) + (low - 0x1p52)) * 0x1p-53;
}

/* Turns the stream's draw for an element into a number by the recipe. */
static double recipe_of(const rkb_recipe_t *recipe, uint64_t draw) {
   double uniform = uniform_from(draw), scale;
   if (uniform_of(recipe, &scale))
      return (2 * uniform - 1) * scale;
   switch (recipe->kind) {
   case RKB_INIT_NORMAL:
      return recipe->first + recipe->second * rkb_random_normal_of(draw);
   case RKB_INIT_KAIMING_NORMAL:
      return sqrt(2 / recipe->first) * rkb_random_normal_of(draw);
   case RKB_INIT_POSITIVE:
      return fabs(recipe->first + recipe->second * rkb_random_normal_of(draw)) + 0.1;
   case RKB_INIT_ONES:
      return 1;
   case RKB_INIT_CONSTANT:
      return recipe->first;
   case RKB_INIT_ZEROS:
      return 0;
   case RKB_INIT_UNIFORM:
      return recipe->first + (recipe->second - recipe->first) * uniform;
   default: /* integers */
      return recipe->first + floor(uniform * (recipe->second - recipe->first));
   }
}

/* The spread of the recipe's numbers about their mean. */
static double spread_of(const rkb_recipe_t *recipe) {
   switch (recipe->kind) {
   case RKB_INIT_NORMAL:
   case RKB_INIT_POSITIVE:
      return recipe->second;
   case RKB_INIT_UNIFORM:
      return (recipe->second - recipe->first) / sqrt(12);
   case RKB_INIT_KAIMING:
      return sqrt(1 / (3 * recipe->first));
   case RKB_INIT_KAIMING_NORMAL:
      return sqrt(2 / recipe->first);
   case RKB_INIT_XAVIER:
      return sqrt(2 / (recipe->first + recipe->second));
   default:
      return 0;
   }
}

static bool is_positive(const rkb_recipe_t *recipe) {
   return recipe->kind == RKB_INIT_POSITIVE || (recipe->kind == RKB_INIT_UNIFORM && recipe->first >= 0);
}

static bool spans_int32(const rkb_recipe_t *recipe) {
   return recipe->second >= recipe->first && recipe->second - recipe->first <= INT32_MAX;
}

/* Turns draws into numbers by the recipe.  The most common recipes are computed side by side. */
static void recipe_numbers(const rkb_recipe_t *recipe, uint64_t count, const uint64_t *draws, double *out) {
   double scale;
   if (recipe->kind == RKB_INIT_NORMAL) {
      rkb_random_normals(count, draws, out);
      for (uint64_t i = 0; i < count; i++)
         out[i] = recipe->first + recipe->second * out[i];
   } else if (uniform_of(recipe, &scale)) {
      for (uint64_t i = 0; i < count; i++)
         out[i] = (2 * uniform_from(draws[i]) - 1) * scale;
   } else if (recipe->kind == RKB_INIT_INTEGERS && spans_int32(recipe)) {
      const double low = recipe->first, span = recipe->second - recipe->first;
      for (uint64_t i = 0; i < count; i++) /* no number is negative before low is added: cut off is floor */
         out[i] = low + (double)(int32_t)(uniform_from(draws[i]) * span);
   } else {
      for (uint64_t i = 0; i < count; i++)
         out[i] = recipe_of(recipe, draws[i]);
   }
}

/* Whether a draw starts from the recipe's numbers. */
static bool is_of_recipe(uint32_t kind) {
   return kind == RKB_DRAW_RECIPE || kind == RKB_DRAW_MIXED || kind == RKB_DRAW_SHIFTED ||
          kind == RKB_DRAW_SUBNORMAL || kind == RKB_DRAW_SCALED || kind == RKB_DRAW_TINY ||
          kind == RKB_DRAW_STRONG || kind == RKB_DRAW_LEVEL || kind == RKB_DRAW_BELOW ||
          kind == RKB_DRAW_PEAKS || kind == RKB_DRAW_MASKED || kind == RKB_DRAW_NAN ||
          kind == RKB_DRAW_ONE_NAN || kind == RKB_DRAW_PLANTED;
}

/* Whether a draw uses a second random number for each element. */
static bool uses_extra(uint32_t kind) {
   return kind != RKB_DRAW_RECIPE && kind != RKB_DRAW_SHIFTED && kind != RKB_DRAW_SCALED &&
          kind != RKB_DRAW_TINY && kind != RKB_DRAW_STRONG && kind != RKB_DRAW_LEVEL &&
          kind != RKB_DRAW_CONSTANT && kind != RKB_DRAW_ONE_HOT && kind != RKB_DRAW_BELOW &&
          kind != RKB_DRAW_PEAKS && kind != RKB_DRAW_MASKED && kind != RKB_DRAW_ONE_NAN;
}

static double one_hot(const rkb_tensor_t *view, const rkb_random_t *extra, uint64_t element) {
   const uint64_t length = view->rank ? (uint64_t)view->shape[view->rank - 1] : 1, row = element / length;
   return rkb_random_at(extra, row) % length == element % length;
}

#define LEAST_LOOP 5u /* loops of threads have at least 2^5 turns at once */

/* Where a row of so many elements has its largest element.  Every fourth row has it at the row's end, and every fourth where a loop over a power of two of
 * threads comes round; the others have it anywhere. */
static uint64_t peak_of_row(const rkb_random_t *extra, uint64_t row, uint64_t length) {
   const uint64_t bits = rkb_random_at(extra, row), rest = bits >> 8;
   const uint32_t powers =
      length > 1u << LEAST_LOOP ? 63 - (uint32_t)__builtin_clzll(length - 1) - LEAST_LOOP + 1 : 0;
   if (bits % 4 == 0)
      return length - 1 - rest % (length < 2 ? 1 : 2);
   return bits % 4 == 1 && powers ? UINT64_C(1) << (LEAST_LOOP + rest % powers) : rest % length;
}

static void put_peaks(const rkb_draw_t *draw, const rkb_recipe_t *recipe, const rkb_tensor_t *view,
                      const rkb_random_t *extra, uint64_t first, uint64_t count, double *numbers) {
   const uint64_t length = view->rank ? (uint64_t)view->shape[view->rank - 1] : 1;
   const double mean = recipe->kind == RKB_INIT_NORMAL ? fabs(recipe->first) : 0,
                peak = draw->first * (mean + 8 * spread_of(recipe));
   for (uint64_t i = 0; i < count; i++) {
      const uint64_t element = rkb_structure_source(recipe->structure, view, first + i);
      numbers[i] =
         peak_of_row(extra, element / length, length) == element % length ? peak : numbers[i] * draw->first;
   }
}

/* Whether the element at a place of a row is minus infinity.  Places that are a multiple of 64 apart are masked together in a quarter of the rows, so that all
 * elements of some thread are; in two more quarters all places from one on, or all before it.  One place of each row is never masked: the reference of a row
 * without numbers is NaN. */
static bool is_masked(uint64_t bits, uint64_t place, uint64_t length) {
   const uint64_t rest = bits >> 2, bound = rest % length;
   if (place == (rest >> 32) % length)
      return false;
   switch (bits % 4) {
   case 0:
      return bits >> place % 64 & 1;
   case 1:
      return place >= bound;
   case 2:
      return place < bound;
   default:
      return false;
   }
}

static void put_masked(const rkb_draw_t *draw, const rkb_recipe_t *recipe, const rkb_tensor_t *view,
                       const rkb_random_t *extra, uint64_t first, uint64_t count, double *numbers) {
   const uint64_t length = view->rank ? (uint64_t)view->shape[view->rank - 1] : 1;
   uint64_t row = UINT64_MAX, bits = 0;
   for (uint64_t i = 0; i < count; i++) {
      const uint64_t element = rkb_structure_source(recipe->structure, view, first + i);
      if (element / length != row) {
         row = element / length;
         bits = rkb_random_at(extra, row);
      }
      numbers[i] = is_masked(bits, element % length, length) ? -INFINITY : numbers[i] * draw->first;
   }
}

/* In a quarter of the rows zeros of both signs are the largest, in another quarter the smallest: in a long row, other numbers would mostly be. */
static void let_zeros_lead(const rkb_tensor_t *view, const rkb_random_t *extra, uint64_t first,
                           uint64_t count, double *numbers) {
   const uint64_t length = view->rank ? (uint64_t)view->shape[view->rank - 1] : 1;
   for (uint64_t i = 0; i < count;) {
      const uint64_t row = (first + i) / length, left = (row + 1) * length - first - i,
                     end = i + (left < count - i ? left : count - i),
                     way = rkb_random_at(extra, (UINT64_C(1) << 62) + row) % 4;
      const double sign = way == 0 ? -1 : 1;
      for (; way < 2 && i < end; i++)
         numbers[i] = numbers[i] == 0 ? numbers[i] : sign * fabs(numbers[i]);
      i = end;
   }
}

/* The number where it is wanted, and +0 elsewhere: without a branch, whose way the processor would have to guess. */
static inline double where(bool wanted, double number) {
   uint64_t bits;
   memcpy(&bits, &number, sizeof bits);
   bits &= 0 - (uint64_t)wanted;
   memcpy(&number, &bits, sizeof bits);
   return number;
}

/* 1, or -1 for an odd number. */
static inline double sign_of(uint64_t bits) {
   const uint64_t one = (bits & 1) << 63 | UINT64_C(0x3ff0000000000000);
   double sign;
   memcpy(&sign, &one, sizeof sign);
   return sign;
}

/* Makes one element of a draw that needs only random bits. */
static inline __attribute__((always_inline)) double number_of_bits(uint32_t kind, double first, bool positive,
                                                                   uint64_t bits) {
   static const double powers[8] = {0.125, 0.25, 0.5, 1, 2, 4, 8, 0.125};
   const double uniform = uniform_from(bits), sign = sign_of(bits);
   switch (kind) {
   case RKB_DRAW_TIES:
      /* Half of the zeros are -0, which equals 0 and has other bits. */
      return positive ? 0.5 * (double)(1 + bits % 4)
                      : (bits >> 62 & 1 ? -0.5 : 0.5) * (double)((int64_t)(bits % 5) - 2);
   case RKB_DRAW_CONSTANT:
      return positive ? 0.5 : 0.75;
   case RKB_DRAW_ODD:
      return sign * (double)(2049 + 2 * (bits >> 1) % 6142);
   case RKB_DRAW_SIGNS:
      return where(uniform < first, sign);
   case RKB_DRAW_MANTISSA:
      return sign * (1 + (double)(bits >> 41 | 1) * 0x1p-23);
   case RKB_DRAW_SPARSE:
      return where(uniform < first, sign * powers[bits >> 1 & 7]);
   default: /* RKB_DRAW_SMALL */
      return (double)((int64_t)(bits % 17) - 8);
   }
}

/* Has one loop for each kind, so that no loop asks at each element which kind it is. */
static void numbers_of_bits(const rkb_draw_t *draw, bool positive, uint64_t count, const uint64_t *bits,
                            double *out) {
   const double first = draw->first;
#define EACH(kind)                                                                                           \
   case kind:                                                                                                \
      for (uint64_t i = 0; i < count; i++)                                                                   \
         out[i] = number_of_bits(kind, first, positive, bits[i]);                                            \
      return;
   switch (draw->kind) {
      EACH(RKB_DRAW_TIES)
      EACH(RKB_DRAW_ODD)
      EACH(RKB_DRAW_SIGNS)
      EACH(RKB_DRAW_MANTISSA)
      EACH(RKB_DRAW_SPARSE)
   case RKB_DRAW_CONSTANT: /* asks for no bits */
      for (uint64_t i = 0; i < count; i++)
         out[i] = number_of_bits(RKB_DRAW_CONSTANT, first, positive, 0);
      return;
   default:
      for (uint64_t i = 0; i < count; i++)
         out[i] = number_of_bits(RKB_DRAW_SMALL, first, positive, bits[i]);
   }
#undef EACH
}

/* Puts NaN at the element that the seed chooses, and at the elements that the tensor's structure makes equal
 * to it. */
static void put_nan(uint32_t structure, const rkb_tensor_t *view, const rkb_random_t *extra, uint64_t first,
                    uint64_t count, double *numbers) {
   const uint64_t which = rkb_structure_source(structure, view, rkb_random_at(extra, 0) % view->elements);
   for (uint64_t i = 0; i < count; i++)
      numbers[i] = rkb_structure_source(structure, view, first + i) == which ? (double)NAN : numbers[i];
}

/* The recipe's numbers, or numbers from 1 to 2, times a power of two.  If the numbers are far from 2^-40, all are of one size: a kernel may take another way for a
 * tile in which one number is smaller.  A type of a smaller range, and what is added to a product of tiny factors, has another power, of which the same part
 * is taken. */
static void put_tiny(const rkb_draw_t *draw, bool positive, int power, uint64_t count, const uint64_t *bits,
                     double *numbers) {
   const double scale = ldexp(1, ilogb(draw->first) * power / RKB_TINY_POWER);
   for (uint64_t i = 0; i < count && power != RKB_TINY_POWER; i++) {
      const double number = number_of_bits(RKB_DRAW_MANTISSA, 0, positive, bits[i]);
      numbers[i] = positive ? fabs(number) : number;
   }
   for (uint64_t i = 0; i < count; i++)
      numbers[i] *= scale;
}

/* Changes the recipe's numbers into the draw's numbers. */
static void change_numbers(const rkb_draw_t *draw, const rkb_recipe_t *recipe, const rkb_random_t *extra,
                           uint64_t count, const uint64_t *bits, double *numbers) {
   const double first = draw->first;
   switch (draw->kind) {
   case RKB_DRAW_MIXED:
      for (uint64_t i = 0; i < count; i++)
         numbers[i] *= pow(10, 6 * uniform_from(bits[i]) - 3);
      break;
   case RKB_DRAW_SHIFTED: {
      const double shift = first * spread_of(recipe);
      for (uint64_t i = 0; i < count; i++)
         numbers[i] += shift;
      break;
   }
   case RKB_DRAW_SUBNORMAL:
      for (uint64_t i = 0; i < count; i++)
         numbers[i] *= uniform_from(bits[i]) < 0.125 ? first : 1;
      break;
   case RKB_DRAW_BELOW:
      for (uint64_t i = 0; i < count; i++)
         numbers[i] = first - fabs(numbers[i] * first) * 0x1p-20;
      break;
   case RKB_DRAW_NAN:
      for (uint64_t i = 0; i < count; i++)
         numbers[i] = uniform_from(bits[i]) < 0x1p-4 ? (double)NAN : numbers[i];
      break;
   case RKB_DRAW_LEVEL: {
      const double level = pow(10, uniform_from(rkb_random_at(extra, UINT64_C(1) << 62)) - 0.5);
      for (uint64_t i = 0; i < count; i++)
         numbers[i] = numbers[i] * first * level;
      break;
   }
   default: /* RKB_DRAW_SCALED, RKB_DRAW_STRONG */
      for (uint64_t i = 0; i < count; i++)
         numbers[i] *= first;
   }
}

/* Rounds to the tensor's type.  A number beyond a narrow type's range becomes its largest: no input is infinite by chance. */
static void round_numbers(uint32_t dtype, uint64_t count, double *numbers) {
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   const double largest = narrow ? narrow->largest : 0; /* read once: it might be one of the numbers */
   for (uint64_t i = 0; narrow && i < count; i++)
      numbers[i] = numbers[i] > largest ? largest
                   : numbers[i] < -largest && numbers[i] >= -DBL_MAX
                      ? -largest
                      : numbers[i]; /* NaN and minus infinity stay */
   rkb_dtype_round_each(dtype, count, numbers);
}

#define FEW 64u /* elements of a piece that the table keeps */

/* bits: room for count. */
static void draw(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first, uint64_t count, uint64_t *bits,
                 double *out) {
   const rkb_recipe_t *recipe = &inputs->bound->recipes[tensor];
   const rkb_draw_t *draw = &inputs->family->draws[tensor];
   const rkb_random_t *own = &inputs->streams[2 * tensor], *extra = own + 1;
   const rkb_tensor_t *view = &inputs->bound->view.tensors[tensor];
   if (is_of_recipe(draw->kind)) {
      rkb_structure_draw(recipe->structure, view, own, first, count, bits);
      recipe_numbers(recipe, count, bits, out);
   }
   if (uses_extra(draw->kind))
      rkb_structure_draw(recipe->structure, view, extra, first, count, bits);
   if (draw->kind == RKB_DRAW_ONE_NAN)
      put_nan(recipe->structure, view, extra, first, count, out);
   else if (draw->kind == RKB_DRAW_PEAKS)
      put_peaks(draw, recipe, view, extra, first, count, out);
   else if (draw->kind == RKB_DRAW_TINY)
      put_tiny(draw, is_positive(recipe), inputs->tiny_power, count, bits, out);
   else if (draw->kind == RKB_DRAW_MASKED)
      put_masked(draw, recipe, view, extra, first, count, out);
   else if (draw->kind == RKB_DRAW_PLANTED)
      rkb_planted_put(inputs->planted, tensor, rkb_random_at(extra, UINT64_C(1) << 62), count, bits, out);
   else if (is_of_recipe(draw->kind) && draw->kind != RKB_DRAW_RECIPE)
      change_numbers(draw, recipe, extra, count, bits, out);
   else if (draw->kind == RKB_DRAW_ONE_HOT)
      for (uint64_t i = 0; i < count; i++)
         out[i] = one_hot(view, extra, rkb_structure_source(recipe->structure, view, first + i));
   else if (draw->kind != RKB_DRAW_RECIPE)
      numbers_of_bits(draw, is_positive(recipe), count, bits, out);
   if (draw->kind == RKB_DRAW_TIES && recipe->structure == RKB_STRUCTURE_NONE && !is_positive(recipe))
      let_zeros_lead(view, extra, first, count, out);
   rkb_structure_clear(recipe->structure, view, first, count, out);
   round_numbers(view->dtype, count, out);
}

/* The compiler touches each page of a large array on the stack, which takes longer than to draw one element. */
static __attribute__((noinline)) void draw_many(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first,
                                                uint64_t count, double *out) {
   uint64_t bits[RKB_INPUT_PIECE];
   draw(inputs, tensor, first, count, bits, out);
}

void rkb_input_numbers_draw(const void *argument, uint32_t tensor, uint64_t first, uint64_t count,
                            double *out) {
   uint64_t bits[FEW];
   if (count > FEW)
      draw_many(argument, tensor, first, count, out);
   else
      draw(argument, tensor, first, count, bits, out);
}
