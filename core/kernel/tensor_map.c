/* The rules of tensor maps (tensor_map.h). */
#include "kernel/tensor_map.h"

#include <stdarg.h>
#include <stdio.h>

#define MOST_DIM (UINT64_C(1) << 32)
#define MOST_STRIDE (UINT64_C(1) << 40)
#define MOST_BOX 256u
#define MOST_ELEMENT_STRIDE 8u
#define MOST_CHANNELS 256u
#define MOST_PIXELS 1024u

uint32_t rkb_tensor_map_type(uint32_t dtype) {
   static const uint32_t types[] = {
      [RKB_F16] = RKB_MAP_F16, [RKB_BF16] = RKB_MAP_BF16, [RKB_F32] = RKB_MAP_F32, [RKB_F64] = RKB_MAP_F64,
      [RKB_I32] = RKB_MAP_I32, [RKB_I64] = RKB_MAP_I64,   [RKB_U8] = RKB_MAP_U8,   [RKB_I8] = RKB_MAP_U8,
      [RKB_E4M3] = RKB_MAP_U8, [RKB_E5M2] = RKB_MAP_U8};
   return types[dtype];
}

uint32_t rkb_tensor_map_element(uint32_t type) {
   static const uint8_t bytes[] = {
      [RKB_MAP_U8] = 1,      [RKB_MAP_U16] = 2,  [RKB_MAP_U32] = 4,     [RKB_MAP_I32] = 4, [RKB_MAP_U64] = 8,
      [RKB_MAP_I64] = 8,     [RKB_MAP_F16] = 2,  [RKB_MAP_F32] = 4,     [RKB_MAP_F64] = 8, [RKB_MAP_BF16] = 2,
      [RKB_MAP_F32_FTZ] = 4, [RKB_MAP_TF32] = 4, [RKB_MAP_TF32_FTZ] = 4};
   return type < sizeof bytes ? bytes[type] : 0;
}

static bool is_float(uint32_t type) {
   return type >= RKB_MAP_F16;
}

typedef struct problem {
   rkb_map_part_t part;
   char *out;
   size_t size;
} problem_t;

static bool say(problem_t *problem, enum rkb_map_key key, uint32_t entry, const char *fmt, ...)
   __attribute__((format(printf, 4, 5)));
static bool say(problem_t *problem, enum rkb_map_key key, uint32_t entry, const char *fmt, ...) {
   va_list ap;
   problem->part = (rkb_map_part_t){key, entry};
   va_start(ap, fmt);
   vsnprintf(problem->out, problem->size, fmt, ap);
   va_end(ap);
   return true;
}

static bool words_problem(const rkb_plan_map_t *map, problem_t *problem) {
   if (!rkb_tensor_map_element(map->type))
      return say(problem, RKB_MAP_KEY_DTYPE, 0, "its element type %u is not known", map->type);
   if (map->rank < 1 || map->rank > RKB_MAP_MOST_RANK)
      return say(problem, RKB_MAP_KEY_DIMS, 0, "it has %u dimensions; a tensor map has 1 to %d", map->rank,
                 RKB_MAP_MOST_RANK);
   if (map->interleave > RKB_MAP_INTERLEAVE_32B)
      return say(problem, RKB_MAP_KEY_INTERLEAVE, 0, "its interleave %u is not known", map->interleave);
   if (map->interleave && map->rank < 3)
      return say(problem, RKB_MAP_KEY_INTERLEAVE, 0,
                 "an interleaved layout needs at least 3 dimensions, and it has %u", map->rank);
   if (map->swizzle > RKB_MAP_SWIZZLE_128B)
      return say(problem, RKB_MAP_KEY_SWIZZLE, 0, "its swizzle %u is not known", map->swizzle);
   if (map->interleave == RKB_MAP_INTERLEAVE_32B && map->swizzle != RKB_MAP_SWIZZLE_32B)
      return say(problem, RKB_MAP_KEY_INTERLEAVE, 0, "an interleaved layout of 32 bytes needs swizzle 32");
   if (map->fill > RKB_MAP_FILL_NAN)
      return say(problem, RKB_MAP_KEY_FILL, 0, "its fill %u is not known", map->fill);
   if (map->fill == RKB_MAP_FILL_NAN && !is_float(map->type))
      return say(problem, RKB_MAP_KEY_FILL, 0, "fill: nan is for floating-point elements");
   return false;
}

static bool sizes_problem(const rkb_plan_map_t *map, problem_t *problem) {
   const uint32_t multiple = map->interleave == RKB_MAP_INTERLEAVE_32B ? 32 : 16;
   for (uint32_t k = 0; k < map->rank; k++)
      if (map->dims[k] < 1 || map->dims[k] > MOST_DIM)
         return say(problem, RKB_MAP_KEY_DIMS, k, "dimension %u has %llu elements; it has 1 to 2^32", k,
                    (unsigned long long)map->dims[k]);
   for (uint32_t k = 0; k + 1 < map->rank; k++) {
      if (map->strides[k] % multiple || map->strides[k] >= MOST_STRIDE)
         return say(problem, RKB_MAP_KEY_STRIDES, k,
                    "the stride of dimension %u is %llu bytes; strides are multiples of %u below 2^40", k + 1,
                    (unsigned long long)map->strides[k], multiple);
   }
   for (uint32_t k = 0; k < map->rank; k++) {
      if (!map->im2col && (map->box[k] < 1 || map->box[k] > MOST_BOX))
         return say(problem, RKB_MAP_KEY_BOX, k, "the box has %u elements in dimension %u; it has 1 to %u",
                    map->box[k], k, MOST_BOX);
      if (map->element_strides[k] < 1 || map->element_strides[k] > MOST_ELEMENT_STRIDE)
         return say(problem, RKB_MAP_KEY_STEPS, k, "the element stride of dimension %u is %u; it is 1 to %u",
                    k, map->element_strides[k], MOST_ELEMENT_STRIDE);
   }
   return false;
}

/* The first dimension that counts pixels.  In an interleaved layout an element of the first dimension is a
 * slice of channels, and the last dimension but one gives the number of the slice. */
static uint32_t first_of_pixels(const rkb_plan_map_t *map) {
   return map->interleave ? 0 : 1;
}

/* Checks the corners.  They are numbers of 16, 8 or 5 bits, depending on how many there are. */
static bool pixels_problem(const rkb_plan_map_t *map, problem_t *problem) {
   static const int32_t most[] = {[3] = 32767, [4] = 127, [5] = 15};
   if (!map->im2col)
      return false;
   if (map->rank < 3)
      return say(problem, RKB_MAP_KEY_DIMS, 0, "it has %u dimensions; a map of pixels has 3 to %d", map->rank,
                 RKB_MAP_MOST_RANK);
   if (map->channels < 1 || map->channels > MOST_CHANNELS)
      return say(problem, RKB_MAP_KEY_CHANNELS, 0, "a copy takes %u channels; it takes 1 to %u",
                 map->channels, MOST_CHANNELS);
   if (map->pixels < 1 || map->pixels > MOST_PIXELS)
      return say(problem, RKB_MAP_KEY_PIXELS, 0, "a copy takes %u pixels; it takes 1 to %u", map->pixels,
                 MOST_PIXELS);
   for (uint32_t k = 0; k + 2 < map->rank; k++) {
      const int32_t corners[] = {map->lower[k], map->upper[k]};
      for (int n = 0; n < 2; n++)
         if (corners[n] > most[map->rank] || corners[n] < -most[map->rank] - 1)
            return say(problem, n ? RKB_MAP_KEY_UPPER : RKB_MAP_KEY_LOWER, k,
                       "the %s corner of dimension %u is %d; with %u dimensions it is %d to %d",
                       n ? "upper" : "lower", k + first_of_pixels(map), corners[n], map->rank,
                       -most[map->rank] - 1, most[map->rank]);
   }
   for (uint32_t k = 0; k + 2 < map->rank; k++) {
      const int64_t last = (int64_t)map->dims[k + first_of_pixels(map)] - 1 + map->upper[k];
      if (last < map->lower[k])
         return say(problem, RKB_MAP_KEY_UPPER, k,
                    "the box of pixels goes from %d to %lld in dimension %u: it has no pixels", map->lower[k],
                    (long long)last, k + first_of_pixels(map));
   }
   return false;
}

/* Checks the row of a box in shared memory, or a pixel. */
static bool row_problem(const rkb_plan_map_t *map, problem_t *problem) {
   static const uint32_t widths[] = {0, 32, 64, 128};
   const char *what = map->im2col ? "a pixel" : "a row of the box";
   const uint32_t bytes = (map->im2col ? map->channels : map->box[0]) * rkb_tensor_map_element(map->type);
   if (bytes % 16)
      return say(problem, map->im2col ? RKB_MAP_KEY_CHANNELS : RKB_MAP_KEY_BOX, 0,
                 "%s has %u bytes; rows are multiples of 16", what, bytes);
   if (map->swizzle && !map->interleave && bytes > widths[map->swizzle])
      return say(problem, RKB_MAP_KEY_SWIZZLE, 0, "%s has %u bytes, more than its swizzle of %u", what, bytes,
                 widths[map->swizzle]);
   return false;
}

/* Checks the map's first byte, and that it ends inside the buffer. */
static bool place_problem(const rkb_plan_map_t *map, uint64_t buffer_bytes, uint32_t alignment,
                          problem_t *problem) {
   const uint32_t multiple = map->interleave == RKB_MAP_INTERLEAVE_32B ? 32 : 16;
   uint64_t end = map->offset, reach;
   bool beyond = false;
   if (map->offset % multiple || alignment % multiple)
      return say(problem, RKB_MAP_KEY_OFFSET, 0, "its first element does not lie at a multiple of %u bytes",
                 multiple);
   for (uint32_t k = 1; k < map->rank; k++)
      beyond |= __builtin_mul_overflow(map->dims[k] - 1, map->strides[k - 1], &reach) ||
                __builtin_add_overflow(end, reach, &end);
   const uint64_t element = map->interleave ? 8u << map->interleave : rkb_tensor_map_element(map->type);
   beyond |= __builtin_add_overflow(end, map->dims[0] * element, &end);
   if (beyond || end > buffer_bytes)
      return say(problem, RKB_MAP_KEY_DIMS, map->rank - 1,
                 "its last element ends %s%llu bytes into the buffer, which has %llu",
                 beyond ? "more than " : "", (unsigned long long)(beyond ? UINT64_MAX : end),
                 (unsigned long long)buffer_bytes);
   return false;
}

bool rkb_tensor_map_problem(const rkb_plan_map_t *map, uint64_t buffer_bytes, uint32_t buffer_alignment,
                            rkb_map_part_t *part, char *out, size_t size) {
   problem_t problem = {.out = out, .size = size};
   out[0] = '\0';
   const bool any = words_problem(map, &problem) || sizes_problem(map, &problem) ||
                    pixels_problem(map, &problem) || row_problem(map, &problem) ||
                    place_problem(map, buffer_bytes, buffer_alignment, &problem);
   if (any && part)
      *part = problem.part;
   return any;
}
