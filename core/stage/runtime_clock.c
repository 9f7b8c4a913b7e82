/* The clock of a runtime: one timer at the nearest deadline, which calls a function of runtime.c.  Loop thread. */
#include "stage/runtime.h"

void rkb_runtime_watch(rkb_runtime_t *runtime, uint64_t due_ns) {
   if (runtime->clock && runtime->clock_due_ns <= due_ns)
      return;
   rkb_timer_stop(runtime->clock);
   uint64_t now = rkb_now_ns();
   runtime->clock_due_ns = due_ns;
   runtime->clock =
      rkb_timer_start(runtime->loop, due_ns > now ? due_ns - now : 0, runtime->clock_rings, runtime);
}
