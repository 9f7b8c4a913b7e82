/* Keeps rows in blocks that never move (shared_rows.h).  Owns the rows, their texts, and a table of their
 * source hashes. */
#include "archive/shared_rows.h"

#include <pthread.h>
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"

enum { BLOCK_ROWS = 512, MOST_BLOCKS = 8192, FIRST_PLACES = 1024, NO_ROW = UINT32_MAX };
enum rank {
   RANK_ACCEPT,
   RANK_SUSPECT,
   RANK_OTHER,
   RANK_REJECT
}; /* the order of RKB_ARCHIVE_BY_OBJECTIVE; RANK_REJECT is left out */

typedef struct shared_row {
   rkb_archive_row_t row;
   int64_t request;
   uint32_t rank;             /* enum rank */
   uint32_t same_source_next; /* the next row with the same source; NO_ROW: none so far */
} shared_row_t;

/* Rows that share a source: the first one and the last one.  The next such row is linked to the last. */
typedef struct place {
   uint32_t first, last; /* NO_ROW: free */
} place_t;

struct rkb_shared_rows {
   pthread_mutex_t mutex; /* guards all members, except rows below a count that was read under it */
   rkb_arena_t *arena;
   shared_row_t *blocks[MOST_BLOCKS];
   uint32_t count, added; /* rows that queries can find; rows that were added since begin */
   place_t *places;       /* open addressing by source hash */
   uint32_t room, used;   /* room is a power of two */
   int64_t last;          /* the rows of all finished requests up to this one are in memory */
   bool full, changed;
};

rkb_shared_rows_t *rkb_shared_rows_new(size_t bytes) {
   rkb_shared_rows_t *shared = rkb_allocate(1, sizeof *shared);
   pthread_mutex_init(&shared->mutex, NULL);
   shared->arena = rkb_arena_new(bytes);
   shared->room = FIRST_PLACES;
   shared->places = rkb_allocate(shared->room, sizeof *shared->places);
   memset(shared->places, 0xff, shared->room * sizeof *shared->places);
   shared->last = INT64_MIN;
   return shared;
}

void rkb_shared_rows_free(rkb_shared_rows_t *shared) {
   if (!shared)
      return;
   rkb_arena_free(shared->arena);
   free(shared->places);
   pthread_mutex_destroy(&shared->mutex);
   free(shared);
}

static shared_row_t *row_at(const rkb_shared_rows_t *shared, uint32_t index) {
   return &shared->blocks[index / BLOCK_ROWS][index % BLOCK_ROWS];
}

bool rkb_shared_rows_begin(rkb_shared_rows_t *shared, int64_t horizon, int64_t *last) {
   pthread_mutex_lock(&shared->mutex);
   *last = shared->last;
   if (shared->last < horizon && !shared->full && !shared->changed)
      return true;
   pthread_mutex_unlock(&shared->mutex);
   return false;
}

rkb_arena_t *rkb_shared_rows_arena(rkb_shared_rows_t *shared) {
   return shared->arena;
}

/* Returns the slot that holds the hash, or the free slot where it would go. */
static place_t *find_place(const rkb_shared_rows_t *shared, place_t *places, uint32_t room,
                           const char *source_hash) {
   uint32_t at = (uint32_t)rkb_hash64(source_hash, strlen(source_hash), 0) & (room - 1);
   while (places[at].first != NO_ROW &&
          strcmp(row_at(shared, places[at].first)->row.source_hash, source_hash) != 0)
      at = (at + 1) & (room - 1);
   return &places[at];
}

const char *rkb_shared_rows_source(const rkb_shared_rows_t *shared, const char *source_hash) {
   const place_t *place = find_place(shared, shared->places, shared->room, source_hash);
   return place->first == NO_ROW ? NULL : row_at(shared, place->first)->row.source;
}

static void grow_places(rkb_shared_rows_t *shared) {
   const uint32_t room = shared->room * 2;
   place_t *places = rkb_allocate(room, sizeof *places);
   memset(places, 0xff, room * sizeof *places);
   for (uint32_t i = 0; i < shared->room; i++)
      if (shared->places[i].first != NO_ROW)
         *find_place(shared, places, room, row_at(shared, shared->places[i].first)->row.source_hash) =
            shared->places[i];
   free(shared->places);
   shared->places = places;
   shared->room = room;
}

static void link_source(rkb_shared_rows_t *shared, uint32_t index) {
   if (shared->used * 2 >= shared->room)
      grow_places(shared);
   place_t *place = find_place(shared, shared->places, shared->room, row_at(shared, index)->row.source_hash);
   if (place->first == NO_ROW) {
      place->first = index;
      shared->used++;
   } else {
      row_at(shared, place->last)->same_source_next = index;
   }
   place->last = index;
}

static uint32_t rank_of(const rkb_archive_row_t *row) {
   if (!row->has_objective || strcmp(row->standing, RKB_REJECT) == 0)
      return RANK_REJECT;
   if (strcmp(row->standing, RKB_ACCEPT) == 0)
      return RANK_ACCEPT;
   return strcmp(row->standing, RKB_SUSPECT) == 0 ? RANK_SUSPECT : RANK_OTHER;
}

/* Whether a row may follow `before`.  In the search section, numbers and requests ascend together.  The keys
 * of the propose section descend, and its rows come first. */
static bool comes_after(const shared_row_t *before, int64_t request, int64_t number) {
   return before->row.number < number && (before->request < 0 || before->request <= request);
}

bool rkb_shared_rows_add(rkb_shared_rows_t *shared, int64_t request, const rkb_archive_row_t *row) {
   const uint32_t index = shared->added, block = index / BLOCK_ROWS;
   if (block == MOST_BLOCKS || (index && !comes_after(row_at(shared, index - 1), request, row->number)))
      return false;
   if (!shared->blocks[block])
      shared->blocks[block] = rkb_arena_try(shared->arena, BLOCK_ROWS, sizeof **shared->blocks);
   if (!shared->blocks[block])
      return false;
   *row_at(shared, index) = (shared_row_t){*row, request, rank_of(row), NO_ROW};
   shared->added++;
   return true;
}

/* Links the new rows only if all rows were read and are in order.  A row that is dropped is in no list. */
void rkb_shared_rows_end(rkb_shared_rows_t *shared, bool ok, int64_t last) {
   if (ok) {
      for (uint32_t index = shared->count; index < shared->added; index++)
         link_source(shared, index);
      shared->count = shared->added;
      shared->last = last;
   } else {
      shared->added = shared->count;
      shared->full = true;
   }
   pthread_mutex_unlock(&shared->mutex);
}

/* The number of rows that belong to requests up to horizon. */
static uint32_t count_visible(const rkb_shared_rows_t *shared, int64_t horizon) {
   uint32_t low = 0, high = shared->count;
   while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (row_at(shared, middle)->request <= horizon)
         low = middle + 1;
      else
         high = middle;
   }
   return low;
}

static bool differs(const char *wanted, const char *word) {
   return wanted && strcmp(wanted, word) != 0;
}

static bool matches(const rkb_archive_query_t *query, const shared_row_t *row) {
   return !differs(query->operator_id, row->row.operator_id) &&
          !differs(query->standing, row->row.standing) && !differs(query->source_hash, row->row.source_hash);
}

/* Inserts a row into the list, which is sorted by rank, objective and number, and keeps at most limit rows.
 * Rows arrive by ascending number. */
static void keep_better(const rkb_archive_row_t **list, uint32_t *count, uint32_t limit,
                        const shared_row_t *row) {
   uint32_t low = 0, high = *count;
   while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      const shared_row_t *other = (const shared_row_t *)list[middle]; /* the row is the first member */
      if (other->rank < row->rank || (other->rank == row->rank && other->row.objective <= row->row.objective))
         low = middle + 1;
      else
         high = middle;
   }
   if (low == limit)
      return;
   const uint32_t moved = (*count < limit ? *count : limit - 1) - low;
   memmove(&list[low + 1], &list[low], moved * sizeof *list);
   list[low] = &row->row;
   *count += *count < limit;
}

static uint32_t collect(const rkb_shared_rows_t *shared, const rkb_archive_query_t *query, uint32_t first,
                        uint32_t visible, const rkb_archive_row_t **list) {
   uint32_t count = 0;
   for (uint32_t i = first; i < visible;
        i = query->source_hash ? row_at(shared, i)->same_source_next : i + 1) {
      const shared_row_t *row = row_at(shared, i);
      if (!matches(query, row))
         continue;
      if (query->order == RKB_ARCHIVE_BY_OBJECTIVE && row->rank != RANK_REJECT)
         keep_better(list, &count, query->limit, row);
      else if (query->order == RKB_ARCHIVE_BY_NUMBER)
         list[count++] = &row->row;
      if (query->order == RKB_ARCHIVE_BY_NUMBER && count == query->limit)
         break;
   }
   return count;
}

bool rkb_shared_rows_find(rkb_shared_rows_t *shared, int64_t horizon, const rkb_archive_query_t *query,
                          const rkb_archive_row_t ***list, uint32_t *count) {
   pthread_mutex_lock(&shared->mutex);
   const bool here = shared->last >= horizon && !shared->changed && !query->parent;
   const uint32_t visible = here ? count_visible(shared, horizon) : 0;
   if (here)
      *list = rkb_allocate((query->limit < visible ? query->limit : visible) + 1, sizeof **list);
   /* The query reads the links of these rows, and adding rows changes links. */
   if (here && query->source_hash)
      *count =
         collect(shared, query, find_place(shared, shared->places, shared->room, query->source_hash)->first,
                 visible, *list);
   pthread_mutex_unlock(&shared->mutex);
   if (here && !query->source_hash)
      *count = collect(shared, query, 0, visible, *list);
   return here;
}

void rkb_shared_rows_request_changed(rkb_shared_rows_t *shared, int64_t request) {
   pthread_mutex_lock(&shared->mutex);
   shared->changed |= request <= shared->last;
   pthread_mutex_unlock(&shared->mutex);
}

void rkb_shared_rows_candidate_changed(rkb_shared_rows_t *shared, int64_t candidate) {
   pthread_mutex_lock(&shared->mutex);
   shared->changed |= shared->count && candidate <= row_at(shared, shared->count - 1)->row.number;
   pthread_mutex_unlock(&shared->mutex);
}
