/* Element types: conversion between their bytes and doubles.  Pure functions; any thread. */
#ifndef RKB_REFERENCE_DTYPE_H
#define RKB_REFERENCE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

uint32_t rkb_dtype_bytes(uint32_t dtype);
const char *rkb_dtype_name(uint32_t dtype); /* "float32" */
bool rkb_dtype_parse(const char *name, uint32_t *dtype);
/* All names of types, for messages and as choices. */
#define RKB_DTYPE_NAMES                                                                                      \
   "float32, float64, float16, bfloat16, float8_e4m3fn, float8_e5m2, int8, uint8, int32 or int64"
#define RKB_DTYPE_WORDS "float32 float64 float16 bfloat16 float8_e4m3fn float8_e5m2 int8 uint8 int32 int64"
bool rkb_dtype_is_float(uint32_t dtype);

/* A floating-point type narrower than float32. */
typedef struct rkb_narrow {
   int bits;           /* bits of the significand, the hidden one included: the unit roundoff is 2^-bits */
   int least_exponent; /* the least subnormal number is 2^least_exponent */
   double largest;     /* the largest finite number */
   bool infinite;      /* whether the type has infinities; if not, numbers that are too large become NaN */
} rkb_narrow_t;
const rkb_narrow_t *rkb_dtype_narrow(uint32_t dtype); /* NULL for every other type */

/* Whether the type `wide` can hold every number of dtype. */
bool rkb_dtype_holds(uint32_t wide, uint32_t dtype);

/* Rounds x to the nearest number of the type (ties to even); leaves x as it is for integer types. */
double rkb_dtype_round(uint32_t dtype, double x);
void rkb_dtype_round_each(uint32_t dtype, uint64_t count, double *numbers);
/* The result of a conversion: rounded in a narrow type, without its fraction in an integer type, else x
 * itself (the evaluator does not round numbers of type float32). */
double rkb_dtype_convert(uint32_t dtype, double x);
/* Converts count doubles to the type and stores them. */
void rkb_dtype_store(uint32_t dtype, const double *from, uint64_t count, void *to);
/* Element number i of an array of the type. */
double rkb_dtype_load(uint32_t dtype, const void *from, uint64_t i);

#endif
