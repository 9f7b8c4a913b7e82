/* Images of tensor maps (map_images.h).  On the machine's thread. */
#include "machine/maps/map_images.h"

#include <stdarg.h>
#include <stdio.h>

#define MAGIC 0x70616d726f736e74ull /* "tnsormap" */
#define MOST_BOX 256u
#define MOST_STEP 8u
#define MOST_STRIDE (UINT64_C(1) << 40)

/* The types that .elemtype of tensormap.replace names.  The driver lists its flushing types last; PTX lists
 * each beside the type that it belongs to. */
static const uint8_t types[] = {RKB_MAP_U8,   RKB_MAP_U16,  RKB_MAP_U32,     RKB_MAP_I32,     RKB_MAP_U64,
                                RKB_MAP_I64,  RKB_MAP_F16,  RKB_MAP_F32,     RKB_MAP_F32_FTZ, RKB_MAP_F64,
                                RKB_MAP_BF16, RKB_MAP_TF32, RKB_MAP_TF32_FTZ};

uint32_t machine_map_element(uint32_t type) {
   static const uint8_t bytes[] = {
      [RKB_MAP_U8] = 1,      [RKB_MAP_U16] = 2,  [RKB_MAP_U32] = 4,     [RKB_MAP_I32] = 4, [RKB_MAP_U64] = 8,
      [RKB_MAP_I64] = 8,     [RKB_MAP_F16] = 2,  [RKB_MAP_F32] = 4,     [RKB_MAP_F64] = 8, [RKB_MAP_BF16] = 2,
      [RKB_MAP_F32_FTZ] = 4, [RKB_MAP_TF32] = 4, [RKB_MAP_TF32_FTZ] = 4};
   return type < sizeof bytes ? bytes[type] : 1;
}

void machine_map_image(const machine_run_t *run, uint32_t number, uint8_t out[RKB_MAP_BYTES]) {
   const rkb_plan_map_t *map = &run->plan->maps[number];
   machine_map_image_t image;
   memset(&image, 0, sizeof image); /* clears the padding too, since images are compared */
   image.magic = MAGIC;
   image.address = run->regions[map->buffer].base + map->offset;
   image.number = (uint16_t)number;
   image.rank = (uint8_t)(map->rank - 1);
   image.type = (uint8_t)map->type;
   image.interleave = (uint8_t)map->interleave;
   image.swizzle = (uint8_t)map->swizzle;
   image.fill = (uint8_t)map->fill;
   image.im2col = (uint8_t)map->im2col;
   image.channels = (uint16_t)map->channels;
   image.pixels = (uint16_t)map->pixels;
   memcpy(image.strides, map->strides, sizeof image.strides);
   for (uint32_t k = 0; k < RKB_MAP_MOST_RANK; k++) {
      image.last[k] = map->dims[k] ? (uint32_t)(map->dims[k] - 1) : 0;
      image.box[k] = (uint16_t)map->box[k];
      image.steps[k] = (uint16_t)map->element_strides[k];
   }
   for (uint32_t k = 0; k < RKB_MAP_MOST_RANK - 2; k++) {
      image.lower[k] = (int16_t)map->lower[k];
      image.upper[k] = (int16_t)map->upper[k];
   }
   memset(out, 0, RKB_MAP_BYTES);
   memcpy(out, &image, sizeof image);
}

bool machine_is_map_image(const machine_run_t *run, const uint8_t bytes[RKB_MAP_BYTES]) {
   machine_map_image_t image;
   memcpy(&image, bytes, sizeof image);
   return image.magic == MAGIC && image.number < run->plan->map_count;
}

bool machine_map_replace(machine_map_image_t *image, enum machine_map_field field, uint64_t order,
                         uint64_t value) {
   const bool strides = field == MAP_STRIDE;
   if (order >= RKB_MAP_MOST_RANK - (uint32_t)strides)
      return false;
   switch (field) {
   case MAP_ADDRESS:
      image->address = value;
      return true;
   case MAP_RANK:
      image->rank = (uint8_t)value;
      return value < RKB_MAP_MOST_RANK;
   case MAP_BOX:
      image->box[order] = (uint16_t)value;
      return value >= 1 && value <= MOST_BOX;
   case MAP_DIM:
      image->last[order] = (uint32_t)value - 1;
      return value >= 1 && value <= UINT32_MAX;
   case MAP_STRIDE:
      image->strides[order] = value;
      return value % 16 == 0 && value < MOST_STRIDE;
   case MAP_STEP:
      image->steps[order] = (uint16_t)value;
      return value >= 1 && value <= MOST_STEP;
   case MAP_TYPE:
      image->type = value < sizeof types ? types[value] : 0;
      return value < sizeof types;
   case MAP_INTERLEAVE:
      image->interleave = (uint8_t)value;
      return value <= RKB_MAP_INTERLEAVE_32B;
   case MAP_SWIZZLE:
      image->swizzle = (uint8_t)value;
      return value <= RKB_MAP_SWIZZLE_128B;
   case MAP_FILL:
      image->fill = (uint8_t)value;
      return value <= RKB_MAP_FILL_NAN;
   }
   return false;
}

static const rkb_plan_map_t *refuse(machine_warp_t *warp, uint32_t lane, const char *name, const char *fmt,
                                    ...) __attribute__((format(printf, 4, 5)));
static const rkb_plan_map_t *refuse(machine_warp_t *warp, uint32_t lane, const char *name, const char *fmt,
                                    ...) {
   char what[160];
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(what, sizeof what, fmt, ap);
   va_end(ap);
   machine_find(warp, RKB_MACHINE_REJECT, "plan.argument", lane, "the map '%s', as the kernel changed it, %s",
                name, what);
   return NULL;
}

/* Finds where the tensor is now; false after a finding. */
static bool place(machine_warp_t *warp, uint32_t lane, uint64_t address, rkb_plan_map_t *map) {
   machine_run_t *run = warp->run;
   const machine_region_t *region = machine_region_at(run, address);
   uint64_t end = region ? address - region->base : 0, reach;
   bool beyond = !region;
   for (uint32_t k = 1; k < map->rank; k++)
      beyond |= __builtin_mul_overflow(map->dims[k] - 1, map->strides[k - 1], &reach) ||
                __builtin_add_overflow(end, reach, &end);
   const uint64_t element = map->interleave ? 8u << map->interleave : machine_map_element(map->type);
   beyond |= __builtin_add_overflow(end, map->dims[0] * element, &end);
   if (beyond || end > region->bytes) {
      machine_find(warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", lane,
                   "the map '%s', as the kernel changed it, describes %s", map->name,
                   !region ? "memory that no buffer has" : "memory past the end of a buffer");
      return false;
   }
   map->buffer = (uint32_t)(region - run->regions);
   map->offset = address - region->base;
   return true;
}

/* Checks the fields that a kernel can change, by the rules that the driver's encoder has for maps of a host (core/kernel/tensor_map.c). */
static const rkb_plan_map_t *checked(machine_warp_t *warp, uint32_t lane, uint64_t address,
                                     rkb_plan_map_t *map) {
   static const uint32_t widths[] = {0, 32, 64, 128};
   const uint32_t row = map->box[0] * machine_map_element(map->type);
   if (map->im2col)
      return refuse(warp, lane, map->name,
                    "is of pixels (im2col), and tensormap.replace changes tiles alone");
   if (address % 16)
      return refuse(warp, lane, map->name, "begins at no multiple of 16 bytes");
   if (map->interleave && map->rank < 3)
      return refuse(warp, lane, map->name, "has an interleaved layout and %u dimensions; it needs 3",
                    map->rank);
   if (map->interleave == RKB_MAP_INTERLEAVE_32B && map->swizzle != RKB_MAP_SWIZZLE_32B)
      return refuse(warp, lane, map->name, "has an interleaved layout of 32 bytes without swizzle 32");
   if (map->interleave == RKB_MAP_INTERLEAVE_32B && address % 32)
      return refuse(warp, lane, map->name, "begins at no multiple of 32 bytes");
   for (uint32_t k = 0; map->interleave == RKB_MAP_INTERLEAVE_32B && k + 1 < map->rank; k++)
      if (map->strides[k] % 32)
         return refuse(warp, lane, map->name, "has a stride that is no multiple of 32 bytes");
   if (row % 16)
      return refuse(warp, lane, map->name, "has rows of %u bytes; rows are multiples of 16", row);
   if (map->swizzle && !map->interleave && row > widths[map->swizzle & 3])
      return refuse(warp, lane, map->name, "has rows of %u bytes, more than its swizzle of %u", row,
                    widths[map->swizzle & 3]);
   if (map->fill == RKB_MAP_FILL_NAN && map->type < RKB_MAP_F16)
      return refuse(warp, lane, map->name, "fills with NaN, and its elements are no floating-point numbers");
   for (uint32_t k = 0; k < map->rank; k++)
      if (map->box[k] < 1 || map->element_strides[k] < 1)
         return refuse(warp, lane, map->name, "has no box in dimension %u", k);
   return place(warp, lane, address, map) ? map : NULL;
}

const rkb_plan_map_t *machine_map_of_image(machine_warp_t *warp, uint32_t lane,
                                           const uint8_t bytes[RKB_MAP_BYTES], rkb_plan_map_t *room) {
   machine_run_t *run = warp->run;
   uint8_t before[RKB_MAP_BYTES];
   machine_map_image_t image;
   memcpy(&image, bytes, sizeof image);
   const rkb_plan_map_t *from = &run->plan->maps[image.number];
   machine_map_image(run, image.number, before);
   if (memcmp(before, bytes, RKB_MAP_BYTES) == 0)
      return from;
   *room = *from;
   room->rank = image.rank + 1u;
   room->type = image.type;
   room->interleave = image.interleave;
   room->swizzle = image.swizzle;
   room->fill = image.fill;
   memcpy(room->strides, image.strides, sizeof room->strides);
   for (uint32_t k = 0; k < RKB_MAP_MOST_RANK; k++) {
      room->dims[k] = (uint64_t)image.last[k] + 1;
      room->box[k] = image.box[k];
      room->element_strides[k] = image.steps[k];
   }
   if (room->rank > RKB_MAP_MOST_RANK || room->type > RKB_MAP_TF32_FTZ)
      return refuse(warp, lane, from->name, "was written over by other bytes");
   return checked(warp, lane, image.address, room);
}
