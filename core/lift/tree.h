/* The syntax tree of one kernel's text, and queries for rewrites.  Immutable after reading; any thread.  Nodes are numbered in the
 * order of the text, each after its parent; LIFT_NONE is no node.  Texts point into the kernel's text. */
#ifndef RKB_LIFT_TREE_H
#define RKB_LIFT_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"
#include "lift/parser_protocol.h"

#define LIFT_NONE UINT32_MAX

typedef struct lift_node {
   enum lift_kind kind;
   uint32_t start, end;         /* bytes of the text */
   uint32_t name;               /* first byte of a declared name or of a member's name */
   uint32_t parent, next, last; /* node around it, next sibling, and the node behind its last descendant */
   uint32_t declaration;        /* of a name: the node that declares it, or LIFT_NONE */
   const char *type;            /* of a declaration, as C++ spells it; else "" */
} lift_node_t;

typedef struct lift_tree {
   const char *text;
   uint32_t bytes, count;
   lift_node_t *nodes;
   char **types;
   uint32_t type_count;
} lift_tree_t;

/* Reads an answer of the parser; the bytes may be anything.  RKB_OK with *tree NULL: the parser refused, and refusal says why. */
int lift_tree_read(const void *bytes, size_t length, const char *text, lift_tree_t **tree, char *refusal, size_t size, rkb_error_t *err);
void lift_tree_free(lift_tree_t *tree); /* NULL is accepted */

static inline const lift_node_t *lift_at(const lift_tree_t *tree, uint32_t node) { return &tree->nodes[node]; }
static inline bool lift_is(const lift_tree_t *tree, uint32_t node, enum lift_kind kind) {
   return node != LIFT_NONE && tree->nodes[node].kind == kind;
}
static inline bool lift_inside(const lift_tree_t *tree, uint32_t node, uint32_t around) {
   return node >= around && node < tree->nodes[around].last;
}

uint32_t lift_child(const lift_tree_t *tree, uint32_t node, uint32_t index); /* LIFT_NONE past the last */
uint32_t lift_children(const lift_tree_t *tree, uint32_t node);              /* the number of children */
/* The node inside parentheses and casts. */
uint32_t lift_plain(const lift_tree_t *tree, uint32_t node);
uint32_t lift_around(const lift_tree_t *tree, uint32_t node, enum lift_kind kind); /* the nearest node of this kind around it */
uint32_t lift_function_of(const lift_tree_t *tree, uint32_t node);
uint32_t lift_body(const lift_tree_t *tree, uint32_t function); /* its compound statement */
/* The statement of a block that holds the node; LIFT_NONE when block does not. */
uint32_t lift_statement_in(const lift_tree_t *tree, uint32_t block, uint32_t node);

bool lift_text_is(const lift_tree_t *tree, uint32_t node, const char *text);
/* Whether two nodes have the same text. */
bool lift_same_source(const lift_tree_t *tree, uint32_t one, uint32_t other);
/* Copies the declared name, or the text of a name, cut to size. */
void lift_name(const lift_tree_t *tree, uint32_t node, char *out, size_t size);
bool lift_named(const lift_tree_t *tree, uint32_t node, const char *name);
/* The operator of a binary, assignment or unary expression: "+=", "<".  "" for any other node. */
void lift_operator(const lift_tree_t *tree, uint32_t node, char out[4]);
bool lift_operator_is(const lift_tree_t *tree, uint32_t node, const char *text);
bool lift_is_assignment(const lift_tree_t *tree, uint32_t node);   /* =, += and the rest, ++, -- */
uint32_t lift_assigned(const lift_tree_t *tree, uint32_t node);    /* the target of an assignment */
uint32_t lift_initialiser(const lift_tree_t *tree, uint32_t node); /* of a variable, or LIFT_NONE */
/* Lists the array lengths of a declared variable in order and returns their number.  The text of each is that
 * of its node. */
uint32_t lift_lengths(const lift_tree_t *tree, uint32_t variable, uint32_t *out, uint32_t most);
/* The variable or parameter at the bottom of an access: `sum` of sum[i][j], `p` of *(p + i); LIFT_NONE when it is something else. */
uint32_t lift_base(const lift_tree_t *tree, uint32_t expression);
/* Copies the name of the function that a call calls, cut to size. */
void lift_callee(const lift_tree_t *tree, uint32_t call, char *out, size_t size);
/* Whether a call is only the construction of a copy, which has the text of what is copied. */
bool lift_is_copy(const lift_tree_t *tree, uint32_t call);
/* Whether a name in the subtree is declared by the node. */
bool lift_uses(const lift_tree_t *tree, uint32_t subtree, uint32_t declaration);
/* Whether the word occurs in the subtree as a name ("threadIdx"). */
bool lift_mentions(const lift_tree_t *tree, uint32_t subtree, const char *word);
/* Whether the subtree contains a call of that name. */
bool lift_calls(const lift_tree_t *tree, uint32_t subtree, const char *name);
uint32_t lift_line(const lift_tree_t *tree, uint32_t node); /* line in the text, from 1 */

#endif
