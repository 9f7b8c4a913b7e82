/* Runs a program in double precision: whole tensors, or only the cone (the operands, recursively) of a few elements. */
#ifndef RKB_REFERENCE_EVALUATE_H
#define RKB_REFERENCE_EVALUATE_H

#include "reference/operation.h"

/* Where input elements come from.  fill writes elements index[0 .. count-1] of a tensor; an index of -1 gives zero.  Any thread may
 * call it. */
typedef struct rkb_source {
   int (*fill)(const void *argument, uint32_t tensor, uint64_t count, const int64_t *index, double *out);
   const void *argument;
} rkb_source_t;

/* Remembers points that were computed on demand, by (value, element).  One thread at a time. */
typedef struct rkb_memory rkb_memory_t;
rkb_memory_t *rkb_memory_new(uint32_t value_count, uint64_t limit_bytes);
void rkb_memory_free(rkb_memory_t *memory);

struct rkb_reader {
   const rkb_program_t *program;
   const rkb_precision_t *precision;
   rkb_source_t source;
   rkb_block_t
      *stored; /* by value; .value is NULL when it is not in memory, .hard is NULL when it is exact */
   rkb_memory_t *memory; /* when only points are computed; otherwise NULL */
   rkb_block_t spare;    /* for whole tensors: a freed tensor that has the size of the next one */
   uint64_t spare_elements;
   uint32_t
      pass; /* number of the pass; a deep graph gets its bounds from several passes (deep_graph_bounds.h) */
   struct rkb_deep_bounds_size *sizes; /* by value, over the passes of a deep graph; otherwise NULL */
   uint32_t depth; /* for points: how many computations of operations are nested at the moment */
   double work,
      most_work; /* for points: elements read and products formed so far, and their limit; 0: no limit */
};

/* The most bytes that rkb_evaluate_whole holds at any time. */
uint64_t rkb_evaluate_peak(const rkb_program_t *program);

/* Evaluates everything the outputs need.  outputs has one block per case tensor; the blocks of tensors that the program computes are
 * filled, and the caller releases each with rkb_block_free.  Returns RKB_ERR_LIMIT, before it allocates anything, when the peak
 * passes budget. */
int rkb_evaluate_whole(const rkb_program_t *program, const rkb_precision_t *precision,
                       const rkb_source_t *source, uint64_t budget, rkb_block_t *outputs, rkb_error_t *err);

/* Computes the points of listed elements of one value, using what memory already holds.  most_work limits the elements read plus
 * the products formed; beyond it the result is RKB_ERR_LIMIT. */
int rkb_evaluate_points(const rkb_program_t *program, const rkb_precision_t *precision,
                        const rkb_source_t *source, rkb_memory_t *memory, double most_work, uint32_t value,
                        uint64_t count, const int64_t *index, rkb_block_t *out, rkb_error_t *err);

/* Estimates whether the cone of these elements certainly passes the limit of work (estimate.c). */
bool rkb_points_pass_limit(const rkb_program_t *program, const rkb_memory_t *memory, double most_work,
                           uint32_t value, uint64_t count, const int64_t *index);
/* Estimates how many distinct numbers a set has, of which list holds count random draws; at most `most`.  Sorts the list. */
double rkb_estimate_distinct(uint64_t *list, uint64_t count, double most);

/* reader.c: runs a node's compute in pieces and adds the rounding of its storage type. */
int rkb_compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                rkb_block_t *out);
/* Adds the rounding of a node's storage type to computed points.  rkb_compute calls it itself. */
void rkb_round_storage(const rkb_program_t *program, const rkb_program_node_t *node, uint64_t count,
                       rkb_block_t *block);
/* Reads a whole input into memory as doubles.  *data is malloc'd. */
int rkb_load_input(rkb_reader_t *reader, uint32_t value, double **data);
/* Reads points of a costly value: from memory where known, otherwise computes and remembers them. */
int rkb_memory_read(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                    const int64_t *index, rkb_block_t *out);

#endif
