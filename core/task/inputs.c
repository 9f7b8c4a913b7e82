/* Input elements; each is a pure function of (case, family, seed, tensor, element).  A rkb_inputs_t does not change, except for its
 * memory of points, which a lock guards.  Any thread. */
#include "task/inputs.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/dtype.h"

/* Limit on elements read plus products formed in one call: some tens of seconds.  A gradient that sums over a whole large tensor of
 * computed values exceeds the limit and is refused. */
#define MOST_WORK 3e10

#define FILL_PIECE 4096u

#define MOST_KEPT (UINT64_C(1) << 15) /* a tensor with at most this many elements is kept once drawn */

/* From this many elements on, several threads draw.  Each element depends only on its number, so any order is correct. */
#define SHARED_FILL (UINT64_C(1) << 18)

/* For a recipe of numbers uniform between -scale and scale, finds scale; false for other recipes. */
static bool uniform_of(const rkb_recipe_t *recipe, double *scale) {
   switch (recipe->kind) {
   case RKB_INIT_KAIMING:
      *scale = sqrt(1 / recipe->first);
      return true;
   case RKB_INIT_XAVIER:
      *scale = sqrt(6 / (recipe->first + recipe->second));
      return true;
   default:
      return false;
   }
}

static double uniform_from(uint64_t bits) { /* as rkb_random_real */
   return (double)(bits >> 11) * 0x1p-53;
}

/* Turns the stream's draw for an element into a number by the recipe. */
static double recipe_of(const rkb_recipe_t *recipe, uint64_t draw) {
   double uniform = uniform_from(draw), scale;
   if (uniform_of(recipe, &scale))
      return (2 * uniform - 1) * scale;
   switch (recipe->kind) {
   case RKB_INIT_NORMAL:
      return recipe->first + recipe->second * rkb_random_normal_of(draw);
   case RKB_INIT_KAIMING_NORMAL:
      return sqrt(2 / recipe->first) * rkb_random_normal_of(draw);
   case RKB_INIT_POSITIVE:
      return fabs(recipe->first + recipe->second * rkb_random_normal_of(draw)) + 0.1;
   case RKB_INIT_ONES:
      return 1;
   case RKB_INIT_CONSTANT:
      return recipe->first;
   case RKB_INIT_ZEROS:
      return 0;
   case RKB_INIT_UNIFORM:
      return recipe->first + (recipe->second - recipe->first) * uniform;
   default: /* integers */
      return recipe->first + floor(uniform * (recipe->second - recipe->first));
   }
}

/* The spread of the recipe's numbers about their mean. */
static double spread_of(const rkb_recipe_t *recipe) {
   switch (recipe->kind) {
   case RKB_INIT_NORMAL:
   case RKB_INIT_POSITIVE:
      return recipe->second;
   case RKB_INIT_UNIFORM:
      return (recipe->second - recipe->first) / sqrt(12);
   case RKB_INIT_KAIMING:
      return sqrt(1 / (3 * recipe->first));
   case RKB_INIT_KAIMING_NORMAL:
      return sqrt(2 / recipe->first);
   case RKB_INIT_XAVIER:
      return sqrt(2 / (recipe->first + recipe->second));
   default:
      return 0;
   }
}

static bool is_positive(const rkb_recipe_t *recipe) {
   return recipe->kind == RKB_INIT_POSITIVE || (recipe->kind == RKB_INIT_UNIFORM && recipe->first >= 0);
}

/* Turns draws into numbers by the recipe.  The most common recipes are computed side by side. */
static void recipe_numbers(const rkb_recipe_t *recipe, uint64_t count, const uint64_t *draws, double *out) {
   double scale;
   if (recipe->kind == RKB_INIT_NORMAL) {
      rkb_random_normals(count, draws, out);
      for (uint64_t i = 0; i < count; i++)
         out[i] = recipe->first + recipe->second * out[i];
   } else if (uniform_of(recipe, &scale)) {
      for (uint64_t i = 0; i < count; i++)
         out[i] = (2 * uniform_from(draws[i]) - 1) * scale;
   } else {
      for (uint64_t i = 0; i < count; i++)
         out[i] = recipe_of(recipe, draws[i]);
   }
}

/* Whether a draw starts from the recipe's numbers. */
static bool is_of_recipe(uint32_t kind) {
   return kind == RKB_DRAW_RECIPE || kind == RKB_DRAW_MIXED || kind == RKB_DRAW_SHIFTED ||
          kind == RKB_DRAW_SUBNORMAL || kind == RKB_DRAW_SCALED || kind == RKB_DRAW_STRONG ||
          kind == RKB_DRAW_LEVEL || kind == RKB_DRAW_BELOW || kind == RKB_DRAW_NAN || kind == RKB_DRAW_ONE_NAN;
}

/* Whether a draw uses a second random number for each element. */
static bool uses_extra(uint32_t kind) {
   return kind != RKB_DRAW_RECIPE && kind != RKB_DRAW_SHIFTED && kind != RKB_DRAW_SCALED &&
          kind != RKB_DRAW_STRONG && kind != RKB_DRAW_LEVEL && kind != RKB_DRAW_CONSTANT &&
          kind != RKB_DRAW_ONE_HOT && kind != RKB_DRAW_BELOW && kind != RKB_DRAW_ONE_NAN;
}

static double one_hot(const rkb_tensor_t *view, const rkb_random_t *extra, uint64_t element) {
   const uint64_t length = view->rank ? (uint64_t)view->shape[view->rank - 1] : 1, row = element / length;
   return rkb_random_at(extra, row) % length == element % length;
}

/* Makes one element of a draw that needs only random bits. */
static double number_of_bits(const rkb_draw_t *draw, bool positive, uint64_t bits) {
   const double uniform = uniform_from(bits), sign = bits & 1 ? -1 : 1;
   switch (draw->kind) {
   case RKB_DRAW_TIES:
      return positive ? 0.5 * (double)(1 + bits % 4) : 0.5 * (double)((int64_t)(bits % 5) - 2);
   case RKB_DRAW_CONSTANT:
      return positive ? 0.5 : 0.75;
   case RKB_DRAW_ODD:
      return sign * (double)(2049 + 2 * (bits >> 1) % 6142);
   case RKB_DRAW_SIGNS:
      return uniform < draw->first ? sign : 0;
   case RKB_DRAW_MANTISSA:
      return sign * (1 + (double)(bits >> 41 | 1) * 0x1p-23);
   case RKB_DRAW_SPARSE:
      return uniform < draw->first ? sign * ldexp(1, (int)(bits >> 1 & 7) % 7 - 3) : 0;
   default: /* RKB_DRAW_SMALL */
      return (double)((int64_t)(bits % 17) - 8);
   }
}

/* Puts NaN at the element that the seed chooses, and at the elements that the tensor's structure makes equal
 * to it. */
static void put_nan(uint32_t structure, const rkb_tensor_t *view, const rkb_random_t *extra, uint64_t first, uint64_t count,
                    double *numbers) {
   const uint64_t which = rkb_structure_source(structure, view, rkb_random_at(extra, 0) % view->elements);
   for (uint64_t i = 0; i < count; i++)
      numbers[i] = rkb_structure_source(structure, view, first + i) == which ? (double)NAN : numbers[i];
}

/* Changes the recipe's numbers into the draw's numbers. */
static void change_numbers(const rkb_draw_t *draw, const rkb_recipe_t *recipe, const rkb_random_t *extra,
                           uint64_t count, const uint64_t *bits, double *numbers) {
   const double first = draw->first;
   switch (draw->kind) {
   case RKB_DRAW_MIXED:
      for (uint64_t i = 0; i < count; i++)
         numbers[i] *= pow(10, 6 * uniform_from(bits[i]) - 3);
      break;
   case RKB_DRAW_SHIFTED: {
      const double shift = first * spread_of(recipe);
      for (uint64_t i = 0; i < count; i++)
         numbers[i] += shift;
      break;
   }
   case RKB_DRAW_SUBNORMAL:
      for (uint64_t i = 0; i < count; i++)
         numbers[i] *= uniform_from(bits[i]) < 0.125 ? first : 1;
      break;
   case RKB_DRAW_BELOW:
      for (uint64_t i = 0; i < count; i++)
         numbers[i] = first - fabs(numbers[i] * first) * 0x1p-20;
      break;
   case RKB_DRAW_NAN:
      for (uint64_t i = 0; i < count; i++)
         numbers[i] = uniform_from(bits[i]) < 0x1p-4 ? (double)NAN : numbers[i];
      break;
   case RKB_DRAW_LEVEL: {
      const double level = pow(10, uniform_from(rkb_random_at(extra, UINT64_C(1) << 62)) - 0.5);
      for (uint64_t i = 0; i < count; i++)
         numbers[i] = numbers[i] * first * level;
      break;
   }
   default: /* RKB_DRAW_SCALED, RKB_DRAW_STRONG */
      for (uint64_t i = 0; i < count; i++)
         numbers[i] *= first;
   }
}

/* Rounds to the tensor's type.  A number beyond a narrow type's range becomes its largest: inputs are finite. */
static void round_numbers(uint32_t dtype, uint64_t count, double *numbers) {
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   for (uint64_t i = 0; narrow && i < count; i++)
      numbers[i] = numbers[i] > narrow->largest    ? narrow->largest
                   : numbers[i] < -narrow->largest ? -narrow->largest
                                                   : numbers[i]; /* NaN stays */
   rkb_dtype_round_each(dtype, count, numbers);
}

/* Draws at most FILL_PIECE neighbours and rounds them to the tensor's type.  Drawing neighbours is faster
 * than drawing single elements. */
static void draw_numbers(const void *argument, uint32_t tensor, uint64_t first, uint64_t count, double *out) {
   const rkb_inputs_t *inputs = argument;
   const rkb_recipe_t *recipe = &inputs->bound->recipes[tensor];
   const rkb_draw_t *draw = &inputs->family->draws[tensor];
   const rkb_random_t *own = &inputs->streams[2 * tensor], *extra = own + 1;
   const rkb_tensor_t *view = &inputs->bound->view.tensors[tensor];
   uint64_t bits[FILL_PIECE];
   if (is_of_recipe(draw->kind)) {
      rkb_structure_draw(recipe->structure, view, own, first, count, bits);
      recipe_numbers(recipe, count, bits, out);
   }
   if (uses_extra(draw->kind))
      rkb_structure_draw(recipe->structure, view, extra, first, count, bits);
   if (draw->kind == RKB_DRAW_ONE_NAN)
      put_nan(recipe->structure, view, extra, first, count, out);
   else if (is_of_recipe(draw->kind) && draw->kind != RKB_DRAW_RECIPE)
      change_numbers(draw, recipe, extra, count, bits, out);
   else if (draw->kind == RKB_DRAW_ONE_HOT)
      for (uint64_t i = 0; i < count; i++)
         out[i] = one_hot(view, extra, rkb_structure_source(recipe->structure, view, first + i));
   else if (draw->kind != RKB_DRAW_RECIPE)
      for (uint64_t i = 0; i < count; i++)
         out[i] = number_of_bits(draw, is_positive(recipe), uses_extra(draw->kind) ? bits[i] : 0);
   rkb_structure_clear(recipe->structure, view, first, count, out);
   round_numbers(view->dtype, count, out);
}

/* How many of the indices, from the first on, are neighbours; at most FILL_PIECE. */
static uint64_t neighbours(uint64_t count, const int64_t *index) {
   uint64_t run = 1, most = count < FILL_PIECE ? count : FILL_PIECE;
   while (run < most && index[run] == index[0] + (int64_t)run)
      run++;
   return run;
}

static void draw_part(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first, uint64_t end,
                      const int64_t *index, double *out) {
   const float *kept = atomic_load_explicit(&inputs->kept[tensor], memory_order_acquire);
   for (uint64_t i = first; kept && i < end; i++)
      out[i] = index[i] < 0 ? 0 : (double)kept[index[i]];
   if (kept)
      return;
   for (uint64_t i = first, run; i < end; i += run) {
      run = index[i] < 0 ? 1 : neighbours(end - i, index + i);
      if (index[i] < 0)
         out[i] = 0;
      else
         rkb_drawn_pieces_read(inputs->pieces, draw_numbers, inputs, tensor, (uint64_t)index[i], run, out + i);
   }
}

int rkb_inputs_source(const void *argument, uint32_t tensor, uint64_t count, const int64_t *index,
                      double *out) {
   const rkb_inputs_t *inputs = argument;
   const uint32_t tensors = inputs->bound->view.tensor_count;
   if (tensor >= tensors) {
      rkb_given_source(inputs->given, tensor - tensors, count, index, out);
      return RKB_OK;
   }
   if (count < SHARED_FILL) { /* most calls come from a region that is parallel already */
      draw_part(inputs, tensor, 0, count, index, out);
      return RKB_OK;
   }
#pragma omp parallel for schedule(static)
   for (uint64_t first = 0; first < count; first += FILL_PIECE)
      draw_part(inputs, tensor, first, count - first < FILL_PIECE ? count : first + FILL_PIECE, index, out);
   return RKB_OK;
}

rkb_source_t rkb_inputs_as_source(const rkb_inputs_t *inputs) {
   return (rkb_source_t){rkb_inputs_source, inputs};
}

static void set_streams(rkb_inputs_t *inputs, uint32_t tensor, uint64_t seed) {
   char name[256];
   snprintf(name, sizeof name, "inputs/%s/%s/%s", inputs->bound->view.name, inputs->family->view.name,
            inputs->bound->view.tensors[tensor].name);
   inputs->streams[2 * tensor] = rkb_random_stream(seed, name, 0, 0);
   inputs->streams[2 * tensor + 1] = rkb_random_stream(seed, name, 0, 1);
}

void rkb_inputs_replace(rkb_inputs_t *inputs, uint32_t tensor) {
   inputs->replaced = tensor;
   set_streams(inputs, tensor, ~inputs->seed);
}

int rkb_task_inputs_open(const rkb_task_t *task, const rkb_case_t *the_case, const rkb_family_t *family,
                         uint64_t seed, rkb_inputs_t **inputs, rkb_error_t *err) {
   (void)task;
   (void)err;
   *inputs = NULL;
   const rkb_bound_t *bound = rkb_bound_of(the_case);
   rkb_inputs_t *made = rkb_allocate(1, sizeof *made);
   made->streams = rkb_allocate(2 * the_case->tensor_count + 1, sizeof *made->streams);
   made->memory = rkb_memory_new(bound->steps->value_count, bound->budget / 2);
   made->saved = rkb_allocate(the_case->tensor_count + 1, sizeof *made->saved);
   made->kept = rkb_allocate(the_case->tensor_count + 1, sizeof *made->kept);
   made->pieces = rkb_drawn_pieces_new();
   made->bound = bound;
   made->family = rkb_family_entry(family);
   made->seed = seed;
   made->replaced = UINT32_MAX;
   made->most_work = MOST_WORK;
   pthread_mutex_init(&made->lock, NULL);
   for (uint32_t i = 0; i < the_case->tensor_count; i++)
      set_streams(made, i, seed);
   *inputs = made;
   return RKB_OK;
}

void rkb_task_inputs_limit(rkb_inputs_t *inputs, double work) {
   inputs->most_work = work < MOST_WORK ? work : MOST_WORK;
}

void rkb_task_inputs_free(rkb_inputs_t *inputs) {
   if (!inputs)
      return;
   pthread_mutex_destroy(&inputs->lock);
   rkb_memory_free(inputs->memory);
   rkb_given_free(inputs->given);
   for (uint32_t i = 0; i < inputs->bound->view.tensor_count; i++)
      free(inputs->saved[i]);
   for (uint32_t i = 0; i < inputs->bound->view.tensor_count; i++)
      free(atomic_load(&inputs->kept[i]));
   rkb_drawn_pieces_free(inputs->pieces);
   free(inputs->kept);
   free(inputs->saved);
   free(inputs->streams);
   free(inputs);
}

/* Computes all saved tensors of the inputs in one evaluation of the reference.  The caller holds the lock. */
static int compute_saved(rkb_inputs_t *inputs, rkb_error_t *err) {
   const rkb_bound_t *bound = inputs->bound;
   rkb_block_t *outputs = rkb_allocate(bound->view.tensor_count + 1, sizeof *outputs);
   rkb_source_t source = rkb_inputs_as_source(inputs);
   int status = rkb_evaluate_whole(bound->program, &bound->precision, &source, bound->budget, outputs, err);
   for (uint32_t i = 0; status == RKB_OK && i < bound->view.tensor_count; i++) {
      if (!rkb_inputs_is_saved(bound, i))
         continue;
      uint64_t elements = bound->view.tensors[i].elements;
      free(inputs->saved[i]); /* a failed try left it */
      inputs->saved[i] = rkb_try_uncleared(elements + 1, sizeof **inputs->saved, err);
      if (!inputs->saved[i])
         status = RKB_ERR_NOMEM;
      for (uint64_t j = 0; inputs->saved[i] && j < elements; j++)
         inputs->saved[i][j] = rkb_dtype_round(bound->view.tensors[i].dtype, outputs[i].value[j]);
   }
   for (uint32_t i = 0; i < bound->view.tensor_count; i++)
      rkb_block_free(&outputs[i]);
   free(outputs);
   return status;
}

static int fill_saved(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first, uint64_t count, void *out,
                      rkb_error_t *err) {
   rkb_inputs_t *mutable = (rkb_inputs_t *)(uintptr_t)inputs; /* only the lock and what it guards are changed */
   pthread_mutex_lock(&mutable->lock);
   int status = inputs->saved[tensor] ? RKB_OK : compute_saved(mutable, err);
   pthread_mutex_unlock(&mutable->lock);
   if (status == RKB_OK)
      rkb_dtype_store(inputs->bound->view.tensors[tensor].dtype, inputs->saved[tensor] + first, count, out);
   return status;
}

static void keep(const rkb_inputs_t *inputs, uint32_t tensor, const void *data) {
   const rkb_tensor_t *info = &inputs->bound->view.tensors[tensor];
   if (info->dtype != RKB_F32 || info->elements > MOST_KEPT || atomic_load(&inputs->kept[tensor]))
      return;
   float *copy = rkb_try_uncleared(info->elements + 1, sizeof *copy, NULL), *none = NULL;
   if (!copy)
      return; /* without a copy, the elements are drawn again */
   memcpy(copy, data, info->elements * sizeof *copy);
   if (!atomic_compare_exchange_strong(&inputs->kept[tensor], &none, copy))
      free(copy); /* another thread stored the same copy first */
}

int rkb_task_inputs_fill(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first, uint64_t count,
                         void *out, rkb_error_t *err) {
   const rkb_case_t *view = &inputs->bound->view;
   if (tensor >= view->tensor_count || view->tensors[tensor].role == RKB_OUT)
      return rkb_fail(err, RKB_ERR_INVALID, "tensor %u is not an input of case %s", tensor, view->name);
   const rkb_tensor_t *info = &view->tensors[tensor];
   if (first > info->elements || count > info->elements - first)
      return rkb_fail(err, RKB_ERR_INVALID, "elements %llu to %llu are not in %s", (unsigned long long)first,
                      (unsigned long long)(first + count), info->name);
   if (rkb_inputs_is_saved(inputs->bound, tensor))
      return fill_saved(inputs, tensor, first, count, out, err);
   uint32_t width = rkb_dtype_bytes(info->dtype);
#pragma omp parallel for schedule(static) if (count >= SHARED_FILL)
   for (uint64_t done = 0; done < count; done += FILL_PIECE) {
      double numbers[FILL_PIECE];
      uint64_t piece = count - done < FILL_PIECE ? count - done : FILL_PIECE;
      if (count == info->elements) /* the whole tensor was read at once, so no piece will be read again */
         draw_numbers(inputs, tensor, first + done, piece, numbers);
      else
         rkb_drawn_pieces_read(inputs->pieces, draw_numbers, inputs, tensor, first + done, piece, numbers);
      rkb_dtype_store(info->dtype, numbers, piece, (char *)out + done * width);
   }
   if (first == 0 && count == info->elements)
      keep(inputs, tensor, out);
   return RKB_OK;
}
