/* Input elements; each is a pure function of (case, family, seed, tensor, element).  A rkb_inputs_t does not change, except for its
 * memory of points, which a lock guards.  Any thread. */
#include "task/inputs.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/memory.h"
#include "task/input_numbers.h"

/* Limit on elements read plus products formed in one call: some tens of seconds.  A gradient that sums over a whole large tensor of
 * computed values exceeds the limit and is refused. */
#define MOST_WORK 3e10

#define MOST_KEPT (UINT64_C(1) << 20) /* a tensor with at most this many elements is kept once drawn: 4 MiB */

/* From this many elements on, several threads draw.  Each element depends only on its number, so any order is correct. */
#define SHARED_FILL (UINT64_C(1) << 18)

static void draw_part(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first, uint64_t end,
                      const int64_t *index, double *out) {
   const float *kept = atomic_load_explicit(&inputs->kept[tensor], memory_order_acquire);
   for (uint64_t i = first; kept && i < end; i++)
      out[i] = index[i] < 0 ? 0 : (double)kept[index[i]];
   if (kept)
      return;
   rkb_drawn_pieces_list(inputs->pieces, rkb_input_numbers_draw, inputs, tensor,
                         inputs->bound->view.tensors[tensor].elements, RKB_INPUT_PIECE, end - first,
                         index + first, out + first);
}

/* Several threads may read at once. */
static void note(uint64_t *noted, uint64_t count, const int64_t *index) {
   for (uint64_t n = 0; n < count;) {
      const int64_t word = index[n] >> 6;
      uint64_t bits = 0;
      for (; n < count && index[n] >> 6 == word; n++)
         bits |= UINT64_C(1) << (index[n] & 63);
      if (word >= 0) /* an index below 0 names no element */
         __atomic_fetch_or(&noted[word], bits, __ATOMIC_RELAXED);
   }
}

int rkb_inputs_source(const void *argument, uint32_t tensor, uint64_t count, const int64_t *index,
                      double *out) {
   const rkb_inputs_t *inputs = argument;
   const uint32_t tensors = inputs->bound->view.tensor_count;
   if (inputs->noted && tensor < tensors && inputs->noted[tensor])
      note(inputs->noted[tensor], count, index);
   if (tensor >= tensors) {
      rkb_given_source(inputs->given, tensor - tensors, count, index, out);
      return RKB_OK;
   }
   if (count < SHARED_FILL) { /* most calls come from a region that is parallel already */
      draw_part(inputs, tensor, 0, count, index, out);
      return RKB_OK;
   }
#pragma omp parallel for schedule(static)
   for (uint64_t first = 0; first < count; first += RKB_INPUT_PIECE)
      draw_part(inputs, tensor, first, count - first < RKB_INPUT_PIECE ? count : first + RKB_INPUT_PIECE,
                index, out);
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

/* Half of the seeds draw numbers of about 2^-40, where halves vanish and what guards a divisor decides.  The other half draws numbers of a size between that and
 * usual ones: a kernel may be wrong for numbers of one such size alone. */
#define LEAST_TINY 17
#define MOST_TINY 28

static int draw_tiny_power(const rkb_bound_t *bound, uint64_t seed) {
   char name[256];
   snprintf(name, sizeof name, "inputs/%s/tiny", bound->view.name);
   const rkb_random_t stream = rkb_random_stream(seed, name, 0, 0);
   const uint64_t bits = rkb_random_at(&stream, 0);
   return bits & 1 ? RKB_TINY_POWER : LEAST_TINY + (int)((bits >> 1) % (MOST_TINY - LEAST_TINY + 1));
}

void rkb_inputs_replace(rkb_inputs_t *inputs, uint32_t tensor) {
   inputs->replaced = tensor;
   set_streams(inputs, tensor, ~inputs->seed);
}

static uint64_t all_elements(const rkb_case_t *the_case) {
   uint64_t elements = 0;
   for (uint32_t i = 0; i < the_case->tensor_count; i++)
      elements += the_case->tensors[i].elements;
   return elements;
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
   made->pieces = rkb_drawn_pieces_new(all_elements(the_case));
   made->bound = bound;
   made->family = rkb_family_entry(family);
   made->seed = seed;
   made->tiny_power = draw_tiny_power(bound, seed);
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

/* Bytes of a bitmap from which on it takes memory only where something is noted.  Clearing a smaller one takes no longer than some hundred page faults, and who
 * reads the notes reads most of its pages. */
#define SPARSE_NOTES (UINT64_C(4) << 20)

static uint64_t noted_bytes(const rkb_inputs_t *inputs, uint32_t tensor) {
   return (inputs->bound->view.tensors[tensor].elements / 64 + 1) * sizeof **inputs->noted;
}

static void free_noted(rkb_inputs_t *inputs) {
   for (uint32_t i = 0; inputs->noted && i < inputs->bound->view.tensor_count; i++) {
      const uint64_t bytes = noted_bytes(inputs, i);
      if (bytes < SPARSE_NOTES)
         free(inputs->noted[i]);
      else if (inputs->noted[i])
         munmap(inputs->noted[i], bytes);
   }
   free(inputs->noted);
   inputs->noted = NULL;
}

/* Few elements of a large tensor are read for the elements of an output that are judged, so clearing a bitmap of all would take longer than noting. */
static uint64_t *new_noted(uint64_t bytes) {
   void *made = bytes < SPARSE_NOTES ? rkb_try_allocate(bytes, 1, NULL)
                                     : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   return made == MAP_FAILED ? NULL : made;
}

void rkb_task_inputs_note(rkb_inputs_t *inputs) {
   const rkb_case_t *view = &inputs->bound->view;
   free_noted(inputs);
   inputs->noted = rkb_allocate(view->tensor_count + 1, sizeof *inputs->noted);
   for (uint32_t i = 0; i < view->tensor_count; i++)
      inputs->noted[i] = new_noted(noted_bytes(inputs, i));
}

const uint64_t *rkb_task_inputs_noted(const rkb_inputs_t *inputs, uint32_t tensor) {
   return inputs->noted && tensor < inputs->bound->view.tensor_count ? inputs->noted[tensor] : NULL;
}

void rkb_task_inputs_plant(rkb_inputs_t *inputs, const uint32_t *words, uint32_t count) {
   rkb_planted_free(inputs->planted);
   inputs->planted = rkb_planted_new(inputs->bound, inputs->family, words, count);
}

void rkb_task_inputs_free(rkb_inputs_t *inputs) {
   if (!inputs)
      return;
   pthread_mutex_destroy(&inputs->lock);
   rkb_memory_free(inputs->memory);
   rkb_given_free(inputs->given);
   rkb_planted_free(inputs->planted);
   for (uint32_t i = 0; i < inputs->bound->view.tensor_count; i++)
      free(inputs->saved[i]);
   for (uint32_t i = 0; i < inputs->bound->view.tensor_count; i++)
      free(atomic_load(&inputs->kept[i]));
   rkb_drawn_pieces_free(inputs->pieces);
   free_noted(inputs);
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

/* Room for the whole tensor's elements; NULL where they are not kept. */
static float *room_for(const rkb_inputs_t *inputs, uint32_t tensor) {
   const uint64_t elements = inputs->bound->view.tensors[tensor].elements;
   /* Without memory, the elements are drawn again. */
   return elements > MOST_KEPT ? NULL : rkb_try_uncleared(elements + 1, sizeof(float), NULL);
}

/* Whether floats hold these numbers exactly, bit by bit. */
static bool narrowed(uint64_t count, const double *numbers, float *out) {
   uint64_t different = 0;
   for (uint64_t i = 0; i < count; i++) {
      out[i] = (float)numbers[i];
      const double kept = (double)out[i];
      uint64_t bits, wanted;
      memcpy(&bits, &kept, sizeof bits);
      memcpy(&wanted, &numbers[i], sizeof wanted);
      different |= bits ^ wanted;
   }
   return different == 0;
}

static void keep(const rkb_inputs_t *inputs, uint32_t tensor, float *copy, bool exact) {
   float *none = NULL;
   if (!exact || !atomic_compare_exchange_strong(&inputs->kept[tensor], &none, copy))
      free(copy); /* or another thread stored the same copy first */
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
   const float *kept = atomic_load_explicit(&inputs->kept[tensor], memory_order_acquire);
   float *copy = count == info->elements && !kept ? room_for(inputs, tensor) : NULL;
   bool exact = true;
#pragma omp parallel for schedule(static) reduction(&& : exact) if (count >= SHARED_FILL)
   for (uint64_t done = 0; done < count; done += RKB_INPUT_PIECE) {
      double numbers[RKB_INPUT_PIECE];
      uint64_t piece = count - done < RKB_INPUT_PIECE ? count - done : RKB_INPUT_PIECE;
      if (kept)
         for (uint64_t i = 0; i < piece; i++)
            numbers[i] = (double)kept[first + done + i];
      else if (count == info->elements) /* whole tensors are kept, or are too large for the table */
         rkb_input_numbers_draw(inputs, tensor, first + done, piece, numbers);
      else
         rkb_drawn_pieces_read(inputs->pieces, rkb_input_numbers_draw, inputs, tensor, info->elements,
                               first + done, piece, numbers);
      rkb_dtype_store(info->dtype, numbers, piece, (char *)out + done * width);
      if (copy)
         exact = narrowed(piece, numbers, copy + done) && exact;
   }
   if (copy)
      keep(inputs, tensor, copy, exact);
   return RKB_OK;
}
