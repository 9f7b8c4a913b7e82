/* Structures that a plugin passes to an extension.  Each begins with its size.  If the plugin was compiled against other headers,
 * its structure may be shorter or longer than this program's. */
#ifndef RKB_STAGE_VERSIONED_STRUCTURE_H
#define RKB_STAGE_VERSIONED_STRUCTURE_H

#include <rkb/plugin.h>

/* Copies the members that given holds into own and zeroes the others.  Reads nothing past given's size.   least: bytes of the
 * structure's first version, which every plugin has.   name: for the message of RKB_ERR_CONTRACT.   [any] */
int rkb_versioned_read(void *own, size_t own_bytes, const void *given, size_t least, const char *name,
                   rkb_error_t *err);

#endif
