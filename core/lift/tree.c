/* Queries about a syntax tree. */
#include "lift/tree.h"

#include <ctype.h>
#include <string.h>

uint32_t lift_child(const lift_tree_t *tree, uint32_t node, uint32_t index) {
   uint32_t child = tree->nodes[node].last > node + 1 ? node + 1 : LIFT_NONE;
   while (child != LIFT_NONE && index-- > 0)
      child = tree->nodes[child].next;
   return child;
}

uint32_t lift_children(const lift_tree_t *tree, uint32_t node) {
   uint32_t count = 0;
   for (uint32_t child = lift_child(tree, node, 0); child != LIFT_NONE; child = tree->nodes[child].next)
      count++;
   return count;
}

uint32_t lift_plain(const lift_tree_t *tree, uint32_t node) {
   while (node != LIFT_NONE && (lift_is(tree, node, LIFT_PARENTHESES) || lift_is(tree, node, LIFT_CAST)) &&
          lift_children(tree, node) == 1)
      node = lift_child(tree, node, 0);
   return node;
}

uint32_t lift_around(const lift_tree_t *tree, uint32_t node, enum lift_kind kind) {
   uint32_t up = tree->nodes[node].parent;
   while (up != LIFT_NONE && tree->nodes[up].kind != kind)
      up = tree->nodes[up].parent;
   return up;
}

uint32_t lift_function_of(const lift_tree_t *tree, uint32_t node) {
   uint32_t up = node;
   while (up != LIFT_NONE && !lift_is(tree, up, LIFT_FUNCTION) && !lift_is(tree, up, LIFT_KERNEL) && !lift_is(tree, up, LIFT_METHOD))
      up = tree->nodes[up].parent;
   return up;
}

uint32_t lift_body(const lift_tree_t *tree, uint32_t function) {
   uint32_t child = lift_child(tree, function, 0);
   while (child != LIFT_NONE && !lift_is(tree, child, LIFT_COMPOUND))
      child = tree->nodes[child].next;
   return child;
}

uint32_t lift_statement_in(const lift_tree_t *tree, uint32_t block, uint32_t node) {
   while (node != LIFT_NONE && tree->nodes[node].parent != block)
      node = tree->nodes[node].parent;
   return node;
}

bool lift_text_is(const lift_tree_t *tree, uint32_t node, const char *text) {
   const lift_node_t *n = &tree->nodes[node];
   return n->end - n->start == strlen(text) && memcmp(tree->text + n->start, text, n->end - n->start) == 0;
}

bool lift_same_source(const lift_tree_t *tree, uint32_t one, uint32_t other) {
   const uint32_t length = tree->nodes[one].end - tree->nodes[one].start;
   return length == tree->nodes[other].end - tree->nodes[other].start &&
          memcmp(tree->text + tree->nodes[one].start, tree->text + tree->nodes[other].start, length) == 0;
}

static bool is_word(char c) {
   return isalnum((unsigned char)c) || c == '_';
}

static uint32_t word_at(const lift_tree_t *tree, uint32_t at, uint32_t end) {
   uint32_t length = 0;
   while (at + length < end && is_word(tree->text[at + length]))
      length++;
   return length;
}

void lift_name(const lift_tree_t *tree, uint32_t node, char *out, size_t size) {
   const lift_node_t *n = &tree->nodes[node];
   snprintf(out, size, "%.*s", (int)word_at(tree, n->name, n->end), tree->text + n->name);
}

bool lift_named(const lift_tree_t *tree, uint32_t node, const char *name) {
   const lift_node_t *n = &tree->nodes[node];
   const uint32_t length = word_at(tree, n->name, n->end);
   return length == strlen(name) && memcmp(tree->text + n->name, name, length) == 0;
}

/* The first byte after white space and comments. */
static uint32_t skip_blank(const lift_tree_t *tree, uint32_t at, uint32_t end) {
   for (;;) {
      while (at < end && isspace((unsigned char)tree->text[at]))
         at++;
      if (at + 1 >= end || tree->text[at] != '/' || (tree->text[at + 1] != '*' && tree->text[at + 1] != '/'))
         return at;
      const char *close = strstr(tree->text + at + 2, tree->text[at + 1] == '*' ? "*/" : "\n");
      at = close ? (uint32_t)(close - tree->text) + (tree->text[at + 1] == '*' ? 2 : 1) : end;
   }
}

void lift_operator(const lift_tree_t *tree, uint32_t node, char out[4]) {
   const lift_node_t *n = &tree->nodes[node];
   const uint32_t first = lift_child(tree, node, 0);
   uint32_t from = n->start, to = n->start, length = 0;
   out[0] = '\0';
   if (first == LIFT_NONE)
      return;
   if (n->kind == LIFT_BINARY || n->kind == LIFT_COMPOUND_ASSIGNMENT ||
       (n->kind == LIFT_CALL && tree->nodes[first].start == n->start)) {
      const uint32_t second = tree->nodes[first].next;
      if (second == LIFT_NONE)
         return;
      from = tree->nodes[first].end;
      to = n->kind == LIFT_CALL
              ? n->end
              : tree->nodes[second].start; /* a call's second child is the operator itself */
   } else if (n->kind == LIFT_UNARY) {
      const bool before = tree->nodes[first].start > n->start;
      from = before ? n->start : tree->nodes[first].end;
      to = before ? tree->nodes[first].start : n->end;
   }
   from = from <= to ? skip_blank(tree, from, to) : to;
   while (from + length < to && length < 3 && strchr("+-*/%<>=!&|^~,", tree->text[from + length]))
      length++;
   memcpy(out, tree->text + from, length);
   out[length] = '\0';
}

bool lift_operator_is(const lift_tree_t *tree, uint32_t node, const char *text) {
   char own[4];
   lift_operator(tree, node, own);
   return strcmp(own, text) == 0;
}

bool lift_is_assignment(const lift_tree_t *tree, uint32_t node) {
   char own[4];
   switch (tree->nodes[node].kind) {
   case LIFT_COMPOUND_ASSIGNMENT:
      return true;
   case LIFT_CALL: /* of a struct's operator = */
   case LIFT_BINARY:
   case LIFT_UNARY:
      lift_operator(tree, node, own);
      return strcmp(own, "=") == 0 || strcmp(own, "++") == 0 || strcmp(own, "--") == 0 ||
             (strlen(own) > 1 && own[strlen(own) - 1] == '=' && !strchr("=!<>", own[0])) || strcmp(own, "<<=") == 0 ||
             strcmp(own, ">>=") == 0;
   default:
      return false;
   }
}

uint32_t lift_assigned(const lift_tree_t *tree, uint32_t node) {
   return lift_is_assignment(tree, node) ? lift_child(tree, node, 0) : LIFT_NONE;
}

uint32_t lift_initialiser(const lift_tree_t *tree, uint32_t node) {
   const lift_node_t *n = &tree->nodes[node];
   uint32_t last = LIFT_NONE;
   for (uint32_t child = lift_child(tree, node, 0); child != LIFT_NONE; child = tree->nodes[child].next)
      if (tree->nodes[child].start > n->name)
         last = child;
   if (last == LIFT_NONE)
      return LIFT_NONE;
   if (lift_is(tree, last, LIFT_BRACES))
      return last;
   uint32_t before = tree->nodes[last].start;
   while (before > n->name && isspace((unsigned char)tree->text[before - 1]))
      before--;
   return before > n->name && tree->text[before - 1] == '=' ? last : LIFT_NONE;
}

uint32_t lift_lengths(const lift_tree_t *tree, uint32_t variable, uint32_t *out, uint32_t most) {
   const lift_node_t *n = &tree->nodes[variable];
   const uint32_t initialiser = lift_initialiser(tree, variable);
   uint32_t count = 0;
   for (uint32_t child = lift_child(tree, variable, 0); child != LIFT_NONE; child = tree->nodes[child].next) {
      uint32_t before = tree->nodes[child].start;
      while (before > n->name && isspace((unsigned char)tree->text[before - 1]))
         before--;
      if (child == initialiser || before <= n->name || tree->text[before - 1] != '[' || count == most)
         continue;
      uint32_t at = count++; /* the parser gives the innermost first */
      for (; at > 0 && tree->nodes[out[at - 1]].start > tree->nodes[child].start; at--)
         out[at] = out[at - 1];
      out[at] = child;
   }
   return count;
}

uint32_t lift_base(const lift_tree_t *tree, uint32_t expression) {
   uint32_t at = lift_plain(tree, expression);
   while (at != LIFT_NONE) {
      const lift_node_t *n = &tree->nodes[at];
      if (n->kind == LIFT_NAME)
         return n->declaration;
      if (n->kind == LIFT_BINARY && !lift_operator_is(tree, at, "+"))
         return LIFT_NONE;
      if (n->kind == LIFT_UNARY && !lift_operator_is(tree, at, "*") && !lift_operator_is(tree, at, "&"))
         return LIFT_NONE;
      if (n->kind != LIFT_SUBSCRIPT && n->kind != LIFT_MEMBER && n->kind != LIFT_BINARY && n->kind != LIFT_UNARY)
         return LIFT_NONE;
      at = lift_plain(tree, lift_child(tree, at, 0));
   }
   return LIFT_NONE;
}

void lift_callee(const lift_tree_t *tree, uint32_t call, char *out, size_t size) {
   const uint32_t first = lift_child(tree, call, 0);
   out[0] = '\0';
   if (first != LIFT_NONE && (lift_is(tree, first, LIFT_NAME) || lift_is(tree, first, LIFT_MEMBER)))
      lift_name(tree, first, out, size);
   else
      snprintf(out, size, "%.*s", (int)word_at(tree, tree->nodes[call].start, tree->nodes[call].end), tree->text + tree->nodes[call].start);
}

bool lift_is_copy(const lift_tree_t *tree, uint32_t call) {
   const uint32_t first = lift_is(tree, call, LIFT_CALL) ? lift_child(tree, call, 0) : LIFT_NONE;
   return first != LIFT_NONE && tree->nodes[first].next == LIFT_NONE &&
          tree->nodes[first].start == tree->nodes[call].start &&
          tree->nodes[first].end == tree->nodes[call].end;
}

bool lift_uses(const lift_tree_t *tree, uint32_t subtree, uint32_t declaration) {
   for (uint32_t i = subtree; i < tree->nodes[subtree].last; i++)
      if (tree->nodes[i].kind == LIFT_NAME && tree->nodes[i].declaration == declaration)
         return true;
   return false;
}

bool lift_mentions(const lift_tree_t *tree, uint32_t subtree, const char *word) {
   for (uint32_t i = subtree; i < tree->nodes[subtree].last; i++)
      if (tree->nodes[i].kind == LIFT_NAME && lift_named(tree, i, word))
         return true;
   return false;
}

bool lift_calls(const lift_tree_t *tree, uint32_t subtree, const char *name) {
   char callee[128];
   for (uint32_t i = subtree; i < tree->nodes[subtree].last; i++) {
      if (tree->nodes[i].kind != LIFT_CALL)
         continue;
      lift_callee(tree, i, callee, sizeof callee);
      if (strcmp(callee, name) == 0)
         return true;
   }
   return false;
}

uint32_t lift_line(const lift_tree_t *tree, uint32_t node) {
   uint32_t line = 1;
   for (uint32_t i = 0; i < tree->nodes[node].start; i++)
      line += tree->text[i] == '\n';
   return line;
}
