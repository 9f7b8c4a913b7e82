/* Manual pages (man(7)), made from the tables that parse command lines and print help.  Standard output; main thread. */
#ifndef RKB_CLI_MANUAL_PAGE_H
#define RKB_CLI_MANUAL_PAGE_H

#include "cli/arguments.h"

/* program: what the user types, "rkb report"; its page is rkb-report(1). */
void rkb_manual_page(const rkb_command_t *command, const char *program);
/* The page of `rkb` itself: its commands, each with its page. */
void rkb_manual_overview(const rkb_command_t *const *commands, int count);

#endif
