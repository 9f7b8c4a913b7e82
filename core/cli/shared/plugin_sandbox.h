/* Runs commands that only check a pipeline (rkb validate, rkb-run --dry-run) in a process of their own,
 * because a pipeline's plugins are code, and loading one runs it.  That process sees only the values of the
 * environment that it needs, writes no file, starts no program and reaches no network. */
#ifndef RKB_CLI_SHARED_PLUGIN_SANDBOX_H
#define RKB_CLI_SHARED_PLUGIN_SANDBOX_H

#include <stdbool.h>

/* In the first process: starts this program again with the same arguments, waits, sets the exit code and
 * returns true.  In the second process: gives up the rights named above and returns false, so that the
 * command continues.  On failure: prints a message, sets RKB_EXIT_BROKEN and returns true. */
bool rkb_look_confined(int *code);

#endif
