/* What this program and rkb-parser say to each other: one frame of kernel/byte_record.h each way.
 *
 *   program: u32 question, bytes declarations (C++ that stands before the text), bytes text
 *   parser:  u32 outcome
 *            LIFT_PARSED:  u32 count + texts types, u32 count + nodes of seven u32 each:
 *                          kind, first byte, byte behind the last, name, node around it + 1, declaration, type
 *            LIFT_REFUSED: text why, with the line in the kernel
 *            LIFT_WARNED:  u32 count + (u32 line, text option as in "-Wunused-variable", text words)
 *
 * Nodes stand in the order of the text, each behind the node around it.  name: first byte of the declared name or of the member's name.
 * declaration: of a name, the first byte of the name where the text declares it + 1; 0: declared elsewhere.  type: index into types + 1,
 * of declarations; 0: none.  The text is hostile, and so is the answer: tree.c checks everything. */
#ifndef RKB_LIFT_PARSER_PROTOCOL_H
#define RKB_LIFT_PARSER_PROTOCOL_H

enum lift_question { LIFT_ASK_TREE, LIFT_ASK_WARNINGS };
enum lift_outcome { LIFT_PARSED, LIFT_REFUSED, LIFT_WARNED };

enum lift_kind {
   LIFT_OTHER, /* an expression, statement or declaration that no rewrite looks into */
   LIFT_FUNCTION, LIFT_KERNEL, LIFT_METHOD, LIFT_STRUCT, LIFT_FIELD, LIFT_PARAMETER, LIFT_TEMPLATE_PARAMETER,
   LIFT_VARIABLE, LIFT_SHARED, /* LIFT_SHARED: a variable in shared memory */
   LIFT_COMPOUND, LIFT_DECLARATIONS, LIFT_IF, LIFT_FOR, LIFT_WHILE, LIFT_DO, LIFT_SWITCH, LIFT_BREAK, LIFT_CONTINUE, LIFT_RETURN,
   LIFT_EMPTY, LIFT_ASSEMBLY,
   LIFT_BINARY, LIFT_COMPOUND_ASSIGNMENT, LIFT_UNARY, LIFT_CONDITIONAL, LIFT_SUBSCRIPT, LIFT_CALL, LIFT_MEMBER, LIFT_NAME,
   LIFT_INTEGER, LIFT_REAL, LIFT_BOOLEAN, LIFT_PARENTHESES, LIFT_CAST, LIFT_BRACES, LIFT_LAMBDA,
   LIFT_KINDS
};

enum {
   LIFT_MAX_TEXT = 256 << 10, /* the limit for candidates' texts */
   LIFT_MAX_DECLARATIONS = 64 << 10,
   LIFT_MAX_NODES = 200000,
   LIFT_MAX_TYPES = 20000,
   LIFT_MAX_TYPE = 1000,
   LIFT_MAX_ANSWER = 16 << 20,
   LIFT_MAX_WARNINGS = 100,
   LIFT_MAX_WORDS = 400, /* bytes of a warning's option or words */
   LIFT_NODE_WORDS = 7,
   LIFT_MAX_DEPTH = 1000
};

#endif
