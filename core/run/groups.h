/* What follows a request's screen: its promote group, and evaluation of what was promoted.  Loop thread. */
#ifndef RKB_RUN_GROUPS_H
#define RKB_RUN_GROUPS_H

#include <stdbool.h>

struct rkb_run;

/* Takes one request whose candidates are through their section a step further; true when there was one. */
bool rkb_groups_next(struct rkb_run *run);

#endif
