/* Conversion between element types: one rounding that the graph asks for, to nearest even in a float type and
 * towards zero in an integer type.  Pure functions of their points.
 *
 * The value is the rounded one.  The reference rounds in the middle on purpose, so a kernel that leaves the
 * rounding out is outside the bound.  If the operand is known exactly, so is the result.  If the operand has
 * a bound, the result lies between the rounded lowest and the rounded highest operand, and is certain when
 * both round to the same number. */
#include "reference/operations/convert.h"

#include <math.h>
#include <string.h>
#include "reference/dtype.h"
#include "reference/operations/elementwise.h"

/* Whether converting gives a finite number.  Beyond the range of an integer type, C and CUDA leave the result
 * undefined or define it differently. */
static bool is_in_range(uint32_t dtype, double x) {
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   if (narrow)
      return fabs(x) <= narrow->largest;
   if (rkb_dtype_is_float(dtype))
      return true;
   const double above = dtype == RKB_U8 ? 256 : exp2(8 * rkb_dtype_bytes(dtype) - 1);
   return x < above && x > (dtype == RKB_U8 ? -1 : -above - 1);
}

/* The largest distance between the number to which a point converts and the numbers to which the ends of an
 * interval about it convert. */
static double step_between(uint32_t dtype, double value, double converted, double reach) {
   return fmax(fabs(rkb_dtype_convert(dtype, value + reach) - converted),
               fabs(converted - rkb_dtype_convert(dtype, value - reach)));
}

/* reals: the type, and whether nothing is rounded. */
static rkb_point_t point_convert(const rkb_precision_t *precision, const double *reals,
                                 const rkb_point_t *in) {
   const uint32_t dtype = (uint32_t)reals[0];
   const double converted = rkb_dtype_convert(dtype, in[0].value);
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   (void)precision;
   if (reals[1] != 0 || isinf(in[0].value) || (rkb_dtype_is_float(dtype) && rkb_point_is_nan(in[0])))
      return in[0];
   if (!is_in_range(dtype, in[0].value - in[0].hard) || !is_in_range(dtype, in[0].value + in[0].hard))
      return (rkb_point_t){isnan(converted) ? 0 : converted, 0, 0, in[0].flags | RKB_POINT_DONT_CARE};
   if (in[0].hard == 0)
      return (rkb_point_t){converted, 0, 0, in[0].flags};
   const double sigma = sqrt(in[0].variance), likely = step_between(dtype, in[0].value, converted, 8 * sigma);
   /* A rounding boundary lies within 8 sigma, so the result may be the neighbouring number.  The probability
    * of that is at most 1/2, which has the variance step^2 / 4.  In addition, 8 standard deviations must
    * reach the neighbour itself. */
   const double step = fmin(likely, narrow ? ldexp(fabs(in[0].value) + in[0].hard, 1 - narrow->bits) : 1);
   const double variance = likely > 0 ? fmax(in[0].variance + step * step / 4, likely * likely / 64) : 0;
   return (rkb_point_t){converted, step_between(dtype, in[0].value, converted, in[0].hard), variance,
                        in[0].flags};
}

#define GROUP 64u /* points that are rounded side by side */

/* What point_convert says of a group, where the type is narrow and numbers are rounded. */
static void convert_group(uint32_t dtype, const rkb_narrow_t *narrow, uint32_t count, const rkb_block_t *in,
                          rkb_block_t *out) {
   enum { VALUE, BELOW, ABOVE, LIKELY_BELOW, LIKELY_ABOVE, ROUNDED };
   double rounded[ROUNDED][GROUP];
   const double unit = ldexp(1, 1 - narrow->bits), largest = narrow->largest;
   bool exact = true;
   for (uint32_t i = 0; i < count; i++) {
      const double value = in->value[i], hard = in->hard[i], sigma = sqrt(in->variance[i]);
      exact &= hard == 0;
      rounded[VALUE][i] = value;
      rounded[BELOW][i] = value - hard;
      rounded[ABOVE][i] = value + hard;
      rounded[LIKELY_BELOW][i] = value - 8 * sigma;
      rounded[LIKELY_ABOVE][i] = value + 8 * sigma;
   }
   for (int k = 0; k < (exact ? 1 : ROUNDED); k++)
      rkb_dtype_round_each(dtype, count, rounded[k]);
   for (uint32_t i = 0; i < count; i++) {
      const rkb_point_t x = rkb_block_get(in, i);
      const double converted = rounded[VALUE][i];
      rkb_point_t point = {converted, 0, 0, x.flags};
      if (isinf(x.value) || rkb_point_is_nan(x)) {
         point = x;
      } else if (!(fabs(x.value - x.hard) <= largest && fabs(x.value + x.hard) <= largest)) {
         point.value = isnan(converted) ? 0 : converted;
         point.flags |= RKB_POINT_DONT_CARE;
      } else if (x.hard != 0) {
         const double likely = fmax(fabs(rounded[LIKELY_ABOVE][i] - converted),
                                    fabs(converted - rounded[LIKELY_BELOW][i])),
                      step = fmin(likely, (fabs(x.value) + x.hard) * unit);
         point.hard = fmax(fabs(rounded[ABOVE][i] - converted), fabs(converted - rounded[BELOW][i]));
         point.variance = likely > 0 ? fmax(x.variance + step * step / 4, likely * likely / 64) : 0;
      }
      rkb_block_put(out, i, point);
   }
}

static void points_convert(const rkb_precision_t *precision, const double *reals, uint64_t count,
                           const rkb_block_t *operands, rkb_block_t *out) {
   const uint32_t dtype = (uint32_t)reals[0];
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   if (reals[1] != 0) { /* nothing is rounded */
      memmove(out->value, operands[0].value, count * sizeof *out->value);
      memmove(out->hard, operands[0].hard, count * sizeof *out->hard);
      memmove(out->variance, operands[0].variance, count * sizeof *out->variance);
      memmove(out->flags, operands[0].flags, count);
      return;
   }
   for (uint64_t i = 0; !narrow && i < count; i++) {
      const rkb_point_t in = rkb_block_get(&operands[0], i);
      rkb_block_put(out, i, point_convert(precision, reals, &in));
   }
   for (uint64_t i = 0; narrow && i < count; i += GROUP) {
      const rkb_block_t from = rkb_block_from(&operands[0], i);
      rkb_block_t to = rkb_block_from(out, i);
      convert_group(dtype, narrow, count - i < GROUP ? (uint32_t)(count - i) : GROUP, &from, &to);
   }
}

/* As in PyTorch's autograd, the gradient is converted back and passed on; no gradient flows through integers. */
static uint32_t gradient(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                         uint32_t grad) {
   (void)which;
   return rkb_dtype_is_float(rkb_program_dtype(program, node->output)) &&
                rkb_dtype_is_float(rkb_program_dtype(program, node->inputs[0]))
             ? grad
             : RKB_NO_VALUE;
}

static const rkb_operation_t convert = {.name = "convert",
                                        .converts = true,
                                        .compute = rkb_elementwise_compute,
                                        .work = rkb_elementwise_work,
                                        .gradient = gradient,
                                        .point = point_convert,
                                        .points = points_convert};

uint32_t rkb_make_convert(rkb_program_t *program, uint32_t x, uint32_t dtype) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   uint32_t from = rkb_program_dtype(program, x);
   if (program->failed || from == dtype)
      return x;
   return rkb_program_add(program, &convert, &x, 1, NULL, 0, (double[]){dtype, rkb_dtype_holds(dtype, from)}, 2, dtype,
                          &shape);
}
