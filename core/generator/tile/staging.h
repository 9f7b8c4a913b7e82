/* How a factor's tile is copied to shared memory for tensor cores: which elements neighbouring threads copy, the width of accesses,
 * and the places in shared memory.  One thread. */
#ifndef RKB_GENERATOR_STAGING_H
#define RKB_GENERATOR_STAGING_H

#include "generator/text/fragments.h"
#include "generator/tile/product_tile.h"

/* factor_memory.c.  In some products the order of two dims of a factor differs between cases, so that the factor
 * is transposed in some of them: at most one pair of dims for each factor.  Each order (layout: 0 ..
 * rkb_staging_layouts - 1) is a condition of a launch.  Returns how many conditions this layout has. */
uint32_t rkb_staging_layouts(const rkb_graph_t *graph, uint32_t product);
uint32_t rkb_staging_layout(const rkb_graph_t *graph, uint32_t product, uint32_t layout,
                            rkb_condition_t *conditions);

/* How many accesses a thread makes to copy its share of a side's tile. */
int64_t rkb_staging_items(const rkb_product_tile_t *tile, const rkb_tile_side_t *side);
/* Finds out how a side can be copied.  widest: most elements of one access.  The writer's conditions hold
 * already. */
void rkb_staging_look(rkb_writer_t *writer, rkb_product_tile_t *tile, rkb_tile_side_t *side, uint32_t widest);
/* The number of a side's element in the buffer of the node `stored`; NULL: the element is computed, or its
 * place is guarded. */
const rkb_index_t *rkb_staging_side_element(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                                       const rkb_index_t *across, const rkb_index_t *depth, uint32_t *stored);
/* The size whose multiples make a side's accesses this wide; false: no size does. */
bool rkb_staging_width(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                       uint32_t width, rkb_condition_t *condition);

/* Where a value's element lies in memory, through views and conversions that lose nothing; stored gets the
 * node.  picks: also through places that memory names, which are loaded here.  NULL: the element is
 * computed. */
const rkb_index_t *rkb_staging_element(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at, bool picks, uint32_t *stored);

/* staging.c.  Where rows are terms, floats are read as words of four rows by eight columns.  Each row gets so
 * many words of padding, so that no two words of a read are in one bank. */
#define RKB_WORDS_PADDING 8
/* Bytes of padding in a row of a padded layout: eight rows of 16 bytes are then in different banks. */
#define RKB_ROW_PADDING 16
/* Elements of a row of the side's tile in shared memory, without this padding. */
int64_t rkb_staging_columns(const rkb_product_tile_t *tile, const rkb_tile_side_t *side);
/* The place of an element of a side's tile in shared memory, by the launch's layout. */
const char *rkb_staging_place(rkb_writer_t *writer, const rkb_product_tile_t *tile,
                              const rkb_tile_side_t *side, const char *row, const char *column);
/* Declares the registers in which a thread holds elements. */
void rkb_staging_declare(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side);
/* Copies from memory to registers; if registers hold nothing (held is false), to shared memory at the pointer named `to`. */
void rkb_staging_fetch(rkb_writer_t *writer, rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                       const char *to);
/* Copies from registers to shared memory. */
void rkb_staging_put(rkb_writer_t *writer, const rkb_product_tile_t *tile, const rkb_tile_side_t *side,
                     const char *to);

#endif
