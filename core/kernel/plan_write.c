/* Writes plans as bytes (docs/plan-format.md).  Owns nothing; any thread. */
#include "kernel/plan.h"
#include "kernel/byte_record.h"
#include "kernel/plan_format.h"

#include <string.h>

static void put_real(rkb_text_t *out, double value) {
   uint64_t bits;
   memcpy(&bits, &value, sizeof bits);
   record_put_u64(out, bits);
}

static void put_buffer(rkb_text_t *out, const rkb_plan_buffer_t *buffer) {
   record_put_text(out, buffer->name);
   record_put_u32(out, buffer->role);
   record_put_u32(out, buffer->dtype);
   record_put_u32(out, buffer->tensor);
   record_put_u32(out, buffer->alignment);
   record_put_u64(out, buffer->bytes);
   record_put_u64(out, buffer->elements);
   record_put_u32(out, buffer->fill);
   put_real(out, buffer->fill_value);
}

static void put_three(rkb_text_t *out, const uint32_t three[3]) {
   for (uint32_t i = 0; i < 3; i++)
      record_put_u32(out, three[i]);
}

static void put_pixels(rkb_text_t *out, const rkb_plan_map_t *map) {
   record_put_u32(out, map->im2col);
   for (uint32_t k = 0; map->im2col && k + 2 < map->rank; k++) {
      record_put_u32(out, (uint32_t)map->lower[k]);
      record_put_u32(out, (uint32_t)map->upper[k]);
   }
   if (map->im2col) {
      record_put_u32(out, map->channels);
      record_put_u32(out, map->pixels);
   }
}

static void put_map(rkb_text_t *out, const rkb_plan_map_t *map, bool pixels) {
   record_put_text(out, map->name);
   record_put_u32(out, map->buffer);
   record_put_u32(out, map->type);
   record_put_u32(out, map->interleave);
   record_put_u32(out, map->swizzle);
   record_put_u32(out, map->fill);
   record_put_u32(out, map->line);
   record_put_u64(out, map->offset);
   record_put_u32(out, map->rank);
   for (uint32_t k = 0; k < map->rank; k++) {
      record_put_u64(out, map->dims[k]);
      record_put_u64(out, k ? map->strides[k - 1] : 0);
      record_put_u32(out, map->box[k]);
      record_put_u32(out, map->element_strides[k]);
   }
   if (pixels)
      put_pixels(out, map);
}

static void put_launch(rkb_text_t *out, const rkb_plan_launch_t *launch, bool maps) {
   record_put_text(out, launch->expression);
   record_put_text(out, launch->entry);
   record_put_u32(out, launch->kernel);
   put_three(out, launch->grid);
   put_three(out, launch->block);
   put_three(out, launch->cluster);
   record_put_u32(out, launch->dynamic_shared);
   record_put_u32(out,
                  (launch->cooperative ? PLAN_COOPERATIVE : 0) | (launch->dependent ? PLAN_DEPENDENT : 0));
   record_put_u32(out, launch->line);
   record_put_u32(out, launch->parameter_bytes);
   record_put_u32(out, launch->argument_count);
   for (uint32_t i = 0; i < launch->argument_count; i++) {
      record_put_u32(out, launch->arguments[i].buffer);
      record_put_u32(out, launch->arguments[i].offset);
      record_put_u32(out, launch->arguments[i].bytes);
      record_put_u64(out, launch->arguments[i].value);
      if (maps)
         record_put_u32(out, launch->arguments[i].map);
   }
}

int rkb_plan_write(const rkb_plan_t *plan, void **bytes, size_t *length, rkb_error_t *err) {
   rkb_text_t out;
   rkb_text_init(&out, PLAN_MAX_BYTES);
   record_put_u64(&out, PLAN_MAGIC);
   bool pixels = false;
   for (uint32_t i = 0; i < plan->map_count; i++)
      pixels |= plan->maps[i].im2col != 0;
   record_put_u32(&out, pixels ? PLAN_VERSION_PIXELS : plan->map_count ? PLAN_VERSION_MAPS : PLAN_VERSION);
   record_put_u32(&out, plan->buffer_count);
   for (uint32_t i = 0; i < plan->buffer_count; i++)
      put_buffer(&out, &plan->buffers[i]);
   record_put_u32(&out, plan->constant_count);
   for (uint32_t i = 0; i < plan->constant_count; i++) {
      record_put_text(&out, plan->constants[i].symbol);
      record_put_u32(&out, plan->constants[i].buffer);
      record_put_u64(&out, plan->constants[i].bytes);
   }
   if (plan->map_count)
      record_put_u32(&out, plan->map_count);
   for (uint32_t i = 0; i < plan->map_count; i++)
      put_map(&out, &plan->maps[i], pixels);
   record_put_u32(&out, plan->launch_count);
   for (uint32_t i = 0; i < plan->launch_count; i++)
      put_launch(&out, &plan->launches[i], plan->map_count != 0);
   if (out.cut) {
      rkb_text_free(&out);
      *err = (rkb_error_t){.status = RKB_ERR_LIMIT, .message = "the plan is larger than 16 MiB"};
      return err->status;
   }
   *length = out.length;
   *bytes = rkb_text_take(&out);
   return RKB_OK;
}
