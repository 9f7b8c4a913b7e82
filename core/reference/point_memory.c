/* Stores points in pages, pages in slabs, with a page table for each value.  Owns all of it; one thread at a time. */
#include "reference/point_memory.h"

#include <stdlib.h>
#include "base/memory.h"

#define SLAB_PAGES 128u /* few: a small case fills no more */

rkb_memory_t *rkb_memory_new(uint32_t value_count, uint64_t limit_bytes) {
   rkb_memory_t *memory = rkb_allocate(1, sizeof *memory);
   memory->tables = rkb_allocate(value_count + 1, sizeof *memory->tables);
   memory->stored = rkb_allocate(value_count + 1, sizeof *memory->stored);
   memory->single = rkb_allocate(value_count + 1, sizeof *memory->single);
   memory->asked = rkb_allocate(value_count + 1, sizeof *memory->asked);
   memory->value_count = value_count;
   memory->most_held = limit_bytes / 2;
   memory->most_pages = limit_bytes / 2 / sizeof(rkb_page_t) / SLAB_PAGES * SLAB_PAGES;
   return memory;
}

void rkb_memory_free_spare(rkb_memory_t *memory) {
   while (memory->spare_count > 0)
      rkb_block_free(&memory->spare[--memory->spare_count]);
}

#define LEAST_SPARE 4096u /* points; smaller blocks are left to the allocator */

/* The number of elements that a block has room for; its arrays lie side by side. */
static uint64_t room_of(const rkb_block_t *block) {
   return (uint64_t)(block->hard - block->value);
}

bool rkb_reader_block(rkb_reader_t *reader, rkb_block_t *block, uint64_t count) {
   rkb_memory_t *memory = reader->memory;
   for (uint32_t i = memory && count >= LEAST_SPARE ? memory->spare_count : 0; i-- > 0;) {
      uint64_t room = room_of(&memory->spare[i]);
      if (room < count || room / 4 > count)
         continue;
      *block = memory->spare[i];
      memory->spare[i] = memory->spare[--memory->spare_count];
      return true;
   }
   return rkb_block_new(block, count);
}

void rkb_reader_block_free(rkb_reader_t *reader, rkb_block_t *block) {
   rkb_memory_t *memory = reader->memory;
   if (block->value && memory && room_of(block) >= LEAST_SPARE && memory->spare_count < RKB_SPARE_BLOCKS)
      memory->spare[memory->spare_count++] = *block;
   else
      rkb_block_free(block);
   *block = (rkb_block_t){0};
}

static void free_table(rkb_page_table_t *table) {
   for (uint64_t i = 0; i < table->leaf_count; i++)
      free(table->leaves[i]);
   free(table->leaves);
}

void rkb_memory_free(rkb_memory_t *memory) {
   if (!memory)
      return;
   rkb_memory_free_spare(memory);
   rkb_row_memory_free(memory->rows);
   for (uint32_t i = 0; i < memory->value_count; i++) {
      if (memory->stored)
         free(memory->stored[i].value);
      if (memory->single)
         free(memory->single[i]);
      if (memory->tables)
         free_table(&memory->tables[i]);
   }
   for (uint64_t i = 0; i < memory->slab_count; i++)
      free(memory->slabs[i]);
   free(memory->slabs);
   free(memory->tables);
   free(memory->stored);
   free(memory->single);
   free(memory->asked);
   free(memory);
}

static void forget(rkb_memory_t *memory) {
   for (uint64_t i = 0; i < memory->page_count; i++)
      *memory->slabs[i / SLAB_PAGES][i % SLAB_PAGES].home = NULL;
   memory->page_count = 0;
}

static int add_slab(rkb_memory_t *memory) {
   if (memory->slab_count == memory->slab_room) {
      uint64_t room = memory->slab_room ? 2 * memory->slab_room : 16;
      memory->slabs = rkb_grow(memory->slabs, room, sizeof *memory->slabs);
      memory->slab_room = room;
   }
   rkb_page_t *slab = rkb_try_uncleared(SLAB_PAGES, sizeof *slab, NULL);
   if (!slab)
      return RKB_ERR_NOMEM;
   memory->slabs[memory->slab_count++] = slab;
   return RKB_OK;
}

/* Adds an empty page. */
static int add_page(rkb_memory_t *memory, rkb_page_t **home) {
   if (memory->page_count >= memory->most_pages)
      return RKB_ERR_LIMIT;
   if (memory->page_count == memory->slab_count * SLAB_PAGES) {
      int status = add_slab(memory);
      if (status != RKB_OK)
         return status;
   }
   rkb_page_t *page = &memory->slabs[memory->page_count / SLAB_PAGES][memory->page_count % SLAB_PAGES];
   memory->page_count++;
   page->known = 0;
   page->home = home;
   *home = page;
   return RKB_OK;
}

/* The entry of a page in a value's table; NULL without memory. */
static rkb_page_t **home_of(rkb_page_table_t *table, uint64_t number) {
   rkb_page_t ***leaf = &table->leaves[number / RKB_LEAF_PAGES];
   if (!*leaf)
      *leaf = rkb_try_allocate(table->leaf_pages, sizeof **leaf, NULL);
   return *leaf ? &(*leaf)[number % RKB_LEAF_PAGES] : NULL;
}

static int place_all(rkb_memory_t *memory, rkb_page_table_t *table, uint64_t count, const int64_t *index,
                     const rkb_block_t *block) {
   for (uint64_t i = 0; i < count; i++) {
      rkb_page_t **home = home_of(table, (uint64_t)index[i] / RKB_PAGE_POINTS);
      int status = !home ? RKB_ERR_NOMEM : *home ? RKB_OK : add_page(memory, home);
      if (status != RKB_OK)
         return status;
      uint64_t at = (uint64_t)index[i] % RKB_PAGE_POINTS;
      (*home)->value[at] = block->value[i];
      (*home)->hard[at] = block->hard[i];
      (*home)->variance[at] = block->variance[i];
      (*home)->flags[at] = block->flags[i];
      (*home)->known |= UINT64_C(1) << at;
   }
   return RKB_OK;
}

static int table_new(rkb_page_table_t *table, uint64_t elements) {
   const uint64_t pages = elements / RKB_PAGE_POINTS + 1,
                  leaves = (pages + RKB_LEAF_PAGES - 1) / RKB_LEAF_PAGES;
   rkb_page_t ***made = rkb_try_allocate(leaves, sizeof *made, NULL);
   if (!made)
      return RKB_ERR_NOMEM;
   *table = (rkb_page_table_t){made, leaves, pages < RKB_LEAF_PAGES ? pages : RKB_LEAF_PAGES};
   return RKB_OK;
}

int rkb_memory_place(rkb_memory_t *memory, uint32_t value, uint64_t elements, uint64_t count,
                     const int64_t *index, const rkb_block_t *block) {
   rkb_page_table_t *table = &memory->tables[value];
   int status = table->leaves ? RKB_OK : table_new(table, elements);
   if (status != RKB_OK)
      return status;
   status = place_all(memory, table, count, index, block);
   if (status != RKB_ERR_LIMIT)
      return status;
   forget(memory);
   return place_all(memory, table, count, index, block);
}
