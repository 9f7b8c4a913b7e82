/* Names and sums under one key of the store.  Any thread. */
#include "task/expected/staged_values.h"

#include <stdio.h>
#include <string.h>

typedef struct staged_key {
   char text[512];
} staged_key_t;

static staged_key_t key_of(const rkb_case_t *the_case, const rkb_family_t *family, uint64_t seed,
                           uint32_t tensor) {
   staged_key_t key;
   snprintf(key.text, sizeof key.text, "%s|%s|%llu|%s|sum", the_case->name, family->name,
            (unsigned long long)seed, the_case->tensors[tensor].name);
   return key;
}

bool rkb_staged_find(const rkb_store_t *store, const rkb_case_t *the_case, const rkb_family_t *family,
                     uint64_t seed, uint32_t tensor, uint64_t name[3], uint64_t *sum) {
   const staged_key_t key = key_of(the_case, family, seed, tensor);
   uint8_t kept[sizeof *sum];
   rkb_store_name(store, key.text, name);
   if (!rkb_store_load(store, key.text, NULL, 0, kept, sizeof kept))
      return false;
   memcpy(sum, kept, sizeof kept);
   return true;
}

void rkb_staged_keep(const rkb_store_t *store, const rkb_case_t *the_case, const rkb_family_t *family,
                     uint64_t seed, uint32_t tensor, uint64_t sum) {
   const staged_key_t key = key_of(the_case, family, seed, tensor);
   uint8_t kept[sizeof sum];
   memcpy(kept, &sum, sizeof kept);
   rkb_store_save(store, key.text, NULL, 0, kept, sizeof kept);
}
