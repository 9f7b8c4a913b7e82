/* Which tensor map a copy is given (tensor_maps.h): a parameter, or bytes of global memory.  On the machine's thread. */
#include "machine/async/map_fences.h"
#include "machine/maps/map_images.h"
#include "machine/maps/tensor_maps.h"

const rkb_plan_map_t *machine_tensor_map_at(machine_warp_t *warp, uint32_t lane, uint64_t address,
                                            rkb_plan_map_t *room) {
   const machine_launch_t *launch = warp->block->launch;
   const uint64_t offset = address & ((1ull << WINDOW_SHIFT) - 1), window = address >> WINDOW_SHIFT;
   machine_region_t *region = window == 0 ? machine_region_at(warp->run, address) : NULL;
   if (window == WINDOW_PARAM && offset % RKB_MAP_ALIGNMENT == 0 &&
       offset + RKB_MAP_BYTES <= warp->program->parameter_bytes &&
       machine_is_map_image(warp->run, launch->parameters + offset))
      return machine_map_of_image(warp, lane, launch->parameters + offset, room);
   if (region && !region->places && address % RKB_MAP_ALIGNMENT == 0 &&
       address - region->base <= region->bytes && region->bytes - (address - region->base) >= RKB_MAP_BYTES &&
       machine_is_map_image(warp->run, region->data + (address - region->base)))
      return machine_map_seen(warp, lane, region, address - region->base)
                ? machine_map_of_image(warp, lane, region->data + (address - region->base), room)
                : NULL;
   machine_find(
      warp, RKB_MACHINE_REJECT, "plan.argument", lane,
      "the address of a tensor map is not that of a __grid_constant__ parameter that the plan passes a map in, nor of a "
      "copy of one in global memory");
   return NULL;
}
