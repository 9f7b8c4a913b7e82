/* A table of findings (row_memory.h).  A row and its value decide the one slot of a finding, so neighbouring rows lie side by side.  Owns
 * the table; one thread at a time. */
#include "reference/row_memory.h"

#include <stdlib.h>
#include "base/memory.h"

/* A sample at a bench shape judges some hundred rows.  136 KiB in all; slots that no row has used take no memory. */
#define SLOTS 1024u

typedef struct slot {
   uint64_t row;
   uint32_t value; /* the number of the value, plus 1; 0: the slot is empty */
} slot_t;

struct rkb_row_memory {
   slot_t slots[SLOTS];
   _Alignas(16) unsigned char findings[SLOTS][RKB_ROW_BYTES];
};

static uint64_t slot_of(uint32_t value, uint64_t row) {
   return (row + value * UINT64_C(0x9e3779b97f4a7c15)) % SLOTS;
}

void rkb_row_memory_free(rkb_row_memory_t *rows) {
   free(rows);
}

const void *rkb_row_memory_find(const rkb_row_memory_t *rows, uint32_t value, uint64_t row) {
   const uint64_t slot = slot_of(value, row);
   const bool is_there = rows && rows->slots[slot].value == value + 1 && rows->slots[slot].row == row;
   return is_there ? rows->findings[slot] : NULL;
}

void *rkb_row_memory_make(rkb_row_memory_t **rows, uint32_t value, uint64_t row) {
   if (!*rows) {
      *rows = rkb_try_uncleared(1, sizeof **rows, NULL);
      for (uint64_t slot = 0; *rows && slot < SLOTS; slot++)
         (*rows)->slots[slot] = (slot_t){0};
   }
   if (!*rows)
      return NULL;
   const uint64_t slot = slot_of(value, row);
   (*rows)->slots[slot] = (slot_t){row, value + 1};
   return (*rows)->findings[slot];
}
