/* Decides from a candidate's text, before any compiler reads it, whether its headers are allowed. */
#ifndef RKB_KERNEL_INCLUDES_H
#define RKB_KERNEL_INCLUDES_H

#include <rkb/ext/kernel.h>

/* Sets a build.error finding at the first place in the text that could make the compiler open another file. */
void includes_check(const char *source, size_t bytes, const rkb_token_t *tokens, uint32_t count,
                    rkb_finding_t *finding);
/* Whether an allowed text uses neither the toolkit's headers nor names of the CUDA runtime (cuda..., CU..., tex..., surf...).  The
 * compiler may then leave those headers out. */
bool includes_are_plain(const char *source, const rkb_token_t *tokens, uint32_t count);

#endif
