/* Which stage a thread executes (at_work.h).  A signal handler gets no argument of ours, so the answer is a variable of the
 * thread. */
#include "stage/at_work.h"

static _Thread_local rkb_at_work_t current;

rkb_at_work_t rkb_at_work_set(rkb_at_work_t now) {
   const rkb_at_work_t before = current;
   current = now;
   return before;
}

rkb_at_work_t rkb_at_work(void) {
   return current;
}
