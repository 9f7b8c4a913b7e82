/* The value that a plan has a buffer filled with before each run, in the buffer's type.  Any thread. */
#include "verifier.h"

#include <string.h>

static uint16_t narrow(float value) {
   uint32_t bits; /* the upper half of the float, to nearest even */
   memcpy(&bits, &value, sizeof bits);
   return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

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
      case RKB_F16:
         ((_Float16 *)data)[n] = (_Float16)value;
         break;
      default: /* bfloat16 */
         ((uint16_t *)data)[n] = narrow((float)value);
      }
}
