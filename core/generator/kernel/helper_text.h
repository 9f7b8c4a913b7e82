/* Device functions that the code of kernels calls. */
#ifndef RKB_GENERATOR_HELPER_TEXT_H
#define RKB_GENERATOR_HELPER_TEXT_H

#include "base/text.h"

/* Appends the functions that the code calls, each after the functions that it calls itself. */
void rkb_helpers_add(const char *code, rkb_text_t *out);

#endif
