/* The secret of a run: 32 bytes that decide what the checks sample, so that nobody can write a kernel for the sample.  HMAC-SHA-256 makes a stream of random
 * numbers from it for each candidate and purpose.  A stream says nothing about the secret or another stream. docs/decisions/secret.md.  Values; any thread. */
#ifndef RKB_BASE_SECRET_H
#define RKB_BASE_SECRET_H

#include <rkb/ext/random.h>
#include <rkb/plugin.h>
#include "base/hash.h"

typedef struct rkb_secret {
   unsigned char bytes[RKB_HASH_BYTES];
} rkb_secret_t;

/* A secret that everybody knows, for tests and benches, which must be repeatable. */
extern const rkb_secret_t rkb_secret_published;

/* Draws a secret from the operating system's generator.  RKB_ERR_UNAVAILABLE: it gave none. */
int rkb_secret_draw(rkb_secret_t *secret, rkb_error_t *err);
/* Reads 64 hex digits, of either case.  RKB_ERR_INVALID for anything else; the message does not repeat it. */
int rkb_secret_read(const char *text, rkb_secret_t *secret, rkb_error_t *err);
/* Writes the 64 digits in lower case. */
void rkb_secret_write(const rkb_secret_t *secret, char out[RKB_HASH_TEXT]);

/* The stream of (who, purpose): who is a candidate's hash, or "" for what all candidates of a run share. */
rkb_random_t rkb_secret_stream(const rkb_secret_t *secret, const char *who, const char *purpose,
                               uint32_t number);

#endif
