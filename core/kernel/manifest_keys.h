/* Every key of a kernel's manifest: what the reader takes, and what `rkb help manifest` says about it, from one table.  Constants; any
 * thread. */
#ifndef RKB_KERNEL_MANIFEST_KEYS_H
#define RKB_KERNEL_MANIFEST_KEYS_H

#include "base/key_table.h"

/* The mappings that have keys, as bits: a name may stand in the table once for each. */
enum rkb_manifest_map {
   RKB_MANIFEST_FILE = 1,     /* the manifest itself */
   RKB_MANIFEST_TUNE = 2,     /* an entry of tune */
   RKB_MANIFEST_SCRATCH = 4,  /* of scratch */
   RKB_MANIFEST_TENSORS = 8,  /* of maps */
   RKB_MANIFEST_LAUNCHES = 16 /* of launches */
};

/* In the order of docs/kernel-format.md. */
extern const rkb_key_t RKB_MANIFEST_KEYS[];

/* Words that keys take; those of a tensor map are in the driver's order, and the index is what the reader stores. */
extern const char *const RKB_MANIFEST_TYPES[]; /* dtype of a scratch buffer */
extern const char *const RKB_MAP_TYPES[];
extern const char *const RKB_MAP_INTERLEAVES[];
extern const char *const RKB_MAP_SWIZZLES[];
extern const char *const RKB_MAP_FILLS[];

#endif
