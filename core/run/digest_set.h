/* Which candidate had this content first: a map from a pair of hashes to a candidate's number.  One thread at a time. */
#ifndef RKB_RUN_DIGEST_SET_H
#define RKB_RUN_DIGEST_SET_H

#include <stdint.h>

typedef struct rkb_digest_set rkb_digest_set_t;

rkb_digest_set_t *rkb_digest_set_new(void);
void rkb_digest_set_free(rkb_digest_set_t *identity);
/* Returns the number stored under this pair of hashes.  When there is none, stores number and returns 0. */
int64_t rkb_identity_claim(rkb_digest_set_t *identity, const char *first, const char *second, int64_t number);

#endif
