/* The tree of an expression.  expression_parser.c builds it with expression_tokens.c.  expression_evaluate.c (with expression_arithmetic.c),
 * expression_many.c, expression_python.c and expression_write.c walk it.  expression.c owns it.  No other file includes this one. */
#ifndef RKB_BASE_EXPRESSION_NODE_H
#define RKB_BASE_EXPRESSION_NODE_H

#include "base/expression.h"

#define MOST_NODES 256u
#define MOST_PARTS 64u

typedef enum operation {
   OPERATION_LITERAL,
   OPERATION_NAME,
   OPERATION_NEGATE,
   OPERATION_NOT,
   OPERATION_SQRT,
   OPERATION_ADD,
   OPERATION_SUBTRACT,
   OPERATION_MULTIPLY,
   OPERATION_DIVIDE,
   OPERATION_REMAINDER,
   OPERATION_LESS,
   OPERATION_LESS_EQUAL,
   OPERATION_GREATER,
   OPERATION_GREATER_EQUAL,
   OPERATION_EQUAL,
   OPERATION_NOT_EQUAL,
   OPERATION_AND,
   OPERATION_OR,
   OPERATION_CEILDIV,
   OPERATION_MIN,
   OPERATION_MAX,
   OPERATION_IF
} operation_t;

typedef struct node {
   operation_t operation;
   uint32_t start, end; /* its bytes in the text, without surrounding parentheses */
   rkb_value_t literal; /* OPERATION_LITERAL */
   const char *name;    /* OPERATION_NAME */
   uint32_t count;
   struct node *operands[3]; /* min and max of more than two are nested: max(max(a, b), c) */
} node_t;

#define OPERATIONS 64u /* more than twice the number of operators: each may have two decisions */
#define OF_VALUE 32u   /* added for the second decision of an operator */

/* Names an operator by the place of its second operand: the second operands of two operators never begin at the same place. */
static inline uint32_t decision_place(const node_t *node, uint32_t kind) {
   return node->operands[1]->start * OPERATIONS + kind;
}

struct rkb_expression {
   const char *text; /* trimmed */
   rkb_place_t place;
   const node_t *root;
   const char *const *names; /* distinct, in order of first mention */
   uint32_t name_count;
};

/* The state of one parse.  Callers of the parser set only the first four members and names, and read only count. */
typedef struct parser {
   rkb_arena_t *arena;
   rkb_problems_t *problems;
   rkb_place_t place; /* of text[0] */
   const char *text;  /* NUL-terminated */
   uint32_t at;
   uint32_t last_end; /* where the last token ended */
   uint32_t depth;
   uint32_t nodes;
   const char **names; /* room for MOST_NODES */
   uint32_t name_count;
} parser_t;

/* Parses the whole text into a tree.  Returns NULL after adding one problem. */
const node_t *rkb_expression_parse_tree(parser_t *parser);

#endif
