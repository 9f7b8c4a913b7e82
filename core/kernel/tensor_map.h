/* Tensor maps: the rules of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (CUDA driver API, 'Tensor Map
 * Object Management'), and one rule of this program: a map stays inside its buffer.  Needs only libc, because
 * rkb-worker checks received maps with it.  Any thread. */
#ifndef RKB_KERNEL_TENSOR_MAP_H
#define RKB_KERNEL_TENSOR_MAP_H

#include <rkb/ext/kernel.h>

#include <stdbool.h>
#include <stddef.h>

/* The type with which a buffer's elements are copied; single bytes are copied as uint8. */
uint32_t rkb_tensor_map_type(uint32_t dtype);
/* Bytes of an element; 0: the type is not known, or its elements are smaller than a byte. */
uint32_t rkb_tensor_map_element(uint32_t type);
/* The part of a map that breaks a rule: a key of the manifest, and for a list the entry. */
enum rkb_map_key {
   RKB_MAP_KEY_DTYPE,
   RKB_MAP_KEY_DIMS,
   RKB_MAP_KEY_STRIDES,
   RKB_MAP_KEY_BOX,
   RKB_MAP_KEY_STEPS,
   RKB_MAP_KEY_OFFSET,
   RKB_MAP_KEY_LOWER,
   RKB_MAP_KEY_UPPER,
   RKB_MAP_KEY_CHANNELS,
   RKB_MAP_KEY_PIXELS,
   RKB_MAP_KEY_INTERLEAVE,
   RKB_MAP_KEY_SWIZZLE,
   RKB_MAP_KEY_FILL
};
typedef struct rkb_map_part {
   enum rkb_map_key key;
   uint32_t entry;
} rkb_map_part_t;

/* Whether a map breaks a rule.  If it does, out gets a sentence that names the rule, and *part, if part is not NULL, the part that breaks it.  The plan
 * gives the buffer's size and the alignment of its address. */
bool rkb_tensor_map_problem(const rkb_plan_map_t *map, uint64_t buffer_bytes, uint32_t buffer_alignment,
                            rkb_map_part_t *part, char *out, size_t size);

#endif
