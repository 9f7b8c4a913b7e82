/* griddepcontrol.wait; in_flight/grid_dependency.c knows what it orders. */
#include "machine/lanes/handlers.h"
#include "machine/in_flight/grid_dependency.h"

OP(grid_wait) {
   (void)i;
   machine_grid_wait(warp, mask);
}
