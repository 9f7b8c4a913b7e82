/* Passes messages for the user to the log and to the runtime's owner.  Loop thread. */
#include "stage/runtime.h"

#include <stdarg.h>
#include <stdio.h>

void rkb_runtime_note(rkb_runtime_t *runtime, const char *entry, const char *fmt, ...) {
   char text[600];
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(text, sizeof text, fmt, ap);
   va_end(ap);
   rkb_log_write(runtime->log, RKB_LOG_WARN, entry, NULL, 0, text);
   if (runtime->note)
      runtime->note(runtime->note_argument, entry, text);
}
