/* Runs the checks in child processes.  The calling thread waits for them. */
#ifndef RKB_TOOLS_FAULTS_VERIFY_VERIFY_PROCESSES_H
#define RKB_TOOLS_FAULTS_VERIFY_VERIFY_PROCESSES_H

#include "tools/faults/verify/verify_subjects.h"

/* Checks the subjects that are not done yet, in settings.jobs processes.  The results are in the results' file and in the subjects.  A subject that ends
 * its process gets the standing VERIFY_CRASH.  RKB_ERR_UNAVAILABLE: a process gave up, and another call goes on. */
int verify_processes_check(bench_t *b, rkb_error_t *err);

#endif
