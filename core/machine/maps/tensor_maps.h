/* Tensor maps and the tiles that tensor copies move (PTX ISA 9.0, 5.5 and 9.7.9.25.5; CUDA driver API, cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col).  A kernel gets a map as 128 bytes of its parameters.  Only the driver knows the content of these bytes; the machine
 * writes an image of its own there, which the kernel may copy to global memory and change (map_images.h).
 *
 * In an interleaved layout, an element of the first dimension is a slice of 16 or 32 bytes of channels (NC/8HWC8: width, height, slice of
 * channels, image).  A copy takes only the slice at the last coordinate but one, whatever size the box has in that dimension; measured on an H200
 * (tests/conformance/interleaved_forms.txt).  On the machine's thread. */
#ifndef RKB_MACHINE_MAPS_TENSOR_MAPS_H
#define RKB_MACHINE_MAPS_TENSOR_MAPS_H

#include "machine/state/execution.h"

/* A row of bytes that are consecutive in both memories. */
typedef struct machine_row {
   machine_region_t *region;
   uint64_t offset; /* offset in the region */
   uint32_t shared; /* offset in shared memory */
   uint32_t bytes;
} machine_row_t;

/* A box of a map at some coordinates, in shared memory from an offset on.  In a map of pixels (im2col) it is so many channels of so many pixels,
 * each pixel a row.  The pixels begin at the coordinates and go on through the box of pixels of that image and of the next images. */
typedef struct machine_tile {
   const rkb_plan_map_t *map;
   machine_region_t *region;
   int32_t at[RKB_MAP_MOST_RANK];
   int32_t
      offsets[RKB_MAP_MOST_RANK];     /* of pixels: what is added to each pixel's coordinates, by dimension */
   uint32_t count[RKB_MAP_MOST_RANK]; /* elements of the box that are moved, by dimension */
   uint32_t element;                  /* bytes */
   uint32_t slice;                    /* bytes of one of an interleaved layout; 0: it is not interleaved */
   uint32_t shared, bytes;            /* where it lies, and how many bytes a copy moves */
   uint32_t row, pitch,
      span; /* bytes of a row, from one row to the next, of all rows; gaps lie between rows that are narrower than their swizzle */
   bool stored; /* to the tensor: 16 bytes that begin in a row are stored whole */
} machine_tile_t;

/* A piece of a tile: a part of a row; row.region NULL: outside of the tensor. */
typedef void machine_tile_visit_t(void *argument, const machine_row_t *row);

/* Writes a map into a launch's parameters; false after a finding. */
bool machine_pass_tensor_map(machine_launch_t *launch, const rkb_plan_argument_t *argument);
/* Returns the map whose bytes lie at an address.  If the kernel changed the map, it fills `room` and returns that.  NULL after a finding. */
const rkb_plan_map_t *machine_tensor_map_at(machine_warp_t *warp, uint32_t lane, uint64_t address,
                                            rkb_plan_map_t *room);
/* The dimensions of pixels (im2col) follow each other from this one on. */
static inline uint32_t machine_map_first_of_pixels(const rkb_plan_map_t *map) {
   return map->interleave ? 0 : 1;
}
/* Fills in the rest of a tile of which map, at and shared are known. */
void machine_tile_measure(machine_run_t *run, machine_tile_t *tile);
/* Calls visit for whole rows as they lie in the tensor, but only for rows inside it. */
void machine_tile_rows(const machine_tile_t *tile, machine_tile_visit_t *visit, void *argument);
/* Pieces as they lie in shared memory: swizzled, at most 16 bytes each where they are, or whole patterns of a swizzle outside of the tensor. */
void machine_tile_pieces(const machine_tile_t *tile, machine_tile_visit_t *visit, void *argument);
/* Whether no element is outside of the tensor and no byte of the span lies between rows. */
bool machine_tile_is_whole(const machine_tile_t *tile);
/* Reads such a tile's bytes from its region to where they lie in a block's shared memory. */
void machine_tile_read(const machine_tile_t *tile, uint8_t *shared);
/* The same for a region that is not packed and of which some bytes hold no value; it also says which bytes hold values.  values: the values are
 * read too.  Returns the number of pieces, as machine_tile_pieces would visit them. */
uint32_t machine_tile_read_partial(const machine_tile_t *tile, bool values, uint8_t *shared,
                                   uint8_t *defined);
/* The same for a region of which some elements are asked for; the other elements are left undefined.  Without memory it stops the run. */
void machine_tile_read_asked(machine_run_t *run, const machine_tile_t *tile, uint8_t *shared,
                             uint8_t *defined);
/* Whether some element of such a region is asked for that lies in these bytes. */
bool machine_asks(machine_region_t *region, uint64_t offset, uint64_t bytes);
/* The value of an element outside of the tensor, repeated to four bytes. */
uint32_t machine_tile_fill(const machine_tile_t *tile);
/* A tile that is stored: the bytes of its last row that lie past the buffer. */
uint32_t machine_tile_overrun(const machine_tile_t *tile);
/* Whether the elements of the tensor's type change when they are loaded, and how: TF32 has fewer bits than the word it lies in. */
bool machine_tile_converts(const machine_tile_t *tile);
uint32_t machine_tile_convert(uint32_t word);

#endif
