/* Peak rates, and the time that follows from them.  Owns nothing. */
#include "task/least_time.h"

#include <math.h>
#include <string.h>

#define PRODUCTS_OF_A_FLOAT 3 /* three products of 16-bit numbers replace one product of floats */

rkb_peaks_t rkb_peaks_of(const rkb_device_t *device) {
   return (rkb_peaks_t){
      .name = device->name,
      /* Use the peak bandwidth: some kernels exceed the sustained rate of a copy, and none may beat the least time. */
      .bytes_per_s = device->memory_bandwidth,
      .operations_per_s = 2 * device->f32_per_clock * (double)device->multiprocessors * device->clock_hz,
      .tf32_per_s = device->tensor_tf32,
      .half_per_s = fmax(device->tensor_bf16, device->tensor_fp16),
      .eighth_per_s = fmax(device->tensor_fp8, device->tensor_int8),
      .launch_floor_s = device->launch_floor_s,
   };
}

double rkb_peak_rate(const rkb_peaks_t *peaks, const char *precision) {
   const struct {
      const char *precision;
      double rate;
   } rates[] = {{"fp32", peaks->half_per_s / PRODUCTS_OF_A_FLOAT},
                {"tf32", peaks->tf32_per_s},
                {"bf16", peaks->half_per_s},
                {"fp16", peaks->half_per_s},
                {"fp8", peaks->eighth_per_s},
                {"int8", peaks->eighth_per_s}};
   double rate = peaks->operations_per_s;
   for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
      if (strcmp(rates[i].precision, precision) == 0)
         rate = fmax(rate, rates[i].rate);
   return rate;
}

double rkb_least_time(double operations, double bytes, const rkb_peaks_t *peaks, const char *precision,
                      bool *memory_bound) {
   double memory = bytes / peaks->bytes_per_s, arithmetic = operations / rkb_peak_rate(peaks, precision);
   *memory_bound = memory >= arithmetic;
   return fmax(memory, arithmetic) + peaks->launch_floor_s;
}
