/* Index arithmetic by samples.  One thread. */
#include "generator/text/index.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include "base/random.h"

#define LEAST_PROBES 8u
#define LEAST_PROBES_OF_ONE 5u /* samples where the conditions give a size one value: then less varies among the probes */

static uint32_t usable_probes(const rkb_graph_t *graph, const rkb_condition_t *conditions,
                              uint32_t condition_count, uint32_t usable[RKB_PROBES]) {
   uint32_t count = 0;
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      bool good = true;
      for (uint32_t c = 0; c < condition_count; c++)
         good &= graph->sizes.list[conditions[c].size].at[p] % conditions[c].multiple == 0 &&
                 (!conditions[c].equal || graph->sizes.list[conditions[c].size].at[p] == conditions[c].equal);
      if (good)
         usable[count++] = p;
   }
   return count;
}

uint32_t rkb_size_values(const rkb_size_t *size, uint32_t most, int64_t *values) {
   uint32_t count = 0;
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      const int64_t value = size->at[p];
      uint32_t at = 0;
      while (at < count && values[at] < value)
         at++;
      if (at < count && values[at] == value)
         continue;
      if (count == most)
         return 0;
      memmove(values + at + 1, values + at, (count - at) * sizeof *values);
      values[at] = value;
      count++;
   }
   return count;
}

static uint32_t least_probes(const rkb_condition_t *conditions, uint32_t condition_count) {
   for (uint32_t c = 0; c < condition_count; c++)
      if (conditions[c].equal)
         return LEAST_PROBES_OF_ONE;
   return LEAST_PROBES;
}

bool rkb_indices_possible(const rkb_graph_t *graph, const rkb_condition_t *conditions,
                          uint32_t condition_count) {
   uint32_t usable[RKB_PROBES];
   return usable_probes(graph, conditions, condition_count, usable) >= least_probes(conditions, condition_count);
}

bool rkb_indices_open(rkb_indices_t *indices, rkb_graph_t *graph, rkb_arena_t *arena,
                      const rkb_condition_t *conditions, uint32_t condition_count) {
   uint32_t usable[RKB_PROBES];
   const uint32_t count = usable_probes(graph, conditions, condition_count, usable);
   *indices = (rkb_indices_t){.graph = graph,
                              .arena = arena,
                              .stream = rkb_random_stream(29, "index", 0, 0),
                              .conditions = conditions,
                              .condition_count = condition_count};
   for (uint32_t s = 0; count > 0 && s < RKB_SAMPLES; s++)
      indices->probe[s] = usable[s % count];
   return count >= least_probes(conditions, condition_count);
}

_Static_assert(RKB_SAMPLES % 4 == 0, "the samples are hashed in fours");

/* Computes four hashes side by side, because within a hash each product waits for the previous one. */
static uint32_t bucket_of(const int64_t *at) {
   const uint64_t prime = 1099511628211u;
   uint64_t first = 1469598103934665603u, second = 1, third = 2, fourth = 3;
   for (uint32_t s = 0; s < RKB_SAMPLES; s += 4) {
      first = (first ^ (uint64_t)at[s]) * prime;
      second = (second ^ (uint64_t)at[s + 1]) * prime;
      third = (third ^ (uint64_t)at[s + 2]) * prime;
      fourth = (fourth ^ (uint64_t)at[s + 3]) * prime;
   }
   const uint64_t all = (((first ^ second) * prime ^ third) * prime ^ fourth) * prime;
   return (uint32_t)(all >> 32) % RKB_INDEX_BUCKETS;
}

static const rkb_index_t *keep(rkb_indices_t *indices, const rkb_index_t *index) {
   rkb_index_t **bucket = &indices->buckets[bucket_of(index->at)];
   for (rkb_index_t *old = *bucket; old; old = old->next)
      if (memcmp(old->at, index->at, sizeof old->at) == 0)
         return old;
   rkb_index_t *kept = rkb_arena_alloc(indices->arena, sizeof *kept);
   *kept = *index;
   kept->next = *bucket;
   *bucket = kept;
   return kept;
}

const rkb_index_t *rkb_index_constant(rkb_indices_t *indices, int64_t value) {
   rkb_index_t index = {.kind = RKB_INDEX_CONSTANT, .uniform = true, .constant = value};
   for (uint32_t s = 0; s < RKB_SAMPLES; s++)
      index.at[s] = value;
   return keep(indices, &index);
}

const rkb_index_t *rkb_index_size(rkb_indices_t *indices, uint32_t size) {
   const rkb_size_t *known = &indices->graph->sizes.list[size];
   if (known->constant)
      return rkb_index_constant(indices, known->at[0]);
   for (uint32_t c = 0; c < indices->condition_count; c++)
      if (indices->conditions[c].size == size && indices->conditions[c].equal)
         return rkb_index_constant(indices, indices->conditions[c].equal);
   rkb_index_t index = {.kind = RKB_INDEX_SIZE, .uniform = true, .size = size, .name = known->name};
   for (uint32_t s = 0; s < RKB_SAMPLES; s++)
      index.at[s] = known->at[indices->probe[s]];
   return keep(indices, &index);
}

const rkb_index_t *rkb_index_variable(rkb_indices_t *indices, const char *name, const rkb_index_t *extent) {
   rkb_index_t index = {.kind = RKB_INDEX_VARIABLE, .name = name};
   if (rkb_index_is(extent, 1))
      return rkb_index_constant(indices, 0);
   for (uint32_t s = 0; s < RKB_SAMPLES; s++) {
      const int64_t most = extent->at[s] > 1 ? extent->at[s] - 1 : 0;
      const uint64_t draw = rkb_random_below(&indices->stream, 8);
      index.at[s] = draw == 0  ? 0
                    : draw < 3 ? most
                               : (int64_t)rkb_random_below(&indices->stream, (uint64_t)most + 1);
   }
   return keep(indices, &index);
}

const rkb_index_t *rkb_index_multiple(rkb_indices_t *indices, const char *name, const rkb_index_t *extent,
                                      int64_t width) {
   rkb_index_t index = {.kind = RKB_INDEX_VARIABLE, .name = name};
   for (uint32_t s = 0; s < RKB_SAMPLES; s++) {
      const uint64_t many = extent->at[s] >= width ? (uint64_t)(extent->at[s] / width) : 1;
      index.at[s] = (int64_t)rkb_random_below(&indices->stream, many) * width;
   }
   return keep(indices, &index);
}

static void apply(enum rkb_index_kind kind, const int64_t *a, const int64_t *b, int64_t *result) {
   switch (kind) {
   case RKB_INDEX_SUM:
      for (uint32_t s = 0; s < RKB_SAMPLES; s++)
         result[s] = a[s] + b[s];
      return;
   case RKB_INDEX_DIFFERENCE:
      for (uint32_t s = 0; s < RKB_SAMPLES; s++)
         result[s] = a[s] - b[s];
      return;
   case RKB_INDEX_PRODUCT:
      for (uint32_t s = 0; s < RKB_SAMPLES; s++)
         result[s] = (int64_t)((uint64_t)a[s] * (uint64_t)b[s]);
      return;
   case RKB_INDEX_QUOTIENT:
      for (uint32_t s = 0; s < RKB_SAMPLES; s++)
         result[s] = b[s] ? a[s] / b[s] : 0;
      return;
   default:
      for (uint32_t s = 0; s < RKB_SAMPLES; s++)
         result[s] = b[s] ? a[s] % b[s] : 0;
      return;
   }
}

/* If a quotient is the same for all lanes of a vector, writes it without the lane, so that it is computed once for
 * the vector. */
static const rkb_index_t *without_lane(rkb_indices_t *indices, const rkb_index_t *index) {
   const rkb_index_t *lane = indices->lane;
   if (index->kind != RKB_INDEX_QUOTIENT || !lane || !rkb_index_mentions(index, lane))
      return NULL;
   indices->lane = NULL;
   const rkb_index_t *first = rkb_index_replace(indices, index, lane, rkb_index_constant(indices, 0));
   indices->lane = lane;
   return memcmp(first->at, index->at, sizeof first->at) == 0 ? first : NULL;
}

const rkb_index_t *rkb_index_make(rkb_indices_t *indices, enum rkb_index_kind kind, const rkb_index_t *left,
                                  const rkb_index_t *right) {
   if (kind == RKB_INDEX_SUM && (rkb_index_is(left, 0) || rkb_index_is(right, 0)))
      return rkb_index_is(left, 0) ? right : left;
   if (kind == RKB_INDEX_PRODUCT && (rkb_index_is(left, 1) || rkb_index_is(right, 1)))
      return rkb_index_is(left, 1) ? right : left;
   rkb_index_t index;
   memset(&index, 0, offsetof(rkb_index_t, at));
   index.kind = kind;
   index.uniform = left->uniform && right->uniform;
   index.left = left;
   index.right = right;
   apply(kind, left->at, right->at, index.at);
   const bool constant = memcmp(index.at, index.at + 1, sizeof index.at - sizeof *index.at) == 0;
   const rkb_index_t *shared = constant ? NULL : without_lane(indices, &index);
   if (shared)
      return shared;
   return constant ? rkb_index_constant(indices, index.at[0]) : keep(indices, &index);
}

const rkb_index_t *rkb_index_replace(rkb_indices_t *indices, const rkb_index_t *in,
                                     const rkb_index_t *variable, const rkb_index_t *by) {
   if (in == variable)
      return by;
   if (!in->left || !rkb_index_mentions(in, variable))
      return in;
   return rkb_index_make(indices, in->kind, rkb_index_replace(indices, in->left, variable, by),
                         rkb_index_replace(indices, in->right, variable, by));
}

bool rkb_index_is(const rkb_index_t *index, int64_t constant) {
   return index->kind == RKB_INDEX_CONSTANT && index->constant == constant;
}

bool rkb_indices_know(const rkb_indices_t *indices, uint32_t size, int64_t multiple) {
   const rkb_size_t *known = &indices->graph->sizes.list[size];
   bool good = true;
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      good &= known->at[p] % multiple == 0;
   for (uint32_t c = 0; c < indices->condition_count; c++)
      good |= indices->conditions[c].size == size && indices->conditions[c].multiple % multiple == 0;
   return good;
}

bool rkb_index_divides(const rkb_index_t *index, int64_t multiple) {
   for (uint32_t s = 0; s < RKB_SAMPLES; s++)
      if (index->at[s] % multiple != 0)
         return false;
   return true;
}

bool rkb_index_mentions(const rkb_index_t *index, const rkb_index_t *variable) {
   return index == variable || (index->left && (rkb_index_mentions(index->left, variable) ||
                                                rkb_index_mentions(index->right, variable)));
}

const rkb_index_t *rkb_index_join(rkb_indices_t *indices, uint32_t rank, const uint32_t *shape,
                                  const rkb_index_t *const *at) {
   const rkb_index_t *number = rkb_index_constant(indices, 0);
   for (uint32_t d = 0; d < rank; d++)
      number = rkb_index_make(
         indices, RKB_INDEX_SUM,
         rkb_index_make(indices, RKB_INDEX_PRODUCT, number, rkb_index_size(indices, shape[d])), at[d]);
   return number;
}

/* Names a coordinate like its dim, in small letters. */
static const rkb_index_t *called(rkb_indices_t *indices, const rkb_index_t *index, uint32_t size) {
   const char *name = indices->graph->sizes.list[size].name;
   if (index->kind < RKB_INDEX_SUM || index->name || !*name)
      return index;
   char *small = rkb_arena_format(indices->arena, "%s%s", name, name[1] ? "_place" : "");
   for (char *c = small; *c; c++)
      *c = (char)tolower((unsigned char)*c);
   ((rkb_index_t *)(uintptr_t)index)->name = small;
   return index;
}

void rkb_index_split(rkb_indices_t *indices, uint32_t rank, const uint32_t *shape, const rkb_index_t *number,
                     const rkb_index_t **at) {
   const rkb_index_t *rest = number;
   uint32_t first = 0; /* leading dims of size 1 do not count */
   while (first < rank && rkb_index_is(rkb_index_size(indices, shape[first]), 1))
      at[first++] = rkb_index_constant(indices, 0);
   for (uint32_t d = rank; d-- > first;) {
      const rkb_index_t *size = rkb_index_size(indices, shape[d]);
      at[d] = d == first              ? rest
              : rkb_index_is(size, 1) ? rkb_index_constant(indices, 0)
                                      : rkb_index_make(indices, RKB_INDEX_REMAINDER, rest, size);
      at[d] = called(indices, at[d], shape[d]);
      if (d > first)
         rest = rkb_index_is(size, 1) ? rest : rkb_index_make(indices, RKB_INDEX_QUOTIENT, rest, size);
   }
}

const rkb_index_t *rkb_index_elements(rkb_indices_t *indices, uint32_t rank, const uint32_t *shape) {
   const rkb_index_t *elements = rkb_index_constant(indices, 1);
   for (uint32_t d = 0; d < rank; d++)
      elements = rkb_index_make(indices, RKB_INDEX_PRODUCT, elements, rkb_index_size(indices, shape[d]));
   return elements;
}

/* Finds the dims of a shape that are not 1: only their coordinates say where an element is. */
static uint32_t wide_dims(rkb_indices_t *indices, uint32_t rank, const uint32_t *shape, uint32_t *wide) {
   uint32_t count = 0;
   for (uint32_t d = 0; d < rank; d++)
      if (!rkb_index_is(rkb_index_size(indices, shape[d]), 1))
         wide[count++] = d;
   return count;
}

/* Finds the fewest dims of both shapes, from the first ones on, that hold equally many elements. */
static void equal_dims(rkb_indices_t *indices, const uint32_t *shape, const uint32_t *wide, uint32_t count, const uint32_t *to_shape,
                       const uint32_t *to_wide, uint32_t to_count, uint32_t *taken, uint32_t *to_taken) {
   const rkb_index_t *elements = rkb_index_constant(indices, 1);
   for (*taken = 1; *taken < count; ++*taken) {
      elements = rkb_index_make(indices, RKB_INDEX_PRODUCT, elements, rkb_index_size(indices, shape[wide[*taken - 1]]));
      const rkb_index_t *others = rkb_index_constant(indices, 1);
      for (*to_taken = 1; *to_taken <= to_count; ++*to_taken) {
         others = rkb_index_make(indices, RKB_INDEX_PRODUCT, others, rkb_index_size(indices, to_shape[to_wide[*to_taken - 1]]));
         if (others == elements)
            return;
      }
   }
   *taken = count;
   *to_taken = to_count;
}

uint32_t rkb_index_reshape(rkb_indices_t *indices, uint32_t rank, const uint32_t *shape, const rkb_index_t *const *at, uint32_t to_rank,
                           const uint32_t *to_shape, const rkb_index_t **to, const rkb_index_t **extents) {
   uint32_t wide[RKB_MAX_RANK], to_wide[RKB_MAX_RANK], joins = 0;
   const uint32_t count = wide_dims(indices, rank, shape, wide), to_count = wide_dims(indices, to_rank, to_shape, to_wide);
   const rkb_index_t *places[RKB_MAX_RANK];
   for (uint32_t d = 0; d < to_rank; d++)
      to[d] = rkb_index_constant(indices, 0);
   for (uint32_t i = 0, j = 0; j < to_count;) {
      uint32_t taken = count - i, to_taken = to_count - j, part[RKB_MAX_RANK], to_part[RKB_MAX_RANK];
      if (taken)
         equal_dims(indices, shape, wide + i, count - i, to_shape, to_wide + j, to_count - j, &taken, &to_taken);
      for (uint32_t d = 0; d < taken; d++) {
         places[d] = at[wide[i + d]];
         part[d] = shape[wide[i + d]];
      }
      for (uint32_t d = 0; d < to_taken; d++)
         to_part[d] = to_shape[to_wide[j + d]];
      const rkb_index_t *number = rkb_index_join(indices, taken, part, places);
      if (extents && taken > 1)
         extents[joins++] = rkb_index_elements(indices, taken, part);
      rkb_index_split(indices, to_taken, to_part, number, places);
      for (uint32_t d = 0; d < to_taken; d++)
         to[to_wide[j + d]] = places[d];
      i += taken;
      j += to_taken;
   }
   return joins;
}

const char *rkb_index_manifest(const rkb_indices_t *indices, const rkb_index_t *index) {
   static const char signs[] = {[RKB_INDEX_SUM] = '+',
                                [RKB_INDEX_DIFFERENCE] = '-',
                                [RKB_INDEX_PRODUCT] = '*',
                                [RKB_INDEX_QUOTIENT] = '/',
                                [RKB_INDEX_REMAINDER] = '%'};
   if (index->kind == RKB_INDEX_CONSTANT)
      return rkb_arena_format(indices->arena, "%lld", (long long)index->constant);
   if (index->kind == RKB_INDEX_SIZE) {
      const char *text = indices->graph->sizes.list[index->size].text;
      return strpbrk(text, "+-*/% ") ? rkb_arena_format(indices->arena, "(%s)", text) : text;
   }
   const char *left = rkb_index_manifest(indices, index->left),
              *right = rkb_index_manifest(indices, index->right);
   const bool plain = index->kind == RKB_INDEX_PRODUCT && index->left->kind <= RKB_INDEX_SIZE &&
                      (index->right->kind <= RKB_INDEX_SIZE || index->right->kind == RKB_INDEX_PRODUCT);
   return rkb_arena_format(indices->arena, plain ? "%s %c %s" : "(%s) %c (%s)", left, signs[index->kind],
                           right);
}

const char *rkb_index_word(const rkb_indices_t *indices, const rkb_index_t *index) {
   static const char *const words[] = {[RKB_INDEX_SUM] = "_plus_",
                                       [RKB_INDEX_DIFFERENCE] = "_minus_",
                                       [RKB_INDEX_PRODUCT] = "_",
                                       [RKB_INDEX_QUOTIENT] = "_by_",
                                       [RKB_INDEX_REMAINDER] = "_modulo_"};
   if (index->kind == RKB_INDEX_CONSTANT)
      return rkb_arena_format(indices->arena, "%lld", (long long)index->constant);
   if (index->kind == RKB_INDEX_SIZE)
      return indices->graph->sizes.list[index->size].name;
   return rkb_arena_format(indices->arena, "%s%s%s", rkb_index_word(indices, index->left), words[index->kind],
                           rkb_index_word(indices, index->right));
}
