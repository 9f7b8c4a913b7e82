/* Which pointers are the beginning of a tensor or of scratch.  Pure; any thread. */
#ifndef RKB_LIFT_BUFFERS_H
#define RKB_LIFT_BUFFERS_H

#include "lift/launches.h"

/* Whether every launch passes the beginning of a buffer for this parameter, which the kernel leaves there. */
bool lift_begins_buffer(const lift_tree_t *tree, const lift_launches_t *launches, uint32_t parameter);
/* The same for one through which the kernel stores nothing. */
bool lift_is_whole_buffer(const lift_tree_t *tree, const lift_launches_t *launches, uint32_t parameter);
/* Writes the type of what a pointer of this type points to, without const. */
void lift_write_pointee(const char *pointer, rkb_text_t *out);
/* Whether a field is a kernel's whole buffer in every object of the struct; objects are made as Name{...}. */
bool lift_field_is_whole_buffer(const lift_tree_t *tree, const lift_launches_t *launches, uint32_t field);

#endif
