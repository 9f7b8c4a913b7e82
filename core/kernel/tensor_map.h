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
/* Whether a map breaks a rule; then out has a sentence that says which.  The plan gives the buffer's size and
 * the alignment of its address. */
bool rkb_tensor_map_problem(const rkb_plan_map_t *map, uint64_t buffer_bytes, uint32_t buffer_alignment,
                            char *out, size_t size);

#endif
