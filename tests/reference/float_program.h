/* A correct kernel's arithmetic, many ways: runs a reference program in fp32 with plain loops written out
 * here, in a chosen order of summation, with or without contraction, and with products rounded to lower
 * precisions.  Shares nothing with the evaluator but the program itself and the operations that only move
 * elements. */
#ifndef TESTS_TASK_FLOAT_PROGRAM_H
#define TESTS_TASK_FLOAT_PROGRAM_H

#include "task/task_parts.h"

enum float_order { ORDER_SEQUENTIAL, ORDER_REVERSED, ORDER_PAIRWISE, ORDER_STRIDED };
enum float_products {
   PRODUCTS_FULL,
   PRODUCTS_TF32,
   PRODUCTS_BF16,
   PRODUCTS_HALF,
   PRODUCTS_TF32_THREE,
   PRODUCTS_FP8,
   PRODUCTS_NARROW_SUMS, /* each partial sum is rounded to the type of the first factor */
   PRODUCTS_EIGHTH_SUMS /* terms and partial sums are cut to 13 bits below the largest, as tensor cores do with 8-bit floats */
};

typedef struct float_mode {
   const char *name;
   enum float_order order;
   enum float_products products;
   bool fma;             /* contract product and sum */
   double approximate;   /* error added to approximate functions, in units of 2^-24: random of this size */
   bool through_log_sum; /* softmax as exp(x - log of the sum) */
   bool addend_first;    /* a product's sum starts at its addend, where the order has a start */
   bool flush;           /* subnormal results become zero */
   bool one_pass;        /* E[x^2] - E[x]^2 for variances, softmax without subtracting the largest */
   uint32_t
      only; /* 0: all products are of that kind; else the one of this number (from 1), the others full */
} float_mode_t;

extern const float_mode_t float_modes[]; /* correct ones, ended by a NULL name */
extern const float_mode_t fast_mode;     /* correct in class fp32-fast */
extern const float_mode_t low_modes[];   /* lower precisions, ended likewise */

/* What all runs of one case share; owned by the caller, one thread. */
typedef struct float_plan float_plan_t;
float_plan_t *float_plan_new(const rkb_program_t *program);
void float_plan_free(float_plan_t *plan);

/* outputs: by case tensor, malloc'd numbers (floats as doubles) for outputs, else NULL. */
void float_run(float_plan_t *plan, const rkb_inputs_t *inputs, const float_mode_t *mode, double **outputs);

#endif
