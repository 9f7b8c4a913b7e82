/* The macros that a candidate's text defines. */
#ifndef RKB_KERNEL_DEFINED_NAMES_H
#define RKB_KERNEL_DEFINED_NAMES_H

#include "kernel/manifest.h"
#include "base/text.h"

/* Sets a build.error finding if a launch of the manifest names its kernel by a macro of the text, because an exported file has ended all macros where it
 * launches. */
void defined_names_check(const char *source, size_t bytes, const manifest_t *manifest,
                         rkb_finding_t *finding);
/* Writes an #undef line for each macro that the text defines. */
void defined_names_forget(const char *source, size_t bytes, rkb_text_t *out);

#endif
