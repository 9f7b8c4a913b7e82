/* Computes a recurrent layer sequence by sequence: the steps of a sequence depend on each other, and
 * sequences do not.  When only points are wanted, the sequences that have them are computed, each as a whole,
 * and remembered.  Any thread. */
#include "reference/operations/recurrent_layer.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

/* A group holds at most this many numbers at once for each operand. */
#define MOST_HELD (UINT64_C(1) << 21)
#define MOST_TOGETHER 16u

int rkb_layer_read(rkb_reader_t *reader, const rkb_layer_t *layer, uint32_t value, uint64_t width, rkb_layer_group_t *group, rkb_block_t *out) {
   const uint64_t count = group->count * layer->steps * width;
   int64_t *index = rkb_try_uncleared(count + 1, sizeof *index, NULL);
   int status = index && rkb_block_new(out, count) ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      const uint64_t step = i / width % layer->steps, sequence = group->sequences[i / width / layer->steps];
      index[i] = (int64_t)((step * layer->batch + sequence) * width + i % width);
   }
   if (status == RKB_OK)
      status = rkb_read(reader, value, count, index, out);
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      group->spoilt |= (out->flags[i] & RKB_POINT_DONT_CARE) || isinf(out->value[i]);
   free(index);
   return status;
}

int rkb_layer_first_states(rkb_reader_t *reader, const rkb_layer_t *layer, rkb_layer_group_t *group, rkb_block_t *out) {
   const uint64_t width = layer->states * layer->hidden, count = group->count * width;
   int64_t *index = rkb_try_uncleared(layer->hidden + 1, sizeof *index, NULL);
   int status = index && rkb_block_new(out, count) ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < group->count * layer->states; i++) {
      rkb_block_t part = rkb_block_from(out, i * layer->hidden);
      for (uint64_t j = 0; j < layer->hidden; j++)
         index[j] = (int64_t)(group->sequences[i / layer->states] * layer->hidden + j);
      status = rkb_read(reader, layer->first[i % layer->states], layer->hidden, index, &part);
   }
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      group->spoilt |= (out->flags[i] & RKB_POINT_DONT_CARE) || isinf(out->value[i]);
   free(index);
   return status;
}

int rkb_layer_input_sums(rkb_reader_t *reader, const rkb_layer_t *layer, const rkb_layer_weights_t *weights, rkb_layer_group_t *group,
                         rkb_layer_sums_t *sums) {
   const uint64_t rows = group->count * layer->steps;
   rkb_block_t x = {0};
   rkb_layer_vectors_t vectors = {0};
   int status = rkb_layer_read(reader, layer, layer->x, layer->inputs, group, &x);
   if (status == RKB_OK && (!rkb_layer_vectors_new(&vectors, rows, layer->inputs) ||
                            !rkb_layer_sums_new(sums, rows * layer->gates * layer->hidden)))
      status = RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < rows * layer->inputs; i++)
      rkb_layer_vectors_put(&vectors, i, rkb_block_get(&x, i), weights->product_input);
   if (status == RKB_OK)
      rkb_layer_multiply(&weights->input, &vectors, sums, 0);
   free(vectors.value);
   rkb_block_free(&x);
   return status;
}

/* The number of values that a row holds: a node's output is [T, B, width]. */
static uint64_t width_of(const rkb_program_t *program, const rkb_program_node_t *node) {
   return (uint64_t)rkb_program_shape(program, node->output)->size[2];
}

static uint64_t group_size(const rkb_layer_t *layer, uint64_t width) {
   const uint64_t widest = layer->inputs > width ? layer->inputs : width, own = layer->gates * layer->hidden;
   const uint64_t most = MOST_HELD / (layer->steps * (widest > own ? widest : own)) + 1;
   return most < MOST_TOGETHER ? most : MOST_TOGETHER;
}

static int compute_group(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, const rkb_layer_weights_t *weights,
                         rkb_layer_rows_t *rows, rkb_layer_group_t *group) {
   const uint64_t count = group->count * layer->steps * width_of(rkb_reader_program(reader), node);
   if (!rkb_block_new(&group->out, count))
      return RKB_ERR_NOMEM;
   int status = rows(reader, node, layer, weights, group);
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      group->out.flags[i] = group->spoilt || (group->out.flags[i] & RKB_POINT_DONT_CARE) ? RKB_POINT_DONT_CARE : 0;
   return status;
}

static int ascending(const void *a, const void *b) {
   const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
   return (left > right) - (left < right);
}

/* Lists the sequences to which the elements belong, each once, in order. */
static uint64_t sequences_of(const rkb_layer_t *layer, uint64_t width, uint64_t count, const int64_t *index, uint64_t *sequences) {
   bool *seen = rkb_allocate(layer->batch, sizeof *seen);
   uint64_t found = 0;
   for (uint64_t i = 0; i < count; i++) {
      const uint64_t sequence = (uint64_t)index[i] / width % layer->batch;
      if (!seen[sequence])
         sequences[found++] = sequence;
      seen[sequence] = true;
   }
   free(seen);
   qsort(sequences, found, sizeof *sequences, ascending);
   return found;
}

/* Remembers all of a group's sequences. */
static int keep_group(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, uint64_t width,
                      const rkb_layer_group_t *group) {
   const uint64_t count = group->count * layer->steps * width;
   int64_t *index = rkb_try_uncleared(count + 1, sizeof *index, NULL);
   if (!index)
      return RKB_ERR_NOMEM;
   for (uint64_t i = 0; i < count; i++)
      index[i] = (int64_t)((i / width % layer->steps * layer->batch + group->sequences[i / width / layer->steps]) * width + i % width);
   const int status = rkb_keep_points(reader, node, count, index, &group->out);
   free(index);
   return status;
}

/* Copies the elements of the list that belong to the group. */
static void hand_out(const rkb_layer_t *layer, uint64_t width, const rkb_layer_group_t *group, uint64_t count, const int64_t *index,
                     rkb_block_t *out) {
   for (uint64_t i = 0; i < count; i++) {
      const uint64_t element = (uint64_t)index[i], sequence = element / width % layer->batch, step = element / width / layer->batch;
      for (uint64_t k = 0; k < group->count; k++)
         if (group->sequences[k] == sequence)
            rkb_block_put(out, i, rkb_block_get(&group->out, (k * layer->steps + step) * width + element % width));
   }
}

int rkb_layer_compute(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, rkb_layer_rows_t *rows,
                      uint64_t count, const int64_t *index, rkb_block_t *out) {
   const uint64_t width = width_of(rkb_reader_program(reader), node), most = group_size(layer, width);
   const double each = (double)layer->steps * (double)(layer->gates * layer->hidden) * (double)(layer->inputs + layer->hidden);
   uint64_t *sequences = rkb_try_uncleared(layer->batch + 1, sizeof *sequences, NULL);
   rkb_layer_weights_t weights;
   if (!sequences)
      return RKB_ERR_NOMEM;
   const uint64_t found = sequences_of(layer, width, count, index, sequences);
   int status = rkb_reader_in_points(reader) ? rkb_reader_work(reader, each * (double)found) : RKB_OK;
   const bool started = status == RKB_OK && (status = rkb_layer_weights_read(reader, layer, &weights)) == RKB_OK;
   for (uint64_t first = 0; status == RKB_OK && first < found; first += most) {
      rkb_layer_group_t group = {.sequences = sequences + first, .count = found - first < most ? found - first : most};
      status = compute_group(reader, node, layer, &weights, rows, &group);
      if (status == RKB_OK)
         hand_out(layer, width, &group, count, index, out);
      if (status == RKB_OK && rkb_reader_in_points(reader))
         status = keep_group(reader, node, layer, width, &group);
      rkb_block_free(&group.out);
   }
   if (started)
      rkb_layer_weights_free(&weights);
   free(sequences);
   return status;
}

static int whole_group(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, const rkb_layer_weights_t *weights,
                       rkb_layer_rows_t *rows, uint64_t first, uint64_t count, rkb_block_t *out) {
   const uint64_t width = width_of(rkb_reader_program(reader), node);
   uint64_t sequences[MOST_TOGETHER];
   for (uint64_t k = 0; k < count; k++)
      sequences[k] = first + k;
   rkb_layer_group_t group = {.sequences = sequences, .count = count};
   const int status = compute_group(reader, node, layer, weights, rows, &group);
   for (uint64_t i = 0; status == RKB_OK && i < count * layer->steps * width; i++)
      rkb_block_put(out, (i / width % layer->steps * layer->batch + sequences[i / width / layer->steps]) * width + i % width,
                    rkb_block_get(&group.out, i));
   rkb_block_free(&group.out);
   return status;
}

int rkb_layer_whole(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, rkb_layer_rows_t *rows,
                    rkb_block_t *out) {
   const uint64_t most = group_size(layer, width_of(rkb_reader_program(reader), node));
   const int64_t groups = (int64_t)((layer->batch + most - 1) / most);
   const double all = (double)(layer->steps * layer->batch) * (double)(layer->gates * layer->hidden) * (double)(layer->inputs + layer->hidden);
   rkb_layer_weights_t weights;
   int status = rkb_layer_weights_read(reader, layer, &weights);
   if (status != RKB_OK)
      return status;
   (void)all; /* used only in the OpenMP pragma */
#pragma omp parallel for schedule(dynamic) if (groups > 1 && all > RKB_SHARED_PRODUCTS)
   for (int64_t number = 0; number < groups; number++) {
      const uint64_t first = (uint64_t)number * most, count = layer->batch - first < most ? layer->batch - first : most;
      const int result = whole_group(reader, node, layer, &weights, rows, first, count, out);
      if (result != RKB_OK) {
#pragma omp atomic write
         status = result;
      }
   }
   rkb_layer_weights_free(&weights);
   return status;
}
