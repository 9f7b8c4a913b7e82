/* Device functions of products by warpgroups: wgmma, mbarriers and copies by tensor maps (PTX ISA, "Asynchronous Warpgroup Level Matrix
 * Instructions", "mbarrier", "cp.async.bulk.tensor").  Constant tables. */
#ifndef RKB_GENERATOR_WARPGROUP_TEXT_H
#define RKB_GENERATOR_WARPGROUP_TEXT_H

#include <stdbool.h>
#include "base/text.h"

/* Appends the functions that a kernel file's code calls. */
void rkb_warpgroup_helpers(const char *code, rkb_text_t *out);
bool rkb_warpgroup_has_helper(const char *name);

#endif
