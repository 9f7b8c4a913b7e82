/* The kernel that the schedule in a candidate's manifest gives, beside the candidate's own text. */
#ifndef RKB_CLI_SHARED_SCHEDULE_TEXT_H
#define RKB_CLI_SHARED_SCHEDULE_TEXT_H

#include "cli/shared/candidate_file.h"

/* Writes the kernel of the file's schedule; the caller frees *text.  *line: the first line, from 1, in which the file differs from it; 0: nowhere.
 * RKB_ERR_INVALID: the file has no schedule, or one that is not legal; err says which and where. */
int rkb_schedule_text(const rkb_candidate_file_t *file, char **text, unsigned *line, rkb_error_t *err);
/* Prints one line on standard error where the file has a `schedule:` block and is not the kernel that this schedule gives. */
void rkb_say_if_edited(const rkb_candidate_file_t *file);

#endif
