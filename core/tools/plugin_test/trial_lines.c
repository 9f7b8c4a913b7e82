/* Prints the lines of rkb-plugin-test, and flushes each at once, so that they are there when the plugin
 * crashes. */
#include "tools/plugin_test/trial_lines.h"

static void print(const char *word, const char *fmt, va_list ap) {
   printf("%-7s ", word);
   vprintf(fmt, ap);
   printf("\n");
   fflush(stdout);
}

void report_kept(report_t *report, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   print("ok", fmt, ap);
   va_end(ap);
   report->kept++;
}

void report_broken(report_t *report, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   print("BROKEN", fmt, ap);
   va_end(ap);
   report->broken++;
}

void report_untried(report_t *report, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   print("untried", fmt, ap);
   va_end(ap);
   report->untried++;
}
