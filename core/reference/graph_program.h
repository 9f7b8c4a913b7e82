/* The reference of one case: a list of operations with concrete shapes, which the evaluator runs.
 *
 * A graph file names functions as PyTorch does (layer_norm, cross_entropy: functions.h).  When a case is bound, each function is
 * expanded into a small set of operations (operation.h).  Every operation defines its shape, value, gradient, hard bound, stat
 * bound and points; therefore every function has them too, and its gradient consists of operations.  One thread builds a
 * program; after that it does not change. */
#ifndef RKB_REFERENCE_GRAPH_PROGRAM_H
#define RKB_REFERENCE_GRAPH_PROGRAM_H

#include "base/arena.h"
#include "reference/shape.h"

#define RKB_NO_VALUE UINT32_MAX
#define RKB_MAX_OPERANDS 16
#define RKB_MAX_PROGRAM_NODES 65536u

typedef struct rkb_operation rkb_operation_t;

typedef struct rkb_program_value {
   const char *name; /* the name in the graph file, or "" */
   uint32_t dtype;   /* enum rkb_dtype: the type in which a kernel would store the value */
   int32_t node;     /* the node that makes it; -1: an input */
   int32_t tensor;   /* index into the case's tensors, for an input; else -1 */
   rkb_shape_t shape;
   uint64_t elements;
   /* Valid after pruning: a node computes with the value's numbers, perhaps after other nodes moved them. */
   bool read;
} rkb_program_value_t;

typedef struct rkb_program_node {
   const rkb_operation_t *operation;
   uint32_t inputs[RKB_MAX_OPERANDS];
   uint32_t input_count;
   uint32_t output;
   uint32_t
      addend_frame; /* for a product with an addend (operand 2): the value to whose shape the addend is stretched */
   uint32_t integer_count, real_count;
   const int64_t *integers; /* their meaning depends on the operation */
   const double *reals;
} rkb_program_node_t;

typedef struct rkb_program {
   rkb_arena_t *arena; /* borrowed */
   rkb_program_value_t *values;
   uint32_t value_count, value_room;
   rkb_program_node_t *nodes; /* each node comes after the nodes it reads */
   uint32_t node_count, node_room;
   uint32_t *outputs; /* by case tensor: the value that the tensor must hold, or RKB_NO_VALUE */
   uint32_t tensor_count;
   uint32_t *guards; /* values that the guarded family drives to their eps */
   uint32_t guard_count;
   bool
      whole_layers; /* recurrent layers of few steps are one operation too: for readers of the structure, which compute nothing */
   bool failed; /* error says why; every later rkb_program_add does nothing */
   char error[512];
} rkb_program_t;

rkb_program_t *rkb_program_new(rkb_arena_t *arena, uint32_t tensor_count);

/* Adds an input: task tensor number `tensor`. */
uint32_t rkb_program_input(rkb_program_t *program, const char *name, uint32_t dtype, const rkb_shape_t *shape,
                           uint32_t tensor);

/* Appends one operation and copies the lists.  Returns RKB_NO_VALUE once the program has failed. */
uint32_t rkb_program_add(rkb_program_t *program, const rkb_operation_t *operation, const uint32_t *inputs,
                         uint32_t input_count, const int64_t *integers, uint32_t integer_count,
                         const double *reals, uint32_t real_count, uint32_t dtype, const rkb_shape_t *shape);

/* Marks the program as failed, with a sentence; the first failure stays.  Returns RKB_NO_VALUE. */
uint32_t rkb_program_fail(rkb_program_t *program, const char *fmt, ...) RKB_PRINTF(2, 3);

/* The shape of a value.  For RKB_NO_VALUE it is a scalar's, so builders need not test for failure. */
const rkb_shape_t *rkb_program_shape(const rkb_program_t *program, uint32_t value);
uint32_t rkb_program_dtype(const rkb_program_t *program, uint32_t value);
static inline bool rkb_program_is_input(const rkb_program_t *program, uint32_t value) {
   return program->values[value].node < 0;
}

/* Whether the node is a conversion that changes no element: every number of the operand's type is one of the result's. */
bool rkb_program_widens(const rkb_program_t *program, const rkb_program_node_t *node);
/* The narrowest type in which each of a value's elements is known to have been stored.  That is the value's
 * own type, or a narrower one if the elements come from there through moves and conversions to a wider type.
 * */
uint32_t rkb_program_kept_type(const rkb_program_t *program, uint32_t value);

/* Makes float32 of the values from number `first` on that have a narrow type.  A kernel keeps the steps
 * inside one function in fp32, and rounds only the values that the graph names. */
void rkb_program_widen(rkb_program_t *program, uint32_t first);

/* Drops the nodes (and guards) that no output needs.  Call it once the outputs are set.  A backward pass
 * rarely needs the whole forward pass. */
void rkb_program_prune(rkb_program_t *program);

/* How far bounds that are carried along grow on the worst way through the program: what each matrix product or convolution adds, and each
 * variance, by which a norm divides. */
#define RKB_PRODUCT_DEPTH 2u
#define RKB_NORM_DEPTH 1u
uint32_t rkb_program_depth(const rkb_program_t *program);

/* Whether some node's bounds hold on random data alone. */
bool rkb_program_needs_random_data(const rkb_program_t *program);

/* The arithmetic of one sequence of the longest recurrence; 0 if the program has none. */
double rkb_program_sequential(const rkb_program_t *program);

/* The arithmetic of all nodes; a multiply and an add count as two operations. */
double rkb_program_operations(const rkb_program_t *program);

#endif
