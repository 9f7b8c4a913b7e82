/* The grammar of expressions: a recursive-descent parser with one function per level of precedence.  The tree lies in the
 * caller's arena.  One thread at a time.
 *
 * The parse ends at the first problem.  If the text is written as in C, Python or YAML, the message says what to write here
 * instead. */
#include <string.h>

#include "base/expression_tokens.h"
#include "base/nearest_name.h"
#include "base/units.h"

#define DEEPEST 64u
#define LONGEST_NAME 64u

static node_t *parse_or(parser_t *parser);

static node_t *node_new(parser_t *parser, operation_t operation, uint32_t start) {
   if (parser->nodes == MOST_NODES)
      return rkb_expression_refuse(
         parser, start, "an expression has at most %u parts; name some of them in a 'let'", MOST_NODES);
   node_t *node = rkb_arena_alloc(parser->arena, sizeof *node);
   parser->nodes++;
   node->operation = operation;
   node->start = start;
   node->end = parser->last_end;
   return node;
}

static node_t *node_binary(parser_t *parser, operation_t operation, uint32_t start, node_t *left,
                           node_t *right) {
   node_t *node = node_new(parser, operation, start);
   if (!node)
      return NULL;
   node->count = 2;
   node->operands[0] = left;
   node->operands[1] = right;
   return node;
}

static bool enter(parser_t *parser) {
   parser->depth++;
   if (parser->depth <= DEEPEST)
      return true;
   rkb_expression_refuse(parser, parser->at, "nested deeper than %u levels; name a part of it in a 'let'",
                         DEEPEST);
   return false;
}

static bool is_reserved(const char *word) {
   static const char *const words[] = {"and", "or", "not"};
   for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
      if (strcmp(words[i], word) == 0)
         return true;
   }
   return false;
}

/* Parses a number: digits, 0x and digits, or a real with a point or an exponent. */
static node_t *parse_number(parser_t *parser, bool negated) {
   char number[LONGEST_NAME + 2] = "-";
   uint32_t start = parser->at, length = 0;
   const char *text = parser->text + start;
   bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
   bool real = false;
   for (; continues_name(text[length]) || text[length] == '.'; length++) {
      bool exponent = !hexadecimal && (text[length] == 'e' || text[length] == 'E');
      real |= exponent || text[length] == '.';
      if (exponent && (text[length + 1] == '-' || text[length + 1] == '+'))
         length++;
   }
   if (length > LONGEST_NAME)
      return rkb_expression_refuse(parser, start, "a number has at most %u characters", LONGEST_NAME);
   memcpy(number + 1, text, length);
   parser->at += length;
   parser->last_end = parser->at;
   node_t *node = node_new(parser, OPERATION_LITERAL, negated ? start - 1 : start);
   if (!node)
      return NULL;
   const char *written = negated ? number : number + 1;
   node->literal.is_real = real;
   if (real ? rkb_parse_real(written, &node->literal.real) : rkb_parse_int(written, &node->literal.integer))
      return node;
   char last = text[length - 1];
   if (!hexadecimal && strchr("fFuUlL", last))
      return rkb_expression_refuse(parser, start, "'%s' has a suffix; write the number without '%c'",
                                   number + 1, last);
   if (!real && number[1] == '0' && !hexadecimal)
      return rkb_expression_refuse(
         parser, start, "'%s' begins with 0; write it without (or 0x... for hexadecimal)", number + 1);
   if (!real && strspn(number + 1, "0123456789") == length)
      return rkb_expression_refuse(parser, start, "%s does not fit 64 bits", number + 1);
   return rkb_expression_refuse(parser, start, "'%s' is not a number", number + 1);
}

/* Parses the operands of a call, between its parentheses. */
static bool parse_operands(parser_t *parser, const char *function, uint32_t start, uint32_t least,
                           uint32_t most, node_t *operands[], uint32_t *count) {
   *count = 0;
   if (!rkb_expression_take(parser, ")")) {
      do {
         if (*count == most) {
            rkb_expression_refuse(parser, parser->at, "%s takes %u operands", function, most);
            return false;
         }
         operands[*count] = parse_or(parser);
         if (!operands[*count])
            return false;
         ++*count;
      } while (rkb_expression_take(parser, ","));
      if (!rkb_expression_take(parser, ")")) {
         rkb_expression_refuse_next(parser, "an operator, ',' or ')'");
         return false;
      }
   }
   if (*count < least) {
      rkb_expression_refuse(parser, start, "%s takes %s%u operands, not %u", function,
                            most > least ? "at least " : "", least, *count);
      return false;
   }
   return true;
}

static const struct {
   const char *name, *usage;
   operation_t operation;
   uint32_t least, most;
} functions[] = {
   {"ceildiv", "ceildiv(a, b)", OPERATION_CEILDIV, 2, 2},
   {"min", "min(a, b)", OPERATION_MIN, 2, MOST_PARTS},
   {"max", "max(a, b)", OPERATION_MAX, 2, MOST_PARTS},
   {"if", "if(condition, a, b)", OPERATION_IF, 3, 3},
   {"sqrt", "sqrt(x)", OPERATION_SQRT, 1, 1},
};

#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

static node_t *parse_call(parser_t *parser, const char *name, uint32_t start) {
   static const char *const names[] = {"ceildiv", "min", "max", "if", "sqrt", NULL};
   node_t *operands[MOST_PARTS];
   uint32_t count;
   size_t i = 0;
   while (i < FUNCTION_COUNT && strcmp(functions[i].name, name) != 0)
      i++;
   if (i == FUNCTION_COUNT) {
      const char *near = rkb_nearest(name, names);
      if (near)
         return rkb_expression_refuse(parser, start, "there is no function '%s'; did you mean '%s'?", name,
                                      near);
      return rkb_expression_refuse(
         parser, start, "there is no function '%s'; there are ceildiv, min, max, if and sqrt", name);
   }
   if (!enter(parser) ||
       !parse_operands(parser, name, start, functions[i].least, functions[i].most, operands, &count))
      return NULL;
   parser->depth--;
   if (functions[i].operation == OPERATION_IF || functions[i].operation == OPERATION_SQRT) {
      node_t *node = node_new(parser, functions[i].operation, start);
      if (!node)
         return NULL;
      node->count = count;
      memcpy(node->operands, operands, count * sizeof *operands);
      return node;
   }
   node_t *node = operands[0];
   for (uint32_t k = 1; node && k < count; k++)
      node = node_binary(parser, functions[i].operation, start, node, operands[k]);
   return node;
}

static node_t *node_for_name(parser_t *parser, const char *name, uint32_t start) {
   node_t *node = node_new(parser, OPERATION_NAME, start);
   if (!node)
      return NULL;
   uint32_t i = 0;
   while (i < parser->name_count && strcmp(parser->names[i], name) != 0)
      i++;
   if (i == parser->name_count) {
      parser->names[i] = rkb_arena_text(parser->arena, name, strlen(name));
      parser->name_count++;
   }
   node->name = parser->names[i];
   return node;
}

static node_t *parse_name(parser_t *parser) {
   char name[LONGEST_NAME + 1];
   uint32_t start = parser->at;
   uint32_t length = rkb_expression_name_length(parser->text + start);
   if (length > LONGEST_NAME)
      return rkb_expression_refuse(parser, start, "a name has at most %u characters", LONGEST_NAME);
   memcpy(name, parser->text + start, length);
   name[length] = '\0';
   if (is_reserved(name))
      return rkb_expression_refuse_next(parser, "a value");
   parser->at += length;
   parser->last_end = parser->at;
   if (rkb_expression_take(parser, "("))
      return parse_call(parser, name, start);
   for (size_t i = 0; i < FUNCTION_COUNT; i++) {
      if (strcmp(functions[i].name, name) == 0)
         return rkb_expression_refuse(parser, start, "'%s' is a function; write %s", name,
                                      functions[i].usage);
   }
   return node_for_name(parser, name, start);
}

static node_t *parse_parentheses(parser_t *parser) {
   if (!enter(parser))
      return NULL;
   node_t *node = parse_or(parser);
   if (!node)
      return NULL;
   if (!rkb_expression_take(parser, ")"))
      return rkb_expression_refuse_next(parser, "an operator or ')'");
   parser->depth--;
   return node;
}

static node_t *parse_primary(parser_t *parser) {
   if (rkb_expression_take(parser, "("))
      return parse_parentheses(parser);
   const char *text = parser->text + parser->at;
   if (is_digit(text[0]) || (text[0] == '.' && is_digit(text[1])))
      return parse_number(parser, false);
   if (begins_name(text[0]))
      return parse_name(parser);
   return rkb_expression_refuse_next(parser, "a value");
}

/* A sign directly before a literal belongs to the literal, because INT64_MIN has no positive counterpart. */
static node_t *parse_unary(parser_t *parser) {
   rkb_expression_skip_space(parser);
   uint32_t start = parser->at;
   if (!rkb_expression_take(parser, "-"))
      return parse_primary(parser);
   if (is_digit(parser->text[parser->at]))
      return parse_number(parser, true);
   if (!enter(parser))
      return NULL;
   node_t *operand = parse_unary(parser);
   node_t *node = operand ? node_new(parser, OPERATION_NEGATE, start) : NULL;
   if (!node)
      return NULL;
   parser->depth--;
   node->count = 1;
   node->operands[0] = operand;
   return node;
}

typedef struct binary {
   const char *token;
   operation_t operation;
} binary_t;

static const binary_t products[] = {
   {"*", OPERATION_MULTIPLY}, {"/", OPERATION_DIVIDE}, {"%", OPERATION_REMAINDER}, {0}};
static const binary_t sums[] = {{"+", OPERATION_ADD}, {"-", OPERATION_SUBTRACT}, {0}};
static const binary_t comparisons[] = {{"<=", OPERATION_LESS_EQUAL},
                                       {">=", OPERATION_GREATER_EQUAL},
                                       {"==", OPERATION_EQUAL},
                                       {"!=", OPERATION_NOT_EQUAL},
                                       {"<", OPERATION_LESS},
                                       {">", OPERATION_GREATER},
                                       {0}};
static const binary_t conjunctions[] = {{"and", OPERATION_AND}, {0}};
static const binary_t disjunctions[] = {{"or", OPERATION_OR}, {0}};

/* True for "**", "//", "<<" and ">>", which begin like operators of this language but do not exist in it. */
static bool is_foreign(const char *text) {
   return strncmp(text, "**", 2) == 0 || strncmp(text, "//", 2) == 0 || strncmp(text, "<<", 2) == 0 ||
          strncmp(text, ">>", 2) == 0;
}

static const binary_t *take_binary(parser_t *parser, const binary_t *table) {
   rkb_expression_skip_space(parser);
   if (is_foreign(parser->text + parser->at))
      return NULL;
   for (; table->token; table++) {
      if (rkb_expression_take(parser, table->token))
         return table;
   }
   return NULL;
}

/* Parses operand { operator operand }, which is grouped from left to right. */
static node_t *parse_chain(parser_t *parser, const binary_t *table, node_t *(*parse_operand)(parser_t *)) {
   rkb_expression_skip_space(parser);
   uint32_t start = parser->at;
   node_t *left = parse_operand(parser);
   const binary_t *found;
   while (left) {
      found = take_binary(parser, table);
      if (!found)
         break;
      node_t *right = parse_operand(parser);
      left = right ? node_binary(parser, found->operation, start, left, right) : NULL;
   }
   return left;
}

static node_t *parse_product(parser_t *parser) {
   return parse_chain(parser, products, parse_unary);
}

static node_t *parse_sum(parser_t *parser) {
   return parse_chain(parser, sums, parse_product);
}

static node_t *parse_comparison(parser_t *parser) {
   rkb_expression_skip_space(parser);
   uint32_t start = parser->at;
   node_t *left = parse_sum(parser);
   if (!left)
      return NULL;
   const binary_t *found = take_binary(parser, comparisons);
   if (!found)
      return left;
   node_t *right = parse_sum(parser);
   node_t *node = right ? node_binary(parser, found->operation, start, left, right) : NULL;
   if (node && take_binary(parser, comparisons))
      return rkb_expression_refuse(parser, parser->at - 1,
                                   "comparisons do not chain; write 'a < b and b < c', not 'a < b < c'");
   return node;
}

static node_t *parse_not(parser_t *parser) {
   rkb_expression_skip_space(parser);
   uint32_t start = parser->at;
   if (!rkb_expression_take(parser, "not"))
      return parse_comparison(parser);
   if (!enter(parser))
      return NULL;
   node_t *operand = parse_not(parser);
   node_t *node = operand ? node_new(parser, OPERATION_NOT, start) : NULL;
   if (!node)
      return NULL;
   parser->depth--;
   node->count = 1;
   node->operands[0] = operand;
   return node;
}

static node_t *parse_and(parser_t *parser) {
   return parse_chain(parser, conjunctions, parse_not);
}

static node_t *parse_or(parser_t *parser) {
   return parse_chain(parser, disjunctions, parse_and);
}

const node_t *rkb_expression_parse_tree(parser_t *parser) {
   node_t *root = parse_or(parser);
   if (!root)
      return NULL;
   rkb_expression_skip_space(parser);
   if (parser->text[parser->at] == '\0')
      return root;
   if (parser->text[parser->at] == ',')
      return rkb_expression_refuse(
         parser, parser->at, "one expression belongs here, not a list; leave out what follows the comma");
   return rkb_expression_refuse_next(parser, "an operator");
}
