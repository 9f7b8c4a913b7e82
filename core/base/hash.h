/* Content hashes: XXH3-128 (xxHash), written as 32 lower-case hex digits.  Not cryptographic: a cache key, not a seal. */
#ifndef RKB_BASE_HASH_H
#define RKB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define RKB_HASH_TEXT 33 /* bytes of a hash as text, NUL included */

void rkb_hash_text(const void *data, size_t bytes, char out[RKB_HASH_TEXT]);
uint64_t rkb_hash64(const void *data, size_t bytes, uint64_t seed);

/* Several parts, each framed by its length, so that ("ab","c") and ("a","bc") differ. */
typedef struct rkb_hasher rkb_hasher_t;
rkb_hasher_t *rkb_hasher_new(void); /* NULL when memory is out */
void rkb_hasher_add(rkb_hasher_t *hasher, const void *data, size_t bytes);
void rkb_hasher_add_text(rkb_hasher_t *hasher, const char *text);
void rkb_hasher_finish(rkb_hasher_t *hasher, char out[RKB_HASH_TEXT]); /* frees it too */

#endif
