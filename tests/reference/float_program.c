/* See float_program.h: the modes, and one run node by node.  Test code: aborts when memory is out. */
#include "float_run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reference/dtype.h"
#include "reference/operations/elementwise.h"

const float_mode_t float_modes[] = {
   {.name = "sequential", .order = ORDER_SEQUENTIAL},
   {.name = "reversed fma", .order = ORDER_REVERSED, .fma = true, .addend_first = true},
   {.name = "pairwise", .order = ORDER_PAIRWISE, .through_log_sum = true},
   {.name = "strided fma approx", .order = ORDER_STRIDED, .fma = true, .approximate = 6, .flush = true},
   {.name = "one pass", .order = ORDER_STRIDED, .one_pass = true},
   {.name = "3xTF32", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_TF32_THREE, .addend_first = true},
   {0},
};

const float_mode_t fast_mode = {
   .name = "fast", .order = ORDER_STRIDED, .fma = true, .approximate = 60, .flush = true};

const float_mode_t low_modes[] = {
   {.name = "TF32", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_TF32},
   {.name = "bf16", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_BF16},
   {.name = "half", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_HALF},
   {.name = "fp8", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_FP8},
   {.name = "narrow sums", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_NARROW_SUMS},
   {.name = "tensor cores' fp8", .order = ORDER_SEQUENTIAL, .products = PRODUCTS_EIGHTH_SUMS},
   {0},
};

/* The program */

/* Moves and picks are exact: the evaluator's own index maps serve (tests of their values are elsewhere). */
static void moved(float_run_t *run, const rkb_program_node_t *node, double *out) {
   uint64_t count = run->program->values[node->output].elements;
   int64_t *index = malloc((count + 1) * sizeof *index);
   rkb_block_t block;
   assert(index && rkb_block_new(&block, count));
   for (uint64_t i = 0; i < count; i++)
      index[i] = (int64_t)i;
   int status = rkb_compute(&run->reader, node, count, index, &block);
   assert(status == RKB_OK);
   memcpy(out, block.value, count * sizeof *out);
   rkb_block_free(&block);
   free(index);
}

/* What is added to each output of a product, in the shape of the outputs. */
static double *addend_of(float_run_t *run, const rkb_program_node_t *node) {
   const uint64_t count = run->program->values[node->output].elements;
   int64_t *index = malloc((count + 1) * sizeof *index);
   rkb_block_t block;
   assert(index && rkb_block_new(&block, count));
   for (uint64_t i = 0; i < count; i++)
      index[i] = (int64_t)i;
   const int status =
      rkb_read_stretched(&run->reader, node->inputs[2], rkb_program_shape(run->program, node->addend_frame),
                         count, index, &block);
   assert(status == RKB_OK);
   double *out = float_numbers(count);
   memcpy(out, block.value, count * sizeof *out);
   rkb_block_free(&block);
   free(index);
   return out;
}

static void run_node(float_run_t *run, const rkb_program_node_t *node, double *out) {
   const char *name = node->operation->name;
   if (node->operation->depth) {
      run->addend = node->input_count > 2 ? addend_of(run, node) : NULL;
      run->product++;
      run->products =
         run->mode->only == 0 || run->mode->only == run->product ? run->mode->products : PRODUCTS_FULL;
      run->narrow = rkb_program_kept_type(run->program, node->inputs[0]);
   }
   if (node->operation->point)
      float_elementwise(run, node, out);
   else if (IS("sum") || IS("mean") || IS("variance") || IS("amax") || IS("amin"))
      float_reduce_rows(run, node, out);
   else if (IS("softmax") || IS("log_softmax"))
      float_softmax_rows(run, node, out);
   else if (strncmp(name, "cumulative_", 11) == 0)
      float_scan_rows(run, node, out);
   else if (IS("recurrence"))
      float_recurrence_rows(run, node, out);
   else if (IS("search_sorted"))
      float_search_rows(run, node, out);
   else if (IS("log_sum_exp"))
      float_log_sum_rows(run, node, out);
   else if (IS("matmul"))
      float_matrix_product(run, node, out);
   else if (strncmp(name, "convolution", 11) == 0)
      float_convolve(run, node, out);
   else if (strstr(name, "_pool"))
      float_pool(run, node, out);
   else if (strncmp(name, "resample", 8) == 0)
      float_resample(run, node, out);
   else
      moved(run, node, out);
}

void float_run(float_plan_t *plan, const rkb_inputs_t *inputs, const float_mode_t *mode, double **outputs) {
   const rkb_program_t *program = inputs->bound->program;
   float_run_t run = {.plan = plan,
                      .program = program,
                      .mode = mode,
                      .noise = rkb_random_stream(inputs->seed, "noise", 0, 0)};
   run.reader = (rkb_reader_t){.program = program, .precision = &inputs->bound->precision};
   run.reader.stored = calloc(program->value_count + 1, sizeof *run.reader.stored);
   assert(run.reader.stored);
   for (uint32_t v = 0; v < program->value_count; v++) {
      const rkb_program_value_t *value = &program->values[v];
      if (value->node >= 0)
         continue;
      double *data = float_numbers(value->elements);
      int64_t *index = malloc((value->elements + 1) * sizeof *index);
      assert(index);
      for (uint64_t i = 0; i < value->elements; i++)
         index[i] = (int64_t)i;
      rkb_inputs_source(inputs, (uint32_t)value->tensor, value->elements, index, data);
      for (uint64_t i = 0; i < value->elements; i++)
         data[i] = float_flushed(&run, (float)data[i]);
      free(index);
      run.reader.stored[v].value = data;
   }
   for (uint32_t i = 0; i < program->node_count; i++) {
      const rkb_program_node_t *node = &program->nodes[i];
      double *out = float_numbers(program->values[node->output].elements);
      run_node(&run, node, out);
      free(run.addend);
      run.addend = NULL;
      for (uint64_t j = 0; j < program->values[node->output].elements; j++) /* where it is stored narrower */
         out[j] = rkb_dtype_round(program->values[node->output].dtype, out[j]);
      run.reader.stored[node->output].value = out;
   }
   for (uint32_t t = 0; t < program->tensor_count; t++) {
      outputs[t] = NULL;
      if (program->outputs[t] == RKB_NO_VALUE)
         continue;
      uint64_t count = program->values[program->outputs[t]].elements;
      outputs[t] = float_numbers(count);
      memcpy(outputs[t], run.reader.stored[program->outputs[t]].value, count * sizeof(double));
   }
   for (uint32_t v = 0; v < program->value_count; v++)
      free(run.reader.stored[v].value);
   free(run.reader.stored);
}
