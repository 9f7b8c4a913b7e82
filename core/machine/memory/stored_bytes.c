/* Sorts what a block stored.  A block may have stored a hundred thousand times; so many entries are sorted
 * digit by digit, because sorting by comparison cost 6 % of the verdict of resnet_block.  On the machine's
 * thread. */
#include "machine/memory/stored_bytes.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11u
#define DIGITS (1u << DIGIT_BITS)

static int by_place(const void *left, const void *right) {
   const struct machine_stored_bytes *x = left, *y = right;
   return x->region->buffer != y->region->buffer ? (x->region->buffer > y->region->buffer ? 1 : -1)
                                                 : (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorts by one digit of the offset, or by the buffer; equal entries keep their order.  False: all entries are
 * equal, and nothing was moved. */
static bool sort_digit(const struct machine_stored_bytes *from, struct machine_stored_bytes *to,
                       uint32_t count, uint32_t shift) {
   uint32_t first[DIGITS] = {0};
   const bool by_buffer = shift >= 64;
   for (uint32_t n = 0; n < count; n++)
      first[(by_buffer ? from[n].region->buffer : from[n].offset >> shift) % DIGITS]++;
   for (uint32_t digit = 0, before = 0; digit < DIGITS; digit++) {
      const uint32_t own = first[digit];
      if (own == count)
         return false;
      first[digit] = before;
      before += own;
   }
   for (uint32_t n = 0; n < count; n++)
      to[first[(by_buffer ? from[n].region->buffer : from[n].offset >> shift) % DIGITS]++] = from[n];
   return true;
}

const struct machine_stored_bytes *machine_sort_stored(const struct machine_stored_bytes *stores,
                                                       uint32_t count,
                                                       struct machine_stored_bytes *const rooms[2]) {
   uint32_t next = 0;
   if (count < DIGITS) {
      memcpy(rooms[0], stores, count * sizeof *stores);
      qsort(rooms[0], count, sizeof *stores, by_place);
      return rooms[0];
   }
   for (uint32_t shift = 0; shift <= 66; shift += DIGIT_BITS)
      if (sort_digit(stores, rooms[next], count, shift)) {
         stores = rooms[next];
         next = 1 - next;
      }
   return stores;
}
