/* Memory of a run: its regions (buffers and variables of the module), the addresses that name them, and the pieces of those that are made on
 * demand.  The run owns them; one thread. */
#ifndef RKB_MACHINE_STATE_MEMORY_REGIONS_H
#define RKB_MACHINE_STATE_MEMORY_REGIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "machine/machine.h"

typedef struct machine_run machine_run_t;

/* Addresses.  The environment (environment.h) decides where the regions and the generic windows of shared, local and parameter memory lie.
 * In most environments a region's base is the origin plus place << 36, plus a multiple of its alignment below 2^34: a shift finds the region of an
 * address, and an index error of less than 16 GiB reaches no other region.  In half of these and in the plainest one the multiple is odd, so that
 * a kernel is found that needs more alignment than was promised.  In one environment of four the regions lie close together, as on a device.
 * Inside the machine an address in a window is WINDOW << 56 plus an offset. */
#define REGION_SHIFT 36
#define WINDOW_SHIFT 56
#define WINDOW_SHARED 1ull
#define WINDOW_LOCAL 2ull
#define WINDOW_PARAM 3ull
#define MAX_REGIONS 4096

/* Values of a byte of `defined`: 0 never written, 1 defined, and these two.  UNDEFINED_STORE: a value that
 * was itself undefined was stored.  ATOMIC_UNFINISHED: blocks that are not executed would have changed the
 * byte by atomic operations (partial_launches.c). */
#define UNDEFINED_STORE 2
#define ATOMIC_UNFINISHED 3

typedef struct machine_region {
   const char *name;
   uint64_t base, bytes;
   uint32_t alignment; /* that was promised, in bytes */
   uint8_t *data;
   uint8_t *defined; /* one byte for each byte of data; NULL: all are defined */
   /* For regions that are made on demand, a bit for each piece: set when an input's piece was made, or when
    * another region's piece was written. */
   uint8_t *met;
   /* For each 1 << MET_BY_SHIFT bytes, 1 + run->place of the block that first met some of them; NULL without
    * met. */
   uint32_t *met_by;
   /* For each piece that was met, the place where data has it, counted in pieces.  NULL: each piece lies at
    * its own place (packed_inputs.c). */
   uint32_t *places;
   uint64_t packed;             /* number of pieces that have a place */
   /* Of an input: the elements whose values are asked for in the block that runs; NULL: all are (maps/tensor_maps.c). */
   const rkb_machine_asked_t *asked;
   uint32_t element;            /* bytes of one, where asked is there */
   bool read_only;              /* a tensor of role in, or .const */
   bool fetched;                /* an input, whose pieces are made when they are first met */
   bool blank;                  /* no byte of a piece that was not met holds a value */
   bool constant;               /* .const variable */
   bool sparse;                 /* a large variable, whose zeros are mapped when they are first met */
   uint32_t buffer;             /* plan buffer, or UINT32_MAX for a module variable */
   uint64_t *writers, *readers; /* race records, one for each granule (races.c); NULL until needed */
   /* For each granule, the last launch that read it through the read-only path (read_only_path.c); NULL until
    * needed. */
   uint32_t *read_only_path;
   uint32_t read_only_launch; /* the last launch that read through it */
   uint32_t asked_from;       /* the first run of `asked` that the last row of a tile reached */
   double *shadow;            /* one for each 4 bytes; NULL until needed */
   uint64_t taint;            /* of all its bytes together */
   uint32_t undefined_store;  /* 1 + index of the finding kept for the first undefined store */
   bool written;              /* by the launch that runs */
   /* A bit for each word of 4 bytes; NULL where partial_launches.c is not used. */
   uint64_t *stored, *wanted; /* written by the launch that runs; read before the word was final */
   uint64_t *added;           /* changed by atomic operations of the launch that runs */
   bool any_stored;           /* whether any bit of stored is set */
   uint64_t *wanted_pieces;   /* a bit for each piece that has a word in wanted */
   /* A bit for each word of a variable that kernels may write (values_of_earlier_runs.c).  renewed: this run wrote a
    * value that does not depend on what was there.  touched: any run wrote it.  left: a run before this one
    * wrote it. */
   uint64_t *renewed, *touched, *left;
   uint32_t variable; /* of the module; PTX_NONE: the region is none */
   bool has_past;     /* any word of it may be left by an earlier launch */
   /* A launch of which not all blocks were executed wrote it, and has ended; one of them changed it by atomic operations. */
   bool unfinished, added_to;
   /* Blocks that were not executed may have changed pieces that are made from now on. */
   bool stale;
} machine_region_t;

/* log2 of a piece's bytes, in regions that are made on demand; most rows of a tile are as short */
#define PIECE_SHIFT 8
#define MET_BY_SHIFT 10 /* log2 of the bytes that share one record in met_by */

/* packed_inputs.c: makes the list of places of a large input; its data then holds the pieces in the order in
 * which they were met.  False without memory. */
bool machine_pack(machine_run_t *run, machine_region_t *region);
void machine_pack_free(machine_region_t *region);
void machine_pack_piece(machine_region_t *region, uint64_t piece);
/* Where data has the byte at an offset.  The offset's piece must have been met. */
static inline uint64_t machine_lies_at(const machine_region_t *region, uint64_t offset) {
   return region->places ? (uint64_t)region->places[offset >> PIECE_SHIFT] << PIECE_SHIFT |
                              (offset & ((1u << PIECE_SHIFT) - 1))
                         : offset;
}
/* Copies bytes.  Their pieces must have been met. */
void machine_read_bytes(const machine_region_t *region, uint64_t offset, uint64_t bytes, uint8_t *out);
/* Of a region with met: makes the pieces of an input or of a sparse variable that hold these bytes, and
 * remembers those of other regions that are written.  Without memory it stops the run. */
void machine_meet(machine_run_t *run, machine_region_t *region, uint64_t offset, uint64_t bytes, bool store);
/* Makes the bytes that rkb_machine_sparse gave zeros again. */
void machine_sparse_clear(void *memory, uint64_t bytes);
/* Asks for huge pages in this memory, however many. */
void machine_dense(void *memory, uint64_t bytes);
/* Whether a piece of a region that is made on demand was met. */
static inline bool machine_is_met(const machine_region_t *region, uint64_t piece) {
   return region->met[piece >> 3] >> (piece & 7) & 1;
}
/* Whether the bytes are known to hold no value, without a look at each of them.  They need not lie in one piece. */
static inline bool machine_is_blank(const machine_region_t *region, uint64_t offset, uint64_t bytes) {
   return region->blank && !machine_is_met(region, offset >> PIECE_SHIFT) &&
          !machine_is_met(region, (offset + bytes - 1) >> PIECE_SHIFT) && bytes <= 1u << PIECE_SHIFT;
}
/* The first piece, from this one on, that was met; the number of pieces when there is none.  A sample of
 * blocks meets few pieces of a region of gigabytes. */
static inline uint64_t machine_next_met(const machine_region_t *region, uint64_t piece) {
   const uint64_t end = (region->bytes + (1u << PIECE_SHIFT) - 1) >> PIECE_SHIFT;
   while (piece < end && !machine_is_met(region, piece)) {
      uint64_t group = 1;
      if (piece % 64 == 0 && piece + 64 <= end)
         memcpy(&group, region->met + piece / 8, sizeof group);
      piece += group ? 1 : 64;
   }
   return piece < end ? piece : end;
}
/* Marks the words of one piece as having no shadow. */
void machine_shadow_piece(machine_region_t *region, uint64_t piece);

#endif
