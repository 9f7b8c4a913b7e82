/* The statements of a kernel file that execute instructions written as inline assembly: the assembly itself, or calls of functions that contain it.  For
 * operators that search for words of an instruction.  Stateless; any thread. */
#ifndef RKB_TOOLS_FAULTS_OPERATORS_INSTRUCTION_CALLS_H
#define RKB_TOOLS_FAULTS_OPERATORS_INSTRUCTION_CALLS_H

#include "tools/faults/operators/operator.h"

#define MOST_CALLS 64u

/* A statement that executes an instruction: a call, or the assembly itself. */
typedef struct instruction_call {
   /* Tokens: the first one, and the brackets around the operands; a ";" follows. */
   uint32_t first, open, close;
   bool assembly;
} instruction_call_t;

typedef struct instruction_calls {
   instruction_call_t list[MOST_CALLS];
   uint32_t count;
} instruction_calls_t;

/* Whether the token is a text with these words, and without others (NULL: any). */
bool instruction_says(const source_t *s, uint32_t token, const char *words, const char *without);
/* Whether a statement begins at the token: the token before it ends another statement or a condition. */
bool instruction_begins_statement(const source_t *s, uint32_t token);
/* Finds the statements of kernels that execute such an instruction. */
void instruction_calls_find(const source_t *s, const char *words, const char *without,
                            instruction_calls_t *calls);
/* Finds the last operand of a call; in assembly, the last operand in brackets. */
bool instruction_last_operand(const source_t *s, const instruction_call_t *call, uint32_t *first,
                              uint32_t *last);
/* Whether a kernel calls the function, directly or through others, or the function is one. */
bool instruction_is_called(const source_t *s, const function_t *f);

#endif
