/* What vector_access knows of a kernel in which a thread computes one element.  The vector_access_*.c files share this header. */
#ifndef RKB_LIFT_VECTOR_ACCESS_H
#define RKB_LIFT_VECTOR_ACCESS_H

#include "lift/launches.h"
#include "lift/rewrite.h"

enum { VECTOR_ACCESS_GROUPS = 16, VECTOR_ACCESS_PLACES = 64 };

/* Accesses to one pointer at one index. */
typedef struct vector_group {
   uint32_t pointer; /* the parameter */
   uint32_t index;   /* the expression whose text the index has, with names from before the guard alone */
   bool loaded, stored, sure; /* sure: an access that every element makes */
   bool whole;                /* four are one access */
   char four[80];             /* the variable with four elements */
} vector_group_t;

typedef struct vector_access {
   const lift_tree_t *tree;
   const manifest_t *manifest;
   lift_change_t *change;
   const lift_launches_t *launches;
   uint32_t kernel, body;
   uint32_t element, guard, count; /* the element's number, if (element >= count) return, and count */
   uint32_t rest, rest_end;        /* the nodes that every element has: from rest up to rest_end */
   bool in_branch;                 /* the rest is the branch of if (element < count) */
   vector_group_t groups[VECTOR_ACCESS_GROUPS];
   uint32_t group_count;
   uint32_t places[VECTOR_ACCESS_PLACES], place_groups[VECTOR_ACCESS_PLACES],
      place_count; /* the accesses, and their groups */
   char name[100], four_type[64], first[64];
} vector_access_t;

bool vector_access_read(vector_access_t *access); /* vector_access_kernel.c: the form of the kernel */
bool vector_access_groups(
   vector_access_t *access); /* vector_access_groups.c: which accesses can be one of four elements */
bool vector_access_write(vector_access_t *access); /* vector_access_text.c: the new kernel */

#endif
