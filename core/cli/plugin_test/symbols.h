/* What a shared object exports, read from its bytes: nothing of it runs. */
#ifndef RKB_CLI_PLUGIN_TEST_SYMBOLS_H
#define RKB_CLI_PLUGIN_TEST_SYMBOLS_H

#include "cli/plugin_test/report.h"

/* Reports the clauses about the object's file: an ELF shared object of this machine that exports rkb_plugin_entry and
 * nothing else, and that stays mapped. */
void symbols_check(const char *path, report_t *report);

#endif
