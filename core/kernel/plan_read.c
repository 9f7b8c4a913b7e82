/* Reads plans from bytes (docs/plan-format.md).  The bytes may come from anywhere, so the reader trusts no number.  Needs only
 * core/base's arena and text, so that rkb-worker can read plans without other code.  Any thread. */
#include "kernel/plan.h"
#include "kernel/byte_record.h"
#include "kernel/plan_format.h"
#include "kernel/tensor_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
   MAX_MAPS = 256,
   MAX_BUFFERS = 4096,
   MAX_LAUNCHES = 2048,
   MAX_CONSTANTS = 4096,
   MAX_ARGUMENTS = 1024,
   MAX_TEXT = 8192,
   MAX_PARAMETER_BYTES = 32764, /* PTX ISA, .param: 32,764 bytes from sm_70 on */
   MAX_ALIGNMENT = 1 << 21,
   MAX_THREADS = 1024,
   MAX_SHARED = 1 << 20
};

typedef struct reader {
   record_reader_t in;
   rkb_arena_t *arena;
   const char *wrong; /* the first rule of the format that the bytes break */
} reader_t;

static void expect(reader_t *reader, bool holds, const char *otherwise) {
   if (!holds && !reader->wrong)
      reader->wrong = otherwise;
}

static const char *read_name(reader_t *reader) {
   size_t length;
   const void *bytes = record_bytes(&reader->in, &length, MAX_TEXT);
   const char *name =
      bytes && length && !memchr(bytes, 0, length) ? rkb_arena_text(reader->arena, bytes, length) : NULL;
   expect(reader, name != NULL, "a name is missing or malformed");
   return name ? name : "";
}

static void read_buffer(reader_t *reader, rkb_plan_buffer_t *buffer) {
   uint64_t bits, bytes;
   buffer->name = read_name(reader);
   buffer->role = record_u32(&reader->in);
   buffer->dtype = record_u32(&reader->in);
   buffer->tensor = record_u32(&reader->in);
   buffer->alignment = record_u32(&reader->in);
   buffer->bytes = record_u64(&reader->in);
   buffer->elements = record_u64(&reader->in);
   buffer->fill = record_u32(&reader->in);
   bits = record_u64(&reader->in);
   memcpy(&buffer->fill_value, &bits, sizeof bits);
   expect(reader, buffer->role <= RKB_INOUT, "a buffer's role is unknown");
   expect(reader, planner_dtype_bytes(buffer->dtype) != 0, "a buffer's dtype is unknown");
   expect(reader, (buffer->role == 0) == (buffer->tensor == UINT32_MAX),
          "scratch has no tensor and a tensor has a role");
   expect(reader, buffer->role == 0 || buffer->tensor < MAX_BUFFERS, "a buffer's tensor is out of range");
   expect(reader,
          buffer->alignment && buffer->alignment <= MAX_ALIGNMENT &&
             !(buffer->alignment & (buffer->alignment - 1)),
          "a buffer's alignment is not a power of two");
   expect(reader,
          !__builtin_mul_overflow(buffer->elements, (uint64_t)planner_dtype_bytes(buffer->dtype), &bytes) &&
             bytes == buffer->bytes,
          "a buffer's bytes are not those of its elements");
   expect(reader, buffer->fill <= RKB_FILL_VALUE && isfinite(buffer->fill_value),
          "a buffer's fill is unknown");
}

static void read_three(reader_t *reader, uint32_t three[3], const char *otherwise) {
   for (uint32_t i = 0; i < 3; i++) {
      three[i] = record_u32(&reader->in);
      expect(reader, three[i] >= 1 && three[i] <= INT32_MAX, otherwise);
   }
}

static void read_pixels(reader_t *reader, rkb_plan_map_t *map) {
   map->im2col = record_u32(&reader->in);
   expect(reader, map->im2col <= 1, "whether a tensor map takes pixels is 0 or 1");
   expect(reader, !map->im2col || map->rank >= 3, "a tensor map of pixels has no rank from 3 to 5");
   for (uint32_t k = 0; map->im2col && k + 2 < map->rank && k + 2 < RKB_MAP_MOST_RANK; k++) {
      map->lower[k] = (int32_t)record_u32(&reader->in);
      map->upper[k] = (int32_t)record_u32(&reader->in);
   }
   map->channels = map->im2col ? record_u32(&reader->in) : 0;
   map->pixels = map->im2col ? record_u32(&reader->in) : 0;
}

/* Refuses a map that lies outside its buffer or breaks another rule, so that no sent bytes can make the
 * encoder reach further. */
static void read_map(reader_t *reader, const rkb_plan_t *plan, rkb_plan_map_t *map, bool pixels) {
   char problem[256];
   map->name = read_name(reader);
   map->buffer = record_u32(&reader->in);
   map->type = record_u32(&reader->in);
   map->interleave = record_u32(&reader->in);
   map->swizzle = record_u32(&reader->in);
   map->fill = record_u32(&reader->in);
   map->line = record_u32(&reader->in);
   map->offset = record_u64(&reader->in);
   map->rank = record_u32(&reader->in);
   expect(reader, map->rank >= 1 && map->rank <= RKB_MAP_MOST_RANK, "a tensor map has no rank from 1 to 5");
   for (uint32_t k = 0; k < map->rank && k < RKB_MAP_MOST_RANK; k++) {
      map->dims[k] = record_u64(&reader->in);
      const uint64_t stride = record_u64(&reader->in);
      expect(reader, k || !stride, "a tensor map has a stride of dimension 0");
      if (k)
         map->strides[k - 1] = stride;
      map->box[k] = record_u32(&reader->in);
      map->element_strides[k] = record_u32(&reader->in);
   }
   if (pixels)
      read_pixels(reader, map);
   expect(reader, map->buffer < plan->buffer_count, "a tensor map's buffer is out of range");
   if (!reader->wrong)
      expect(reader,
             !rkb_tensor_map_problem(map, plan->buffers[map->buffer].bytes,
                                     plan->buffers[map->buffer].alignment, NULL, problem, sizeof problem),
             "a tensor map cannot be encoded, or leaves its buffer");
}

static void read_arguments(reader_t *reader, const rkb_plan_t *plan, rkb_plan_launch_t *launch) {
   rkb_plan_argument_t *list;
   uint32_t end = 0;
   launch->argument_count = record_count(&reader->in, MAX_ARGUMENTS, plan->map_count ? 24 : 20);
   list = rkb_arena_array(reader->arena, launch->argument_count + 1, sizeof *list);
   for (uint32_t i = 0; i < launch->argument_count; i++) {
      rkb_plan_argument_t *argument = &list[i];
      argument->buffer = record_u32(&reader->in);
      argument->offset = record_u32(&reader->in);
      argument->bytes = record_u32(&reader->in);
      argument->value = record_u64(&reader->in);
      argument->map = plan->map_count ? record_u32(&reader->in) : 0;
      expect(reader, argument->map <= plan->map_count, "an argument's tensor map is out of range");
      expect(reader,
             argument->map ? argument->bytes == RKB_MAP_BYTES && argument->offset % RKB_MAP_ALIGNMENT == 0 &&
                                argument->value == 0
                           : argument->bytes == 1 || argument->bytes == 2 || argument->bytes == 4 ||
                                argument->bytes == 8,
             "an argument's width is not 1, 2, 4 or 8, or that of a tensor map");
      expect(reader,
             argument->offset >= end && argument->offset <= MAX_PARAMETER_BYTES &&
                argument->offset + argument->bytes <= launch->parameter_bytes,
             "an argument lies outside the parameters or over another");
      end = argument->offset + argument->bytes;
      if (argument->map)
         expect(reader, !reader->wrong && argument->buffer == plan->maps[argument->map - 1].buffer,
                "a tensor map is passed as another buffer's");
      else if (argument->buffer == UINT32_MAX)
         expect(reader,
                argument->bytes == 8 || argument->bytes > 8 || argument->value >> (8 * argument->bytes) == 0,
                "an argument's value is wider than it");
      else
         expect(reader,
                argument->buffer < plan->buffer_count && argument->bytes == 8 &&
                   argument->value <= plan->buffers[argument->buffer].bytes,
                "a pointer lies outside its buffer");
   }
   launch->arguments = list;
}

static void read_launch(reader_t *reader, const rkb_plan_t *plan, rkb_plan_launch_t *launch) {
   launch->expression = read_name(reader);
   launch->entry = read_name(reader);
   launch->kernel = record_u32(&reader->in);
   read_three(reader, launch->grid, "a grid is empty or too large");
   read_three(reader, launch->block, "a block is empty or too large");
   read_three(reader, launch->cluster, "a cluster is empty or too large");
   launch->dynamic_shared = record_u32(&reader->in);
   const uint32_t ways = record_u32(&reader->in);
   launch->cooperative = ways & PLAN_COOPERATIVE ? 1 : 0;
   launch->dependent = ways & PLAN_DEPENDENT ? 1 : 0;
   launch->line = record_u32(&reader->in);
   launch->parameter_bytes = record_u32(&reader->in);
   expect(reader, launch->kernel < MAX_LAUNCHES, "a launch's kernel is out of range");
   expect(reader,
          (uint64_t)launch->block[0] * launch->block[1] <= MAX_THREADS &&
             (uint64_t)launch->block[0] * launch->block[1] * launch->block[2] <= MAX_THREADS,
          "a block has more than 1,024 threads");
   for (uint32_t i = 0; i < 3; i++)
      expect(reader, launch->cluster[i] && launch->grid[i] % launch->cluster[i] == 0,
             "a grid is not a multiple of its cluster");
   expect(reader,
          launch->dynamic_shared <= MAX_SHARED && ways <= (PLAN_COOPERATIVE | PLAN_DEPENDENT) &&
             launch->parameter_bytes <= MAX_PARAMETER_BYTES,
          "a launch's sizes are out of range");
   read_arguments(reader, plan, launch);
}

static void read_constant(reader_t *reader, const rkb_plan_t *plan, rkb_plan_constant_t *constant) {
   constant->symbol = read_name(reader);
   constant->buffer = record_u32(&reader->in);
   constant->bytes = record_u64(&reader->in);
   expect(reader,
          constant->buffer < plan->buffer_count && constant->bytes == plan->buffers[constant->buffer].bytes,
          "a constant is not one buffer whole");
}

static bool fine(const reader_t *reader) {
   return !reader->wrong && !reader->in.bad;
}

static void read_plan(reader_t *reader, rkb_plan_t *plan) {
   rkb_plan_buffer_t *buffers;
   rkb_plan_constant_t *constants;
   rkb_plan_launch_t *launches;
   expect(reader, record_u64(&reader->in) == PLAN_MAGIC, "these bytes are not a plan");
   plan->version = record_u32(&reader->in);
   expect(reader, plan->version >= PLAN_VERSION && plan->version <= PLAN_VERSION_PIXELS,
          "this version of the plan format is not known");
   plan->buffer_count = record_count(&reader->in, MAX_BUFFERS, 52);
   buffers = rkb_arena_array(reader->arena, plan->buffer_count + 1, sizeof *buffers);
   for (uint32_t i = 0; i < plan->buffer_count && fine(reader); i++)
      read_buffer(reader, &buffers[i]);
   plan->buffers = buffers;
   plan->constant_count = record_count(&reader->in, MAX_CONSTANTS, 20);
   constants = rkb_arena_array(reader->arena, plan->constant_count + 1, sizeof *constants);
   for (uint32_t i = 0; i < plan->constant_count && fine(reader); i++)
      read_constant(reader, plan, &constants[i]);
   plan->constants = constants;
   const bool has_maps = plan->version >= PLAN_VERSION_MAPS, pixels = plan->version == PLAN_VERSION_PIXELS;
   plan->version = PLAN_VERSION; /* the version of the plan's meaning; the bytes have a version of their own */
   plan->map_count = has_maps ? record_count(&reader->in, MAX_MAPS, 60) : 0;
   expect(reader, !has_maps || plan->map_count, "a plan of version 2 or 3 has tensor maps");
   rkb_plan_map_t *maps = rkb_arena_array(reader->arena, plan->map_count + 1, sizeof *maps);
   for (uint32_t i = 0; i < plan->map_count && fine(reader); i++)
      read_map(reader, plan, &maps[i], pixels);
   plan->maps = maps;
   bool any = false;
   for (uint32_t i = 0; i < plan->map_count; i++)
      any |= maps[i].im2col != 0;
   expect(reader, any == pixels, "a plan of version 3 has a tensor map of pixels");
   plan->launch_count = record_count(&reader->in, MAX_LAUNCHES, 76);
   launches = rkb_arena_array(reader->arena, plan->launch_count + 1, sizeof *launches);
   for (uint32_t i = 0; i < plan->launch_count && fine(reader); i++)
      read_launch(reader, plan, &launches[i]);
   expect(reader, !plan->launch_count || !launches[0].dependent, "the first launch depends on none");
   plan->launches = launches;
   expect(reader, reader->in.at == reader->in.size, "bytes follow its end");
}

int rkb_plan_read(const void *bytes, size_t length, rkb_plan_t **plan, rkb_error_t *err) {
   reader_t reader = {.in = {.data = bytes, .size = length}, .arena = rkb_arena_new(0)};
   rkb_plan_t read = {.version = 0};
   *plan = NULL;
   if (length <= PLAN_MAX_BYTES) {
      read_plan(&reader, &read);
      *plan = fine(&reader) ? plan_adopt(reader.arena, &read, (plan_choices_t){0}) : NULL;
   }
   if (*plan)
      return RKB_OK;
   rkb_arena_free(reader.arena);
   *err = (rkb_error_t){.status = RKB_ERR_INVALID};
   snprintf(err->message, sizeof err->message, "a plan cannot be read: %s",
            length > PLAN_MAX_BYTES          ? "it is larger than 16 MiB"
            : reader.wrong && !reader.in.bad ? reader.wrong
                                             : "it is cut short or malformed");
   return err->status;
}
