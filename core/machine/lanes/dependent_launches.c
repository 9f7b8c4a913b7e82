/* griddepcontrol.wait; async/grid_dependency.c knows what it orders. */
#include "machine/lanes/handlers.h"
#include "machine/async/grid_dependency.h"

OP(grid_wait) {
   (void)i;
   machine_grid_wait(warp, mask);
}
