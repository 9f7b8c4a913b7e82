/* Finds a manifest's values in the candidate's text, so that they can be edited in place.  Understands only
 * YAML's block style with one key per line.  A value in another style is not found, and an edit that needs it
 * does not apply.  Pure; any thread. */
#ifndef MUTATOR_MANIFEST_TEXT_H
#define MUTATOR_MANIFEST_TEXT_H

#include <rkb/ext/kernel.h>

typedef struct manifest_span {
   uint32_t start, length;
} manifest_span_t;

/* The value of a launch's key ("grid", "block"): the rest of its line.  False when it is not found or differs
 * from `value`, the manifest's text for it. */
bool manifest_launch_value(const char *text, const rkb_manifest_t *manifest, uint32_t launch, const char *key,
                           const char *value, manifest_span_t *span);

/* The place before the ] that closes the list of a tune parameter's choices. */
bool manifest_choices_end(const char *text, const rkb_manifest_t *manifest, uint32_t parameter, uint32_t *at);

/* Whether a launch's block is the tune parameter of this name alone, which then counts threads. */
bool manifest_counts_threads(const rkb_manifest_t *manifest, const char *name);

/* The i-th expression of a launch's text, split at commas outside parentheses and trimmed.  False past the
 * end. */
bool manifest_expression_at(const char *list, uint32_t index, manifest_span_t *span);

#endif
