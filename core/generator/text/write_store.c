/* Writes the stores of values; loads are in write_load.c.  One thread. */
#include "generator/text/writer.h"

#include <string.h>

const char *rkb_pack_type(rkb_writer_t *writer, uint32_t dtype) {
   return dtype == RKB_F32
             ? rkb_arena_format(writer->arena, "Pack<%u>", writer->width)
             : rkb_arena_format(writer->arena, "Pack<%u, %s>", writer->width, rkb_storage_type(dtype));
}

/* If the text is one call of this function and nothing else, returns its argument; else NULL. */
static const char *argument_of(rkb_writer_t *writer, const char *text, const char *function) {
   const size_t before = strlen(function);
   uint32_t open = 1;
   if (strncmp(text, function, before) != 0 || text[before] != '(')
      return NULL;
   const char *first = text + before + 1, *at = first;
   for (; *at && open; at++)
      open += (*at == '(') - (*at == ')');
   return open || *at ? NULL : rkb_arena_format(writer->arena, "%.*s", (int)(at - 1 - first), first);
}

const char *rkb_stored_text(rkb_writer_t *writer, uint32_t dtype, const char *value) {
   /* A narrow number that was merely converted to a wider type is stored as it was. */
   const char *narrow = dtype == RKB_BF16 ? argument_of(writer, value, "__bfloat162float") : NULL;
   if (narrow)
      return narrow;
   switch (dtype) {
   case RKB_F16:
      return rkb_arena_format(writer->arena, "__float2half_rn(%s)", value);
   case RKB_BF16:
      return rkb_arena_format(writer->arena, "__float2bfloat16_rn(%s)", value);
   case RKB_E4M3:
      return rkb_arena_format(writer->arena, "to_e4m3(%s)", value);
   case RKB_E5M2:
      return rkb_arena_format(writer->arena, "to_e5m2(%s)", value);
   default:
      return value;
   }
}

void rkb_write_store(rkb_writer_t *writer, const char *buffer, uint32_t dtype, const rkb_index_t *element,
                     const char *value) {
   const char *where = rkb_writer_index(writer, element), *stored = rkb_stored_text(writer, dtype, value);
   rkb_writer_buffer(writer, buffer, dtype, true);
   rkb_write(writer, "%s[%s] = %s;", buffer, where, stored);
}
