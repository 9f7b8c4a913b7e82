/* The ways a run ends (ending.h). */
#include "run/ending.h"

#include <stdarg.h>
#include <stdio.h>
#include "run/run_state.h"

void rkb_run_stop_asking(rkb_run_t *run) {
   run->ending.asking_over = true;
}

void rkb_run_end(rkb_run_t *run, uint32_t kind, const char *fmt, ...) {
   va_list ap;
   if (run->ending.kind)
      return;
   run->ending.kind = kind;
   va_start(ap, fmt);
   vsnprintf(run->ending.text, sizeof run->ending.text, fmt, ap);
   va_end(ap);
}

static void stop_now(rkb_run_t *run) {
   rkb_run_stop_asking(run);
   rkb_runtime_cancel(&run->runtime);
   rkb_loop_stop(run->runtime.loop);
}

void rkb_run_cut(rkb_run_t *run, uint32_t kind, const char *text) {
   if (run->ending.status || run->runtime.stopping)
      return;
   /* A limit or the strategy may have recorded another ending before; the cut replaces it. */
   run->ending.kind = 0;
   rkb_run_end(run, kind, "%s", text);
   stop_now(run);
}

void rkb_run_break(rkb_run_t *run, int status, const char *fmt, ...) {
   va_list ap;
   if (run->ending.status)
      return;
   run->ending.status = status;
   run->ending.error.status = status;
   va_start(ap, fmt);
   vsnprintf(run->ending.error.message, sizeof run->ending.error.message, fmt, ap);
   va_end(ap);
   stop_now(run);
}
