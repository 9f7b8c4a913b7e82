/* A library: a folder of elites that runs leave for later runs, one file an entry, named by the entry's identity.
 *
 * Any number of processes may read and write it: a file appears whole, under the name that its text gives it, and is never changed.
 * The folder and everything on the way to it, and each entry, must belong to this user (or root) and be writable by nobody
 * else; an entry that is a link, is too large, or is not what its name says is named and left out.  Any thread; no shared state. */
#ifndef RKB_LIBRARY_LIBRARY_H
#define RKB_LIBRARY_LIBRARY_H

#include <stddef.h>
#include "library/elite.h"

#define RKB_LIBRARY_MOST_ENTRIES 16384 /* that a folder may hold to be read or added to */

typedef struct rkb_library {
   rkb_elite_t *elites; /* by identity */
   uint32_t count;
   uint32_t left_out; /* entries that are none, each said */
} rkb_library_t;

/* Reads all entries.  say receives a sentence for each that is left out.  RKB_ERR_INVALID: the folder is not there or cannot be trusted. */
int rkb_library_read(const char *folder, void (*say)(void *argument, const char *text), void *argument, rkb_library_t *library,
                     rkb_error_t *err);
void rkb_library_free(rkb_library_t *library);

/* Makes the folder unless it is there, and checks that it can be trusted.  Its parent must exist. */
int rkb_library_make(const char *folder, rkb_error_t *err);
/* Adds an entry, unless it exists.  identity receives its name. */
int rkb_library_add(const char *folder, const rkb_elite_t *elite, char identity[RKB_HASH_TEXT], rkb_error_t *err);

/* Keeps the count entries that are nearest to like (retrieval.h) within a number of bytes of source, nearest first, and frees the others. */
void rkb_library_keep_nearest(rkb_library_t *library, const rkb_elite_t *like, uint32_t count, size_t bytes);

/* The entries as one text, for the archive of the run that read them, and back.  Owned. */
char *rkb_library_to_text(const rkb_library_t *library);
int rkb_library_from_text(const char *text, rkb_library_t *library, rkb_error_t *err);

#endif
