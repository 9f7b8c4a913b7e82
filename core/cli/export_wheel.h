/* rkb export --wheel: kernels of one task as a Python package.  The main thread alone. */
#ifndef RKB_CLI_EXPORT_WHEEL_H
#define RKB_CLI_EXPORT_WHEEL_H

#include "cli/shared/arguments.h"

enum { EXPORT_MOST_KERNELS = 16 };

int export_wheel(const rkb_arguments_t *arguments); /* returns an exit code */

#endif
