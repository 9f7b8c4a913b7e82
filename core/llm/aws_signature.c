/* Signs requests to Amazon's services (aws_signature.h). */
#include "llm/aws_signature.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

#define MOST_TEXT (64u << 10)

void rkb_aws_escape(const char *text, bool keep_slashes, rkb_text_t *out) {
   for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++)
      if (isalnum(*byte) || strchr("-._~", *byte) || (*byte == '/' && keep_slashes))
         rkb_text_append(out, (const char *)byte, 1);
      else
         rkb_text_format(out, "%%%02X", *byte);
}

/* The parts of "ID:SECRET[:TOKEN]"; token_bytes 0: none. */
typedef struct keys {
   const char *id, *secret, *token;
   int id_bytes, secret_bytes, token_bytes;
} keys_t;

static keys_t split_keys(const char *text) {
   keys_t keys = {.id = text, .id_bytes = (int)strcspn(text, ":")};
   keys.secret = text + keys.id_bytes + (text[keys.id_bytes] == ':');
   keys.secret_bytes = (int)strcspn(keys.secret, ":");
   keys.token = keys.secret + keys.secret_bytes + (keys.secret[keys.secret_bytes] == ':');
   keys.token_bytes = (int)strlen(keys.token);
   return keys;
}

/* The text that is hashed first: method, path (escaped once more than the path that is sent), query (none),
 * headers, their names, the body's hash. */
static void canonical_request(const rkb_aws_request_t *request, const keys_t *keys, const char *time, rkb_text_t *out) {
   const char *scheme = strstr(request->url, "://"), *host = scheme ? scheme + 3 : request->url;
   char hash[RKB_HASH_TEXT];
   rkb_text_add(out, "POST\n");
   rkb_aws_escape(host + strcspn(host, "/"), true, out);
   rkb_text_format(out, "\n\ncontent-type:application/json\nhost:%.*s\nx-amz-date:%s\n", (int)strcspn(host, "/"), host, time);
   if (keys->token_bytes)
      rkb_text_format(out, "x-amz-security-token:%s\n", keys->token);
   rkb_hash_text(request->body, strlen(request->body), hash);
   rkb_text_format(out, "\ncontent-type;host;x-amz-date%s\n%s", keys->token_bytes ? ";x-amz-security-token" : "", hash);
}

/* Derives the key of one day, region and service from the secret key. */
static void signing_key(const rkb_aws_request_t *request, const keys_t *keys, const char *day, unsigned char out[RKB_HASH_BYTES]) {
   const char *const steps[] = {request->region, request->service, "aws4_request"};
   char first[MOST_TEXT / 64];
   int length = snprintf(first, sizeof first, "AWS4%.*s", keys->secret_bytes, keys->secret);
   rkb_hash_keyed_by(first, length < (int)sizeof first ? (size_t)length : sizeof first - 1, day, strlen(day), out);
   explicit_bzero(first, sizeof first);
   for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
      unsigned char next[RKB_HASH_BYTES];
      rkb_hash_keyed_by(out, RKB_HASH_BYTES, steps[i], strlen(steps[i]), next);
      memcpy(out, next, sizeof next);
   }
}

void rkb_aws_sign(const rkb_aws_request_t *request, rkb_text_t *out) {
   const keys_t keys = split_keys(request->keys);
   char day[16], when[32], scope[256], hash[RKB_HASH_TEXT];
   unsigned char key[RKB_HASH_BYTES], signature[RKB_HASH_BYTES];
   struct tm utc;
   rkb_text_t text;
   rkb_text_init(&text, MOST_TEXT);
   gmtime_r(&request->now, &utc);
   strftime(day, sizeof day, "%Y%m%d", &utc);
   strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &utc);
   snprintf(scope, sizeof scope, "%s/%.100s/%.60s/aws4_request", day, request->region, request->service);
   canonical_request(request, &keys, when, &text);
   rkb_hash_text(rkb_text_get(&text), text.length, hash);
   rkb_text_clear(&text);
   rkb_text_format(&text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", when, scope, hash);
   signing_key(request, &keys, day, key);
   rkb_hash_keyed_by(key, sizeof key, rkb_text_get(&text), text.length, signature);
   rkb_hash_digits(signature, hash);
   rkb_text_format(out, "X-Amz-Date: %s\n", when);
   if (keys.token_bytes)
      rkb_text_format(out, "X-Amz-Security-Token: %s\n", keys.token);
   rkb_text_format(out, "Authorization: AWS4-HMAC-SHA256 Credential=%.*s/%s, SignedHeaders=content-type;host;x-amz-date%s, Signature=%s\n",
                   keys.id_bytes, keys.id, scope, keys.token_bytes ? ";x-amz-security-token" : "", hash);
   explicit_bzero(key, sizeof key);
   rkb_text_free(&text);
}
