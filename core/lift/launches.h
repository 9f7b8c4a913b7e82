/* The launches of a kernel and the lines of its manifest, and how a rewrite of the code changes them.  Pure;
 * any thread. */
#ifndef RKB_LIFT_LAUNCHES_H
#define RKB_LIFT_LAUNCHES_H

#include "kernel/manifest.h"
#include "lift/text_change.h"

enum { LIFT_MAX_LAUNCHES = 64, LIFT_MAX_LIST = 32, LIFT_MAX_EXPRESSION = 512 };

/* Splits a list at its commas outside parentheses, braces and angle brackets, and trims each entry.  Returns the
 * number of entries, or 0 when there are too many. */
typedef struct lift_list {
   uint32_t count;
   char entries[LIFT_MAX_LIST][LIFT_MAX_EXPRESSION];
} lift_list_t;
bool lift_list_split(const char *text, lift_list_t *list);

/* A launch as it will be written.  The writer owns the texts. */
typedef struct lift_launch {
   char kernel[LIFT_MAX_EXPRESSION], when[LIFT_MAX_EXPRESSION], grid[LIFT_MAX_EXPRESSION], block[LIFT_MAX_EXPRESSION];
   char shared[LIFT_MAX_EXPRESSION], args[2 * LIFT_MAX_EXPRESSION];
   bool is_else, cooperative;
} lift_launch_t;

typedef struct lift_launches {
   uint32_t count;
   lift_launch_t list[LIFT_MAX_LAUNCHES];
} lift_launches_t;

/* False, with the change's refusal, when a launch has a feature that is not supported here (clusters, constants, very long
 * expressions). */
bool lift_launches_read(const manifest_t *manifest, lift_launches_t *launches, lift_change_t *change);
/* Whether the launch runs the kernel; arguments receives its template arguments. */
bool lift_launch_runs(const lift_launch_t *launch, const lift_tree_t *tree, uint32_t kernel, lift_list_t *arguments);
/* The template parameter's argument in a launch, or NULL. */
const char *lift_template_argument(const lift_tree_t *tree, uint32_t kernel, const lift_list_t *arguments, uint32_t parameter);
/* Writes an expression of the code in the manifest's language; the launch's arguments replace template parameters.  False when the
 * expression has another name, or anything except + - * / %, numbers and parentheses. */
bool lift_in_manifest(const lift_tree_t *tree, uint32_t expression, uint32_t kernel, const lift_list_t *arguments, rkb_text_t *out);
/* Whether no two pointers of any launch of this kernel name the same buffer. */
bool lift_no_alias(const lift_tree_t *tree, const lift_launches_t *launches, uint32_t kernel);
/* Whether two expressions have the same text, apart from blanks and outer parentheses. */
bool lift_same_text(const char *one, const char *other);

/* Adds the edits of the manifest.  False, with a refusal, when the manifest does not have one key per line. */
bool lift_write_launches(lift_change_t *change, const lift_tree_t *tree, const manifest_t *manifest, const lift_launches_t *launches);
bool lift_add_entry(lift_change_t *change, const lift_tree_t *tree, const manifest_t *manifest, const char *section, const char *entry);
/* Removes an entry that has a line of its own, and the section with its last entry.  Leaves one that is written in another way. */
void lift_remove_entry(lift_change_t *change, const lift_tree_t *tree, const manifest_t *manifest,
                       const char *section, const char *name);
/* Makes a name that does not occur in the text: `wanted`, or `wanted` with a number appended. */
void lift_fresh_name(const lift_tree_t *tree, const char *wanted, char *out, size_t size);

#endif
