/* What the parts of a float program share: one run in one mode, its numbers, its sums and products.  Test code. */
#ifndef TESTS_TASK_FLOAT_RUN_H
#define TESTS_TASK_FLOAT_RUN_H

#include "float_program.h"

typedef struct float_run {
   float_plan_t *plan;
   const rkb_program_t *program;
   const float_mode_t *mode;
   rkb_reader_t reader;
   rkb_random_t noise;
   enum float_products products; /* of the node at hand */
   uint32_t narrow;              /* the type of its first factor */
   uint32_t product;             /* its number */
   double *addend;               /* what is added to each of its outputs; NULL: nothing */
} float_run_t;

/* Numbers prepared as factors: rounded as the current products need, or split in two parts for 3xTF32. */
typedef struct float_factors {
   float *high, *low; /* one allocation; low only for 3xTF32 */
} float_factors_t;

#define IS(label) (name[0] == (label)[0] && strcmp(name, label) == 0) /* of an operation's name; asked for each element */

/* float_sums.c: sums and products in the mode's order and precision. */
double *float_numbers(uint64_t count); /* owned; room for them */
const double *float_operand(const float_run_t *run, const rkb_program_node_t *node, uint32_t which);
float float_flushed(const float_run_t *run, float x);
/* What an approximate function of a GPU may return for x. */
float float_rough(float_run_t *run, float x);
/* A sum and one more product, contracted where the mode is. */
float float_add_product(const float_run_t *run, float sum, float a, float b);
/* Sum of start and of a[i] * b[i] (b NULL: of a[i]). */
float float_sum(const float_run_t *run, float start, const float *a, const float *b, uint64_t count);
float_factors_t float_factors_new(uint64_t count); /* release high */
float_factors_t float_factors_from(const float_factors_t *factors, uint64_t first);
void float_set_factor(const float_run_t *run, float_factors_t *factors, uint64_t i, double x);
/* One sum of products, and the addend of that output. */
float float_dot(const float_run_t *run, uint64_t output, float_factors_t a, float_factors_t b,
                uint64_t count);

/* One node each; out has room for its output. */
/* float_elements.c */
void float_elementwise(float_run_t *run, const rkb_program_node_t *node, double *out);
/* float_rows.c */
void float_reduce_rows(float_run_t *run, const rkb_program_node_t *node, double *out);
void float_scan_rows(float_run_t *run, const rkb_program_node_t *node, double *out);
void float_recurrence_rows(float_run_t *run, const rkb_program_node_t *node, double *out);
void float_search_rows(float_run_t *run, const rkb_program_node_t *node, double *out);
void float_log_sum_rows(float_run_t *run, const rkb_program_node_t *node, double *out);
void float_softmax_rows(float_run_t *run, const rkb_program_node_t *node, double *out);
void float_matrix_product(float_run_t *run, const rkb_program_node_t *node, double *out);
/* float_windows.c */
void float_convolve(float_run_t *run, const rkb_program_node_t *node, double *out);
void float_pool(float_run_t *run, const rkb_program_node_t *node, double *out);
/* float_resample.c */
void float_resample(float_run_t *run, const rkb_program_node_t *node, double *out);

#endif
