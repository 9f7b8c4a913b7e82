/* The change that a rewrite makes to a text: replacements, all of which are made together, and a note; or the
 * reason for a refusal.  One thread. */
#ifndef RKB_LIFT_TEXT_CHANGE_H
#define RKB_LIFT_TEXT_CHANGE_H

#include "lift/tree.h"

typedef struct lift_edit {
   uint32_t start, end; /* bytes replaced; equal: an insertion */
   char *text;          /* owned */
} lift_edit_t;

typedef struct lift_change {
   lift_edit_t *edits;
   uint32_t count, room;
   char note[200];    /* what was changed and where: "the loop in line 41 in 8 parts" */
   char refusal[300]; /* the first condition that did not hold */
   const char *first; /* the rewrite that has to be made before this one can, or NULL */
} lift_change_t;

void lift_change_free(lift_change_t *change); /* leaves it empty and usable */
void lift_replace(lift_change_t *change, uint32_t start, uint32_t end, const char *fmt, ...) RKB_PRINTF(4, 5);
static inline void lift_replace_node(lift_change_t *change, const lift_tree_t *tree, uint32_t node, const char *text) {
   lift_replace(change, tree->nodes[node].start, tree->nodes[node].end, "%s", text);
}
/* Records a refusal; the first one is kept.  Returns false. */
bool lift_refuse(lift_change_t *change, const char *fmt, ...) RKB_PRINTF(2, 3);

/* Ends an attempt at one of several places.  If the attempt was made, it replaces the change.  Otherwise the change gets
 * the attempt's refusal; if an attempt needs another rewrite first, the change gets that of the first such attempt.
 * Returns made. */
bool lift_attempted(lift_change_t *change, lift_change_t *attempt, bool made);

/* Writes the text from start to end with the change's edits that lie inside; change NULL: no edits.  If edits
 * overlap, it writes nothing and returns false. */
bool lift_write(rkb_text_t *out, const lift_tree_t *tree, const lift_change_t *change, uint32_t start, uint32_t end);
static inline void lift_write_node(rkb_text_t *out, const lift_tree_t *tree, uint32_t node) {
   rkb_text_append(out, tree->text + tree->nodes[node].start, tree->nodes[node].end - tree->nodes[node].start);
}
/* If only white space precedes the byte in its line: the first byte of this line.  Else the byte itself. */
uint32_t lift_line_start(const lift_tree_t *tree, uint32_t at);
/* The first byte of a statement's line, or of a #pragma in the line before it. */
uint32_t lift_pragma_start(const lift_tree_t *tree, uint32_t statement);
/* The byte after a statement, its semicolon included. */
uint32_t lift_statement_end(const lift_tree_t *tree, uint32_t statement);

/* Indents each line by its braces and removes empty lines.  Lines such as #pragma begin at the first column. */
void lift_indent_lines(rkb_text_t *text);

#endif
