/* Writes an expression as Python, for exported packages.  Owns nothing; any thread. */
#include "base/expression_node.h"

#include <inttypes.h>

static const char *infix(operation_t operation) {
   static const char *const signs[] = {[OPERATION_ADD] = "+",           [OPERATION_SUBTRACT] = "-",   [OPERATION_MULTIPLY] = "*",
                                       [OPERATION_DIVIDE] = "//",       [OPERATION_REMAINDER] = "%",  [OPERATION_LESS] = "<",
                                       [OPERATION_LESS_EQUAL] = "<=",   [OPERATION_GREATER] = ">",    [OPERATION_GREATER_EQUAL] = ">=",
                                       [OPERATION_EQUAL] = "==",        [OPERATION_NOT_EQUAL] = "!=", [OPERATION_AND] = "and",
                                       [OPERATION_OR] = "or"};
   return signs[operation];
}

static void write_node(const node_t *node, rkb_text_t *out);

/* Writes begin, operand 0, middle, operand 1, end. */
static void write_pair(const node_t *node, const char *begin, const char *middle, const char *end, rkb_text_t *out) {
   rkb_text_add(out, begin);
   write_node(node->operands[0], out);
   rkb_text_add(out, middle);
   write_node(node->operands[1], out);
   rkb_text_add(out, end);
}

static void write_single(const node_t *node, const char *begin, rkb_text_t *out) {
   rkb_text_add(out, begin);
   write_node(node->operands[0], out);
   rkb_text_add(out, ")");
}

static void write_node(const node_t *node, rkb_text_t *out) {
   switch (node->operation) {
   case OPERATION_LITERAL:
      if (node->literal.is_real)
         rkb_text_format(out, "%.17g", node->literal.real);
      else
         rkb_text_format(out, "%" PRId64, node->literal.integer);
      return;
   case OPERATION_NAME:
      rkb_text_add(out, node->name);
      return;
   case OPERATION_SQRT:
      write_single(node, "math.sqrt(", out);
      return;
   case OPERATION_NEGATE:
      write_single(node, "(-", out);
      return;
   case OPERATION_NOT:
      write_single(node, "(not ", out);
      return;
   case OPERATION_CEILDIV:
      write_pair(node, "(-(-", " // ", "))", out);
      return;
   case OPERATION_MIN:
      write_pair(node, "min(", ", ", ")", out);
      return;
   case OPERATION_MAX:
      write_pair(node, "max(", ", ", ")", out);
      return;
   case OPERATION_IF:
      rkb_text_add(out, "(");
      write_node(node->operands[1], out);
      rkb_text_add(out, " if ");
      write_node(node->operands[0], out);
      rkb_text_add(out, " else ");
      write_node(node->operands[2], out);
      rkb_text_add(out, ")");
      return;
   default:
      rkb_text_add(out, "(");
      write_node(node->operands[0], out);
      rkb_text_format(out, " %s ", infix(node->operation));
      write_node(node->operands[1], out);
      rkb_text_add(out, ")");
   }
}

void rkb_expression_write_python(const rkb_expression_t *expression, rkb_text_t *out) {
   write_node(expression->root, out);
}
