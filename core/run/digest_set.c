/* Open addressing over 64-bit keys: the parts are 128-bit hashes already, so their mix is as good as the pair itself. */
#include "run/digest_set.h"

#include <stdlib.h>
#include <string.h>
#include <rkb/plugin.h>
#include "base/hash.h"

typedef struct place {
   uint64_t key[2];
   int64_t number; /* 0: free */
} place_t;

struct rkb_identity {
   place_t *places;
   uint64_t count, room; /* room is a power of two */
};

rkb_identity_t *rkb_identity_new(void) {
   rkb_identity_t *identity = calloc(1, sizeof *identity);
   if (!identity)
      return NULL;
   identity->room = 1024;
   identity->places = calloc(identity->room, sizeof *identity->places);
   if (!identity->places) {
      free(identity);
      return NULL;
   }
   return identity;
}

void rkb_identity_free(rkb_identity_t *identity) {
   if (!identity)
      return;
   free(identity->places);
   free(identity);
}

static place_t *find(place_t *places, uint64_t room, const uint64_t key[2]) {
   uint64_t at = key[0] & (room - 1);
   while (places[at].number && (places[at].key[0] != key[0] || places[at].key[1] != key[1]))
      at = (at + 1) & (room - 1);
   return &places[at];
}

static bool grow(rkb_identity_t *identity) {
   uint64_t room = identity->room * 2;
   place_t *places = calloc(room, sizeof *places);
   if (!places)
      return false;
   for (uint64_t i = 0; i < identity->room; i++)
      if (identity->places[i].number)
         *find(places, room, identity->places[i].key) = identity->places[i];
   free(identity->places);
   identity->places = places;
   identity->room = room;
   return true;
}

int64_t rkb_identity_claim(rkb_identity_t *identity, const char *first, const char *second, int64_t number) {
   uint64_t key[2];
   for (uint64_t i = 0; i < 2; i++) {
      key[i] = rkb_hash64(first, strlen(first), i);
      key[i] = rkb_hash64(second, strlen(second), key[i]);
   }
   if (identity->count * 2 >= identity->room && !grow(identity))
      return RKB_ERR_NOMEM;
   place_t *place = find(identity->places, identity->room, key);
   if (place->number)
      return place->number;
   *place = (place_t){.key = {key[0], key[1]}, .number = number};
   identity->count++;
   return 0;
}
