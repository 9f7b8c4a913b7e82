/* The rewrites.  Each turns a kernel into another one that computes the same, if the syntax tree proves it.
 * Otherwise it names the condition that does not hold.  Blocks while a parser process reads the text; any
 * thread except the loop's. */
#ifndef RKB_LIFT_REWRITE_H
#define RKB_LIFT_REWRITE_H

#include <rkb/ext/random.h>
#include "kernel/manifest.h"
#include "lift/text_change.h"

enum { LIFT_MAX_KERNEL = 20000 }; /* nodes of a kernel that a rewrite looks at again and again */

typedef struct lift_subject {
   const lift_tree_t *tree;
   const manifest_t *manifest;
   rkb_random_t *stream; /* source of random choices of places and numbers */
} lift_subject_t;

/* Makes the change at the first place that allows it, starting at a random place.  False: no place allows it,
 * and change->refusal says why. */
typedef bool (*lift_apply_t)(const lift_subject_t *subject, lift_change_t *change);

typedef struct lift_rewrite {
   const char *name;
   const char *summary;
   lift_apply_t apply;
} lift_rewrite_t;

extern const lift_rewrite_t LIFT_REWRITES[];
extern const uint32_t LIFT_REWRITE_COUNT;

bool lift_select_load(const lift_subject_t *subject, lift_change_t *change);     /* select_load.c */
bool lift_uniform_exit(const lift_subject_t *subject, lift_change_t *change);    /* uniform_exit.c */
bool lift_stage_tile(const lift_subject_t *subject, lift_change_t *change);      /* stage_tile.c */
bool lift_register_tile(const lift_subject_t *subject, lift_change_t *change);   /* register_tile.c */
bool lift_split_reduction(const lift_subject_t *subject, lift_change_t *change); /* split_reduction.c */
bool lift_vector_copy(const lift_subject_t *subject, lift_change_t *change);     /* vector_copy.c */
bool lift_vector_access(const lift_subject_t *subject, lift_change_t *change);   /* vector_access.c */
bool lift_double_buffer(const lift_subject_t *subject, lift_change_t *change);   /* double_buffer.c */
bool lift_join_launches(const lift_subject_t *subject, lift_change_t *change);   /* join_launches.c */
bool lift_block_to_warp(const lift_subject_t *subject, lift_change_t *change);   /* block_to_warp.c */
bool lift_warp_to_block(const lift_subject_t *subject, lift_change_t *change);   /* warp_to_block.c */

/* The place to begin at, drawn at random among count places; 0 if count is 0. */
uint32_t lift_draw(const lift_subject_t *subject, uint32_t count);
/* Lists the kernels of the text; returns their number. */
uint32_t lift_kernels(const lift_tree_t *tree, uint32_t *out, uint32_t most);
/* The first byte of a function, with the words before its type. */
uint32_t lift_function_start(const lift_tree_t *tree, uint32_t function);
/* Applies a rewrite to one kernel of the text.  It tries the kernels in turn, beginning with one drawn at random.  Returns whether the
 * rewrite was made. */
bool lift_try_kernels(const lift_subject_t *subject, lift_change_t *change,
                      bool (*apply)(const lift_subject_t *subject, uint32_t kernel, lift_change_t *change));

/* RKB_OK with *changed NULL: refused, and note says why.  name: a rewrite, or "any": a rewrite that applies,
 * chosen at random.  If the rewrite needs another rewrite first, makes that too.  *changed is malloc'd.
 * RKB_ERR_UNAVAILABLE: this machine has no parser. */
int lift_rewrite(const char *source, const char *name, rkb_random_t *stream, bool (*cancelled)(void *argument), void *argument,
                 char **changed, char *note, size_t note_size, rkb_error_t *err);

#endif
