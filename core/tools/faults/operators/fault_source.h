/* A kernel file as the fault operators see it: its tokens without comments and directives, the pieces of C++
 * structure that they ask for (brackets, statements, functions), and its manifest's lines.  Immutable once
 * open; any thread. */
#ifndef RKB_TOOLS_FAULTS_OPERATORS_FAULT_SOURCE_H
#define RKB_TOOLS_FAULTS_OPERATORS_FAULT_SOURCE_H

#include <stdbool.h>
#include "kernel/kernel.h"

#define NO_TOKEN UINT32_MAX

typedef struct function {
   uint32_t name, open, close; /* tokens: its name, the brackets of its parameters */
   uint32_t body, end;         /* tokens: the braces of its body */
   bool global;
} function_t;

enum { MOST_FUNCTIONS = 64, MOST_DIMS = 32, MOST_VALUES = 64, MOST_CHECK_CASES = 64 };

/* The values that a dim has in the task's check cases.  Some operators make kernels that are right only at these shapes. */
typedef struct checked_dim {
   const char *name;
   int64_t values[MOST_VALUES];
   uint32_t count;
} checked_dim_t;

typedef struct source {
   char *text;
   size_t bytes;
   const rkb_token_t *code; /* neither comments nor directives */
   uint32_t count;
   uint32_t manifest, manifest_end; /* bytes: the manifest comment */
   function_t functions[MOST_FUNCTIONS];
   uint32_t function_count;
   checked_dim_t dims[MOST_DIMS];
   uint32_t dim_count;
   int64_t cases[MOST_CHECK_CASES][MOST_DIMS]; /* the dims of each check case */
   uint32_t case_count;
   void *memory;
} source_t;

/* Opens a source; takes over text, which is malloc'd. */
void source_open(char *text, size_t bytes, source_t *source);
void source_close(source_t *source);

bool source_is(const source_t *s, uint32_t token, const char *word); /* false past the end */
bool source_is_any(const source_t *s, uint32_t token, const char *const *words);
bool source_is_name(const source_t *s, uint32_t token);
uint32_t source_start(const source_t *s, uint32_t token); /* byte offsets */
uint32_t source_end(const source_t *s, uint32_t token);
const char *source_at(const source_t *s, uint32_t token);
uint32_t source_length(const source_t *s, uint32_t token);
/* Returns the bracket that closes, or opens, the one at token; NO_TOKEN when there is none. */
uint32_t source_match(const source_t *s, uint32_t token);
uint32_t source_match_back(const source_t *s, uint32_t token);
/* The last token of the statement that begins at token: the ';' or '}' that ends it. */
uint32_t source_statement_end(const source_t *s, uint32_t token);
/* The first token of the simple statement that holds token. */
uint32_t source_statement_start(const source_t *s, uint32_t token);
/* Whether the word is an operator (a comparison, a shift or a product) and no bracket of template arguments, which has no space before it. */
bool source_is_operator(const source_t *s, uint32_t token, const char *word);
/* Returns the end of the operand before, or after, the operator at token: the operand reaches to the nearest ( [ { , ; = ? : && || return. */
uint32_t source_left(const source_t *s, uint32_t token);
uint32_t source_right(const source_t *s, uint32_t token);
bool source_same(const source_t *s, uint32_t a, uint32_t b); /* same spelling */
/* Returns the function whose body holds the token, or NULL. */
const function_t *source_function_of(const source_t *s, uint32_t token);
/* Whether the function's parameter of this name was declared with this type word ("float", "int"), as a
 * pointer or not. */
bool source_has_parameter(const source_t *s, const function_t *f, uint32_t name, const char *type,
                          bool pointer);
/* Whether name is declared "float name" in the function before token. */
bool source_is_float_local(const source_t *s, const function_t *f, uint32_t token);

#endif
