/* The manifest with parsed expressions, from which plans are made.  Its first member is the public rkb_manifest_t, which holds only
 * texts, so one pointer serves for both.  Immutable after parsing; any thread. */
#ifndef RKB_KERNEL_MANIFEST_H
#define RKB_KERNEL_MANIFEST_H

#include "base/arena.h"
#include "kernel/kernel.h"

enum {
   RKB_MANIFEST_MAX_LAUNCHES = 2048,
   RKB_MANIFEST_MAX_SCRATCH = 1024,
   RKB_MANIFEST_MAX_ENTRIES = 64,
   RKB_MANIFEST_MAX_CHOICES = 64
};

typedef struct manifest_named {
   const char *name;
   rkb_place_t place;
   rkb_expression_t *value; /* let */
} manifest_named_t;

typedef struct manifest_fill {
   bool declared; /* false: poisoned */
   double value;
} manifest_fill_t;

typedef struct manifest_scratch {
   const char *name;
   rkb_place_t place;
   uint32_t dtype;
   rkb_expression_t **shape;
   uint32_t rank;
   manifest_fill_t init;
} manifest_scratch_t;

/* A tensor map.  Lists have rank entries, except strides, which have one less.  Lists that the manifest does
 * not write are NULL. */
typedef struct manifest_map {
   const char *name, *buffer;
   rkb_place_t place;
   rkb_expression_t **dims, **strides, **box, **steps, *offset;
   rkb_expression_t **lower, **upper, *channels,
      /* Corners and number of pixels (im2col), with two entries less than rank; NULL: the map has a box. */
      *pixels;
   uint32_t rank;
   uint32_t type, interleave, swizzle, fill; /* enum rkb_map_... */
   rkb_place_t type_place, interleave_place, swizzle_place, fill_place; /* line 0: the map has no such key */
   bool typed;                               /* false: the buffer's own type */
} manifest_map_t;

typedef struct manifest_output_fill {
   const char *name;
   rkb_place_t place;
   manifest_fill_t fill;
} manifest_output_fill_t;

/* The number type of a struct's member. */
typedef struct manifest_member_type {
   const char *name;     /* "int32" */
   const char *ptx_type; /* "b32"; "f32" */
   const char *c_type;   /* "int32_t" */
   uint32_t bytes;
} manifest_member_type_t;

/* `head` or `head + tail` is a pointer when head names a buffer; otherwise the whole is an integer or a real.  A struct has members,
 * and no whole.
 */
typedef struct manifest_argument {
   rkb_expression_t *whole;
   const char *head;       /* leading identifier, or NULL */
   rkb_expression_t *tail; /* NULL when there is nothing after head */
   bool simple;            /* whether the argument is head alone, or head + tail */
   bool null;              /* the word null */
   const char *text;       /* as written, trimmed */
   struct manifest_argument *members; /* members of a struct; NULL: the argument is no struct */
   uint32_t member_count;
   /* Type of a member that is a number; NULL: the member is a pointer, or the argument is no member. */
   const manifest_member_type_t *type;
   rkb_place_t place;
} manifest_argument_t;

typedef struct manifest_constant {
   const char *symbol, *tensor;
   rkb_place_t place;
} manifest_constant_t;

typedef struct manifest_launch {
   rkb_place_t place;
   rkb_place_t kernel_place;
   const char *kernel;     /* with tune parameters as written: "rmsnorm<BLOCK, VEC>" */
   rkb_expression_t *when; /* NULL: always (or else) */
   bool is_else, cooperative, dependent;
   rkb_expression_t **grid, **block, **cluster;
   uint32_t grid_count, block_count, cluster_count; /* 1 to 3; cluster 0: none */
   rkb_expression_t *shared;                        /* NULL: 0 bytes */
   manifest_argument_t *arguments;
   uint32_t argument_count;
   manifest_constant_t *constants;
   uint32_t constant_count;
} manifest_launch_t;

typedef struct manifest {
   rkb_manifest_t public;
   rkb_arena_t *arena;
   uint32_t more_holders;        /* holders besides the first; atomic */
   rkb_place_t *fallback_places; /* public.tune_count entries: the place of each default's number */
   manifest_named_t *lets;
   uint32_t let_count;
   manifest_scratch_t *scratch;
   uint32_t scratch_count;
   manifest_map_t *maps;
   uint32_t map_count;
   manifest_output_fill_t *fills;
   uint32_t fill_count;
   manifest_launch_t *launches; /* public.launch_count */
   bool
      fixes_shapes; /* whether the text behind the manifest has a word that fixes the blocks or the clusters of a kernel (manifest.c) */
} manifest_t;

/* As rkb_manifest_parse, for a text that is already split into tokens. */
rkb_manifest_t *manifest_from_tokens(const char *path, const char *source, const rkb_tokens_t *tokens,
                                     rkb_problems_t *problems);
/* The kernel's name with each tune parameter replaced by its value: "rmsnorm<256, 4>".  False when it does
 * not fit. */
bool manifest_kernel_expression(const manifest_t *manifest, const manifest_launch_t *launch,
                                const int64_t *values, char *out, size_t room);
/* Whether a text is a valid kernel name (with template arguments): identifiers, "::", and <...> of integer
 * expressions and types.  When it is not, *why says what is wrong. */
bool manifest_kernel_name(const char *name, const char **why);
bool manifest_is_name(const char *name);
/* True for words of C++ or CUDA, which no macro may replace. */
bool manifest_is_keyword(const char *name);

/* Adds a problem (plan.name_collision) for each tune parameter that the text declares as an identifier of its
 * own. kernel/tune_name_clash.c */
void manifest_find_collisions(const manifest_t *manifest, const char *path, const char *source,
                              const rkb_token_t *tokens, uint32_t count, rkb_problems_t *problems);

#endif
