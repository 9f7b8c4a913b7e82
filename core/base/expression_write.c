/* Writes an expression as C++ source, for exported kernels.  Owns nothing; any thread. */
#include "base/expression_node.h"

#include <inttypes.h>

static const char *infix(operation_t operation) {
   switch (operation) {
   case OPERATION_ADD:
      return " + ";
   case OPERATION_SUBTRACT:
      return " - ";
   case OPERATION_MULTIPLY:
      return " * ";
   case OPERATION_DIVIDE:
      return " / ";
   case OPERATION_REMAINDER:
      return " % ";
   case OPERATION_LESS:
      return " < ";
   case OPERATION_LESS_EQUAL:
      return " <= ";
   case OPERATION_GREATER:
      return " > ";
   case OPERATION_GREATER_EQUAL:
      return " >= ";
   case OPERATION_EQUAL:
      return " == ";
   case OPERATION_NOT_EQUAL:
      return " != ";
   case OPERATION_AND:
      return " && ";
   case OPERATION_OR:
      return " || ";
   case OPERATION_CEILDIV:
   case OPERATION_MIN:
   case OPERATION_MAX:
      return ", ";
   default:
      return NULL;
   }
}

static void write_literal(const rkb_value_t *value, rkb_text_t *out) {
   if (value->is_real)
      rkb_text_format(out, "double(%.17g)", value->real);
   else
      rkb_text_format(out, "INT64_C(%" PRId64 ")", value->integer);
}

static void write_node(const node_t *node, rkb_text_t *out) {
   static const char *const functions[] = {
      [OPERATION_CEILDIV] = "rkb_ceildiv", [OPERATION_MIN] = "rkb_min", [OPERATION_MAX] = "rkb_max"};
   switch (node->operation) {
   case OPERATION_LITERAL:
      write_literal(&node->literal, out);
      return;
   case OPERATION_NAME:
      rkb_text_add(out, node->name);
      return;
   case OPERATION_SQRT:
      rkb_text_add(out, "sqrt(double(");
      write_node(node->operands[0], out);
      rkb_text_add(out, ")");
      break;
   case OPERATION_NEGATE:
   case OPERATION_NOT:
      rkb_text_add(out, node->operation == OPERATION_NOT ? "(!" : "(-");
      write_node(node->operands[0], out);
      break;
   case OPERATION_IF:
      rkb_text_add(out, "(");
      write_node(node->operands[0], out);
      rkb_text_add(out, " ? ");
      write_node(node->operands[1], out);
      rkb_text_add(out, " : ");
      write_node(node->operands[2], out);
      break;
   default:
      if (node->operation >= OPERATION_CEILDIV)
         rkb_text_add(out, functions[node->operation]);
      rkb_text_add(out, "(");
      write_node(node->operands[0], out);
      rkb_text_add(out, infix(node->operation));
      write_node(node->operands[1], out);
   }
   rkb_text_add(out, ")");
}

void rkb_expression_write(const rkb_expression_t *expression, rkb_text_t *out) {
   write_node(expression->root, out);
}
