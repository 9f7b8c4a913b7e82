/* What join_launches knows of two launches that follow each other.  The join_launches_*.c files share this header. */
#ifndef RKB_LIFT_JOIN_LAUNCHES_H
#define RKB_LIFT_JOIN_LAUNCHES_H

#include "lift/vector_access.h"

enum { JOIN_NAMES = 48 };

/* A parameter or template parameter of the second kernel, and what it is called in the new one. */
typedef struct join_name {
   uint32_t parameter;
   uint32_t shared; /* the first kernel's parameter of the same value, or LIFT_NONE: it gets one of its own */
   char name[80];
} join_name_t;

typedef struct join_launches {
   const lift_tree_t *tree;
   const manifest_t *manifest;
   lift_change_t *change;
   const lift_launches_t *launches;
   uint32_t first;                           /* the first launch; the second follows it */
   vector_access_t *kernels[2];              /* the form of both kernels: one element a thread */
   lift_list_t *arguments[2], *templates[2]; /* of the launches */
   uint32_t stored, loaded; /* the parameters through which the element goes from one to the other */
   uint32_t store;          /* the assignment to it */
   bool keeps;              /* somebody else reads what is stored */
   join_name_t names[JOIN_NAMES];
   uint32_t name_count;
   char name[128], handed[80]; /* of the new kernel; of the variable with the element */
} join_launches_t;

bool join_launches_names(
   join_launches_t *join); /* join_launches_names.c: what the second kernel's parameters are called */
bool join_launches_write(join_launches_t *join); /* join_launches_text.c */

#endif
