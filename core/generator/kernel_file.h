/* A kernel file while it is written: what kernel_text.c and kernel_variants.c share.  One thread a graph. */
#ifndef RKB_GENERATOR_KERNEL_FILE_H
#define RKB_GENERATOR_KERNEL_FILE_H

#include "generator/launch_text.h"

#define RKB_MOST_MAPS 64u

typedef struct rkb_kernel_file {
   rkb_graph_t *graph;
   rkb_arena_t *arena;
   rkb_storage_t *storage, *targets;
   rkb_text_t code, launches, scratch, maps;
   rkb_parameter_text_t map_list[RKB_MOST_MAPS]; /* each once: name and argument, its entry in the manifest */
   uint32_t map_count;
   int64_t shared_bytes;
   bool one_width; /* so many launches that each has but one width of indices, the wider where the domain needs it */
   int64_t parts;   /* of a split reduction, of the launch at hand */
   bool wide_bench; /* a bench case may need the wider indices */
   char why[256];
} rkb_kernel_file_t;

typedef void (*rkb_write_kernel_t)(rkb_writer_t *, const rkb_launch_t *, rkb_kernel_shape_t *);

/* The number of a node's elements, in the manifest's language; in the arena. */
const char *rkb_kernel_shape_text(rkb_kernel_file_t *file, const rkb_node_t *from);
const char *rkb_kernel_elements_text(rkb_kernel_file_t *file, uint32_t node);

/* Append the kernels of a launch, called after base, and its entries in the manifest.  False: not legal, and the file's why says so. */
bool rkb_kernel_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, rkb_write_kernel_t write, const char *base);
bool rkb_kernel_tensor_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base);
bool rkb_kernel_online_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base);

#endif
