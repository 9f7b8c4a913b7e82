/* The least time that a device's peak rates allow.  Pure; any thread. */
#ifndef RKB_TASK_LEAST_TIME_H
#define RKB_TASK_LEAST_TIME_H

#include <rkb/ext/kernel.h>
#include <stdbool.h>

/* Peak rates of a device. */
typedef struct rkb_peaks {
   const char *name;        /* name of the device profile; borrowed */
   double bytes_per_s;      /* memory bandwidth */
   double operations_per_s; /* in fp32; a multiply and an add count as two */
   double tf32_per_s, half_per_s,
      /* rates of tensor cores for TF32, 16 bits and 8 bits; 0: the device has none, and the rate of fp32
       * holds */
      eighth_per_s;
   double launch_floor_s; /* time of an empty kernel */
} rkb_peaks_t;

rkb_peaks_t rkb_peaks_of(const rkb_device_t *device);

/* Operations a second in a precision class.  fp32 may multiply on tensor cores too, as three products of numbers in two parts of 11 bits
 * (Ootomo and Yokota: 'Recovering single precision accuracy from tensor cores', 2022). */
double rkb_peak_rate(const rkb_peaks_t *peaks, const char *precision);

/* max(bytes / bandwidth, operations / rate) + the launch floor, in seconds. */
double rkb_least_time(double operations, double bytes, const rkb_peaks_t *peaks, const char *precision,
                      bool *memory_bound);

#endif
