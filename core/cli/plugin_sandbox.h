/* Commands that only look (rkb validate, rkb-run --dry-run) in a process of their own: a pipeline's plugins are code, and loading one runs
 * it.  There it sees no value of the environment that it has no business with, writes no file, starts nothing and reaches no network. */
#ifndef RKB_CLI_PLUGIN_SANDBOX_H
#define RKB_CLI_PLUGIN_SANDBOX_H

#include <stdbool.h>

/* In the first process: starts this program again with the same arguments, waits, sets the exit code and returns true.  In the
 * second process: gives up the rights named above and returns false, so that the command goes on.  If that fails: true with
 * RKB_EXIT_BROKEN, after a message. */
bool rkb_look_confined(int *code);

#endif
