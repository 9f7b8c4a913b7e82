/* A hash table with open addressing.  At least half of its slots are free. */
#include "base/name_table.h"

#include <string.h>
#include "base/hash.h"

void rkb_name_table_make(rkb_name_table_t *table, rkb_arena_t *arena, uint32_t most) {
   uint32_t slots = 2;
   while (slots / 2 < most)
      slots *= 2;
   *table = (rkb_name_table_t){.names = rkb_arena_array(arena, most + 1, sizeof *table->names),
                               .slots = rkb_arena_array(arena, slots, sizeof *table->slots),
                               .last_slot = slots - 1};
}

/* Returns the slot that has a name, or the free slot where the name would go. */
static uint32_t *slot_of(const rkb_name_table_t *table, const char *name) {
   uint32_t slot = (uint32_t)rkb_hash64(name, strlen(name), 0) & table->last_slot;
   while (table->slots[slot] && strcmp(table->names[table->slots[slot] - 1], name) != 0)
      slot = (slot + 1) & table->last_slot;
   return &table->slots[slot];
}

void rkb_name_table_add(rkb_name_table_t *table, const char *name) {
   uint32_t *slot = slot_of(table, name);
   table->names[table->count++] = name;
   *slot = table->count;
}

uint32_t rkb_name_table_find(const rkb_name_table_t *table, const char *name) {
   return *slot_of(table, name) - 1; /* 0 - 1 is UINT32_MAX */
}
