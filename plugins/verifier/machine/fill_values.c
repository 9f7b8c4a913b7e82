/* The value that a plan has a buffer filled with before each run, in the buffer's type: rounded to a float first where that is
 * narrower, then to nearest even, as core/gpu/worker/plan_instance.c does.  Any thread. */
#include "machine/lanes/half.h"
#include "verifier.h"

void plan_fill(const rkb_plan_buffer_t *buffer, uint64_t elements, void *data) {
   const double value = buffer->fill_value;
   if (value == 0) {
      memset(data, 0, buffer->elements ? buffer->bytes / buffer->elements * elements : 0);
      return;
   }
   for (uint64_t n = 0; n < elements; n++)
      switch (buffer->dtype) {
      case RKB_F32:
         ((float *)data)[n] = (float)value;
         break;
      case RKB_F64:
         ((double *)data)[n] = value;
         break;
      case RKB_I32:
         ((int32_t *)data)[n] = (int32_t)value;
         break;
      case RKB_I64:
         ((int64_t *)data)[n] = (int64_t)value;
         break;
      case RKB_U8:
         ((uint8_t *)data)[n] = (uint8_t)value;
         break;
      case RKB_I8:
         ((int8_t *)data)[n] = (int8_t)value;
         break;
      case RKB_F16:
         ((uint16_t *)data)[n] = double_to_half((float)value, ROUND_NEAREST);
         break;
      default: /* bfloat16 */
         ((uint16_t *)data)[n] = double_to_bfloat((float)value, ROUND_NEAREST);
      }
}
