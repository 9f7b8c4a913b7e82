/* Resampling: changes sizes by picking or weighting neighbours.  Constant tables. */
#include "reference/functions/functions.h"

#include "reference/operations/resample.h"

/* Reads the mode and checks that it fits the number of spatial dims. */
static bool read_mode(const rkb_call_t *call, uint32_t spatial, enum rkb_resampling *resampling) {
   static const char *const linear[] = {"linear", "bilinear", "trilinear"};
   const bool corners = rkb_call_true(call, "align_corners");
   *resampling = corners ? RKB_RESAMPLE_CORNERS : RKB_RESAMPLE_LINEAR;
   if (rkb_call_word(call, "mode", "nearest")) {
      *resampling = RKB_RESAMPLE_NEAREST;
      if (!corners)
         return true;
      rkb_program_fail(call->program, "interpolate: align_corners is for the linear modes");
      return false;
   }
   for (uint32_t d = 0; d < 3; d++)
      if (rkb_call_word(call, "mode", linear[d]) && spatial == d + 1)
         return true;
   rkb_program_fail(call->program, "interpolate: the mode for %u dims is %s", spatial,
                    spatial >= 1 && spatial <= 3 ? linear[spatial - 1] : "nearest");
   return false;
}

/* Resamples one dim after the other: bilinear is linear in each dim. */
static void build_interpolate(const rkb_call_t *call, uint32_t *outputs) {
   const rkb_shape_t size = rkb_call_shape(call, "size");
   enum rkb_resampling resampling;
   uint32_t x = call->inputs[0];
   const uint32_t rank = rkb_program_shape(call->program, x)->rank;
   if (size.rank + 2 != rank) {
      rkb_program_fail(call->program, "interpolate: size names the %u dims after the first two",
                       rank > 2 ? rank - 2 : 0);
      return;
   }
   if (!read_mode(call, size.rank, &resampling))
      return;
   for (uint32_t d = size.rank; d-- > 0;)
      x = rkb_make_resample(call->program, x, 2 + d, size.size[d], resampling);
   outputs[0] = x;
}

const rkb_function_t rkb_functions_resampling[] = {
   {"interpolate",
    "x",
    1,
    1,
    {{"size", RKB_ATTRIBUTE_INTS, NULL, NULL},
     {"mode", RKB_ATTRIBUTE_WORD, "nearest", "nearest linear bilinear trilinear"},
     {"align_corners", RKB_ATTRIBUTE_BOOL, "false", NULL}},
    build_interpolate,
    NULL},
   {0},
};
