/* What rkb-run says when a plugin crashes it.  Main thread. */
#ifndef RKB_CLI_CRASH_REPORT_H
#define RKB_CLI_CRASH_REPORT_H

/* From now on a fault names the stage and the candidate at work, and how to go on with the run in this directory; then the program ends by its
 * signal, as it would have.  A stack that is full is not named: its thread has no other. */
void rkb_crash_report_open(const char *directory);

#endif
