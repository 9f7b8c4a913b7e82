/* Expressions over named 64-bit integers and reals: shapes, grids, arguments.  The one parser for tasks, manifests and
 * device profiles.
 *
 *    or / and / not / < <= > >= == != / + - / * / % / unary - / names, literals, ( ), f(x, y)
 *    ceildiv(a, b)  min(a, b, ...)  max(a, b, ...)  if(condition, a, b)
 *
 * Integers are 64-bit signed; / and % truncate as in C; overflow, division by zero and INT64_MIN / -1 are faults, and so
 * are mixing (an integer used with a real becomes a real only in + - * / and comparisons; % and ceildiv are integer).
 * Truth is an integer, 0 or 1; `and`, `or` and `if` evaluate only what they need.  No `?:`, no `!`, no `: `.
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

/* Parses one whole expression.  column in place is that of the text's first byte, so messages point into it. */
rkb_expression_t *rkb_expression_parse(rkb_arena_t *arena, const char *text, size_t length, rkb_place_t place,
                                       rkb_problems_t *problems);

/* Splits at commas outside parentheses and parses each part.  An empty or blank text has none.  At most 64 parts.
 * False when any part has a problem. */
bool rkb_expression_list(rkb_arena_t *arena, const char *text, size_t length, rkb_place_t place,
                         rkb_expression_t ***list, uint32_t *count, rkb_problems_t *problems);

/* Looks a name up; false when it is unknown.  argument is the caller's. */
typedef bool (*rkb_lookup_t)(void *argument, const char *name, rkb_value_t *value);

enum rkb_fault {
   RKB_FAULT_NONE,
   RKB_FAULT_UNKNOWN_NAME,
   RKB_FAULT_OVERFLOW,
   RKB_FAULT_DIVISION,
   RKB_FAULT_TYPE
};

/* Evaluates.  On a fault, message says what and where ("B * T overflows 64 bits") and the return is the fault. */
enum rkb_fault rkb_expression_evaluate(const rkb_expression_t *expression, rkb_lookup_t lookup,
                                       void *argument, rkb_value_t *value, char *message,
                                       size_t message_size);
/* Evaluates and wants an integer. */
enum rkb_fault rkb_expression_integer(const rkb_expression_t *expression, rkb_lookup_t lookup, void *argument,
                                      int64_t *value, char *message, size_t message_size);

/* Calls visit for each distinct name it mentions, in order of first mention. */
void rkb_expression_names(const rkb_expression_t *expression, void (*visit)(void *argument, const char *name),
                          void *argument);
const char *rkb_expression_text(const rkb_expression_t *expression); /* as written, trimmed */
rkb_place_t rkb_expression_place(const rkb_expression_t *expression);

/* Appends it as one parenthesised C++ expression over int64_t and double, names as they are; ceildiv, min and max become
 * rkb_ceildiv, rkb_min and rkb_max.  Unlike evaluation it does not look for overflow. */
void rkb_expression_write(const rkb_expression_t *expression, rkb_text_t *out);

#endif
