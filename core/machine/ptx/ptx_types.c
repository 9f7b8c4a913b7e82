/* The fundamental types of PTX: names, sizes, kinds.  Constant data; any thread. */
#include "machine/ptx/module.h"

#include <string.h>

const struct ptx_type_facts ptx_types[] = {
   [PTX_NO_TYPE] = {"", 0, false, false},    [PTX_B8] = {"b8", 1, false, false},
   [PTX_U8] = {"u8", 1, false, false},       [PTX_S8] = {"s8", 1, false, true},
   [PTX_B16] = {"b16", 2, false, false},     [PTX_U16] = {"u16", 2, false, false},
   [PTX_S16] = {"s16", 2, false, true},      [PTX_F16] = {"f16", 2, true, true},
   [PTX_BF16] = {"bf16", 2, true, true},     [PTX_B32] = {"b32", 4, false, false},
   [PTX_U32] = {"u32", 4, false, false},     [PTX_S32] = {"s32", 4, false, true},
   [PTX_F32] = {"f32", 4, true, true},       [PTX_F16X2] = {"f16x2", 4, true, true},
   [PTX_BF16X2] = {"bf16x2", 4, true, true}, [PTX_B64] = {"b64", 8, false, false},
   [PTX_U64] = {"u64", 8, false, false},     [PTX_S64] = {"s64", 8, false, true},
   [PTX_F64] = {"f64", 8, true, true},       [PTX_B128] = {"b128", 16, false, false},
   [PTX_PRED] = {"pred", 0, false, false},
};

uint32_t ptx_type_named(const char *text, size_t length) {
   for (uint32_t type = PTX_B8; type <= PTX_PRED; type++)
      if (strlen(ptx_types[type].name) == length && memcmp(ptx_types[type].name, text, length) == 0)
         return type;
   return PTX_NO_TYPE;
}
