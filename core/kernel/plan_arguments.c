/* A launch's arguments as the bytes of the kernel's parameter space.  The PTX decides how wide each is and
 * whether it is an address; a value that does not fit is a finding, and nothing is narrowed silently.  PTX
 * does not say whether an integer is signed: values must fit the signed type, which every size and index
 * does.  One thread. */
#include "kernel/plan.h"

#include <math.h>
#include <string.h>

typedef struct slot {
   planner_t *planner;
   const manifest_argument_t *argument;
   const rkb_parameter_t *parameter;
   uint32_t number; /* number of the argument, from 1, for messages */
   rkb_plan_argument_t *out;
} slot_t;

static bool refuse(slot_t *slot, const char *what) {
   planner_find(slot->planner, "plan.arguments", slot->argument->place, "argument %u (%.80s): %s",
                slot->number, slot->argument->text, what);
   return false;
}

static bool put_pointer(slot_t *slot, uint32_t index) {
   const rkb_plan_buffer_t *buffer = &slot->planner->buffers[index];
   const int64_t element = planner_dtype_bytes(buffer->dtype);
   int64_t elements = 0, bytes;
   char text[160];
   if (!slot->argument->simple)
      return refuse(slot, "a tensor is passed as 'name' or 'name + elements'");
   if (slot->parameter->bytes != 8 || slot->parameter->is_pointer == RKB_PARAMETER_NUMBER)
      return refuse(slot, "this parameter of the kernel is a number, not a pointer");
   if (slot->argument->tail && !planner_integer(slot->planner, slot->argument->tail, &elements))
      return false;
   if (elements < 0 || __builtin_mul_overflow(elements, element, &bytes) || (uint64_t)bytes > buffer->bytes) {
      snprintf(text, sizeof text, "an offset of %lld elements lies outside '%.64s', which has %llu",
               (long long)elements, buffer->name, (unsigned long long)buffer->elements);
      return refuse(slot, text);
   }
   slot->out->buffer = index;
   slot->out->value = (uint64_t)bytes;
   return true;
}

static bool put_real(slot_t *slot, const rkb_value_t *value) {
   const double real = value->is_real ? value->real : (double)value->integer;
   const float narrow = (float)real;
   uint32_t bits;
   if (!value->is_real &&
       ((int64_t)real != value->integer || (slot->parameter->bytes == 4 && (double)narrow != real)))
      return refuse(slot, "this integer is not a number of the parameter's float type");
   if (slot->parameter->bytes == 8) {
      memcpy(&slot->out->value, &real, sizeof real);
      return true;
   }
   if (isinf(narrow) && !isinf(real))
      return refuse(slot, "the value overflows the parameter's float");
   memcpy(&bits, &narrow, sizeof bits);
   slot->out->value = bits;
   return true;
}

static bool put_integer(slot_t *slot, int64_t value) {
   const uint32_t bytes = slot->parameter->bytes;
   char text[160];
   if (bytes < 8) {
      const int64_t most = ((int64_t)1 << (8 * bytes - 1)) - 1;
      /* A parameter of one byte is far more often a bool or an unsigned char than a signed char, so 0 to 255 fit too. */
      if (value < -most - 1 || value > (bytes == 1 ? 255 : most)) {
         snprintf(text, sizeof text, "its value %lld does not fit the kernel's %u-bit integer",
                  (long long)value, bytes * 8);
         return refuse(slot, text);
      }
   }
   slot->out->value = bytes == 8 ? (uint64_t)value : (uint64_t)value & (((uint64_t)1 << (8 * bytes)) - 1);
   return true;
}

static bool put_number(slot_t *slot) {
   const char *type = slot->parameter->ptx_type ? slot->parameter->ptx_type : "";
   rkb_value_t value;
   if (slot->parameter->is_pointer == RKB_PARAMETER_POINTER)
      return refuse(slot,
                    "this parameter of the kernel is a pointer; pass a tensor, a scratch buffer or null");
   if (!planner_value(slot->planner, slot->argument->whole, &value))
      return false;
   if (type[0] == 'f' || strcmp(type, "bf16") == 0) {
      if (slot->parameter->bytes < 4)
         return refuse(slot, "16-bit float parameters are not supported; pass a float");
      return put_real(slot, &value);
   }
   if (value.is_real)
      return refuse(slot, "a real number, and this parameter of the kernel is an integer");
   return put_integer(slot, value.integer);
}

static bool put_map(slot_t *slot, uint32_t map) {
   if (!slot->argument->simple || slot->argument->tail)
      return refuse(slot, "a tensor map is passed by its name alone");
   if (slot->parameter->bytes != RKB_MAP_BYTES || slot->parameter->alignment < RKB_MAP_ALIGNMENT)
      return refuse(
         slot,
         "a tensor map needs a parameter of 128 bytes that is aligned to 64: const __grid_constant__, of a struct "
         "with __align__(64)");
   slot->out->map = map + 1;
   slot->out->buffer = slot->planner->maps[map].buffer;
   return true;
}

static bool put_argument(slot_t *slot) {
   const uint32_t bytes = slot->parameter->bytes;
   const uint32_t index =
      slot->argument->head ? planner_buffer(slot->planner, slot->argument->head) : UINT32_MAX;
   slot->out->buffer = UINT32_MAX;
   slot->out->offset = slot->parameter->offset;
   slot->out->bytes = bytes;
   const uint32_t map = slot->argument->head ? planner_map(slot->planner, slot->argument->head) : UINT32_MAX;
   if (map != UINT32_MAX)
      return map != PLANNER_WRONG_MAP && put_map(slot, map);
   if ((slot->parameter->ptx_type && slot->parameter->ptx_type[0] == 'b' &&
        strcmp(slot->parameter->ptx_type, "b8") == 0 && bytes > 1) ||
       (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
      return refuse(slot, "this parameter of the kernel is a struct; pass its members: struct(x, int32 rows)");
   if (slot->argument->null) {
      if (bytes != 8 || slot->parameter->is_pointer == RKB_PARAMETER_NUMBER)
         return refuse(slot, "this parameter of the kernel is a number, not a pointer");
      return true;
   }
   return index != UINT32_MAX ? put_pointer(slot, index) : put_number(slot);
}

/* Members lie where C++ puts them: each at a multiple of its size, after the previous one. */
static bool put_struct(slot_t *slot) {
   const manifest_argument_t *argument = slot->argument;
   const rkb_parameter_t *whole = slot->parameter;
   uint32_t bytes = 0, alignment = 1;
   char text[160];
   if (!whole->ptx_type || strcmp(whole->ptx_type, "b8") != 0)
      return refuse(slot, "this parameter of the kernel is no struct");
   for (uint32_t i = 0; i < argument->member_count; i++) {
      const manifest_member_type_t *type = argument->members[i].type;
      const uint32_t size = type ? type->bytes : 8;
      bytes = (bytes + size - 1) / size * size;
      alignment = size > alignment ? size : alignment;
      const rkb_parameter_t parameter = {.offset = whole->offset + bytes,
                                         .bytes = size,
                                         .alignment = size,
                                         .is_pointer = type ? RKB_PARAMETER_NUMBER : RKB_PARAMETER_POINTER,
                                         .ptx_type = type ? type->ptx_type : "u64"};
      slot_t member = {slot->planner, &argument->members[i], &parameter, slot->number, slot->out + i};
      bytes += size;
      if (bytes > whole->bytes)
         break;
      if (!put_argument(&member))
         return false;
   }
   bytes = (bytes + alignment - 1) / alignment * alignment;
   if (bytes == whole->bytes && alignment <= whole->alignment)
      return true;
   if (bytes == whole->bytes)
      return refuse(slot, "the kernel's struct is aligned to less than these members are");
   snprintf(text, sizeof text, "these members take %s%u bytes, and the kernel's parameter has %u", bytes > whole->bytes ? "at least " : "",
            bytes, whole->bytes);
   return refuse(slot, text);
}

/* How many arguments of the plan an argument of the manifest becomes. */
static uint32_t places_of(const manifest_argument_t *argument) {
   return argument->members ? argument->member_count : 1;
}

bool planner_arguments(planner_t *planner, const manifest_launch_t *launch, const rkb_built_kernel_t *kernel,
                       rkb_plan_launch_t *out) {
   uint32_t places = 0;
   for (uint32_t i = 0; i < launch->argument_count; i++)
      places += places_of(&launch->arguments[i]);
   rkb_plan_argument_t *list = rkb_arena_array(planner->arena, places + 1, sizeof *list), *next = list;
   if (launch->argument_count != kernel->parameter_count) {
      planner_find(planner, "plan.arguments",
                   launch->argument_count ? launch->arguments[0].place : launch->place,
                   "%u arguments for '%.64s', which has %u parameters", launch->argument_count,
                   launch->kernel, kernel->parameter_count);
      return false;
   }
   for (uint32_t i = 0; i < launch->argument_count; i++) {
      slot_t slot = {planner, &launch->arguments[i], &kernel->parameters[i], i + 1, next};
      if (!(launch->arguments[i].members ? put_struct : put_argument)(&slot))
         return false;
      next += places_of(&launch->arguments[i]);
      out->parameter_bytes = kernel->parameters[i].offset + kernel->parameters[i].bytes;
   }
   if (out->parameter_bytes > (uint64_t)planner->device->parameter_bytes) {
      planner_find(planner, "plan.arguments", launch->place, "its parameters take %u bytes; %s allows %lld",
                   out->parameter_bytes, planner->device->name, (long long)planner->device->parameter_bytes);
      return false;
   }
   out->arguments = list;
   out->argument_count = places;
   return true;
}
