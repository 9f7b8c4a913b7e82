/* The functions of a text at namespace scope, found by tokens: kernels and device functions with their
 * parameters.  One thread. */
#ifndef PLUGIN_SOURCE_FUNCTIONS_H
#define PLUGIN_SOURCE_FUNCTIONS_H

#include "source_tokens.h"

enum { FUNCTIONS_MAX = 256, FUNCTION_PARAMETERS_MAX = 64 };

typedef struct parameter {
   uint32_t first, last; /* tokens of the declaration, default value included */
   uint32_t name;        /* SOURCE_NONE: it has none */
   bool is_pointer;      /* a * or [] in the declaration */
} parameter_t;

typedef struct function {
   uint32_t first; /* "template", or the first specifier */
   uint32_t name;
   uint32_t open, close; /* parentheses of the parameters */
   uint32_t body, end;   /* braces */
   bool is_kernel;       /* __global__ */
   bool is_device;       /* __device__ */
   uint32_t parameter_count;
   parameter_t parameters[FUNCTION_PARAMETERS_MAX];
} function_t;

typedef struct functions {
   function_t *list; /* definitions only, in order; owned */
   uint32_t count;
} functions_t;

/* Leaves out what it cannot read; at most FUNCTIONS_MAX. */
int functions_find(const source_t *source, functions_t *functions, rkb_error_t *err);
void functions_free(functions_t *functions);

/* Finds a function by name, kernels first; NULL when there is none. */
const function_t *functions_named(const source_t *source, const functions_t *functions, const char *name,
                                  size_t length);

#endif
