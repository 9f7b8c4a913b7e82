/* Curves of steps (step_curve.h). */
#include "statistics/step_curve.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

void rkb_step_curve_add(rkb_step_curve_t *curve, double at, double value) {
   if (curve->count == curve->room) {
      curve->room = curve->room ? 2 * curve->room : 16;
      curve->steps = rkb_grow(curve->steps, curve->room, sizeof *curve->steps);
   }
   if (curve->count > 0)
      at = fmax(at, curve->steps[curve->count - 1].at);
   curve->steps[curve->count++] = (rkb_step_t){at, value};
}

double rkb_step_curve_at(const rkb_step_curve_t *curve, double x, double before) {
   double value = before;
   for (uint32_t i = 0; i < curve->count && curve->steps[i].at <= x; i++)
      value = curve->steps[i].value;
   return value;
}

double rkb_step_curve_mean(const rkb_step_curve_t *curve, double end,
                           double (*f)(double value, double argument), double argument) {
   double area = 0;
   if (!(end > 0))
      return 0;
   for (uint32_t i = 0; i < curve->count && curve->steps[i].at < end; i++) {
      const double next = i + 1 < curve->count ? fmin(end, curve->steps[i + 1].at) : end;
      area += (next - curve->steps[i].at) * f(curve->steps[i].value, argument);
   }
   return area / end;
}

void rkb_step_curve_free(rkb_step_curve_t *curve) {
   free(curve->steps);
   *curve = (rkb_step_curve_t){0};
}
