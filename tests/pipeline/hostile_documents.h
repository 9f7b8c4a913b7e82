/* Pipeline files of nearly 1 MiB that are built so that refusing them is slow.  A test checks that they are
 * refused with places, and a program measures how long that takes. */
#ifndef RKB_TESTS_ENGINE_HOSTILE_H
#define RKB_TESTS_ENGINE_HOSTILE_H

#include <stddef.h>

typedef struct hostile {
   const char *name;
   const char *head, *unit, *tail; /* every # in unit is a running number */
   const char *problem;            /* the first, after the file's name */
} hostile_t;

extern const hostile_t hostile_files[];
extern const size_t hostile_count;

/* The whole file; malloc'd. */
char *hostile_text(const hostile_t *hostile, size_t *length);

#endif
