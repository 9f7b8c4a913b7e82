/* The sizes of a task's graph as expressions of its dims.
 *
 * Functions of a reference graph are expanded after its dims are bound to numbers.  So a size inside the
 * graph is a number, which differs from case to case.  A kernel must run at all sizes, so it needs the expression.
 * The expression is found by value: among the expressions that the task's files use, and their products,
 * quotients, sums and differences, it is the first whose values equal the size's in all of RKB_PROBES random
 * cases.  The probes belong to one task; they do not change once made. */
#ifndef RKB_GENERATOR_GRAPH_SIZES_H
#define RKB_GENERATOR_GRAPH_SIZES_H

#include "base/arena.h"
#include "task/distinct_sizes.h"

#define RKB_PROBES 96u
#define RKB_CORNERS 128u
#define RKB_LARGEST 8u /* probes of the domain's largest sizes; they come after the others */

typedef struct rkb_size {
   const char *name; /* an identifier for a kernel's parameter */
   const char *text; /* the expression, in a manifest's language */
   bool constant;    /* the same number in all probes */
   int64_t at[RKB_PROBES];
} rkb_size_t;

typedef struct rkb_sizes {
   rkb_arena_t *arena;     /* borrowed */
   const rkb_task_t *task; /* borrowed */
   rkb_size_t *list;
   uint32_t count, room;
   rkb_bound_t *probes[RKB_PROBES]; /* owned; all programs have one structure */
   rkb_bound_t *largest[RKB_LARGEST];
   uint32_t largest_count;
   /* Shapes with a few dims at their largest; made when they are first asked for. */
   rkb_bound_t *corners[RKB_CORNERS];
   uint32_t corner_count;
   bool has_corners;
   uint32_t vocabulary; /* sizes 0 .. vocabulary - 1 are expressions of the task's files */
} rkb_sizes_t;

/* Draws the probes and reads the vocabulary.  On failure err says why, and there is nothing to free. */
int rkb_sizes_open(rkb_sizes_t *sizes, rkb_arena_t *arena, const rkb_task_t *task, rkb_error_t *err);
void rkb_sizes_close(rkb_sizes_t *sizes);

/* The size with these values; a new size where none has them.  UINT32_MAX: no expression was found. */
uint32_t rkb_sizes_find(rkb_sizes_t *sizes, const int64_t at[RKB_PROBES]);
uint32_t rkb_sizes_constant(rkb_sizes_t *sizes, int64_t value);
/* size_values.c.  The largest value of an expression in the domain's largest cases. */
double rkb_sizes_most(const rkb_sizes_t *sizes, const char *text);
/* Whether an expression exceeds a limit at some corner of the domain.  The corner must meet the condition
 * (NULL: all corners do), and its buffers, of so many bytes (NULL: none), must fit into a device's memory.
 * Searches only where the largest cases pass the limit. */
bool rkb_sizes_pass(rkb_sizes_t *sizes, const char *text, const char *when, const char *bytes, double limit);
/* The least that an expression is at a corner of the domain that meets the condition; HUGE_VAL: none does. */
double rkb_sizes_least(rkb_sizes_t *sizes, const char *text, const char *when);
/* The logarithm of an expression's geometric mean over the task's bench cases. */
double rkb_sizes_bench(const rkb_sizes_t *sizes, const char *text);
/* An expression's value in one bench case, at least 1. */
double rkb_sizes_bench_at(const rkb_sizes_t *sizes, const char *text, uint32_t index);
/* An expression's largest value in the bench cases. */
double rkb_sizes_bench_most(const rkb_sizes_t *sizes, const char *text);

/* A real number of the graph, and how a kernel gets it. */
typedef struct rkb_real {
   bool constant;
   double value;     /* of a constant */
   double least;     /* its least value in the probes */
   const char *text; /* if not constant: an expression of the manifest, or NULL */
   uint32_t root_of; /* if text is NULL: the number is 1 / sqrt of this size */
} rkb_real_t;
/* size_reals.c.  False: no expression was found. */
bool rkb_sizes_real(rkb_sizes_t *sizes, const double at[RKB_PROBES], rkb_real_t *real);

#endif
