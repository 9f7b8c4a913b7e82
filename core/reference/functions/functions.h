/* The functions that a graph file may name.  They are PyTorch's; when a case is bound, each is expanded into operations.
 * docs/operations.md lists them with their attributes. */
#ifndef RKB_REFERENCE_FUNCTIONS_FUNCTIONS_H
#define RKB_REFERENCE_FUNCTIONS_FUNCTIONS_H

#include "reference/graph_program.h"

enum rkb_attribute_kind {
   RKB_ATTRIBUTE_INT = 1, /* one integer expression */
   RKB_ATTRIBUTE_INTS,    /* "a, b, c" */
   RKB_ATTRIBUTE_REAL,    /* a float expression */
   RKB_ATTRIBUTE_BOOL,    /* true, false, or an integer expression */
   RKB_ATTRIBUTE_WORD     /* one of choices */
};

typedef struct rkb_attribute {
   const char *name;
   uint32_t kind;
   const char *fallback; /* the default, as written in a file; NULL: required; "": may be absent */
   const char *choices;  /* words, separated by spaces */
} rkb_attribute_t;

#define RKB_MAX_FUNCTION_ATTRIBUTES 8
#define RKB_MAX_FUNCTION_OUTPUTS 8

typedef struct rkb_attribute_value {
   bool given;
   int64_t integers[RKB_MAX_RANK];
   uint32_t integer_count;
   double real;
   const char *word;
} rkb_attribute_value_t;

typedef struct rkb_function rkb_function_t;

typedef struct rkb_call {
   rkb_program_t *program;
   const rkb_function_t *function;
   uint32_t inputs[RKB_MAX_OPERANDS];
   uint32_t input_count;
   uint32_t output_count; /* as listed in the file */
   rkb_attribute_value_t values[RKB_MAX_FUNCTION_ATTRIBUTES];
} rkb_call_t;

struct rkb_function {
   const char *name;
   const char *inputs; /* for the documentation: "x, weight, [bias]" */
   uint32_t least_inputs, most_inputs;
   rkb_attribute_t attributes[RKB_MAX_FUNCTION_ATTRIBUTES];  /* ends with a NULL name */
   void (*build)(const rkb_call_t *call, uint32_t *outputs); /* reports a failure in the program's error */
   const char *operation;                                    /* which operation, if build serves several */
};

/* Returns NULL when there is no function of that name. */
const rkb_function_t *rkb_function_find(const char *name);
const char *const *rkb_function_names(void); /* NULL-terminated, for "did you mean" */

/* function_call.c: the value of an attribute.  name must be an attribute of the function. */
const rkb_attribute_value_t *rkb_call_attribute(const rkb_call_t *call, const char *name);
int64_t rkb_call_int(const rkb_call_t *call, const char *name);
double rkb_call_real(const rkb_call_t *call, const char *name);
bool rkb_call_true(const rkb_call_t *call, const char *name);
bool rkb_call_word(const rkb_call_t *call, const char *name, const char *word);
/* Reads an attribute that names a dim of value.  Fails the program when value has no such dim. */
uint32_t rkb_call_dim(const rkb_call_t *call, const char *name, uint32_t value);
/* Reads an attribute that lists dims of value, as a mask; all dims when it is absent. */
uint64_t rkb_call_dims(const rkb_call_t *call, const char *name, uint32_t value);
/* Reads an attribute that is a shape. */
rkb_shape_t rkb_call_shape(const rkb_call_t *call, const char *name);

/* The tables of functions, one for each file in functions/.  A NULL name ends a table. */
extern const rkb_function_t rkb_functions_elementwise[], rkb_functions_activation[],
   rkb_functions_reduction[], rkb_functions_layout[], rkb_functions_product[], rkb_functions_normalisation[],
   rkb_functions_pooling[], rkb_functions_loss[], rkb_functions_resampling[],
   rkb_functions_recurrent[];

#endif
