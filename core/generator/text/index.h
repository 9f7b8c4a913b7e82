/* Index arithmetic of one launch: sums, products, quotients and remainders of sizes and loop variables.
 *
 * Two expressions are taken for equal when they have the same values in all samples: random cases of the task that satisfy the
 * launch's conditions, each with random values of the variables, ends of their ranges included.  Equal expressions are one object,
 * so that (row * D + place) / D is the object `row`.  Two different expressions count as equal by mistake only if they agree in every
 * sample; the checking machine executes the resulting text, and so checks it.  One thread; owned by an arena. */
#ifndef RKB_GENERATOR_INDEX_H
#define RKB_GENERATOR_INDEX_H

#include "generator/graph/graph.h"

#define RKB_SAMPLES 96u
#define RKB_INDEX_BUCKETS 1024u

enum rkb_index_kind {
   RKB_INDEX_CONSTANT,
   RKB_INDEX_SIZE,
   RKB_INDEX_VARIABLE,
   RKB_INDEX_SUM,
   RKB_INDEX_DIFFERENCE,
   RKB_INDEX_PRODUCT,
   RKB_INDEX_QUOTIENT,
   RKB_INDEX_REMAINDER
};

typedef struct rkb_index {
   enum rkb_index_kind kind;
   bool uniform; /* made of constants and sizes alone, so the same for all threads */
   const struct rkb_index *left, *right;
   int64_t constant;
   uint32_t size;          /* of a size */
   const char *name;       /* the name of a variable; for other expressions a suggested name, or NULL */
   struct rkb_index *next; /* the next one in its bucket */
   int64_t at[RKB_SAMPLES];
} rkb_index_t;

/* A condition of a launch: a size is a multiple of a number, or equal to one. */
typedef struct rkb_condition {
   uint32_t size;
   int64_t multiple, equal; /* multiple: 1 where equal is not 0 */
} rkb_condition_t;

typedef struct rkb_indices {
   rkb_graph_t *graph;
   rkb_arena_t *arena;
   uint32_t probe[RKB_SAMPLES]; /* the probe of each sample */
   rkb_random_t stream;
   const rkb_condition_t *conditions; /* borrowed */
   uint32_t condition_count;
   const rkb_index_t *lane; /* the lane of the vector whose elements are written; NULL: there is no vector */
   rkb_index_t *buckets[RKB_INDEX_BUCKETS];
} rkb_indices_t;

/* False: too few probes satisfy the conditions. */
bool rkb_indices_open(rkb_indices_t *indices, rkb_graph_t *graph, rkb_arena_t *arena,
                      const rkb_condition_t *conditions, uint32_t condition_count);

/* The numbers that a size has in all probes, ascending.  Returns how many; 0: there are more than `most`. */
uint32_t rkb_size_values(const rkb_size_t *size, uint32_t most, int64_t *values);

bool rkb_indices_possible(const rkb_graph_t *graph, const rkb_condition_t *conditions,
                          uint32_t condition_count);

const rkb_index_t *rkb_index_constant(rkb_indices_t *indices, int64_t value);
const rkb_index_t *rkb_index_size(rkb_indices_t *indices, uint32_t size);
/* A loop variable, or a number of a block or thread: 0 to extent - 1. */
const rkb_index_t *rkb_index_variable(rkb_indices_t *indices, const char *name, const rkb_index_t *extent);
/* The same, but a multiple of a width: 0, width, ... */
const rkb_index_t *rkb_index_multiple(rkb_indices_t *indices, const char *name, const rkb_index_t *extent,
                                      int64_t width);
const rkb_index_t *rkb_index_make(rkb_indices_t *indices, enum rkb_index_kind kind, const rkb_index_t *left,
                                  const rkb_index_t *right);
/* Returns the expression with another one in place of a variable. */
const rkb_index_t *rkb_index_replace(rkb_indices_t *indices, const rkb_index_t *in,
                                     const rkb_index_t *variable, const rkb_index_t *by);
bool rkb_index_is(const rkb_index_t *index, int64_t constant);
/* Whether the values in all samples are multiples of it.  Where few probes meet the conditions, that may be by chance;
 * rkb_indices_know: whether a size is a multiple in all probes, or by the conditions. */
bool rkb_indices_know(const rkb_indices_t *indices, uint32_t size, int64_t multiple);
bool rkb_index_divides(const rkb_index_t *index, int64_t multiple);
bool rkb_index_mentions(const rkb_index_t *index, const rkb_index_t *variable);

/* The element's number from its coordinates, and its coordinates from its number; row-major, the last dim is the fastest. */
const rkb_index_t *rkb_index_join(rkb_indices_t *indices, uint32_t rank, const uint32_t *shape,
                                  const rkb_index_t *const *at);
void rkb_index_split(rkb_indices_t *indices, uint32_t rank, const uint32_t *shape, const rkb_index_t *number,
                     const rkb_index_t **at);
/* Takes the coordinates of an element in one shape, and finds its coordinates in another shape of as many elements.  Dims that hold the same
 * elements are joined and split by themselves, so that numbers stay small: (m * N + n, k) of (m, n, k).  If extents is not NULL, it gets a
 * bound of each joined number, as a uniform product.  Returns how many bounds there are (RKB_MAX_RANK at most). */
uint32_t rkb_index_reshape(rkb_indices_t *indices, uint32_t rank, const uint32_t *shape, const rkb_index_t *const *at, uint32_t to_rank,
                           const uint32_t *to_shape, const rkb_index_t **to, const rkb_index_t **extents);
const rkb_index_t *rkb_index_elements(rkb_indices_t *indices, uint32_t rank, const uint32_t *shape);

/* A uniform expression in the manifest's language, in the arena; and an identifier made of it. */
const char *rkb_index_manifest(const rkb_indices_t *indices, const rkb_index_t *index);
const char *rkb_index_word(const rkb_indices_t *indices, const rkb_index_t *index);

#endif
