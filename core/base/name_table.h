/* Finds names in a list that grows: values of a graph, buffers of a plan.  Its memory is from an arena; one thread while it grows. */
#ifndef RKB_BASE_NAME_TABLE_H
#define RKB_BASE_NAME_TABLE_H

#include <stdbool.h>
#include <string.h>
#include "base/arena.h"

typedef struct rkb_name_table {
   const char **names;                /* borrowed, in the order in which they came */
   uint32_t count, *slots, last_slot; /* slots: 1 + the place of a name in the list; 0: free */
} rkb_name_table_t;

/* Makes an empty table for at most `most` names. */
void rkb_name_table_make(rkb_name_table_t *table, rkb_arena_t *arena, uint32_t most);
/* Appends a name.  If the list has the name already, the table finds the new place from now on. */
void rkb_name_table_add(rkb_name_table_t *table, const char *name);
uint32_t rkb_name_table_find(const rkb_name_table_t *table,
                             const char *name); /* returns the name's place; UINT32_MAX: there is none */

/* Whether two names are the same.  Compares the first letters first: names are compared at thousands of shapes, and most differ there. */
static inline bool rkb_same_name(const char *a, const char *b) {
   return a[0] == b[0] && strcmp(a, b) == 0;
}

#endif
