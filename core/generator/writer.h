/* The text of one kernel while it is written: nested blocks, the values and coordinates that each block knows, and the parameters
 * that the text came to need.
 *
 * A value is asked for at coordinates; what it needs is written first, each part in the outermost block that knows its variables, and
 * a part that was written before is used again.  Loads stay inside the guards around them.  One thread. */
#ifndef RKB_GENERATOR_WRITER_H
#define RKB_GENERATOR_WRITER_H

#include "base/text.h"
#include "generator/index.h"
#include "reference/dtype.h"

#define RKB_MAX_BLOCKS 24u
#define RKB_MAX_PARAMETERS 96u
#define RKB_KERNEL_BYTES (200u << 10)

/* Where a value lies in memory.  NULL name: nowhere. */
typedef struct rkb_storage {
   const char *name;     /* in a kernel */
   const char *argument; /* in the manifest; NULL: the same */
   uint32_t dtype;
} rkb_storage_t;

typedef struct rkb_term {
   const char *text;
   uint32_t depth; /* of the block that has it */
} rkb_term_t;

typedef struct rkb_known {
   const rkb_index_t *index; /* a coordinate, or NULL: a value */
   uint32_t node;
   const rkb_index_t *at[RKB_MAX_RANK];
   rkb_term_t term;
} rkb_known_t;

typedef struct rkb_block_text {
   rkb_text_t text;
   bool guard; /* loads may not move out of it */
} rkb_block_text_t;

enum rkb_parameter_type {
   RKB_PARAMETER_INPUT,
   RKB_PARAMETER_OUTPUT,
   RKB_PARAMETER_REAL,
   RKB_PARAMETER_INDEX
};

typedef struct rkb_parameter_text {
   enum rkb_parameter_type type;
   const char *name, *argument;
   uint32_t dtype;
} rkb_parameter_text_t;

typedef struct rkb_writer {
   rkb_graph_t *graph;
   rkb_arena_t *arena;
   rkb_indices_t indices;
   const rkb_storage_t *storage; /* by node: what earlier launches, or the task, left in memory */
   const rkb_storage_t *targets; /* by node: where a root of this launch goes */
   rkb_block_text_t blocks[RKB_MAX_BLOCKS];
   uint32_t depth; /* the innermost open block */
   rkb_known_t *known;
   uint32_t known_count, known_room;
   rkb_parameter_text_t parameters[RKB_MAX_PARAMETERS];
   uint32_t parameter_count;
   uint32_t heavy;          /* the one heavy node that may be computed element by element, or RKB_NO_NODE */
   const rkb_index_t *lane; /* the number of an element of a vector, or NULL */
   uint32_t width, lane_depth; /* elements of a vector; the block of the loop over lanes */
   uint32_t names;             /* how many were made up */
   /* Loads that a thread keeps in registers for later passes over its row. */
   uint32_t keep;                    /* how many of each it keeps; 0: none */
   const rkb_index_t *keep_variable; /* of this pass: what the kept ones differ in; NULL outside passes */
   const char *keep_item;            /* the name of their number */
   struct rkb_kept {
      const char *buffer, *array;
      const rkb_index_t *element, *variable; /* in the pass that loaded it */
   } kept[8];
   uint32_t kept_count;
   bool failed;
   char why[200];
} rkb_writer_t;

/* False: failed, and why says so. */
bool rkb_writer_open(rkb_writer_t *writer, rkb_graph_t *graph, rkb_arena_t *arena,
                     const rkb_storage_t *storage, const rkb_condition_t *conditions,
                     uint32_t condition_count);
void rkb_writer_close(rkb_writer_t *writer);
void rkb_writer_fail(rkb_writer_t *writer, const char *fmt, ...) RKB_PRINTF(2, 3);

/* A line in the innermost block, indented; a block with its head line; its end. */
void rkb_write(rkb_writer_t *writer, const char *fmt, ...) RKB_PRINTF(2, 3);
void rkb_write_open(rkb_writer_t *writer, bool guard, const char *fmt, ...) RKB_PRINTF(3, 4);
void rkb_write_close(rkb_writer_t *writer);
void rkb_write_close_with(rkb_writer_t *writer, const char *end); /* "};" of a lambda */
/* The text of the whole function body. */
const char *rkb_writer_body(rkb_writer_t *writer);

/* A new loop variable of the innermost block. */
const rkb_index_t *rkb_writer_variable(rkb_writer_t *writer, const char *name, const rkb_index_t *extent);
/* Says that a variable that was made before is declared in the innermost block. */
const rkb_index_t *rkb_writer_known_variable(rkb_writer_t *writer, const rkb_index_t *variable);
/* An identifier that this kernel does not have yet. */
const char *rkb_writer_name(rkb_writer_t *writer, const char *wanted);
/* An index as text that may stand in a product. */
const char *rkb_writer_index(rkb_writer_t *writer, const rkb_index_t *index);
/* The name of a parameter with the value of a uniform expression, or a literal. */
const char *rkb_writer_uniform(rkb_writer_t *writer, const rkb_index_t *index);
/* A tensor's name beside those that kernels declare themselves; in the arena. */
const char *rkb_writer_beside(rkb_arena_t *arena, const char *name);
/* A parameter for a buffer; its name. */
const char *rkb_writer_buffer(rkb_writer_t *writer, const char *name, uint32_t dtype, bool written);
/* A real number: a literal or a parameter. */
const char *rkb_writer_real(rkb_writer_t *writer, const rkb_real_t *real);

/* Says that a value at coordinates is in a variable of the innermost block. */
void rkb_writer_know(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at, const char *text);
/* The value as an operand's text: a name or a literal.  0.0f after a failure. */
rkb_term_t rkb_write_value(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at);
/* A value with float's type, whatever its dtype is. */
rkb_term_t rkb_write_float(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at);
/* The loops of one element of a heavy node (write_heavy.c). */
rkb_term_t rkb_write_heavy(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at);
/* Stores a value (text) at an element number of a buffer. */
void rkb_write_store(rkb_writer_t *writer, const char *buffer, uint32_t dtype, const rkb_index_t *element,
                     const char *value);

/* The operand's coordinates of an output's element, for stretched operands. */
void rkb_operand_at(rkb_writer_t *writer, const rkb_node_t *node, uint32_t which,
                    const rkb_index_t *const *at, const rkb_index_t **operand);

/* A coordinate counted from the other end of its dim. */
const rkb_index_t *rkb_flipped(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim,
                               const rkb_index_t *at);
/* The coordinates of a permutation's operand, from those of its output. */
void rkb_permuted_at(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at,
                     const rkb_index_t **operand);

const char *rkb_storage_type(uint32_t dtype); /* "float", "__half" */
const char *rkb_value_type(uint32_t dtype);   /* "float", "long long": of a variable in a kernel */

#endif
