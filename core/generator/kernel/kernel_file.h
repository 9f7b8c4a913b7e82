/* A kernel file while it is written: the state that its writers share.  kernel_text.c writes the file,
 * launch_kernels.c the kernels of a launch, kernel_variants.c and tensor_variants.c their variants,
 * kernel_entries.c what the manifest says of each.  One thread for each graph. */
#ifndef RKB_GENERATOR_KERNEL_FILE_H
#define RKB_GENERATOR_KERNEL_FILE_H

#include "generator/text/fragments.h"
#include "generator/text/launch_text.h"
#include "generator/tile/tensor_tile.h"

#define RKB_MOST_MAPS 64u
#define RKB_MOST_FUNCTIONS 192u

typedef struct rkb_kernel_file {
   rkb_graph_t *graph;
   const rkb_schedule_t *schedule;
   rkb_arena_t *arena;
   rkb_storage_t *storage, *targets;
   rkb_text_t code, launches, scratch, maps;
   /* The tensor maps, each once: name is the map's name, argument its entry in the manifest. */
   rkb_parameter_text_t map_list[RKB_MOST_MAPS];
   uint32_t map_count;
   int64_t shared_bytes;
   /* The schedule has so many launches that each gets indices of one width only: the wider one, if the domain
    * needs it. */
   bool one_width;
   bool only_places;      /* of the current launch, only where its results are counts: it is not written */
   int64_t parts;         /* parts of the current launch's split reduction */
   const char *stretches; /* the current launch's, as in the writer */
   bool wide_bench; /* a bench case may need the wider indices */
   /* Kernels of the current launch may begin before the kernels in front of them have ended. */
   bool depends;
   /* The next entry of the manifest is for the cases that the entry before it does not take. */
   bool goes_on;
   /* The conditions of the entries that were written since this was set to NULL, joined by `or`, without their
    * `also`.  NULL: one of these entries has no condition. */
   const char *taken;
   const char *also; /* a further condition of every entry; NULL: none */
   /* Copies of factors in longer rows so far (padded_variants.h): the buffer, and the condition of its launch. */
   rkb_parameter_text_t padded[RKB_MOST_MAPS];
   uint32_t padded_count;
   /* Bytes of the scratch buffers so far, in the manifest's language; NULL: none. */
   const char *scratch_bytes;
   /* Of launches that share a kernel: the functions that are written already. */
   const char *functions[RKB_MOST_FUNCTIONS];
   uint32_t function_count;
   char why[256];
} rkb_kernel_file_t;

typedef void (*rkb_write_kernel_t)(rkb_writer_t *, const rkb_launch_t *, rkb_kernel_shape_t *);

/* One way to run a launch: a kernel, and the condition under which it is right. */
typedef struct rkb_variant {
   int64_t vector, keep;
   bool fewer; /* rows that are kept by fewer threads than others */
   rkb_condition_t conditions[RKB_TENSOR_CONDITIONS];
   uint32_t condition_count;
   const char *suffix;
} rkb_variant_t;

/* One of several launches that share a kernel. */
typedef struct rkb_kernel_part {
   const rkb_launch_t *launch;
   rkb_write_kernel_t write;
   const char *name;
   int64_t parts; /* as in the file */
} rkb_kernel_part_t;

/* launch_kernels.c.  Says where a launch's roots go, and adds the scratch for them.  through_scratch: by output,
 * whether it must wait. */
void rkb_kernel_set_targets(rkb_kernel_file_t *file, const rkb_launch_t *launch, const bool *through_scratch);
/* Write a launch with a kernel of its own; and launches that share a kernel, then those that add their parts.
 * False: not legal, and the file's why says so. */
bool rkb_kernel_write_one(rkb_kernel_file_t *file, const rkb_launch_t *launch);
bool rkb_kernel_write_group(rkb_kernel_file_t *file, const rkb_launch_t *launches, uint32_t count);

/* launch_order.c.  Finds outputs that replace an input and must wait, because a later launch reads the input, or
 * because their own launch reads it at other places. */
void rkb_kernel_find_waits(const rkb_graph_t *graph, const rkb_schedule_t *schedule, bool *through_scratch);
/* Writes the last launches, which copy the outputs that waited to their places. */
void rkb_kernel_write_waiting(rkb_kernel_file_t *file, const bool *through_scratch);
/* Whether launches may run at the same time.  False: the file's why says why not. */
bool rkb_kernel_are_apart(rkb_kernel_file_t *file, const rkb_launch_t *launches, uint32_t count);

/* small_products.c, for products of few multiply-adds.  rkb_kernel_work: how many multiply-adds a case has, in
 * the manifest's language.  rkb_kernel_small: writes the kernel and its entry; when: the condition for few. */
const char *rkb_kernel_work(rkb_kernel_file_t *file, const rkb_launch_t *launch);
bool rkb_kernel_small(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base, const char *when);

/* The number of a node's elements, in the manifest's language; in the arena. */
const char *rkb_kernel_shape_text(rkb_kernel_file_t *file, const rkb_node_t *from);
const char *rkb_kernel_elements_text(rkb_kernel_file_t *file, uint32_t node);

/* Appends a buffer of scratch. */
void rkb_kernel_scratch(rkb_kernel_file_t *file, const char *name, uint32_t dtype, const char *elements);

/* Append the kernels of a launch, whose names begin with base, and their entries in the manifest.  False: the
 * launch is not legal, and the file's why says so. */
bool rkb_kernel_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, rkb_write_kernel_t write, const char *base);
bool rkb_kernel_tensor_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base);
/* Appends the kernels of a launch's second tile only, where tensor maps describe both factors.  faster: the
 * condition under which the second tile is faster.  Returns the condition under which a case takes one of
 * these kernels; NULL: the launch is not legal. */
const char *rkb_kernel_second_tile_variants(rkb_kernel_file_t *file, const rkb_launch_t *other,
                                            const char *base, const char *faster);
bool rkb_kernel_rank_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base);
bool rkb_kernel_online_variants(rkb_kernel_file_t *file, const rkb_launch_t *launch, const char *base);
/* Appends a kernel that several launches share, each with a range of its blocks (joined_launches.c), and its
 * entries in the manifest.  small: the condition under which products are computed as small ones, or NULL.  others_fit: if the kernel is for
 * cases alone in which 32 bits hold its element numbers, this receives the condition for these cases. */
bool rkb_kernel_beside(rkb_kernel_file_t *file, const rkb_kernel_part_t *parts, uint32_t count, const char *small, const char **others_fit);

/* Writes one variant of a kernel and its entries.  other: another kernel of the launch comes before this one;
 * last: no other comes after it.  False: not legal. */
bool rkb_kernel_write_variant(rkb_kernel_file_t *file, const rkb_launch_t *launch,
                              const rkb_variant_t *variant, rkb_write_kernel_t write, const char *base,
                              bool other, bool last);
/* Finds the variant with the most elements in an access, or with kept rows.  False: there is only the variant
 * that is right everywhere. */
bool rkb_kernel_widest(rkb_kernel_file_t *file, const rkb_launch_t *launch, rkb_variant_t *widest);
/* The text of a kernel's body; the caller closes the writer.  NULL: the launch is not legal, and the file's
 * why says so. */
const char *rkb_kernel_body(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_variant_t *variant, rkb_write_kernel_t write,
                            const char *name, rkb_writer_t *writer, rkb_kernel_shape_t *shape);
/* Conditions in the manifest's language, NULL for none.  rkb_kernel_when: a variant is right; rkb_kernel_fits:
 * 32 bits hold its element numbers; rkb_kernel_both: both conditions. */
const char *rkb_kernel_when(rkb_kernel_file_t *file, const rkb_variant_t *variant, const rkb_kernel_shape_t *shape);
const char *rkb_kernel_fits(rkb_kernel_file_t *file, const rkb_writer_t *writer);
const char *rkb_kernel_both(rkb_kernel_file_t *file, const char *a, const char *b);
/* Append a list of parameters ("const float *x, index N) {"), the same after a kernel's head, and an entry of
 * the manifest. */
void rkb_kernel_parameters(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameters, uint32_t count);
void rkb_kernel_signature(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameters, uint32_t count, const rkb_kernel_shape_t *shape,
                          const char *name);
void rkb_kernel_launch(rkb_kernel_file_t *file, const rkb_parameter_text_t *parameters, uint32_t count, const rkb_kernel_shape_t *shape,
                       const char *name, const char *type, const char *when, bool other);

#endif
