/* The command line that shows a verdict again, for a shell: on one line, every word quoted that needs it. */
#ifndef RKB_CLI_REPLAY_LINE_H
#define RKB_CLI_REPLAY_LINE_H

#include <stdint.h>
#include "cli/arguments.h"

/* "rkb replay --task tasks/softmax mine.cu": of a file, with the options that decide what a check finds.  malloc'd; NULL when
 * memory is out. */
char *rkb_replay_line_of_file(const rkb_arguments_t *arguments, const char *path);
/* "rkb replay runs/first 10": of a run's candidate. */
char *rkb_replay_line_of_run(const rkb_arguments_t *arguments, const char *directory, int64_t number);

#endif
