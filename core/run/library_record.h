/* The library of a run: the entries that the run read, which its archive keeps, and the entries that it adds at its end.  Loop
 * thread. */
#ifndef RKB_RUN_LIBRARY_RECORD_H
#define RKB_RUN_LIBRARY_RECORD_H

#include <rkb/plugin.h>

struct rkb_run;

/* A new run reads the folder that the options name, keeps the entries nearest to its task, and stores them as a document that the fact
 * "library" names.  A resumed run reads that document and never the folder. */
int rkb_library_record_open(struct rkb_run *run, rkb_error_t *err);
/* Adds the best accepted candidates of a run that came to its end.  A failure is a note: the run's result does not depend on it. */
void rkb_library_record_add(struct rkb_run *run);

#endif
