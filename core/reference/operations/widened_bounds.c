/* Wider bounds for other ways to compute a value.  Pure functions of their points. */
#include "reference/operations/widened_bounds.h"

#include "reference/dtype.h"
#include "reference/operations/elementwise.h"

/* reals: units, and whether there is a third operand. */
static rkb_point_t point_roundings(const rkb_precision_t *precision, const double *reals,
                                   const rkb_point_t *in) {
   rkb_point_t point = in[0];
   if (rkb_point_is_nan(in[0]) || rkb_point_is_nan(in[1]) || (reals[1] != 0 && rkb_point_is_nan(in[2])))
      return rkb_point_nan();
   double size = fabs(in[1].value) * (reals[1] != 0 ? fabs(in[2].value) : 1);
   double rounding = reals[0] * precision->unit * size;
   point.hard += rounding;
   point.variance += rounding * rounding / 3;
   point.flags |= (in[1].flags | in[2].flags) & RKB_POINT_DONT_CARE;
   return point;
}

/* The point with one rounding of a number of a narrow type: of `size`, or of half the least subnormal number. */
static rkb_point_t with_storage(rkb_point_t point, const rkb_narrow_t *type, double size) {
   const double rounding = fmax(ldexp(size, -type->bits), ldexp(1, type->least_exponent - 1));
   point.hard += rounding;
   point.variance += rounding * rounding / 3;
   if (!(size + rounding < type->largest))
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}

/* reals: the type, units for slopes, and whether there is a second operand: what is added after the storage. */
static rkb_point_t point_stored(const rkb_precision_t *precision, const double *reals,
                                const rkb_point_t *in) {
   const uint32_t dtype = (uint32_t)reals[0];
   const rkb_point_t addend = reals[2] != 0 ? in[1] : (rkb_point_t){0};
   const double part = in[0].value - addend.value;
   (void)precision;
   if (!isfinite(part) || (in[0].hard == 0 && rkb_dtype_round(dtype, part) == part))
      return in[0];
   return with_storage(in[0], rkb_dtype_narrow(dtype), fabs(part) + in[0].hard + addend.hard);
}

static rkb_point_t point_other_way(const rkb_precision_t *precision, const double *reals,
                                   const rkb_point_t *in) {
   const double gap = fabs(in[0].value - in[1].value);
   rkb_point_t point = in[0];
   (void)precision, (void)reals;
   if (rkb_point_is_nan(in[0]) || isinf(in[0].value))
      return in[0];
   point.hard = fmax(point.hard, gap + in[1].hard);
   point.variance = fmax(point.variance, in[1].variance);
   point.flags |= (in[1].flags & RKB_POINT_DONT_CARE) | (isnan(gap) ? RKB_POINT_DONT_CARE : 0);
   return point;
}

RKB_POINTS(roundings)
RKB_POINTS(stored)
RKB_POINTS(other_way)

static double no_work(const rkb_program_t *program, const rkb_program_node_t *node) {
   (void)program, (void)node;
   return 0;
}

static uint32_t gradient_first(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                               uint32_t grad) {
   (void)program, (void)node;
   return which == 0 ? grad : RKB_NO_VALUE;
}

/* From roundings of a narrow type to roundings of float32. */
static double units_of(uint32_t dtype) {
   return ldexp(1, 24 - rkb_dtype_narrow(dtype)->bits);
}

static uint32_t gradient_stored(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                uint32_t grad) {
   const double units = node->reals[1] * units_of((uint32_t)node->reals[0]);
   if (which != 0)
      return RKB_NO_VALUE;
   return units > 0 ? rkb_make_widened_bound(program, grad, grad, RKB_NO_VALUE, units) : grad;
}

#define ALLOWANCE(label, backward)                                                                           \
   static const rkb_operation_t label = {.name = "allowance",                                                \
                                         .compute = rkb_elementwise_compute,                                 \
                                         .work = no_work,                                                    \
                                         .gradient = gradient_##backward,                                    \
                                         .point = point_##label,                                             \
                                         .points = points_##label};
ALLOWANCE(roundings, first)
ALLOWANCE(stored, stored)
ALLOWANCE(other_way, first)

uint32_t rkb_make_widened_bound(rkb_program_t *program, uint32_t x, uint32_t scale, uint32_t other,
                                double units) {
   const bool both = other != RKB_NO_VALUE;
   return rkb_make_elementwise(program, &roundings, (uint32_t[]){x, scale, other}, both ? 3 : 2,
                               (double[]){units, both}, 2);
}

uint32_t rkb_make_stored(rkb_program_t *program, uint32_t x, uint32_t dtype, uint32_t slope_units) {
   return rkb_make_elementwise(program, &stored, &x, 1, (double[]){dtype, slope_units, 0}, 3);
}

uint32_t rkb_make_stored_part(rkb_program_t *program, uint32_t x, uint32_t addend, uint32_t dtype) {
   return rkb_make_elementwise(program, &stored, (uint32_t[]){x, addend}, 2, (double[]){dtype, 0, 1}, 3);
}

uint32_t rkb_make_other_way(rkb_program_t *program, uint32_t x, uint32_t other) {
   return rkb_make_elementwise(program, &other_way, (uint32_t[]){x, other}, 2, NULL, 0);
}
