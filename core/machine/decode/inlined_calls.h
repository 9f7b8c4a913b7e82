/* A kernel with the functions that it calls, as one function. */
#ifndef RKB_MACHINE_DECODE_INLINED_CALLS_H
#define RKB_MACHINE_DECODE_INLINED_CALLS_H

#include "machine/ptx/module.h"

/* The kernel's text with each call replaced by the text of the function: arguments and results go through registers.  NULL: it calls nothing, calls too much to write it
 * out, or memory ran out.  Names and variables are the module's.  Free it with machine_inlined_free. */
ptx_function_t *machine_inline_calls(const ptx_module_t *module, const ptx_function_t *kernel);
void machine_inlined_free(ptx_function_t *function);

#endif
