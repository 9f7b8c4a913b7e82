/* Which candidate had this content first: a map from a pair of hashes to a candidate's number.  One thread at a time. */
#ifndef RKB_RUN_DIGEST_SET_H
#define RKB_RUN_DIGEST_SET_H

#include <stdint.h>

typedef struct rkb_identity rkb_identity_t;

rkb_identity_t *rkb_identity_new(void);
void rkb_identity_free(rkb_identity_t *identity);
/* The number stored under these, or 0 after storing number. */
int64_t rkb_identity_claim(rkb_identity_t *identity, const char *first, const char *second, int64_t number);

#endif
