/* The symbols that a shared object exports, read from its bytes: none of its code runs. */
#ifndef RKB_TOOLS_PLUGIN_TEST_SYMBOLS_H
#define RKB_TOOLS_PLUGIN_TEST_SYMBOLS_H

#include "tools/plugin_test/trial_lines.h"

/* Reports the clauses about the object's file: an ELF shared object of this machine that exports rkb_plugin_entry and
 * nothing else, and that stays mapped. */
void symbols_check(const char *path, report_t *report);

#endif
