/* rkb export --schedule: writes a kernel again from its schedule. */
#ifndef RKB_CLI_EXPORT_SCHEDULE_H
#define RKB_CLI_EXPORT_SCHEDULE_H

#include "cli/shared/candidate_file.h"

/* Writes the kernel that the schedule in the file's manifest gives to --out or standard output, and says on standard error where the file
 * differs from it.  RKB_EXIT_NOTHING: there is no such schedule, or it is not legal; the message says where. */
int export_schedule(const rkb_arguments_t *arguments, const rkb_candidate_file_t *file);

#endif
