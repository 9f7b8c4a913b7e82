/* Content hashes.  Canonical (big-endian) digits, so that they are the same on every machine. */
#include "base/hash.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static void write_digits(XXH128_hash_t hash, char out[RKB_HASH_TEXT]) {
   snprintf(out, RKB_HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high64,
            (unsigned long long)hash.low64);
}

void rkb_hash_text(const void *data, size_t bytes, char out[RKB_HASH_TEXT]) {
   write_digits(XXH3_128bits(data, bytes), out);
}

uint64_t rkb_hash64(const void *data, size_t bytes, uint64_t seed) {
   return XXH3_64bits_withSeed(data, bytes, seed);
}

/* The hasher is the library's own state under another name: one allocation, aligned as it needs. */
rkb_hasher_t *rkb_hasher_new(void) {
   XXH3_state_t *state = XXH3_createState();
   if (state)
      XXH3_128bits_reset(state);
   return (rkb_hasher_t *)state;
}

void rkb_hasher_add(rkb_hasher_t *hasher, const void *data, size_t bytes) {
   unsigned char frame[8];
   for (unsigned i = 0; i < sizeof frame; i++)
      frame[i] = (unsigned char)((uint64_t)bytes >> (8 * i));
   XXH3_128bits_update((XXH3_state_t *)hasher, frame, sizeof frame);
   if (bytes)
      XXH3_128bits_update((XXH3_state_t *)hasher, data, bytes);
}

void rkb_hasher_add_text(rkb_hasher_t *hasher, const char *text) {
   rkb_hasher_add(hasher, text, strlen(text));
}

void rkb_hasher_finish(rkb_hasher_t *hasher, char out[RKB_HASH_TEXT]) {
   write_digits(XXH3_128bits_digest((XXH3_state_t *)hasher), out);
   XXH3_freeState((XXH3_state_t *)hasher);
}
