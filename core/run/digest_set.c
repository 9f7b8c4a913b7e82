/* A hash table with open addressing.  The key is the hash of a pair of hashes. */
#include "run/digest_set.h"

#include <stdlib.h>
#include <string.h>
#include <rkb/plugin.h>
#include "base/hash.h"
#include "base/memory.h"

typedef struct place {
   char key[RKB_HASH_TEXT];
   int64_t number; /* 0: free */
} place_t;

struct rkb_digest_set {
   place_t *places;
   uint64_t count, room; /* room is a power of two */
};

rkb_digest_set_t *rkb_digest_set_new(void) {
   rkb_digest_set_t *identity = rkb_allocate(1, sizeof *identity);
   identity->room = 1024;
   identity->places = rkb_allocate(identity->room, sizeof *identity->places);
   return identity;
}

void rkb_digest_set_free(rkb_digest_set_t *identity) {
   if (!identity)
      return;
   free(identity->places);
   free(identity);
}

static place_t *find(place_t *places, uint64_t room, const char *key) {
   uint64_t at = rkb_hash64(key, RKB_HASH_TEXT, 0) & (room - 1);
   while (places[at].number && memcmp(places[at].key, key, RKB_HASH_TEXT) != 0)
      at = (at + 1) & (room - 1);
   return &places[at];
}

static void grow(rkb_digest_set_t *identity) {
   uint64_t room = identity->room * 2;
   place_t *places = rkb_allocate(room, sizeof *places);
   for (uint64_t i = 0; i < identity->room; i++)
      if (identity->places[i].number)
         *find(places, room, identity->places[i].key) = identity->places[i];
   free(identity->places);
   identity->places = places;
   identity->room = room;
}

int64_t rkb_identity_claim(rkb_digest_set_t *identity, const char *first, const char *second, int64_t number) {
   char key[RKB_HASH_TEXT];
   rkb_hasher_t *hasher = rkb_hasher_new();
   rkb_hasher_add_text(hasher, first);
   rkb_hasher_add_text(hasher, second);
   rkb_hasher_finish(hasher, key);
   if (identity->count * 2 >= identity->room)
      grow(identity);
   place_t *place = find(identity->places, identity->room, key);
   if (place->number)
      return place->number;
   memcpy(place->key, key, sizeof place->key);
   place->number = number;
   identity->count++;
   return 0;
}
