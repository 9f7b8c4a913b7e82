/* Starts the parser process for one text and reads the tree that it answers.  Blocks for about 50 ms; any thread but the loop's. */
#ifndef RKB_LIFT_PARSE_H
#define RKB_LIFT_PARSE_H

#include "kernel/manifest.h"
#include "lift/tree.h"

extern const char lift_declarations[]; /* parser/declarations.cuh */

/* RKB_OK with *tree NULL: the text is refused, and refusal (size bytes) says why.  RKB_ERR_UNAVAILABLE: there is no parser here, and err
 * says what to install.  cancelled may be NULL.  text stays the caller's and must outlive the tree. */
int lift_parse(const char *text, const manifest_t *manifest, bool (*cancelled)(void *argument), void *argument, lift_tree_t **tree,
               char *refusal, size_t size, rkb_error_t *err);
/* The parser's path, malloc'd, or NULL where it was not built. */
char *lift_parser_path(void);

#endif
