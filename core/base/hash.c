/* SHA-256 by libcrypto, and XXH3 for tables.  A hasher owns its state.  Any thread; one at a time for a hasher. */
#include "base/hash.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "base/memory.h"

/* Many parts are single words.  They are gathered, because a call of libcrypto for each would take longer. */
enum { GATHERED_BYTES = 512 };

struct rkb_hasher {
   EVP_MD_CTX *context; /* owned */
   size_t gathered;
   unsigned char bytes[GATHERED_BYTES];
};

/* Ends the process if libcrypto failed: a text would otherwise get a wrong identity, perhaps that of another text. */
static void insist(bool done) {
   if (done)
      return;
   fputs("rkb: libcrypto cannot compute SHA-256 (out of memory, or its configuration forbids it)\n", stderr);
   abort();
}

void rkb_hash_digits(const unsigned char hash[RKB_HASH_BYTES], char out[RKB_HASH_TEXT]) {
   static const char digits[] = "0123456789abcdef";
   for (size_t i = 0; i < RKB_HASH_BYTES; i++) {
      out[2 * i] = digits[hash[i] >> 4];
      out[2 * i + 1] = digits[hash[i] & 15];
   }
   out[2 * RKB_HASH_BYTES] = '\0';
}

void rkb_hash_text(const void *data, size_t bytes, char out[RKB_HASH_TEXT]) {
   unsigned char digest[RKB_HASH_BYTES];
   insist(EVP_Digest(data, bytes, digest, NULL, EVP_sha256(), NULL) == 1);
   rkb_hash_digits(digest, out);
}

void rkb_hash_keyed(const unsigned char key[RKB_HASH_BYTES], const void *data, size_t bytes,
                    unsigned char out[RKB_HASH_BYTES]) {
   rkb_hash_keyed_by(key, RKB_HASH_BYTES, data, bytes, out);
}

void rkb_hash_keyed_by(const void *key, size_t key_bytes, const void *data, size_t bytes, unsigned char out[RKB_HASH_BYTES]) {
   insist(key_bytes <= INT_MAX && HMAC(EVP_sha256(), key, (int)key_bytes, data, bytes, out, NULL) != NULL);
}

uint64_t rkb_hash64(const void *data, size_t bytes, uint64_t seed) {
   return XXH3_64bits_withSeed(data, bytes, seed);
}

rkb_hasher_t *rkb_hasher_new(void) {
   rkb_hasher_t *hasher = rkb_allocate(1, sizeof *hasher);
   hasher->context = EVP_MD_CTX_new();
   if (!hasher->context)
      rkb_end_without_memory(0);
   insist(EVP_DigestInit_ex(hasher->context, EVP_sha256(), NULL) == 1);
   return hasher;
}

static void flush(rkb_hasher_t *hasher) {
   insist(EVP_DigestUpdate(hasher->context, hasher->bytes, hasher->gathered) == 1);
   hasher->gathered = 0;
}

static void gather(rkb_hasher_t *hasher, const void *data, size_t bytes) {
   if (hasher->gathered + bytes > GATHERED_BYTES)
      flush(hasher);
   if (bytes > GATHERED_BYTES)
      insist(EVP_DigestUpdate(hasher->context, data, bytes) == 1);
   else if (bytes)
      memcpy(hasher->bytes + hasher->gathered, data, bytes);
   hasher->gathered += bytes > GATHERED_BYTES ? 0 : bytes;
}

void rkb_hasher_add(rkb_hasher_t *hasher, const void *data, size_t bytes) {
   unsigned char frame[8];
   for (unsigned i = 0; i < sizeof frame; i++)
      frame[i] = (unsigned char)((uint64_t)bytes >> (8 * i));
   gather(hasher, frame, sizeof frame);
   gather(hasher, data, bytes);
}

void rkb_hasher_add_text(rkb_hasher_t *hasher, const char *text) {
   rkb_hasher_add(hasher, text, strlen(text));
}

void rkb_hasher_finish(rkb_hasher_t *hasher, char out[RKB_HASH_TEXT]) {
   unsigned char digest[RKB_HASH_BYTES];
   flush(hasher);
   insist(EVP_DigestFinal_ex(hasher->context, digest, NULL) == 1);
   rkb_hash_digits(digest, out);
   rkb_hasher_drop(hasher);
}

void rkb_hasher_drop(rkb_hasher_t *hasher) {
   if (!hasher)
      return;
   EVP_MD_CTX_free(hasher->context);
   free(hasher);
}
