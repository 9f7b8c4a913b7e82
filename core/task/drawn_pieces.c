/* A table of pieces.  A piece's name decides its one slot, and the pieces of a row lie in neighbouring slots.
 * A mutex guards the table. */
#include "task/drawn_pieces.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define SLOTS 512u /* 4 MiB when all slots are used */

typedef struct slot {
   uint64_t number; /* number of the piece in its tensor */
   uint32_t tensor;
   double *numbers; /* NULL: the slot is empty */
} slot_t;

struct rkb_drawn_pieces {
   pthread_mutex_t lock;
   slot_t slots[SLOTS];
};

rkb_drawn_pieces_t *rkb_drawn_pieces_new(void) {
   rkb_drawn_pieces_t *pieces = rkb_allocate(1, sizeof *pieces);
   pthread_mutex_init(&pieces->lock, NULL);
   return pieces;
}

void rkb_drawn_pieces_free(rkb_drawn_pieces_t *pieces) {
   if (!pieces)
      return;
   for (uint32_t n = 0; n < SLOTS; n++)
      free(pieces->slots[n].numbers);
   pthread_mutex_destroy(&pieces->lock);
   free(pieces);
}

/* Gives the elements of a whole piece and draws them if they are not in the table.  Without memory to keep
 * the piece, it is drawn for this caller alone. */
static void read_piece(rkb_drawn_pieces_t *pieces, rkb_drawing_t *draw, const void *argument, uint32_t tensor,
                       uint64_t number, double *out) {
   slot_t *slot = &pieces->slots[(number + tensor * UINT64_C(0x9e3779b97f4a7c15)) % SLOTS];
   const size_t bytes = DRAWN_PIECE * sizeof *out;
   if (slot->numbers && slot->number == number && slot->tensor == tensor) {
      memcpy(out, slot->numbers, bytes);
      return;
   }
   draw(argument, tensor, number * DRAWN_PIECE, DRAWN_PIECE, out);
   if (!slot->numbers)
      slot->numbers = rkb_try_uncleared(DRAWN_PIECE, sizeof *slot->numbers, NULL);
   if (!slot->numbers)
      return;
   slot->number = number;
   slot->tensor = tensor;
   memcpy(slot->numbers, out, bytes);
}

void rkb_drawn_pieces_read(rkb_drawn_pieces_t *pieces, rkb_drawing_t *draw, const void *argument,
                           uint32_t tensor, uint64_t first, uint64_t count, double *out) {
   const uint64_t next = (first + DRAWN_PIECE - 1) / DRAWN_PIECE, before = next * DRAWN_PIECE - first;
   if (before > count || count - before < DRAWN_PIECE || pthread_mutex_trylock(&pieces->lock) != 0) {
      draw(argument, tensor, first, count, out);
      return;
   }
   uint64_t done = before;
   if (before)
      draw(argument, tensor, first, before, out);
   for (; count - done >= DRAWN_PIECE; done += DRAWN_PIECE)
      read_piece(pieces, draw, argument, tensor, (first + done) / DRAWN_PIECE, out + done);
   pthread_mutex_unlock(&pieces->lock);
   if (done < count)
      draw(argument, tensor, first + done, count - done, out + done);
}
