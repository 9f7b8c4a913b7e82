/* Extents of a tensor and the arithmetic of its element numbers.  Pure functions, any thread. */
#include "reference/shape.h"

#include <stdio.h>
#include <string.h>

#define MOST_ELEMENTS (UINT64_C(1) << 48)

bool rkb_shape_elements(const rkb_shape_t *shape, uint64_t *elements) {
   uint64_t product = 1;
   for (uint32_t i = 0; i < shape->rank; i++) {
      if (shape->size[i] < 0)
         return false;
      if (shape->size[i] > 0 && product > MOST_ELEMENTS / (uint64_t)shape->size[i])
         return false;
      product *= (uint64_t)shape->size[i];
   }
   *elements = product;
   return true;
}

bool rkb_shape_equal(const rkb_shape_t *a, const rkb_shape_t *b) {
   return a->rank == b->rank && memcmp(a->size, b->size, a->rank * sizeof a->size[0]) == 0;
}

void rkb_shape_text(const rkb_shape_t *shape, char *out, size_t size) {
   size_t used = (size_t)snprintf(out, size, "%s", shape->rank == 0 ? "scalar" : "");
   for (uint32_t i = 0; i < shape->rank && used < size; i++)
      used +=
         (size_t)snprintf(out + used, size - used, "%s%lld", i > 0 ? " x " : "", (long long)shape->size[i]);
}

rkb_shape_texts_t rkb_shape_texts(const rkb_shape_t *left, const rkb_shape_t *right) {
   rkb_shape_texts_t texts;
   rkb_shape_text(left, texts.left, sizeof texts.left);
   rkb_shape_text(right, texts.right, sizeof texts.right);
   return texts;
}

bool rkb_shape_dim(const rkb_shape_t *shape, int64_t written, uint32_t *dim) {
   int64_t rank = shape->rank;
   if (written < -rank || written >= rank)
      return false;
   *dim = (uint32_t)(written < 0 ? written + rank : written);
   return true;
}

bool rkb_shape_broadcast(const rkb_shape_t *a, const rkb_shape_t *b, rkb_shape_t *out) {
   *out = (rkb_shape_t){.rank = a->rank > b->rank ? a->rank : b->rank};
   for (uint32_t i = 0; i < out->rank; i++) { /* i counts from the last dim */
      int64_t left = i < a->rank ? a->size[a->rank - 1 - i] : 1;
      int64_t right = i < b->rank ? b->size[b->rank - 1 - i] : 1;
      if (left != right && left != 1 && right != 1)
         return false;
      out->size[out->rank - 1 - i] = left == 1 ? right : left;
   }
   return true;
}

uint64_t rkb_shape_product(const rkb_shape_t *shape, uint32_t first, uint32_t last) {
   uint64_t product = 1;
   for (uint32_t i = first; i < last; i++)
      product *= (uint64_t)shape->size[i];
   return product;
}

void rkb_shape_split(const rkb_shape_t *shape, uint64_t element, int64_t *at) {
   for (uint32_t i = shape->rank; i-- > 0;) {
      uint64_t size = (uint64_t)shape->size[i];
      uint64_t rest = element / size;
      at[i] = (int64_t)(element - rest * size);
      element = rest;
   }
}

uint64_t rkb_shape_join(const rkb_shape_t *shape, const int64_t *at) {
   uint64_t element = 0;
   for (uint32_t i = 0; i < shape->rank; i++)
      element = element * (uint64_t)shape->size[i] + (uint64_t)at[i];
   return element;
}

void rkb_shape_broadcast_strides(const rkb_shape_t *operand, const rkb_shape_t *out, int64_t *strides) {
   int64_t stride = 1;
   for (uint32_t i = 0; i < out->rank; i++) { /* from the last dim */
      uint32_t to = out->rank - 1 - i;
      if (i >= operand->rank) {
         strides[to] = 0;
         continue;
      }
      int64_t size = operand->size[operand->rank - 1 - i];
      strides[to] = size == 1 ? 0 : stride;
      stride *= size;
   }
}
