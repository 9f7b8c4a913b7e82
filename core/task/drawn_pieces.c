/* A table of pieces.  A piece's name decides its one slot.  The numbers of a slot lie where the first piece of the slot found the end of
 * all numbers.  So pieces that are far apart in their tensors lie together here: each page that is touched costs as much as to draw a piece.
 * Elements are kept as floats, which hold nearly every input exactly; a piece that has another number is not kept.  A mutex guards the table. */
#include "task/drawn_pieces.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

/* 24 MiB when all are used, for a layer's row of 4 Mi elements and what goes with it; untouched ones take none.  Small tensors get fewer:
 * a check makes inputs for a hundred small cases, and to clear whole tables for them took longer than to draw the elements. */
#define MOST_SLOTS (3u << 15)
#define LEAST_SLOTS 64u
#define TENSORS (1u << 16)
/* Room for numbers is made for so many pieces at a time.  With room for all, what lies behind it would touch new pages, and most cases need little. */
#define ROOM_PIECES 512u
#define MOST_ROOMS (MOST_SLOTS / ROOM_PIECES)
_Static_assert(MOST_SLOTS % ROOM_PIECES == 0, "all slots have a place");

struct rkb_drawn_pieces {
   pthread_mutex_t lock;
   uint32_t slots;
   uint64_t *names;  /* by slot; 0: the slot is empty.  NULL until the first piece is kept */
   uint32_t *places; /* by slot: where its numbers lie, from 1 on; 0: nowhere yet */
   uint32_t *asked;  /* by slot: the mark of the last piece that was drawn in part.  NULL until then */
   uint32_t used;    /* places */
   float (*rooms[MOST_ROOMS])[DRAWN_PIECE]; /* ROOM_PIECES places each */
};

rkb_drawn_pieces_t *rkb_drawn_pieces_new(uint64_t elements) {
   rkb_drawn_pieces_t *pieces = rkb_allocate(1, sizeof *pieces);
   const uint64_t wanted = LEAST_SLOTS + elements / DRAWN_PIECE;
   pieces->slots = wanted < MOST_SLOTS ? (uint32_t)wanted : MOST_SLOTS;
   pthread_mutex_init(&pieces->lock, NULL);
   return pieces;
}

void rkb_drawn_pieces_free(rkb_drawn_pieces_t *pieces) {
   if (!pieces)
      return;
   free(pieces->names);
   free(pieces->places);
   free(pieces->asked);
   for (uint32_t n = 0; n < MOST_ROOMS; n++)
      free(pieces->rooms[n]);
   pthread_mutex_destroy(&pieces->lock);
   free(pieces);
}

/* Without memory, or of a tensor beyond those that names tell apart, nothing is kept. */
static bool has_table(rkb_drawn_pieces_t *pieces, uint32_t tensor) {
   if (!pieces->names && !pieces->places) {
      pieces->names = rkb_try_allocate(pieces->slots, sizeof *pieces->names, NULL);
      pieces->places = rkb_try_allocate(pieces->slots, sizeof *pieces->places, NULL);
   }
   return pieces->names && pieces->places && tensor < TENSORS;
}

/* The numbers of a place. */
static float *numbers_at(const rkb_drawn_pieces_t *pieces, uint32_t place) {
   return pieces->rooms[(place - 1) / ROOM_PIECES][(place - 1) % ROOM_PIECES];
}

/* Gives the slot a place, if it has none.  False without memory. */
static bool has_place(rkb_drawn_pieces_t *pieces, uint32_t slot) {
   const uint32_t room = pieces->used / ROOM_PIECES;
   if (pieces->places[slot])
      return true;
   if (!pieces->rooms[room])
      pieces->rooms[room] = rkb_try_uncleared(ROOM_PIECES, sizeof *pieces->rooms[room], NULL);
   if (!pieces->rooms[room])
      return false;
   pieces->places[slot] = ++pieces->used;
   return true;
}

static uint64_t name_of(uint32_t tensor, uint64_t number) {
   return number * TENSORS + tensor + 1;
}

/* Each tensor's pieces begin at another slot.  No piece needs a division but those of a tensor that has more of them than there are slots. */
static uint32_t slot_of(const rkb_drawn_pieces_t *pieces, uint32_t tensor, uint64_t number) {
   const uint32_t slots = pieces->slots, begin = (uint32_t)((uint64_t)(tensor * 0x9e3779b9u) * slots >> 32),
                  slot = (uint32_t)(number < slots ? number : number % slots) + begin;
   return slot < slots ? slot : slot - slots;
}

static bool is_kept(const rkb_drawn_pieces_t *pieces, uint32_t tensor, uint64_t number) {
   return pieces->names[slot_of(pieces, tensor, number)] == name_of(tensor, number);
}

static void keep(rkb_drawn_pieces_t *pieces, uint32_t tensor, uint64_t number, const double *drawn) {
   const uint32_t slot = slot_of(pieces, tensor, number);
   if (!has_place(pieces, slot))
      return;
   float *numbers = numbers_at(pieces, pieces->places[slot]);
   uint64_t different = 0;
   for (uint32_t i = 0; i < DRAWN_PIECE; i++) {
      const float number = (float)drawn[i];
      const double kept = (double)number;
      uint64_t bits, wanted;
      memcpy(&bits, &kept, sizeof bits);
      memcpy(&wanted, &drawn[i], sizeof wanted);
      different |= bits ^ wanted;
      numbers[i] = number;
   }
   pieces->names[slot] = different ? 0 : name_of(tensor, number);
}

/* How many of the elements from `first` on lie in pieces that are all kept, or that are all not. */
static uint64_t alike(const rkb_drawn_pieces_t *pieces, uint32_t tensor, uint64_t first, uint64_t count,
                      bool kept) {
   uint64_t number = first / DRAWN_PIECE, alike = 0;
   for (; alike < count && is_kept(pieces, tensor, number) == kept; number++)
      alike = (number + 1) * DRAWN_PIECE - first;
   return alike < count ? alike : count;
}

static void copy(const rkb_drawn_pieces_t *pieces, uint32_t tensor, uint64_t first, uint64_t count,
                 double *out) {
   for (uint64_t done = 0; done < count;) {
      const uint64_t at = (first + done) % DRAWN_PIECE, left = DRAWN_PIECE - at;
      const uint64_t part = left < count - done ? left : count - done;
      const uint32_t slot = slot_of(pieces, tensor, (first + done) / DRAWN_PIECE);
      const float *from = numbers_at(pieces, pieces->places[slot]) + at;
      for (uint64_t i = 0; i < part; i++)
         out[done + i] = (double)from[i];
      done += part;
   }
}

static void keep_whole(rkb_drawn_pieces_t *pieces, uint32_t tensor, uint64_t first, uint64_t count,
                       const double *drawn) {
   for (uint64_t number = (first + DRAWN_PIECE - 1) / DRAWN_PIECE;
        (number + 1) * DRAWN_PIECE <= first + count; number++)
      keep(pieces, tensor, number, drawn + (number * DRAWN_PIECE - first));
}

/* What `asked` holds for a piece.  Two pieces may have the same mark: then one of them is drawn whole sooner. */
static uint32_t mark_of(uint32_t tensor, uint64_t number) {
   return (uint32_t)(name_of(tensor, number) * UINT64_C(0x9e3779b97f4a7c15) >> 32) | 1;
}

/* Whether to draw the whole of a piece of which few elements are asked for: if it is asked for a second time.  A column of a matrix asks for
 * one element of each row's piece, and the column beside it for the next ones; one by one, each costs half as much as a piece. */
static bool wants_whole(rkb_drawn_pieces_t *pieces, uint32_t tensor, uint64_t number) {
   if (!pieces->asked)
      pieces->asked = rkb_try_allocate(pieces->slots, sizeof *pieces->asked, NULL);
   if (!pieces->asked)
      return false;
   uint32_t *asked = &pieces->asked[slot_of(pieces, tensor, number)];
   const uint32_t mark = mark_of(tensor, number), unfit = mark - 1;
   if (*asked == mark || *asked == unfit)
      return *asked == mark;
   *asked = mark;
   return false;
}

/* Draws elements of one piece.  Of a piece that has numbers which the table cannot keep, no more than these is drawn from then on. */
static void draw_within(rkb_drawn_pieces_t *pieces, rkb_drawing_t *draw, const void *argument,
                        uint32_t tensor, uint64_t elements, uint64_t first, uint64_t count, double *out) {
   const uint64_t number = first / DRAWN_PIECE;
   if ((number + 1) * DRAWN_PIECE > elements || !wants_whole(pieces, tensor, number)) {
      draw(argument, tensor, first, count, out);
      return;
   }
   double drawn[DRAWN_PIECE];
   draw(argument, tensor, number * DRAWN_PIECE, DRAWN_PIECE, drawn);
   memcpy(out, drawn + first % DRAWN_PIECE, count * sizeof *out);
   keep(pieces, tensor, number, drawn);
   if (!is_kept(pieces, tensor, number))
      pieces->asked[slot_of(pieces, tensor, number)]--;
}

/* The caller holds the lock. */
static void read_run(rkb_drawn_pieces_t *pieces, bool table, rkb_drawing_t *draw, const void *argument,
                     uint32_t tensor, uint64_t elements, uint64_t first, uint64_t count, double *out) {
   for (uint64_t done = 0, run; done < count; done += run) {
      const bool kept = table && is_kept(pieces, tensor, (first + done) / DRAWN_PIECE);
      run = table ? alike(pieces, tensor, first + done, count - done, kept) : count;
      if (kept) {
         copy(pieces, tensor, first + done, run, out + done);
         continue;
      }
      if (table && (first + done) % DRAWN_PIECE + run < DRAWN_PIECE) {
         draw_within(pieces, draw, argument, tensor, elements, first + done, run, out + done);
         continue;
      }
      draw(argument, tensor, first + done, run, out + done);
      if (table)
         keep_whole(pieces, tensor, first + done, run, out + done);
   }
}

void rkb_drawn_pieces_read(rkb_drawn_pieces_t *pieces, rkb_drawing_t *draw, const void *argument,
                           uint32_t tensor, uint64_t elements, uint64_t first, uint64_t count, double *out) {
   if (pthread_mutex_trylock(&pieces->lock) != 0) {
      draw(argument, tensor, first, count, out);
      return;
   }
   read_run(pieces, has_table(pieces, tensor), draw, argument, tensor, elements, first, count, out);
   pthread_mutex_unlock(&pieces->lock);
}

/* How many of the indices, from the first on, are neighbours. */
static uint64_t neighbours(uint64_t most, const int64_t *index) {
   uint64_t run = 1;
   while (run < most && index[run] == index[0] + (int64_t)run)
      run++;
   return run;
}

void rkb_drawn_pieces_list(rkb_drawn_pieces_t *pieces, rkb_drawing_t *draw, const void *argument,
                           uint32_t tensor, uint64_t elements, uint64_t most, uint64_t count,
                           const int64_t *index, double *out) {
   const bool locked = pthread_mutex_trylock(&pieces->lock) == 0, table = locked && has_table(pieces, tensor);
   for (uint64_t i = 0, run; i < count; i += run) {
      const uint64_t left = count - i < most ? count - i : most;
      run = index[i] < 0 ? 1 : neighbours(left, index + i);
      if (index[i] < 0)
         out[i] = 0;
      else if (locked)
         read_run(pieces, table, draw, argument, tensor, elements, (uint64_t)index[i], run, out + i);
      else
         draw(argument, tensor, (uint64_t)index[i], run, out + i);
   }
   if (locked)
      pthread_mutex_unlock(&pieces->lock);
}
