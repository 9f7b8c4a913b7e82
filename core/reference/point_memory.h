/* Remembers, for one set of inputs, points already computed and whole inputs that were read often.  One thread at a time. */
#ifndef RKB_REFERENCE_POINT_MEMORY_H
#define RKB_REFERENCE_POINT_MEMORY_H

#include "reference/evaluate.h"
#include "reference/row_memory.h"

#define RKB_PAGE_POINTS 8u /* few: points that are drawn from a large output lie in a page each */
#define RKB_LEAF_PAGES 1024u
#define RKB_SPARE_BLOCKS 32u

/* Neighbouring elements of one value. */
typedef struct rkb_page {
   uint64_t known;         /* one bit per element */
   struct rkb_page **home; /* the entry of the value's table that points here */
   double value[RKB_PAGE_POINTS], hard[RKB_PAGE_POINTS], variance[RKB_PAGE_POINTS];
   uint8_t flags[RKB_PAGE_POINTS];
} rkb_page_t;

/* For each 8 elements of a value a page, or NULL; in leaves, each made when first needed: a value may have more elements than memory has
 * room for pointers to their pages. */
typedef struct rkb_page_table {
   rkb_page_t ***leaves;
   uint64_t leaf_count, leaf_pages; /* at most RKB_LEAF_PAGES */
} rkb_page_table_t;

struct rkb_memory {
   rkb_page_table_t *tables; /* by value */
   rkb_page_t **slabs;       /* pages side by side, filled in order */
   uint64_t slab_count, slab_room, page_count, most_pages;
   rkb_block_t *stored; /* by value: whole inputs, as doubles ... */
   float **single;      /* ... or as floats, if a float holds them exactly */
   uint64_t *asked;     /* by value: elements of inputs read so far */
   uint32_t value_count;
   uint64_t held, most_held;            /* bytes of whole inputs */
   rkb_block_t spare[RKB_SPARE_BLOCKS]; /* blocks of one evaluation, for reuse */
   uint32_t spare_count;
   rkb_row_memory_t *rows; /* NULL until a row is kept */
};

/* The page that holds an element, if the element is known; otherwise NULL. */
static inline const rkb_page_t *rkb_memory_find(const rkb_memory_t *memory, uint32_t value, int64_t element) {
   const rkb_page_table_t *table = &memory->tables[value];
   const uint64_t number = (uint64_t)element / RKB_PAGE_POINTS;
   rkb_page_t **leaf = table->leaves ? table->leaves[number / RKB_LEAF_PAGES] : NULL;
   const rkb_page_t *page = leaf ? leaf[number % RKB_LEAF_PAGES] : NULL;
   return page && page->known >> ((uint64_t)element % RKB_PAGE_POINTS) & 1 ? page : NULL;
}

void rkb_memory_free_spare(rkb_memory_t *memory);

/* Remembers count points of a value that has `elements` elements.  A full memory may forget all older points; RKB_ERR_LIMIT when
 * even these points alone do not fit. */
int rkb_memory_place(rkb_memory_t *memory, uint32_t value, uint64_t elements, uint64_t count,
                     const int64_t *index, const rkb_block_t *block);

#endif
