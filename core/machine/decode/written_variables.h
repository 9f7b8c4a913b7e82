/* Which variables of a module its kernels may write. */
#ifndef RKB_MACHINE_DECODE_WRITTEN_VARIABLES_H
#define RKB_MACHINE_DECODE_WRITTEN_VARIABLES_H

#include "machine/ptx/module.h"

/* True too where the variable's address goes to a place from which it is not followed.  A number past the module's variables is none. */
bool machine_may_write(const ptx_module_t *module, uint32_t variable);

#endif
