/* Asks the archive by the source's SHA-256 (known_candidate.h).  Any worker. */
#include "shared/known_candidate.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_BYTES = 32, MOST_ROWS = 64 };

/* Computes the archive's source_hash in lower-case hex digits.  False: libcrypto has no memory. */
static bool hash_source(const char *source, char out[2 * HASH_BYTES + 1]) {
   unsigned char digest[HASH_BYTES];
   if (EVP_Digest(source, strlen(source), digest, NULL, EVP_sha256(), NULL) != 1)
      return false;
   for (int i = 0; i < HASH_BYTES; i++)
      snprintf(out + 2 * i, 3, "%02x", digest[i]);
   return true;
}

static bool same_tune(const char *a, const char *b) {
   if (strcmp(a, b) == 0)
      return true;
   json_t *first = json_loads(a, 0, NULL), *second = json_loads(b, 0, NULL);
   const bool same = first && second && json_equal(first, second);
   json_decref(first);
   json_decref(second);
   return same;
}

bool candidate_is_known(const rkb_host_t *host, const rkb_archive_api_t *archive, rkb_job_t job, const char *source, const char *tune) {
   char hash[2 * HASH_BYTES + 1];
   const rkb_archive_query_t query = {.size = sizeof query, .limit = MOST_ROWS, .source_hash = hash};
   rkb_archive_rows_t *rows = NULL;
   rkb_error_t ignored;
   bool known = false;
   if (!archive || !hash_source(source, hash) || archive->query(host, job, &query, &rows, &ignored) != RKB_OK)
      return false;
   for (uint32_t i = 0; i < archive->rows_count(rows) && !known; i++)
      known = same_tune(archive->rows_at(rows, i)->tune, tune ? tune : "{}");
   archive->rows_free(rows);
   return known;
}
