/* The tensor copies of the conformance set: tile_forms.txt says a map, coordinates and what is done, a line each; the recorder runs them on
 * a device, the test on the machine, from the same memory and the same PTX.
 *
 *    load | store | add | min | max | ...  TYPE dims=... strides=... box=... [steps=...] [swizzle=32|64|128] [fill=nan] at=...
 *    im2col  TYPE dims=... strides=... lower=... upper=... channels=... pixels=... [steps=...] [swizzle=...] [fill=nan] at=... offsets=...
 *    store | add | ...  the same without offsets (im2col_no_offs)
 *
 * A load leaves an image of shared memory, the others one of the tensor's buffer.  One thread. */
#ifndef CONFORMANCE_TILE_VECTORS_H
#define CONFORMANCE_TILE_VECTORS_H

#include <rkb/ext/kernel.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TILE_TENSOR_BYTES (64u << 10)
#define TILE_ROOM_BYTES (32u << 10)
#define TILE_SAMPLE 64u /* bytes of an image that are recorded in full */
#define TILE_REFUSED "refused"
#define TILE_ENCODED "encoded" /* of a tensor that is larger than its buffer, and not copied */
#define TILE_ERROR "error"     /* and the driver's number: the device ends the launch */

typedef struct tile_form {
   char text[256];
   char mode[8];
   rkb_plan_map_t map;
   int32_t at[RKB_MAP_MOST_RANK];
   uint32_t element, bytes; /* of an element; of the box, whole */
   bool load;
   uint32_t offsets[RKB_MAP_MOST_RANK]; /* of pixels: what is added to their coordinates */
} tile_form_t;

/* False, with a message where the line is not empty and no comment. */
bool tile_parse(const char *line, tile_form_t *form, const char **message);
bool tile_larger(const tile_form_t *form); /* than the buffer */
/* What the tensor's buffer holds at first. */
void tile_fill_tensor(const tile_form_t *form, uint8_t *out);
/* .entry tile(.param .align 64 .b8 map[128], .param .u64 image); one block of 32 threads. */
bool tile_ptx(const tile_form_t *form, char *out, size_t size);
uint64_t tile_hash(const void *data, size_t bytes);

#endif
