/* Running a program in double precision: whole tensors, or only the cone of a few elements. */
#ifndef RKB_REFERENCE_EVALUATE_H
#define RKB_REFERENCE_EVALUATE_H

#include "reference/operation.h"

/* Where input elements come from.  fill writes elements index[0 .. count-1] of a tensor (an index of -1:
 * zero).  Any thread. */
typedef struct rkb_source {
   int (*fill)(const void *argument, uint32_t tensor, uint64_t count, const int64_t *index, double *out);
   const void *argument;
} rkb_source_t;

/* Points computed on demand, kept by (value, element); one thread at a time. */
typedef struct rkb_memory rkb_memory_t;
rkb_memory_t *rkb_memory_new(uint32_t value_count, uint64_t limit_bytes);
void rkb_memory_free(rkb_memory_t *memory);

struct rkb_reader {
   const rkb_program_t *program;
   const rkb_precision_t *precision;
   rkb_source_t source;
   rkb_block_t *stored;    /* by value: .value NULL when it is not in memory, .hard NULL when it is exact */
   rkb_memory_t *memory;   /* points mode, or NULL */
   rkb_block_t spare;      /* whole tensors: one that was freed and has the next one's size */
   uint64_t spare_elements;
   double work, most_work; /* points mode: elements read and products formed so far, and the most; 0: any */
};

/* Bytes the whole evaluation will hold at its peak. */
uint64_t rkb_evaluate_peak(const rkb_program_t *program);

/* Evaluates everything the outputs need.  outputs has one block a case tensor, filled for those that the
 * program computes (release each with rkb_block_free).  RKB_ERR_LIMIT before anything is allocated when the
 * peak passes budget. */
int rkb_evaluate_whole(const rkb_program_t *program, const rkb_precision_t *precision,
                       const rkb_source_t *source, uint64_t budget, rkb_block_t *outputs, rkb_error_t *err);

/* Points of listed elements of one value, with what memory already knows.  most_work: elements read and products formed
 * for them; beyond it RKB_ERR_LIMIT. */
int rkb_evaluate_points(const rkb_program_t *program, const rkb_precision_t *precision,
                        const rkb_source_t *source, rkb_memory_t *memory, double most_work, uint32_t value,
                        uint64_t count, const int64_t *index, rkb_block_t *out, rkb_error_t *err);

/* estimate.c: whether the cone of these elements certainly passes the limit of work. */
bool rkb_points_pass_limit(const rkb_program_t *program, const rkb_memory_t *memory, double most_work,
                           uint32_t value, uint64_t count, const int64_t *index);
/* About how many different numbers there are, of which list has count drawn at random; at most so many.  Sorts the list. */
double rkb_estimate_distinct(uint64_t *list, uint64_t count, double most);

/* Runs a node's compute in pieces and adds the rounding of its storage type. */
int rkb_compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                rkb_block_t *out);
/* Reads all of an input into memory, as double; malloc'd. */
int rkb_load_input(rkb_reader_t *reader, uint32_t value, double **data);
/* Counts a read of an input; once half of it was asked for, and it fits, the whole of it is kept in memory.
 */
int rkb_memory_note(rkb_reader_t *reader, uint32_t value, uint64_t count);
/* Points of a costly value through the memory. */
int rkb_memory_read(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                    const int64_t *index, rkb_block_t *out);

#endif
