/* Inputs of a sampled run lie packed: the pieces that its blocks read lie one after the other, in the order
 * in which they were met.  A tile of a matrix has a few bytes from each of thousands of rows.  At their own
 * places each of these would take a page, and touching a new page costs more than the piece.  Only inputs
 * that kernels may not write are packed, so only loads and copies out of them need this file.  On the
 * machine's thread. */
#include "machine/state/execution.h"

#include <string.h>

#define LEAST_BYTES (UINT64_C(1) << 20) /* smaller inputs have few pages to save */
#define PIECE_BYTES (UINT64_C(1) << PIECE_SHIFT)

static uint64_t pieces_of(const machine_region_t *region) {
   return (region->bytes + PIECE_BYTES - 1) >> PIECE_SHIFT;
}

/* An access is aligned to its own size.  So where a region is aligned to a piece, no access lies in two
 * pieces. */
bool machine_pack(machine_run_t *run, machine_region_t *region) {
   if (!region->fetched || !region->read_only || region->bytes < LEAST_BYTES || region->alignment % PIECE_BYTES ||
       pieces_of(region) > UINT32_MAX)
      return true;
   region->places =
      (uint32_t *)rkb_machine_sparse(pieces_of(region) * sizeof *region->places, &run->huge_left);
   return region->places != NULL;
}

void machine_pack_free(machine_region_t *region) {
   rkb_machine_sparse_free(region->places, pieces_of(region) * sizeof *region->places);
}

/* The last piece, which may be short, keeps its place at the end of data.  The packed pieces in front of it
 * never reach that place. */
void machine_pack_piece(machine_region_t *region, uint64_t piece) {
   const uint64_t last = pieces_of(region) - 1;
   if (region->places)
      region->places[piece] = (uint32_t)(piece == last ? last : region->packed++);
}

void machine_read_bytes(const machine_region_t *region, uint64_t offset, uint64_t bytes, uint8_t *out) {
   for (uint64_t done = 0, part; done < bytes; done += part) {
      const uint64_t left = PIECE_BYTES - (offset + done) % PIECE_BYTES;
      part = !region->places || bytes - done < left ? bytes - done : left;
      memcpy(out + done, region->data + machine_lies_at(region, offset + done), part);
   }
}
