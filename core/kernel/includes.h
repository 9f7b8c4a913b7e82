/* Which headers a candidate may include, decided on its text before any compiler sees it. */
#ifndef RKB_KERNEL_INCLUDES_H
#define RKB_KERNEL_INCLUDES_H

#include <rkb/ext/kernel.h>

/* Sets a build.error finding for the first thing in the text that could make the compiler open another file.
 */
void includes_check(const char *source, size_t bytes, const rkb_token_t *tokens, uint32_t count,
                    rkb_finding_t *finding);
/* Whether an allowed text needs neither the toolkit's headers nor anything of the CUDA runtime (names that begin with
 * cuda, CU, tex or surf), which the compiler then may leave out. */
bool includes_are_plain(const char *source, const rkb_token_t *tokens, uint32_t count);

#endif
