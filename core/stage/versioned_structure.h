/* Structures that a plugin hands to an extension: each begins with its size, and may be shorter or longer than this program's
 * own when the plugin was compiled against other headers. */
#ifndef RKB_STAGE_VERSIONED_STRUCTURE_H
#define RKB_STAGE_VERSIONED_STRUCTURE_H

#include <rkb/plugin.h>

/* Copies what given holds of own, and zeroes the rest; nothing past given's size is read.  least: bytes of the structure's
 * first version, which every plugin has.  name is for the message of RKB_ERR_CONTRACT.  [any] */
int rkb_versioned_read(void *own, size_t own_bytes, const void *given, size_t least, const char *name,
                   rkb_error_t *err);

#endif
