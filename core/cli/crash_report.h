/* The message of rkb-run when a plugin crashes it.  Main thread. */
#ifndef RKB_CLI_CRASH_REPORT_H
#define RKB_CLI_CRASH_REPORT_H

/* Installs the handler.  A fault then names the stage and the candidate at work, and how to resume the run in
 * this directory.  After that the program ends by its signal, as it would have without the handler.  A full
 * stack is not reported, because its thread has no other stack. */
void rkb_crash_report_open(const char *directory);

#endif
