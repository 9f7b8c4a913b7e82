/* The command line that repeats a verdict, on one line, quoted for a shell. */
#ifndef RKB_CLI_SHARED_REPLAY_LINE_H
#define RKB_CLI_SHARED_REPLAY_LINE_H

#include <stdint.h>
#include "base/secret.h"
#include "cli/shared/arguments.h"

/* For a file: "rkb replay --task tasks/softmax mine.cu", with the options that influence a check and the
 * secret that it used.  malloc'd; NULL when memory is out. */
char *rkb_replay_line_of_file(const rkb_arguments_t *arguments, const char *path, const rkb_secret_t *secret);
/* For a run's candidate: "rkb replay runs/first 10". */
char *rkb_replay_line_of_run(const rkb_arguments_t *arguments, const char *directory, int64_t number);

#endif
