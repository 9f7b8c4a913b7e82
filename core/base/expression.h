/* Expressions over named 64-bit integers and reals: shapes, grids, arguments.  Tasks, manifests and device profiles all use
 * this parser.
 *
 *    or / and / not / < <= > >= == != / + - / * / % / unary - / names, literals, ( ), f(x, y)
 *    ceildiv(a, b)  min(a, b, ...)  max(a, b, ...)  if(condition, a, b)  sqrt(x), which is a real
 *
 * Integers are 64-bit signed; / and % truncate as in C.  Overflow, division by zero and INT64_MIN / -1 are faults.  An integer
 * that meets a real becomes a real in + - * / and comparisons; in % and ceildiv, which take integers, a real is a fault.
 * Truth is an integer, 0 or 1.  `and`, `or` and `if` evaluate only the operands they need.  There is no `?:`, `!` or `: `.
 * Limits: 4 KiB of text, 256 nodes, depth 64. */
#ifndef RKB_BASE_EXPRESSION_H
#define RKB_BASE_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/problems.h"

typedef struct rkb_expression rkb_expression_t;

typedef struct rkb_value {
   bool is_real;
   int64_t integer;
   double real;
} rkb_value_t;

/* Parses one whole expression.  place is the place of the text's first byte; messages point into the text from there. */
rkb_expression_t *rkb_expression_parse(rkb_arena_t *arena, const char *text, size_t length, rkb_place_t place,
                                       rkb_problems_t *problems);

/* Splits the text at commas outside parentheses and parses each part.  An empty or blank text has no parts; 64 parts is the
 * limit.  Returns false when any part has a problem. */
bool rkb_expression_list(rkb_arena_t *arena, const char *text, size_t length, rkb_place_t place,
                         rkb_expression_t ***list, uint32_t *count, rkb_problems_t *problems);

/* Looks up the value of a name; returns false when the name is unknown.  argument is passed through from the caller. */
typedef bool (*rkb_lookup_t)(void *argument, const char *name, rkb_value_t *value);

enum rkb_fault {
   RKB_FAULT_NONE,
   RKB_FAULT_UNKNOWN_NAME,
   RKB_FAULT_OVERFLOW,
   RKB_FAULT_DIVISION,
   RKB_FAULT_TYPE
};

/* Evaluates the expression.  Returns the fault, if any, and message then says what failed and where ("B * T overflows 64 bits"). */
enum rkb_fault rkb_expression_evaluate(const rkb_expression_t *expression, rkb_lookup_t lookup,
                                       void *argument, rkb_value_t *value, char *message,
                                       size_t message_size);
/* Evaluates an expression whose value must be an integer. */
enum rkb_fault rkb_expression_integer(const rkb_expression_t *expression, rkb_lookup_t lookup, void *argument,
                                      int64_t *value, char *message, size_t message_size);

/* The outcome of each if() of one expression, by its place in the text. */
typedef struct rkb_choice {
   uint32_t at;
   bool outcome;
} rkb_choice_t;

typedef struct rkb_choices {
   rkb_choice_t *list; /* borrowed */
   uint32_t count, room;
} rkb_choices_t;

/* As rkb_expression_evaluate and rkb_expression_integer, with given outcomes.  An if() that `from` (may be NULL) contains has the outcome noted there, and
 * its condition is not evaluated.  Notes in `to` (may be NULL) the outcome of each if(), as far as there is room. */
enum rkb_fault rkb_expression_chosen(const rkb_expression_t *expression, rkb_lookup_t lookup, void *argument,
                                     const rkb_choices_t *from, rkb_choices_t *to, rkb_value_t *value,
                                     char *message, size_t message_size);
enum rkb_fault rkb_expression_integer_chosen(const rkb_expression_t *expression, rkb_lookup_t lookup,
                                             void *argument, const rkb_choices_t *from, rkb_choices_t *to,
                                             int64_t *value, char *message, size_t message_size);

/* A decision of one evaluation: how two numbers compare, whether a division leaves a remainder, or whether a value is 0. */
typedef struct rkb_expression_decision {
   uint32_t at; /* names the operator: the place of its second operand in the text, and its kind */
   bool
      outcome; /* the comparison holds, min or max took its second operand, the division leaves a remainder, or the value is not 0 */
   bool
      is_value; /* the decision is whether the value of a product, a quotient, min or max is 0; most of these values never change that */
   bool divides;
   int64_t left, right; /* both 0 if one of them is a real number */
   double distance;     /* to the nearest values with the other outcome; 0: at the border, or next to it */
} rkb_expression_decision_t;

typedef void (*rkb_decided_t)(void *argument, const rkb_expression_t *expression,
                              const rkb_expression_decision_t *decision);

/* As rkb_expression_evaluate.  Calls `decided`, if it is not NULL, for each decision that is evaluated. */
enum rkb_fault rkb_expression_decide(const rkb_expression_t *expression, rkb_lookup_t lookup, void *argument,
                                     rkb_decided_t decided, void *decided_argument, rkb_value_t *value,
                                     char *message, size_t message_size);

/* Whether an evaluation can decide something: a name or a number alone cannot. */
bool rkb_expression_can_decide(const rkb_expression_t *expression);

/* Calls visit for each distinct name in the expression, in order of first mention. */
void rkb_expression_names(const rkb_expression_t *expression, void (*visit)(void *argument, const char *name),
                          void *argument);
const char *rkb_expression_text(const rkb_expression_t *expression); /* as written, trimmed */
rkb_place_t rkb_expression_place(const rkb_expression_t *expression);

/* Appends the expression as one parenthesised C++ expression over int64_t and double.  Names stay as they are; ceildiv, min and
 * max become rkb_ceildiv, rkb_min and rkb_max.  Unlike evaluation, the C++ text does not check for overflow. */
void rkb_expression_write(const rkb_expression_t *expression, rkb_text_t *out);
/* The same as Python, where `/` of integers becomes `//`: equal to evaluation as long as no operand of `/` and `%` is negative. */
void rkb_expression_write_python(const rkb_expression_t *expression, rkb_text_t *out);

#endif
