/* The edits: each looks for the places it applies to, draws one, and describes the change as patches and in
 * words.  They keep a kernel's meaning where the compiler's hints are concerned; whether a change is right is
 * for the verifiers to say.  Pure; any thread. */
#ifndef EDIT_EDITS_H
#define EDIT_EDITS_H

#include <rkb/ext/random.h>
#include "shared/assignment.h"
#include "shared/patches.h"
#include "source/source_functions.h"

typedef struct edit_subject {
   const source_t *source;
   const functions_t *functions;
   const rkb_manifest_t *manifest;
   const rkb_random_api_t *random;
   rkb_random_t *stream;
} edit_subject_t;

typedef struct edit_result {
   patches_t patches;
   char note[200];
   const char *tune_name; /* a tune parameter that takes a new value with the edit, or NULL */
   int64_t tune_value;
} edit_result_t;

typedef struct edit_kind {
   const char *name;
   const char *what;
   bool (*make)(const edit_subject_t *subject, edit_result_t *result); /* false: no place for it */
} edit_kind_t;

extern const edit_kind_t EDIT_KINDS[];
extern const uint32_t EDIT_KIND_COUNT;

bool edit_unroll(const edit_subject_t *subject, edit_result_t *result);        /* edits_loop.c */
bool edit_grid_stride(const edit_subject_t *subject, edit_result_t *result);   /* edits_loop.c */
bool edit_launch_bounds(const edit_subject_t *subject, edit_result_t *result); /* edits_kernel.c */
bool edit_restrict(const edit_subject_t *subject, edit_result_t *result);      /* edits_kernel.c */
bool edit_ldg(const edit_subject_t *subject, edit_result_t *result);           /* edits_kernel.c */
bool edit_block_shape(const edit_subject_t *subject, edit_result_t *result);   /* edits_manifest.c */
bool edit_barrier(const edit_subject_t *subject, edit_result_t *result);       /* edits_risk.c */
bool edit_intrinsic(const edit_subject_t *subject, edit_result_t *result);     /* edits_risk.c */

/* Shared by the edits. */
uint32_t edit_draw(const edit_subject_t *subject, uint32_t limit); /* 0 to limit - 1 */
bool edit_launches(const edit_subject_t *subject, const rkb_launch_text_t *launch, const function_t *kernel);
/* Whether every name of an expression is a tune parameter: then it also reads as C in the candidate's text.
 */
bool edit_is_tune_expression(const rkb_manifest_t *manifest, const char *text);
bool edit_has_word(const char *text, const char *word);

#endif
