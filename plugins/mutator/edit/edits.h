/* The edits.  Each looks for places where it applies, draws one, and describes the change as patches and in
 * words.  Edits of the compiler's hints keep a kernel's meaning; verifiers decide whether the other changes
 * are right.  Pure; any thread. */
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
   bool (*make)(const edit_subject_t *subject, edit_result_t *result); /* false: it applies nowhere */
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

/* Functions that several edits use. */
uint32_t edit_draw(const edit_subject_t *subject, uint32_t limit); /* 0 to limit - 1 */
bool edit_launches(const edit_subject_t *subject, const rkb_launch_text_t *launch, const function_t *kernel);
/* Whether an expression uses only tune parameters as names; then it is also valid C in the candidate's text. */
bool edit_is_tune_expression(const rkb_manifest_t *manifest, const char *text);
bool edit_has_word(const char *text, const char *word);

#endif
