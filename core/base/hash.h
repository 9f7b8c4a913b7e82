/* Identities: SHA-256 (FIPS 180-4, from libcrypto), written as 64 lower-case hex digits.  Two sources, PTX texts, plans, tasks, pipelines, plugins, questions
 * or cache entries count as the same if these hashes are equal.  rkb_hash64 is only for tables in memory and for spreading, because anybody can make two texts
 * that collide under it. */
#ifndef RKB_BASE_HASH_H
#define RKB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include "base/memory.h"

#define RKB_HASH_NAME "SHA-256"
#define RKB_HASH_BYTES 32
#define RKB_HASH_TEXT 65 /* bytes of a hash as text, NUL included */

void rkb_hash_text(const void *data, size_t bytes, char out[RKB_HASH_TEXT]);
void rkb_hash_digits(const unsigned char hash[RKB_HASH_BYTES], char out[RKB_HASH_TEXT]);
/* HMAC-SHA-256 (RFC 2104): only a holder of the key can compute it. */
void rkb_hash_keyed(const unsigned char key[RKB_HASH_BYTES], const void *data, size_t bytes,
                    unsigned char out[RKB_HASH_BYTES]);
/* The same with a key of any length. */
void rkb_hash_keyed_by(const void *key, size_t key_bytes, const void *data, size_t bytes, unsigned char out[RKB_HASH_BYTES]);
uint64_t rkb_hash64(const void *data, size_t bytes, uint64_t seed); /* XXH3-64 (xxHash) */

/* Hashes several parts.  Each part is framed by its length, so ("ab","c") and ("a","bc") differ. */
typedef struct rkb_hasher rkb_hasher_t;
RKB_NEVER_NULL rkb_hasher_t *rkb_hasher_new(void);
void rkb_hasher_add(rkb_hasher_t *hasher, const void *data, size_t bytes);
void rkb_hasher_add_text(rkb_hasher_t *hasher, const char *text);
void rkb_hasher_finish(rkb_hasher_t *hasher, char out[RKB_HASH_TEXT]); /* frees it too */
void rkb_hasher_drop(rkb_hasher_t *hasher);                            /* frees it without a result; accepts NULL */

#endif
