/* Tensor maps in global memory that kernels write (PTX ISA 9.0, 8.8, 9.7.9.26 and 9.7.13.6; CUDA Programming Guide, 'Usage of a modified tensor
 * map').  Copies read them through a proxy of their own: the writer must release the map (tensormap.cp_fenceproxy, or
 * fence.proxy.tensormap::generic.release).  Afterwards a thread of each block that uses the map must acquire it at its address, before the
 * copies that use it.
 *
 * Kept for one launch, in runs that look for races; owned by the run; on the machine's thread. */
#ifndef RKB_MACHINE_ASYNC_MAP_FENCES_H
#define RKB_MACHINE_ASYNC_MAP_FENCES_H

#include "machine/decode/operation_codes.h"
#include "machine/state/execution.h"

typedef struct machine_map_fences machine_map_fences_t;

void machine_map_fences_free(machine_run_t *run);
/* Releases the lanes' writes so far to the proxy of tensor maps.  together: all lanes of the warp wrote what the first lane wrote
 * (tensormap.cp_fenceproxy), so that this is ordered before what any of them does next. */
void machine_map_release(machine_warp_t *warp, uint32_t lanes, bool together, enum machine_map_scope scope);
/* The lane acquires the map at an address; makes a finding where there is no map.  An acquire that is not ordered after the map's release, or whose scope
 * or the release's leaves one of the two threads out, is none. */
void machine_map_acquire(machine_warp_t *warp, uint32_t lane, uint64_t address, enum machine_map_scope scope);
/* Whether a copy of the lane sees the map that these bytes of a region hold now; false after a finding. */
bool machine_map_seen(machine_warp_t *warp, uint32_t lane, machine_region_t *region, uint64_t offset);

#endif
