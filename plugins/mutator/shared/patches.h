/* A few replacements in a text, made at once.  Pure; any thread. */
#ifndef MUTATOR_PATCHES_H
#define MUTATOR_PATCHES_H

#include <rkb/plugin.h>

enum { PATCHES_MAX = 64 };

typedef struct patch {
   uint32_t start, length; /* bytes replaced; length 0: an insertion */
   char *text;             /* owned */
} patch_t;

typedef struct patches {
   patch_t list[PATCHES_MAX];
   uint32_t count;
   bool failed; /* there were too many patches, or memory was out, so none may be applied */
} patches_t;

void patches_add(patches_t *patches, uint32_t start, uint32_t length, const char *fmt, ...) RKB_PRINTF(4, 5);
void patches_free(patches_t *patches); /* leaves it empty and usable */

/* The new text, NUL-terminated and malloc'd; NULL when patches overlap, failed, or memory is out. */
char *patches_apply(patches_t *patches, const char *text, size_t bytes);

#endif
