/* Tensor copies of the conformance set (tile_vectors.h). */
#include "tile_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
   const char *name;
   uint32_t bytes;
   bool is_float;
} types[] = {{"u8", 1, false},     {"u16", 2, false}, {"u32", 4, false},    {"i32", 4, false},
             {"u64", 8, false},    {"i64", 8, false}, {"f16", 2, true},     {"f32", 4, true},
             {"f64", 8, true},     {"bf16", 2, true}, {"f32_ftz", 4, true}, {"tf32", 4, true},
             {"tf32_ftz", 4, true}};

uint64_t tile_hash(const void *data, size_t bytes) { /* FNV-1a */
   uint64_t hash = 0xcbf29ce484222325ull;
   for (size_t n = 0; n < bytes; n++)
      hash = (hash ^ ((const uint8_t *)data)[n]) * 0x100000001b3ull;
   return hash;
}

static uint32_t numbers(const char *text, int64_t *out) {
   uint32_t count = 0;
   while (count < RKB_MAP_MOST_RANK) {
      char *end;
      out[count++] = strtoll(text, &end, 0);
      if (*end != ',')
         break;
      text = end + 1;
   }
   return count;
}

static bool take(tile_form_t *form, const char *key, const char *value) {
   rkb_plan_map_t *map = &form->map;
   int64_t list[RKB_MAP_MOST_RANK];
   const uint32_t count = numbers(value, list);
   for (uint32_t n = 0; n < count; n++)
      if (strcmp(key, "dims") == 0)
         map->dims[n] = (uint64_t)list[n];
      else if (strcmp(key, "strides") == 0 && n < RKB_MAP_MOST_RANK - 1)
         map->strides[n] = (uint64_t)list[n];
      else if (strcmp(key, "box") == 0)
         map->box[n] = (uint32_t)list[n];
      else if (strcmp(key, "steps") == 0)
         map->element_strides[n] = (uint32_t)list[n];
      else if (strcmp(key, "at") == 0)
         form->at[n] = (int32_t)list[n];
      else if (strcmp(key, "lower") == 0 && n < RKB_MAP_MOST_RANK - 2)
         map->lower[n] = (int32_t)list[n];
      else if (strcmp(key, "upper") == 0 && n < RKB_MAP_MOST_RANK - 2)
         map->upper[n] = (int32_t)list[n];
      else if (strcmp(key, "offsets") == 0)
         form->offsets[n] = (uint32_t)list[n];
   if (strcmp(key, "dims") == 0)
      map->rank = count;
   else if (strcmp(key, "swizzle") == 0)
      map->swizzle = list[0] == 128 ? 3 : (uint32_t)list[0] / 32;
   else if (strcmp(key, "offset") == 0)
      map->offset = (uint64_t)list[0];
   else if (strcmp(key, "interleave") == 0)
      map->interleave = (uint32_t)list[0] / 16;
   else if (strcmp(key, "fill") == 0)
      map->fill = RKB_MAP_FILL_NAN;
   else if (strcmp(key, "channels") == 0)
      map->channels = (uint32_t)list[0];
   else if (strcmp(key, "pixels") == 0) {
      map->pixels = (uint32_t)list[0];
      map->im2col = 1;
   } else
      return strstr("dims strides box steps at lower upper offsets", key) != NULL;
   return true;
}

bool tile_parse(const char *line, tile_form_t *form, const char **message) {
   char copy[256], *next = NULL;
   *message = NULL;
   *form = (tile_form_t){.map = {.name = "map", .type = UINT32_MAX, .element_strides = {1, 1, 1, 1, 1}}};
   snprintf(form->text, sizeof form->text, "%.*s", (int)strcspn(line, "\n"), line);
   if (form->text[0] == '#' || form->text[0] == '\0')
      return false;
   memcpy(copy, form->text, sizeof copy);
   uint32_t at = 0;
   for (char *word = strtok_r(copy, " ", &next); word; word = strtok_r(NULL, " ", &next), at++) {
      char *value = strchr(word, '=');
      if (at == 0)
         snprintf(form->mode, sizeof form->mode, "%s", word);
      for (uint32_t n = 0; at == 1 && n < sizeof types / sizeof *types; n++)
         form->map.type = strcmp(types[n].name, word) == 0 ? n : form->map.type;
      if (at < 2)
         continue;
      if (value)
         *value++ = '\0';
      if (!value || !take(form, word, value)) {
         *message = "a word is not known";
         return false;
      }
   }
   if (form->map.type == UINT32_MAX || !form->map.rank) {
      *message = "a type or dims are missing";
      return false;
   }
   form->load = strcmp(form->mode, "im2col") == 0 || strcmp(form->mode, "load") == 0;
   const uint32_t slice = form->map.interleave ? 8u << form->map.interleave : 0;
   form->element = types[form->map.type].bytes;
   form->bytes = slice ? slice : form->element;
   if (form->map.im2col)
      form->bytes *= form->map.pixels * (slice ? 1 : form->map.channels);
   for (uint32_t k = 0; k < form->map.rank && !form->map.im2col; k++) {
      if (slice && k + 2 == form->map.rank)
         continue;
      const uint32_t step = (k || slice) && form->map.element_strides[k] ? form->map.element_strides[k] : 1;
      form->bytes *= (form->map.box[k] + step - 1) / step;
   }
   return true;
}

bool tile_larger(const tile_form_t *form) {
   const uint32_t unit = form->map.interleave ? 8u << form->map.interleave : form->element;
   double bytes = (double)form->map.offset + (double)form->map.dims[0] * unit;
   for (uint32_t k = 1; k < form->map.rank; k++)
      bytes += (double)(form->map.dims[k] ? form->map.dims[k] - 1 : 0) * (double)form->map.strides[k - 1];
   return bytes > TILE_TENSOR_BYTES;
}

static uint64_t mixed(uint64_t n) {
   n = (n + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
   return n ^ n >> 29;
}

/* Words for a copy.  Loads and stores move any bits.  Sums are of small numbers, which are exact in every
 * type, and of larger ones where the type has room. */
void tile_fill_tensor(const tile_form_t *form, uint8_t *out) {
   for (uint32_t n = 0; n < TILE_TENSOR_BYTES; n++)
      out[n] = (uint8_t)mixed(n);
   const bool sums = !form->load && strcmp(form->mode, "store") != 0;
   for (uint32_t n = 0; sums && types[form->map.type].is_float && n < TILE_TENSOR_BYTES / form->element;
        n++) {
      /* an exponent near one and any fraction: no infinity, no NaN */
      const uint64_t bits = mixed(n);
      uint64_t value = form->map.type == RKB_MAP_F16    ? 0x3800 + (bits & 0x07ff) + (bits & 0x8000)
                       : form->map.type == RKB_MAP_BF16 ? 0x3f00 + (bits & 0x00ff) + (bits & 0x8000)
                       : form->element == 8             ? 0x3fe0000000000000ull + (bits & 0xfffffffffffffull)
                                            : 0x3f000000 + (bits & 0xffffff) + (bits & 0x80000000);
      memcpy(out + n * form->element, &value, form->element);
   }
}

/* Fills shared memory with words that name their own place, so that bytes which a copy leaves alone are
 * checked too.  Lane l writes every 32nd word. */
static size_t prologue(const tile_form_t *form, char *out, size_t size) {
   const bool is_float = types[form->map.type].is_float,
              sums = !form->load && strcmp(form->mode, "store") != 0;
   const uint32_t mask = form->element == 2 ? 0x007f007fu : 0x7fffu,
                  one = !sums || !is_float               ? 0
                        : form->map.type == RKB_MAP_F16  ? 0x3c003c00u
                        : form->map.type == RKB_MAP_BF16 ? 0x3f803f80u
                        : form->element == 8             ? 0x3ff00000u
                                                         : 0x3f800000u;
   return (size_t)snprintf(
      out, size,
      ".version 8.3\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 room[%u];\n.shared .align 8 .b8 full[8];\n"
      ".entry tile(.param .align 64 .b8 map[128], .param .u64 image)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<16>;\n"
      ".reg .b64 %%d<8>;\nmov.b64 %%d0, map;\ncvta.param.u64 %%d0, %%d0;\nld.param.u64 %%d1, [image];\n"
      "mov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, room;\nmov.u32 %%r2, full;\nshl.b32 %%r3, %%r0, 2;\n"
      "FILL:\nmul.lo.u32 %%r4, %%r3, 2654435761;\nand.b32 %%r4, %%r4, %u;\nor.b32 %%r4, %%r4, %u;\n"
      "add.u32 %%r5, %%r1, %%r3;\nst.shared.u32 [%%r5], %%r4;\nadd.u32 %%r3, %%r3, 128;\n"
      "setp.lt.u32 %%p0, %%r3, %u;\n@%%p0 bra FILL;\nfence.proxy.async;\nsetp.eq.u32 %%p1, %%r0, 0;\n"
      "@%%p1 mbarrier.init.shared::cta.b64 [%%r2], 1;\n@%%p1 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n",
      TILE_ROOM_BYTES, mask, one, TILE_ROOM_BYTES);
}

static size_t coordinates(const tile_form_t *form, char *out, size_t size) {
   size_t length = 0;
   for (uint32_t k = 0; k < form->map.rank; k++)
      length += (size_t)snprintf(out + length, size - length, "mov.u32 %%r%u, %d;\n", 8 + k, form->at[k]);
   return length;
}

static size_t copy(const tile_form_t *form, char *out, size_t size) {
   char list[64], offsets[64];
   size_t at = 0, length = 0;
   for (uint32_t k = 0; k < form->map.rank; k++)
      at += (size_t)snprintf(list + at, sizeof list - at, "%s%%r%u", k ? ", " : "", 8 + k);
   for (uint32_t k = 0; form->map.im2col && k + 2 < form->map.rank; k++)
      length += (size_t)snprintf(offsets + length, sizeof offsets - length, "%s%u", k ? ", " : ", {",
                                 form->offsets[k]);
   snprintf(offsets + length, sizeof offsets - length, "%s", form->map.im2col ? "}" : "");
   if (form->load)
      return (size_t)snprintf(
         out, size,
         "@%%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r2], %u;\n"
         "@%%p1 cp.async.bulk.tensor.%ud.shared::cluster.global.%s.mbarrier::complete_tx::bytes [%%r1], [%%d0, {%s}], "
         "[%%r2]%s;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %%p2, [%%r2], 0;\n@!%%p2 bra WAIT;\n",
         form->bytes, form->map.rank, form->map.im2col ? "im2col" : "tile", list, offsets);
   const char *mode = form->map.im2col ? "im2col_no_offs" : "tile";
   if (strcmp(form->mode, "store") == 0)
      return (size_t)snprintf(
         out, size,
         "@%%p1 cp.async.bulk.tensor.%ud.global.shared::cta.%s.bulk_group [%%d0, {%s}], [%%r1];\n"
         "@%%p1 cp.async.bulk.commit_group;\n@%%p1 cp.async.bulk.wait_group 0;\n",
         form->map.rank, mode, list);
   return (size_t)snprintf(
      out, size,
      "@%%p1 cp.reduce.async.bulk.tensor.%ud.global.shared::cta.%s.%s.bulk_group [%%d0, {%s}], "
      "[%%r1];\n@%%p1 cp.async.bulk.commit_group;\n@%%p1 cp.async.bulk.wait_group 0;\n",
      form->map.rank, form->mode, mode, list);
}

/* Of a load, shared memory is the image. */
static size_t epilogue(const tile_form_t *form, char *out, size_t size) {
   if (!form->load)
      return (size_t)snprintf(out, size, "ret;\n}\n");
   return (size_t)snprintf(
      out, size,
      "shl.b32 %%r3, %%r0, 2;\nCOPY:\nadd.u32 %%r5, %%r1, %%r3;\nld.shared.u32 %%r4, [%%r5];\n"
      "cvt.u64.u32 %%d2, %%r3;\nadd.u64 %%d3, %%d1, %%d2;\nst.global.u32 [%%d3], %%r4;\n"
      "add.u32 %%r3, %%r3, 128;\nsetp.lt.u32 %%p0, %%r3, %u;\n@%%p0 bra COPY;\nret;\n}\n",
      TILE_ROOM_BYTES);
}

bool tile_ptx(const tile_form_t *form, char *out, size_t size) {
   size_t length = prologue(form, out, size);
   length += coordinates(form, out + length, size - length);
   length += copy(form, out + length, size - length);
   length += epilogue(form, out + length, size - length);
   return length < size;
}
