/* The text of one kernel while it is written: nested blocks, the values and coordinates that each block
 * knows, and the parameters that the text has come to need.
 *
 * A caller asks for a value at coordinates.  The writer first writes what the value needs, each part in the
 * outermost block that knows its variables; it uses a part that was written before again.  Loads stay inside
 * the guards around them.  One thread. */
#ifndef RKB_GENERATOR_WRITER_H
#define RKB_GENERATOR_WRITER_H

#include "base/text.h"
#include "generator/text/index.h"
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
   uint32_t depth; /* depth of the block that has it */
   /* How many blocks further out it is declared, if it holds the value only in this block; else 0. */
   uint32_t hoisted;
} rkb_term_t;

typedef struct rkb_known {
   const rkb_index_t *index; /* a coordinate, or NULL: a value */
   uint32_t node;
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *once; /* or the text of a number that rkb_writer_once wrote */
   rkb_term_t term;
} rkb_known_t;

typedef struct rkb_block_text {
   rkb_text_t text;
   bool guard; /* loads may not move out of it */
   /* For a guard in a loop over lanes: its condition without the lane, where it is the same for all lanes; or
    * NULL. */
   const char *lanes;
} rkb_block_text_t;

enum rkb_parameter_type {
   RKB_PARAMETER_INPUT,
   RKB_PARAMETER_OUTPUT,
   RKB_PARAMETER_MAP, /* argument: its entry in the manifest's `maps:` */
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
   int64_t shared_bytes; /* most shared memory of a block */
   /* How many blocks own rows one after the other, in the manifest's language; NULL in launches without stretches. */
   const char *stretches;
   uint32_t heavy;          /* the one heavy node that may be computed element by element, or RKB_NO_NODE */
   const rkb_index_t *lane; /* the number of an element of a vector, or NULL */
   uint32_t width, lane_depth; /* elements of a vector; the block of the loop over lanes */
   uint32_t vector_node;       /* the node whose vector was loaded last, and the name of that vector */
   const char *vector;
   /* A thread owns places of several parts.  Guards that all samples pass, and guards that no sample passes, are
    * left out. */
   bool placed;
   uint32_t names; /* how many names were made up */
   /* Loads that a thread keeps for later passes over its row. */
   uint32_t keep; /* how many loads of each tensor it keeps; 0: none */
   /* Threads of a block that keeps them in shared memory; 0: each thread keeps its own in registers. */
   int64_t keep_threads;
   const char *keep_memory;          /* the name of that memory; NULL: nothing is kept there yet */
   int64_t keep_bytes;               /* bytes of that memory */
   /* The variable of this pass that numbers the kept loads; NULL outside passes. */
   const rkb_index_t *keep_variable;
   const char *keep_item; /* the name of a kept load's number */
   uint32_t keep_depth;   /* depth of the block that uses one of them in each round */
   struct rkb_kept {
      const char *buffer, *array, *type;
      uint32_t dtype;
      bool guarded;                          /* the load has a condition of its own */
      int64_t
         threads; /* threads of the block in whose shared memory it lies; 0: it lies in registers; negative: `array` is the part that this round uses */
      const rkb_index_t *element, *variable; /* the element and the loop variable in the pass that loaded it */
   } kept[8];
   uint32_t kept_count;
   /* Uniform bounds of joined coordinates, in addition to the numbers of elements of buffers. */
   const rkb_index_t *joined[16];
   uint32_t joined_count;
   struct rkb_local {
      uint32_t node;
      const char *text;
      const rkb_index_t *at[RKB_MAX_RANK];
      bool placed; /* at is set: the first coordinates at which the value was asked for */
   } locals[24];   /* values that a thread holds in variables of its own, each at one place */
   uint32_t local_count;
   struct rkb_pick {
      const char *text;
      const rkb_index_t *extent, *variable;
   } picks[32]; /* places that memory named: the same text is the same place */
   uint32_t pick_count;
   /* Places that a triangle keeps: those whose column - row is at most the diagonal, or, in an upper triangle, at least the diagonal. */
   struct rkb_shown {
      const rkb_index_t *row, *column, *diagonal;
      bool upper;
   } shown_places[4];
   uint32_t shown_count;
   struct rkb_parts {
      int64_t count;        /* threads of a block that share an element's sum; up to 1: one thread has it */
      int64_t threads;      /* of each part */
      uint32_t depth;       /* of the block in which all threads are */
      const char *elements; /* the name of the number of elements */
      bool divided, added;  /* whether the threads share a loop of the sum, and whether their sums are added */
   } parts;
   /* A share of a sum of powers is written as a power with the sum's logarithm in its exponent.  A division may call a function, and ptxas
    * waits for all products in flight around a call. */
   bool shares_are_powers;
   /* Products of an operand and a number that are replaced by the operand: the values computed from them apply the number instead. */
   uint32_t passed[9], passed_count;
   /* For shares whose scores lack their factor: the text of minus a 128th of the factor (NULL: the scores have their factor), and the node of
    * the largest score, whose text is that of rkb_online_largest_part. */
   const char *scale_part;
   uint32_t scaled_largest;
   bool shown; /* the triangles keep all current elements */
   const char *unroll; /* the pragma of the loop that is opened next; NULL: none */
   bool failed;
   char why[200];
} rkb_writer_t;

/* False: opening failed, and why says so. */
bool rkb_writer_open(rkb_writer_t *writer, rkb_graph_t *graph, rkb_arena_t *arena,
                     const rkb_storage_t *storage, const rkb_condition_t *conditions,
                     uint32_t condition_count);
void rkb_writer_close(rkb_writer_t *writer);
void rkb_writer_fail(rkb_writer_t *writer, const char *fmt, ...) RKB_PRINTF(2, 3);

/* Makes a copy of a writer for trial texts, which are thrown away and may use variables that no block declares.  The copy's
 * knowledge about indices is kept.  Do not use the writer itself between the two calls. */
void rkb_writer_try(rkb_writer_t *writer, rkb_writer_t *trial);
void rkb_writer_tried(rkb_writer_t *writer, rkb_writer_t *trial);

/* Sets the text that stands for a node's value from now on; a second call replaces it.  The writer fails if the value is needed at
 * other coordinates.  Never NULL; if there are too many, the writer fails. */
struct rkb_local *rkb_writer_local(rkb_writer_t *writer, uint32_t node, const char *text);
struct rkb_local *rkb_writer_find_local(rkb_writer_t *writer, uint32_t node); /* NULL: it is none */
void rkb_writer_forget_local(rkb_writer_t *writer, uint32_t node);

/* Write an indented line into the innermost block; open a block with its head line; close it. */
void rkb_write(rkb_writer_t *writer, const char *fmt, ...) RKB_PRINTF(2, 3);
/* Gives the loop that rkb_write_open opens next a pragma, which stays with its head: lines that move out of the loop come before both. */
void rkb_write_unroll(rkb_writer_t *writer, const char *line);
void rkb_write_open(rkb_writer_t *writer, bool guard, const char *fmt, ...) RKB_PRINTF(3, 4);
/* Opens a guard.  lanes: its condition, if it is the same for all lanes of a vector (NULL: it may differ).
 * Loads may then be made for all lanes before the loop, under the same condition. */
void rkb_write_guard(rkb_writer_t *writer, const char *lanes, const char *condition);
void rkb_write_close(rkb_writer_t *writer);
void rkb_write_close_with(rkb_writer_t *writer, const char *end); /* "};" of a lambda */
/* The text of the whole function body. */
const char *rkb_writer_body(rkb_writer_t *writer);

/* write_index.c: the coordinates of a reshape's element in its operand, or of the operand's element in the reshape.  The
 * writer remembers their bounds. */
void rkb_writer_reshape(rkb_writer_t *writer, const rkb_node_t *from, const rkb_index_t *const *at, const rkb_node_t *to,
                        const rkb_index_t **out);

/* write_index.c: moves a place outside an image to the first pixel, and returns the name of the condition that the place is inside.  Loads need
 * no guard then, so a thread loads the elements of all taps before it waits for any of them. */
const char *rkb_write_inside(rkb_writer_t *writer, const rkb_node_t *from, const char *guard,
                             const rkb_index_t **at);

/* Makes a loop variable of the innermost block. */
const rkb_index_t *rkb_writer_variable(rkb_writer_t *writer, const char *name, const rkb_index_t *extent);
/* Says that the innermost block declares a variable that was made before. */
const rkb_index_t *rkb_writer_known_variable(rkb_writer_t *writer, const rkb_index_t *variable);
/* An identifier that this kernel does not have yet. */
const char *rkb_writer_name(rkb_writer_t *writer, const char *wanted);
/* write_index.c: whether an index is declared in a block that is open. */
bool rkb_writer_knows(const rkb_writer_t *writer, const rkb_index_t *index);
/* An index as text that may stand in a product. */
const char *rkb_writer_index(rkb_writer_t *writer, const rkb_index_t *index);
/* The name of a parameter with the value of a uniform expression, or a literal. */
const char *rkb_writer_uniform(rkb_writer_t *writer, const rkb_index_t *index);
/* A name for a tensor that differs from the names that kernels declare; in the arena. */
const char *rkb_writer_beside(rkb_arena_t *arena, const char *name);
/* A parameter for a buffer; its name. */
const char *rkb_writer_buffer(rkb_writer_t *writer, const char *name, uint32_t dtype, bool written);
/* A parameter for a tensor map; its name. */
const char *rkb_writer_map(rkb_writer_t *writer, const char *name, const char *definition);
/* A parameter for a number that the manifest computes by an expression; its name. */
const char *rkb_writer_number(rkb_writer_t *writer, const char *word, const char *expression);
/* A real number: a literal or a parameter. */
const char *rkb_writer_real(rkb_writer_t *writer, const rkb_real_t *real);

/* Writes a number once in the block of this depth; the number must be the same everywhere inside.  word: what
 * its name begins with. */
rkb_term_t rkb_writer_once(rkb_writer_t *writer, const char *word, uint32_t depth, const char *text);
/* Notes that the innermost block has, under this name, the value that rkb_writer_once would write. */
void rkb_writer_know_once(rkb_writer_t *writer, const char *text, const char *name);
/* Adds a name that a block of this depth declares; the caller says what it stands for, before the next one is added. */
rkb_known_t *rkb_writer_remember(rkb_writer_t *writer, const char *text, uint32_t depth);
/* Says that a variable of the innermost block holds a value at these coordinates. */
void rkb_writer_know(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at, const char *text);
/* Writes a value, and returns the text by which an operand names it: a name or a literal; 0.0f after a failure. */
rkb_term_t rkb_write_value(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at);
/* The same with type float, whatever the value's dtype is. */
rkb_term_t rkb_write_float(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at);
/* write_heavy.c.  Writes the loops that compute one element of a heavy node. */
rkb_term_t rkb_write_heavy(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at);
/* write_load.c.  Loads the element at these coordinates of a node that memory has. */
rkb_term_t rkb_write_load(rkb_writer_t *writer, uint32_t node, const rkb_index_t *const *at);
/* A loaded element's text as a value: of float's type where it is a narrower float. */
const char *rkb_loaded_text(rkb_writer_t *writer, uint32_t dtype, const char *text);
/* The text that reads this element from what a thread keeps. */
const char *rkb_kept_load(rkb_writer_t *writer, const struct rkb_kept *kept, const rkb_index_t *element);
/* The text of its address in memory. */
const char *rkb_kept_address(rkb_writer_t *writer, const struct rkb_kept *kept, const rkb_index_t *element);
/* Stores a value (text) at an element number of a buffer. */
void rkb_write_store(rkb_writer_t *writer, const char *buffer, uint32_t dtype, const rkb_index_t *element,
                     const char *value);

/* The coordinates that an output's element has in an operand, which may be stretched. */
void rkb_operand_at(rkb_writer_t *writer, const rkb_node_t *node, uint32_t which,
                    const rkb_index_t *const *at, const rkb_index_t **operand);

/* Whether a node adds powers of e, as a softmax does: the sum is at least 1 and at most the row's length. */
bool rkb_is_sum_of_powers(const rkb_graph_t *graph, uint32_t number);
/* A coordinate counted from the other end of its dim. */
const rkb_index_t *rkb_flipped(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim,
                               const rkb_index_t *at);
/* The coordinates of a slice's operand, from those of its output. */
void rkb_sliced_at(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at,
                   const rkb_index_t **operand);
/* The coordinates of a permutation's operand, from those of its output. */
void rkb_permuted_at(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at,
                     const rkb_index_t **operand);

/* The variable for a place that memory names, called `wanted` if possible.  The same text stands for the same
 * place. */
const rkb_index_t *rkb_writer_picked(rkb_writer_t *writer, rkb_term_t pick, const rkb_index_t *extent, const char *wanted);
/* The coordinates of what a gather reads.  The place that memory names is a variable from here on. */
void rkb_gathered_at(rkb_writer_t *writer, const rkb_node_t *node, const rkb_index_t *const *at, const rkb_index_t **operand);

const char *rkb_storage_type(uint32_t dtype); /* "float", "__half" */
/* The type of a vector of writer->width elements. */
const char *rkb_pack_type(rkb_writer_t *writer, uint32_t dtype);
/* A number's text as a buffer's element. */
const char *rkb_stored_text(rkb_writer_t *writer, uint32_t dtype, const char *value);
const char *rkb_value_type(uint32_t dtype);   /* The C++ type of a variable in a kernel: "float", "long long". */

#endif
