/* The parts of the rewrite register_tile: its analysis of a kernel (register_tile_analysis.c) and the text that it writes
 * (register_tile_text.c).  One thread. */
#ifndef RKB_LIFT_REGISTER_TILE_H
#define RKB_LIFT_REGISTER_TILE_H

#include "lift/launches.h"

enum { REGISTER_TILE_NUMBERS = 8, REGISTER_TILE_VARIABLES = 128 };

typedef struct register_tile {
   const lift_tree_t *tree;
   lift_change_t *change;
   /* The template parameter or tune name that is the width, given by the node of its name. */
   uint32_t kernel, width;
   char width_name[64], outputs[64], index[64];
   char dimension;                                        /* 'x' or 'y' of the grid */
   uint32_t numbers[REGISTER_TILE_NUMBERS], number_count; /* the sums blockIdx.d * width + threadIdx.x */
   uint32_t variables[REGISTER_TILE_VARIABLES], variable_count; /* variables that depend on the number */
   uint32_t arrays[REGISTER_TILE_VARIABLES], array_count;       /* the variables among these that became arrays */
   rkb_text_t out;
   bool open; /* a loop over the results is being written */
} register_tile_t;

/* Finds the result's number, and checks that nothing else uses the block's number.  False after a refusal, as below. */
bool register_tile_find_numbers(register_tile_t *t);
/* Finds the variables that depend on the number: their value depends on it, or a condition around one of their assignments does. */
bool register_tile_find_variables(register_tile_t *t);
/* Checks that no parameter is both stored to and read. */
bool register_tile_check_memory(const register_tile_t *t, const lift_launches_t *launches);
/* Whether the subtree depends on the result's number. */
bool register_tile_depends(const register_tile_t *t, uint32_t subtree);

/* Writes a block to t->out so that it computes all results of a thread.  False after a refusal. */
bool register_tile_write(register_tile_t *t, uint32_t block);

#endif
