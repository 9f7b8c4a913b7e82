/* The reference of one case as a straight list of operations with concrete shapes: what the evaluator runs.
 *
 * A graph file names functions as PyTorch does (layer_norm, cross_entropy: functions.h).  Each is spelled
 * out, when a case is bound, in a small set of operations (operation.h), and every operation has all columns:
 * shape, value, gradient, hard bound, stat bound, points.  So a function has them too, and its gradient is
 * made of further operations. Written while it is built, by one thread; immutable after. */
#ifndef RKB_REFERENCE_GRAPH_PROGRAM_H
#define RKB_REFERENCE_GRAPH_PROGRAM_H

#include "base/arena.h"
#include "reference/shape.h"

#define RKB_NO_VALUE UINT32_MAX
#define RKB_MAX_OPERANDS 16
#define RKB_MAX_PROGRAM_NODES 65536u

typedef struct rkb_operation rkb_operation_t;

typedef struct rkb_program_value {
   const char *name; /* as the graph file has it, or "" */
   uint32_t dtype;   /* enum rkb_dtype; of the value a kernel would store */
   int32_t node;     /* that makes it; -1: an input */
   int32_t tensor;   /* index into the case's tensors, for an input; else -1 */
   rkb_shape_t shape;
   uint64_t elements;
} rkb_program_value_t;

typedef struct rkb_program_node {
   const rkb_operation_t *operation;
   uint32_t inputs[RKB_MAX_OPERANDS];
   uint32_t input_count;
   uint32_t output;
   uint32_t integer_count, real_count;
   const int64_t *integers; /* what they mean is the operation's */
   const double *reals;
} rkb_program_node_t;

typedef struct rkb_program {
   rkb_arena_t *arena; /* lent */
   rkb_program_value_t *values;
   uint32_t value_count, value_room;
   rkb_program_node_t *nodes; /* each after the nodes it reads */
   uint32_t node_count, node_room;
   uint32_t *outputs; /* by case tensor: the value it must hold, or RKB_NO_VALUE */
   uint32_t tensor_count;
   uint32_t *guards; /* values that the guarded family drives to their eps */
   uint32_t guard_count;
   bool failed; /* error says why; every later add does nothing */
   char error[512];
} rkb_program_t;

rkb_program_t *rkb_program_new(rkb_arena_t *arena, uint32_t tensor_count);

/* An input: task tensor number tensor. */
uint32_t rkb_program_input(rkb_program_t *program, const char *name, uint32_t dtype, const rkb_shape_t *shape,
                           uint32_t tensor);

/* Appends one operation.  The lists are copied.  RKB_NO_VALUE once the program has failed. */
uint32_t rkb_program_add(rkb_program_t *program, const rkb_operation_t *operation, const uint32_t *inputs,
                         uint32_t input_count, const int64_t *integers, uint32_t integer_count,
                         const double *reals, uint32_t real_count, uint32_t dtype, const rkb_shape_t *shape);

/* Marks the program failed with a sentence; the first one stays.  Returns RKB_NO_VALUE. */
uint32_t rkb_program_fail(rkb_program_t *program, const char *fmt, ...) RKB_PRINTF(2, 3);

/* Shape of a value; a scalar's for RKB_NO_VALUE, so that builders need no test of their own. */
const rkb_shape_t *rkb_program_shape(const rkb_program_t *program, uint32_t value);
uint32_t rkb_program_dtype(const rkb_program_t *program, uint32_t value);

/* Drops the nodes (and guards) that no output needs, once the outputs are set: a backward pass rarely needs
 * all of the forward one. */
void rkb_program_prune(rkb_program_t *program);

/* Arithmetic of all nodes, multiply and add counted apart. */
double rkb_program_operations(const rkb_program_t *program);

#endif
