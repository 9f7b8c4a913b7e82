/* One line for each clause: kept, broken or not tried. */
#ifndef RKB_TOOLS_PLUGIN_TEST_TRIAL_LINES_H
#define RKB_TOOLS_PLUGIN_TEST_TRIAL_LINES_H

#include <rkb/plugin.h>

/* Counts of this process.  A trial's process adds its own to the total through its exit code. */
typedef struct report {
   int kept, broken, untried;
} report_t;

void report_kept(report_t *report, const char *fmt, ...) RKB_PRINTF(2, 3);
void report_broken(report_t *report, const char *fmt, ...) RKB_PRINTF(2, 3);
void report_untried(report_t *report, const char *fmt, ...) RKB_PRINTF(2, 3);

#endif
