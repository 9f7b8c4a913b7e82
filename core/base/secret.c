/* A run's secret and the streams that come from it (secret.h). */
#include "base/secret.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

const rkb_secret_t rkb_secret_published = {"everyone knows this secret"};

int rkb_secret_draw(rkb_secret_t *secret, rkb_error_t *err) {
   if (getrandom(secret->bytes, sizeof secret->bytes, 0) == (ssize_t)sizeof secret->bytes)
      return RKB_OK;
   return rkb_fail(err, RKB_ERR_UNAVAILABLE,
                   "the kernel gives no random bytes for the run's secret; give one with --secret");
}

static int digit_of(char c) {
   return c >= '0' && c <= '9'   ? c - '0'
          : c >= 'a' && c <= 'f' ? c - 'a' + 10
          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                 : -1;
}

int rkb_secret_read(const char *text, rkb_secret_t *secret, rkb_error_t *err) {
   const size_t digits = 2 * sizeof secret->bytes;
   bool valid = strlen(text) == digits;
   for (size_t n = 0; valid && n < digits; n++)
      valid = digit_of(text[n]) >= 0;
   if (!valid)
      return rkb_fail(err, RKB_ERR_INVALID,
                      "a secret is %zu hex digits, as `openssl rand -hex %zu` prints them", digits,
                      sizeof secret->bytes);
   for (size_t n = 0; n < sizeof secret->bytes; n++)
      secret->bytes[n] = (unsigned char)(digit_of(text[2 * n]) << 4 | digit_of(text[2 * n + 1]));
   return RKB_OK;
}

void rkb_secret_write(const rkb_secret_t *secret, char out[RKB_HASH_TEXT]) {
   rkb_hash_digits(secret->bytes, out);
}

static uint32_t word_of(const unsigned char *bytes) {
   return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Half of the HMAC becomes Philox's key and the upper half of its counter.  Each part of the hashed text is framed by its length, so that no other pair of
 * parts gives the same text. */
rkb_random_t rkb_secret_stream(const rkb_secret_t *secret, const char *who, const char *purpose,
                               uint32_t number) {
   char text[512];
   unsigned char digest[RKB_HASH_BYTES];
   const int bytes = snprintf(text, sizeof text, "rkb stream 1\n%zu %s\n%zu %s\n%u", strlen(who), who,
                              strlen(purpose), purpose, number);
   rkb_hash_keyed(secret->bytes, text, bytes < (int)sizeof text ? (size_t)bytes : sizeof text - 1, digest);
   return (rkb_random_t){.key = {word_of(digest), word_of(digest + 4)},
                         .stream = {word_of(digest + 8), word_of(digest + 12)}};
}
