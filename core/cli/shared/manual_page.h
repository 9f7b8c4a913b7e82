/* Manual pages (man(7)), made from the tables that parse command lines and print help.  Standard output; main thread. */
#ifndef RKB_CLI_SHARED_MANUAL_PAGE_H
#define RKB_CLI_SHARED_MANUAL_PAGE_H

#include "cli/shared/arguments.h"

/* Writes the page of a command.  program: what the user types; the page of "rkb report" is rkb-report(1). */
void rkb_manual_page(const rkb_command_t *command, const char *program);
/* Writes the page of `rkb` itself: its commands, each with a reference to its page. */
void rkb_manual_overview(const rkb_command_t *const *commands, int count);

#endif
