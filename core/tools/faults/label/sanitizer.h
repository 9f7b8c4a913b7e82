/* compute-sanitizer as a second oracle, for faults that change no value: races in shared memory, barriers
 * that some threads miss, accesses past a shared array, reads of memory that nothing wrote.  Stateless; any
 * thread. */
#ifndef RKB_TOOLS_FAULTS_LABEL_SANITIZER_H
#define RKB_TOOLS_FAULTS_LABEL_SANITIZER_H

#include "tools/faults/label/device_run.h"

enum { SANITIZER_MEMCHECK, SANITIZER_RACECHECK, SANITIZER_SYNCCHECK, SANITIZER_INITCHECK, SANITIZER_TOOLS };
extern const char *const sanitizer_tools[SANITIZER_TOOLS];

bool sanitizer_there(void); /* compute-sanitizer is on the PATH and rkb-play-plans beside this program */
/* Whether the tool reports an error in one of the smallest cases; what: the first error's words.
 * RKB_ERR_UNAVAILABLE: it did not run to its end. */
int sanitizer_try(const attempt_t *attempt, uint32_t tool, bool *error, char *what, size_t size,
                  rkb_error_t *err);

#endif
