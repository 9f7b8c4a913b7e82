/* The 128 bytes of a tensor map.  Only the driver knows their content; here they hold a record of the
 * machine's, which kernels copy and change with tensormap.replace (PTX ISA 9.0, 9.7.9.26).  Its functions only make findings and have no other
 * effect; on the machine's thread. */
#ifndef RKB_MACHINE_MAPS_MAP_IMAGES_H
#define RKB_MACHINE_MAPS_MAP_IMAGES_H

#include "machine/decode/operation_codes.h"
#include "machine/state/execution.h"

typedef struct machine_map_image {
   uint64_t magic; /* marks these bytes as a map */
   uint64_t address;
   uint64_t strides[RKB_MAP_MOST_RANK - 1]; /* bytes */
   uint32_t last[RKB_MAP_MOST_RANK];        /* elements - 1 */
   uint16_t box[RKB_MAP_MOST_RANK], steps[RKB_MAP_MOST_RANK];
   uint16_t channels, pixels;
   int16_t lower[RKB_MAP_MOST_RANK - 2], upper[RKB_MAP_MOST_RANK - 2];
   uint8_t rank, type, interleave, swizzle, fill, im2col; /* rank: dimensions - 1 */
   /* The number of the plan's map from which it was made. */
   uint16_t number;
} machine_map_image_t;

_Static_assert(sizeof(machine_map_image_t) <= RKB_MAP_BYTES, "a map's image must fit the driver's object");

uint32_t machine_map_element(uint32_t type); /* bytes */
void machine_map_image(const machine_run_t *run, uint32_t number, uint8_t out[RKB_MAP_BYTES]);
/* Whether bytes are an image of some map of the plan, changed or not. */
bool machine_is_map_image(const machine_run_t *run, const uint8_t bytes[RKB_MAP_BYTES]);
/* Changes a field; order: which dimension, for fields that have several.  False: the field has no such value. */
bool machine_map_replace(machine_map_image_t *image, enum machine_map_field field, uint64_t order,
                         uint64_t value);
/* Returns the map of an image: the plan's own map where nothing was changed; otherwise it fills `room` and returns that.  NULL after a finding: no
 * map can have these values. */
const rkb_plan_map_t *machine_map_of_image(machine_warp_t *warp, uint32_t lane,
                                           const uint8_t bytes[RKB_MAP_BYTES], rkb_plan_map_t *room);

#endif
