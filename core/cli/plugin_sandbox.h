/* Commands that only look (rkb validate, rkb-run --dry-run) in a process of their own: a pipeline's plugins are code, and loading one runs
 * it.  There it sees no value of the environment that it has no business with, writes no file, starts nothing and reaches no network. */
#ifndef RKB_CLI_PLUGIN_SANDBOX_H
#define RKB_CLI_PLUGIN_SANDBOX_H

#include <stdbool.h>

/* The first call starts this program again with the same arguments, waits for it and gives its exit code: true.  In that second process it
 * gives up what is said above and goes on: false.  true with RKB_EXIT_BROKEN and a sentence when that cannot be had. */
bool rkb_look_confined(int *code);

#endif
