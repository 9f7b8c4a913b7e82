/* One text's syntax tree, from the parser's process.  Blocks for about 50 ms; any thread but the loop's. */
#ifndef RKB_LIFT_PARSE_H
#define RKB_LIFT_PARSE_H

#include "kernel/manifest.h"
#include "lift/tree.h"

/* RKB_OK with *tree NULL: the text is refused, and refusal (size bytes) says why.  RKB_ERR_UNAVAILABLE: this
 * machine has no parser, and err says what to install.  cancelled may be NULL.  The caller owns text, which
 * must outlive the tree. */
int lift_parse(const char *text, const manifest_t *manifest, bool (*cancelled)(void *argument), void *argument, lift_tree_t **tree,
               char *refusal, size_t size, rkb_error_t *err);
#endif
