/* Intermediates of a reference: their expected values, as for outputs, and made-up values.  Each element of a made-up intermediate
 * is one of some drawn elements of the true one, so magnitudes, signs and zeros are like the true ones.  The inputs own it.  Immutable
 * once given; any thread. */
#include "task/intermediates.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/rewrites/given_values.h"
#include "task/task_parts.h"

#define MOST_POOL 256u       /* true elements behind a made-up intermediate */
#define LEAST_POOL 16u
/* the most work that drawing these elements may cost, and the least number of elements below */
#define POOL_WORK 4e6
#define LEAST_POOL_WORK 5e7
#define PIECE 1024u

bool rkb_task_intermediate(const rkb_case_t *the_case, uint32_t number, rkb_intermediate_t *intermediate) {
   const rkb_program_t *program = rkb_bound_of(the_case)->steps;
   if (number >= program->node_count)
      return false;
   const rkb_program_node_t *node = &program->nodes[number];
   const rkb_program_value_t *value = &program->values[node->output];
   *intermediate = (rkb_intermediate_t){.name = value->name,
                                        .operation = node->operation->name,
                                        .dtype = value->dtype,
                                        .rank = value->shape.rank,
                                        .elements = value->elements};
   for (uint32_t d = 0; d < value->shape.rank && d < RKB_MAX_RANK; d++)
      intermediate->shape[d] = value->shape.size[d];
   return true;
}

bool rkb_task_intermediates_alike(const rkb_case_t *the_case, const rkb_case_t *other) {
   return rkb_program_same_nodes(rkb_bound_of(the_case)->steps, rkb_bound_of(other)->steps);
}

static int find_value(const rkb_inputs_t *inputs, uint32_t number, uint32_t *value, rkb_error_t *err) {
   const rkb_program_t *program = inputs->bound->steps;
   if (number >= program->node_count)
      return rkb_fail(err, RKB_ERR_INVALID, "case %s has no intermediate number %u", inputs->bound->view.name, number);
   *value = program->nodes[number].output;
   return RKB_OK;
}

int rkb_task_expect_intermediate(const rkb_inputs_t *inputs, uint32_t number, const uint64_t *elements,
                                 uint64_t count, double *value, double *hard, double *stat, uint8_t *flags,
                                 rkb_error_t *err) {
   uint32_t of = 0;
   const int status = find_value(inputs, number, &of, err);
   return status == RKB_OK ? rkb_task_value_points(inputs, of, elements, count, value, hard, stat, flags, err)
                           : status;
}

/* Giving ------------------------------------------------------------------------------------------------------------- */

/* Computes drawn elements of a true intermediate, as many as are cheap enough. */
static int compute_pool(rkb_inputs_t *inputs, uint32_t value, struct rkb_given_value *made,
                        rkb_error_t *err) {
   const rkb_program_value_t *info = &inputs->bound->steps->values[value];
   const rkb_random_t drawn = rkb_random_stream(inputs->seed, "given/elements", (int64_t)value, 0);
   uint64_t elements[MOST_POOL];
   double numbers[3 * MOST_POOL];
   uint8_t flags[MOST_POOL];
   const double most_work = inputs->most_work;
   int status = RKB_ERR_LIMIT;
   for (uint32_t n = 0; n < MOST_POOL; n++)
      elements[n] = rkb_random_at(&drawn, n) % info->elements;
   uint32_t count = MOST_POOL;
   for (; status == RKB_ERR_LIMIT && count >= LEAST_POOL; count /= 4) {
      inputs->most_work = count > LEAST_POOL ? POOL_WORK : LEAST_POOL_WORK;
      made->pool_count = count;
      status = rkb_task_value_points(inputs, value, elements, count, numbers, numbers + MOST_POOL,
                                     numbers + 2 * MOST_POOL, flags, err);
   }
   inputs->most_work = most_work;
   if (status != RKB_OK)
      return status;
   made->pool = rkb_try_uncleared(made->pool_count, sizeof *made->pool, err);
   if (!made->pool)
      return RKB_ERR_NOMEM;
   for (uint32_t n = 0; n < made->pool_count; n++) {
      const double kept = rkb_dtype_round(info->dtype, numbers[n]);
      made->pool[n] = made->dtype == RKB_F32 ? (double)(float)kept : rkb_dtype_round(made->dtype, kept);
   }
   return RKB_OK;
}

/* False: something else decides the elements too, or so many intermediates are given that nothing is kept. */
static bool name_pool(const rkb_inputs_t *inputs, const struct rkb_given_value *made, rkb_pool_key_t *key) {
   const rkb_given_t *given = inputs->given;
   if (inputs->replaced != UINT32_MAX || inputs->planted || given->count >= RKB_POOL_GIVEN)
      return false;
   *key = (rkb_pool_key_t){.family = inputs->family, .seed = inputs->seed, .count = given->count + 1};
   for (uint32_t n = 0; n < given->count; n++) {
      key->values[n] = given->values[n].value;
      key->dtypes[n] = given->values[n].dtype;
   }
   key->values[given->count] = made->value;
   key->dtypes[given->count] = made->dtype;
   return true;
}

/* Draws elements of a true intermediate, which is given after those of the inputs so far. */
static int draw_pool(rkb_inputs_t *inputs, uint32_t value, struct rkb_given_value *made, rkb_error_t *err) {
   rkb_drawn_lists_t *pools =
      (rkb_drawn_lists_t *)(uintptr_t)&inputs->bound->pools; /* the part of a bound case that changes */
   rkb_pool_key_t key;
   const bool named = name_pool(inputs, made, &key);
   if (named && (made->pool = rkb_drawn_lists_find(pools, &key, &made->pool_count)))
      return RKB_OK;
   const int status = compute_pool(inputs, value, made, err);
   if (status == RKB_OK && named)
      rkb_drawn_lists_keep(pools, &key, made->pool, made->pool_count);
   return status;
}

/* Builds the program for the intermediates given so far.  Points that were remembered belong to the previous
 * program and are dropped. */
static void rebuild(rkb_inputs_t *inputs) {
   const rkb_bound_t *bound = inputs->bound;
   rkb_given_t *given = inputs->given;
   given->program = rkb_program_with_given(bound->steps, given->arena, given->list, given->count);
   rkb_memory_free(inputs->memory);
   inputs->memory = rkb_memory_new(bound->steps->value_count, bound->budget / 2);
}

int rkb_task_give(rkb_inputs_t *inputs, const uint32_t *numbers, const uint32_t *dtypes, uint32_t count,
                  rkb_error_t *err) {
   const rkb_program_t *program = inputs->bound->steps;
   int status = inputs->given ? rkb_fail(err, RKB_ERR_INVALID, "intermediates were given to these inputs before") : RKB_OK;
   if (status != RKB_OK)
      return status;
   rkb_given_t *given = inputs->given = rkb_allocate(1, sizeof *given);
   given->arena = rkb_arena_new(0);
   given->values = rkb_allocate(count + 1, sizeof *given->values);
   given->list = rkb_allocate(count + 1, sizeof *given->list);
   rebuild(inputs);
   /* Goes in the program's order, because each intermediate is drawn from those that were given before it. */
   for (uint32_t number = 0; number < program->node_count && status == RKB_OK; number++)
      for (uint32_t n = 0; n < count && status == RKB_OK; n++) {
         if (numbers[n] != number)
            continue;
         const uint32_t value = program->nodes[number].output;
         struct rkb_given_value *made = &given->values[given->count];
         made->value = value;
         made->dtype = dtypes[n];
         made->stream = rkb_random_stream(inputs->seed, "given", (int64_t)value, 1);
         status = draw_pool(inputs, value, made, err);
         given->list[given->count++] = value;
         rebuild(inputs);
      }
   return status;
}

int rkb_task_given_fill(const rkb_inputs_t *inputs, uint32_t number, const uint64_t *elements, uint64_t count,
                        void *out, uint64_t *width, rkb_error_t *err) {
   const rkb_given_t *given = inputs->given;
   uint32_t value = 0, which = 0;
   const int status = find_value(inputs, number, &value, err);
   if (status != RKB_OK)
      return status;
   while (given && which < given->count && given->values[which].value != value)
      which++;
   if (!given || which == given->count)
      return rkb_fail(err, RKB_ERR_INVALID, "intermediate number %u was not given", number);
   const uint32_t dtype = given->values[which].dtype;
   *width = rkb_dtype_bytes(dtype);
   for (uint64_t first = 0; first < count; first += PIECE) {
      const uint64_t piece = count - first < PIECE ? count - first : PIECE;
      int64_t index[PIECE];
      double held[PIECE];
      for (uint64_t n = 0; n < piece; n++)
         index[n] = (int64_t)elements[first + n];
      rkb_given_source(given, which, piece, index, held);
      rkb_dtype_store(dtype, held, piece, (char *)out + first * *width);
   }
   return RKB_OK;
}
