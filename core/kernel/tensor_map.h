/* Tensor maps: the rules of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (CUDA driver API, 'Tensor Map Object Management') and one of our own, that a map stays
 * inside of its buffer.  Needs libc alone: rkb-worker checks with it what it is sent.  Any thread. */
#ifndef RKB_KERNEL_TENSOR_MAP_H
#define RKB_KERNEL_TENSOR_MAP_H

#include <rkb/ext/kernel.h>

#include <stdbool.h>
#include <stddef.h>

/* The type that a buffer's elements are copied as: single bytes as uint8. */
uint32_t rkb_tensor_map_type(uint32_t dtype);
/* Bytes of an element; 0: the type is not known, or has parts of bytes. */
uint32_t rkb_tensor_map_element(uint32_t type);
/* Whether a map breaks a rule; then out has a sentence that says which.  The buffer's size and the alignment of its address are the plan's. */
bool rkb_tensor_map_problem(const rkb_plan_map_t *map, uint64_t buffer_bytes, uint32_t buffer_alignment,
                            char *out, size_t size);

#endif
