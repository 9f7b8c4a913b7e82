/* Reads the attributes of a call for the function that is expanded.  Any thread. */
#include "reference/functions/functions.h"

#include <assert.h>
#include <string.h>
#include "base/name_table.h"

const rkb_attribute_value_t *rkb_call_attribute(const rkb_call_t *call, const char *name) {
   for (uint32_t i = 0; i < RKB_MAX_FUNCTION_ATTRIBUTES && call->function->attributes[i].name; i++)
      if (rkb_same_name(call->function->attributes[i].name, name))
         return &call->values[i];
   assert(!"an attribute that the function's table does not list");
   return NULL;
}

int64_t rkb_call_int(const rkb_call_t *call, const char *name) {
   return rkb_call_attribute(call, name)->integers[0];
}

double rkb_call_real(const rkb_call_t *call, const char *name) {
   return rkb_call_attribute(call, name)->real;
}

bool rkb_call_true(const rkb_call_t *call, const char *name) {
   return rkb_call_attribute(call, name)->integers[0] != 0;
}

bool rkb_call_word(const rkb_call_t *call, const char *name, const char *word) {
   const char *given = rkb_call_attribute(call, name)->word;
   return given && rkb_same_name(given, word);
}

static uint32_t dim_of(const rkb_call_t *call, const char *name, int64_t written, uint32_t value) {
   uint32_t dim = 0;
   const rkb_shape_t *shape = rkb_program_shape(call->program, value);
   if (!rkb_shape_dim(shape, written, &dim))
      rkb_program_fail(call->program, "%s: %s %lld is not a dim of a tensor of rank %u", call->function->name,
                       name, (long long)written, shape->rank);
   return dim;
}

uint32_t rkb_call_dim(const rkb_call_t *call, const char *name, uint32_t value) {
   return dim_of(call, name, rkb_call_int(call, name), value);
}

uint64_t rkb_call_dims(const rkb_call_t *call, const char *name, uint32_t value) {
   const rkb_attribute_value_t *given = rkb_call_attribute(call, name);
   uint32_t rank = rkb_program_shape(call->program, value)->rank;
   if (!given->given || given->integer_count == 0)
      return (UINT64_C(1) << rank) - 1;
   uint64_t mask = 0;
   for (uint32_t i = 0; i < given->integer_count; i++)
      mask |= UINT64_C(1) << dim_of(call, name, given->integers[i], value);
   return mask;
}

rkb_shape_t rkb_call_shape(const rkb_call_t *call, const char *name) {
   const rkb_attribute_value_t *given = rkb_call_attribute(call, name);
   rkb_shape_t shape = {.rank = given->integer_count};
   memcpy(shape.size, given->integers, sizeof shape.size);
   return shape;
}
