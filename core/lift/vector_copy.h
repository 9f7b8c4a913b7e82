/* What vector_copy knows of a copy into shared memory, and of the objects whose methods the copy calls.  The vector_copy_*.c files share this
 * header. */
#ifndef RKB_LIFT_VECTOR_COPY_H
#define RKB_LIFT_VECTOR_COPY_H

#include "lift/launches.h"
#include "lift/loops.h"
#include "lift/rewrite.h"

enum { VECTOR_COPY_OBJECTS = 8 };

/* One way in which four consecutive iterations differ: a local variable grows, and so does one argument of the method. */
typedef struct vector_way {
   uint32_t local;    /* grows by one from iteration to iteration; the others stay */
   uint32_t argument; /* of the method, from 0 */
   rkb_text_t guard;  /* conditions of the function, joined by && */
} vector_way_t;

typedef struct vector_object {
   uint32_t holder, method; /* the struct and its method */
   bool possible;           /* its elements can be read in fours */
   bool second;             /* which way it moves */
   rkb_text_t guard;        /* conditions of the struct's fields */
} vector_object_t;

typedef struct vector_copy {
   const lift_tree_t *tree;
   lift_change_t *change;
   const lift_launches_t *launches;
   uint32_t function;
   lift_loop_t loop;
   uint32_t target, value, call; /* target = value, in which the method is called */
   uint32_t choice; /* Matrix::along_depth, which chooses between two ways; LIFT_NONE: there is one way */
   vector_way_t ways[2]; /* where the choice is true, and where it is not */
   vector_object_t objects[VECTOR_COPY_OBJECTS];
   uint32_t object_count;
   char method[64], four_method[80],
      in_fours[64]; /* in_fours: the new name of the method that says whether elements can be read in fours */
} vector_copy_t;

bool vector_copy_read_loop(vector_copy_t *copy);    /* vector_copy_loop.c */
bool vector_copy_has_barriers(vector_copy_t *copy); /* vector_copy_barrier.c */
bool vector_copy_read_objects(vector_copy_t *copy); /* vector_copy_object.c */
void vector_copy_write(vector_copy_t *copy);        /* vector_copy_text.c */

#endif
