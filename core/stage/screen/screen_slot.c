/* The slot of a screening worker (screen_slot.h): notes about its machine, and what happens when the worker is lost. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "stage/screen/screen_slot.h"
#include "system/loop.h"

void screen_note(screen_machine_t *machine, int level, const char *fmt, ...) {
   char why[400], text[600];
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(why, sizeof why, fmt, ap);
   va_end(ap);
   const char *word = machine->command.word_count ? machine->command.words[0] : "";
   snprintf(text, sizeof text, "workers[%u], '%.100s': %s", machine->index, word, why);
   rkb_screen_workers_t *workers = machine->workers;
   pthread_mutex_lock(&workers->mutex);
   const bool again = strcmp(machine->said, text) == 0;
   snprintf(machine->said, sizeof machine->said, "%s", text);
   pthread_mutex_unlock(&workers->mutex);
   if (!again && workers->options.note)
      workers->options.note(workers->options.argument, level, text);
}

void rkb_screen_drop(rkb_screen_slot_t *slot, const char *why) {
   if (slot->lost)
      return;
   rkb_pipe_process_kill(&slot->peer, NULL);
   slot->lost = true;
   slot->again_ns = why ? rkb_now_ns() + SCREEN_LOST_NS : 0;
   if (why)
      screen_note(slot->machine, RKB_LOG_WARN, "one of its workers is left out for 30 s: %s", why);
}
