/* Which stage a thread executes (current_stage.h).  A signal handler gets no argument of ours, so the answer is a variable of the
 * thread. */
#include "stage/current_stage.h"

static _Thread_local rkb_current_stage_t current;

rkb_current_stage_t rkb_current_stage_set(rkb_current_stage_t now) {
   const rkb_current_stage_t before = current;
   current = now;
   return before;
}

rkb_current_stage_t rkb_current_stage(void) {
   return current;
}
