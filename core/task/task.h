/* A loaded task directory: what must be computed, on which shapes, and the reference that defines what is right.
 * A task does not change after loading; any thread may call any function.  <rkb/ext/task.h> gives plugins the same functions; the
 * types (rkb_case_t, rkb_family_t, rkb_points_t, ...) come from that header. */
#ifndef RKB_TASK_TASK_H
#define RKB_TASK_TASK_H

#include <rkb/ext/task.h>
#include "base/problems.h"
#include "base/random.h"
#include "reference/dtype.h"

typedef struct rkb_task rkb_task_t; /* one task in one direction */

/* Loads task.yaml and reference.graph.yaml and checks the shapes of every case.  direction NULL: the first one listed.
 * memory_budget: bytes that one evaluation may use (0: 4 GiB).  NULL with problems added. */
rkb_task_t *rkb_task_load(const char *directory, const char *direction, uint64_t memory_budget,
                          rkb_problems_t *problems);
/* Whether directory has a task.yaml, whatever its content. */
bool rkb_task_exists(const char *directory);
void rkb_task_free(rkb_task_t *task);

const rkb_task_info_t *rkb_task_info(const rkb_task_t *task);
const char *const *rkb_task_directions(const rkb_task_t *task); /* NULL-terminated */
/* 64 hex digits of SHA-256 over task.yaml, the graph and the direction */
const char *rkb_task_hash(const rkb_task_t *task);
/* Identifies inputs and expected values: the task's hash plus the evaluator's source and build. */
const char *rkb_task_values_identity(const rkb_task_t *task);
uint32_t rkb_task_dim_count(const rkb_task_t *task);
/* The name of a dim, and its domain as written ("1..16384"). */
const char *rkb_task_dim(const rkb_task_t *task, uint32_t index, const char **domain);
/* The values that a dim may take: low to high in steps of multiple_of, or, when there are choices, one of
 * them.  Borrowed from the task. */
typedef struct rkb_task_domain {
   int64_t low, high, multiple_of;
   const int64_t *choices;
   uint32_t choice_count;
} rkb_task_domain_t;
rkb_task_domain_t rkb_task_dim_domain(const rkb_task_t *task, uint32_t index);
/* Condition number `index` that every shape satisfies, as written; NULL past the end. */
const char *rkb_task_require_at(const rkb_task_t *task, uint32_t index);
/* The operation of node number `index` of the forward graph, as the file names it ("layer_norm"); NULL past the end. */
const char *rkb_task_operation_at(const rkb_task_t *task, uint32_t index);
/* The name of float attribute number `index` and the least and the greatest of its choices; NULL past the end. */
const char *rkb_task_attribute_at(const rkb_task_t *task, uint32_t index, double *least, double *greatest);
/* The sizes of tensor number `tensor` in the direction's cases, as written in the file ("B, T, D"). */
const char *rkb_task_shape_text(const rkb_task_t *task, uint32_t tensor);
/* The name and the expression of let number `index`; NULL past the end. */
const char *rkb_task_let_at(const rkb_task_t *task, uint32_t index, const char **text);

/* Case number `index` of a kind; NULL past the end. */
const rkb_case_t *rkb_task_case(const rkb_task_t *task, uint32_t kind, uint32_t index);
int rkb_task_case_draw(const rkb_task_t *task, rkb_random_t *stream, double work, rkb_case_t **drawn,
                       rkb_error_t *err);
/* The same with equal dims: with all, every dim that admits one dim's value gets it; otherwise two dims are
 * equal.  RKB_ERR_LIMIT when no two dims admit one value. */
int rkb_task_case_draw_equal(const rkb_task_t *task, rkb_random_t *stream, double work, bool all,
                             rkb_case_t **drawn, rkb_error_t *err);
/* Makes a shape like the listed one, of at most `work` operations and few elements.  Dims are halved, the
 * largest first.  They keep their residues modulo 32, or modulo the highest lower power of two with which the
 * work suffices; choices and attributes stay.  Dim number `longest` is halved only when no other can be
 * (UINT32_MAX: no dim).  RKB_ERR_LIMIT when nothing so small fits the domain.  The caller frees it with
 * rkb_task_case_free. */
int rkb_task_case_reduced(const rkb_task_t *task, const rkb_case_t *listed, rkb_random_t *stream, double work,
                          uint32_t longest, rkb_case_t **drawn, rkb_error_t *err);
/* Makes a shape of at most `work` operations that is like another shape but for one dim.  This dim has the value, or the value of its
 * domain next to it.  RKB_ERR_LIMIT when no such shape is in the domain.  The caller frees it with rkb_task_case_free. */
int rkb_task_case_with_dim(const rkb_task_t *task, const rkb_case_t *like, rkb_random_t *stream, uint32_t dim,
                           int64_t value, double work, rkb_case_t **made, rkb_error_t *err);
/* The same with all dims given; RKB_ERR_LIMIT also where one of them is not in its domain.  With work INFINITY the case may need more memory than any
 * machine has. */
int rkb_task_case_with_dims(const rkb_task_t *task, const rkb_case_t *like, rkb_random_t *stream,
                            const int64_t *dims, double work, rkb_case_t **made, rkb_error_t *err);
/* The least and the largest value of a dim. */
void rkb_task_dim_range(const rkb_task_t *task, uint32_t dim, int64_t *low, int64_t *high);
/* The names of many shapes with a case's attributes, far faster than a case is made.  The case outlives them.  set: false where the shape is not in the
 * domain; lookup: as rkb_case_lookup, of the shape that was set last. */
typedef struct rkb_shape_names rkb_shape_names_t;
rkb_shape_names_t *rkb_shape_names_new(const rkb_task_t *task, const rkb_case_t *like);
void rkb_shape_names_free(rkb_shape_names_t *names);
bool rkb_shape_names_set(rkb_shape_names_t *names, const int64_t *dims);
bool rkb_shape_names_lookup(const rkb_shape_names_t *names, const char *name, bool *is_real, int64_t *integer,
                            double *real);
/* Makes corner number `index` of the domain: up to three dims at their maximum, the others at their minimum.  *corner is NULL where
 * these sizes do not fit together.  RKB_ERR_LIMIT past the last corner.  The case may need more memory than any machine has.
 * The caller frees it with rkb_task_case_free. */
int rkb_task_case_corner(const rkb_task_t *task, uint32_t index, rkb_case_t **corner, rkb_error_t *err);
/* Makes the same case under another init setting of the task (NULL: the tensors' own recipes).  The caller frees it with
 * rkb_task_case_free. */
int rkb_task_case_with_init(const rkb_task_t *task, const rkb_case_t *the_case, const char *setting,
                            rkb_case_t **drawn, rkb_error_t *err);
void rkb_task_case_free(rkb_case_t *drawn);
/* The value of a dim, a let, or an integer or float attribute of a case; expressions in manifests use this. */
bool rkb_case_lookup(const rkb_task_t *task, const rkb_case_t *the_case, const char *name, bool *is_real,
                     int64_t *integer, double *real);

const rkb_family_t *rkb_task_family(const rkb_task_t *task, const rkb_case_t *the_case, uint32_t index);
int rkb_task_inputs_open(const rkb_task_t *task, const rkb_case_t *the_case, const rkb_family_t *family,
                         uint64_t seed, rkb_inputs_t **inputs, rkb_error_t *err);
/* Limits the elements read plus products formed in one call of expect_points (default 3e10: tens of seconds). */
void rkb_task_inputs_limit(rkb_inputs_t *inputs, double work);
void rkb_task_inputs_plant(rkb_inputs_t *inputs, const uint32_t *words, uint32_t count);
void rkb_task_inputs_note(rkb_inputs_t *inputs);
const uint64_t *rkb_task_inputs_noted(const rkb_inputs_t *inputs, uint32_t tensor);
void rkb_task_inputs_free(rkb_inputs_t *inputs);
int rkb_task_inputs_fill(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first, uint64_t count,
                         void *out, rkb_error_t *err);
int rkb_task_expect(const rkb_inputs_t *inputs, rkb_expected_t **expected, rkb_error_t *err);
rkb_points_t rkb_task_expected_points(const rkb_expected_t *expected, uint32_t tensor);
uint64_t rkb_task_expected_peak_bytes(const rkb_expected_t *expected); /* peak memory of the evaluation */
void rkb_task_expected_free(rkb_expected_t *expected);
int rkb_task_expect_points(const rkb_inputs_t *inputs, uint32_t tensor, const uint64_t *elements,
                           uint64_t count, double *value, double *hard, double *stat, uint8_t *flags,
                           rkb_error_t *err);
/* Element number i of a tensor whose bytes lie in memory, as a double.  Any thread. */
double rkb_task_element(const rkb_tensor_t *tensor, const void *bytes, uint64_t i);
int rkb_task_judge(const rkb_inputs_t *inputs, uint32_t tensor, const void *data, const double *shadow,
                   const rkb_points_t *points, const uint64_t *elements, bool transform,
                   rkb_judgement_t *judgement, rkb_error_t *err);
int rkb_task_input_matters(const rkb_inputs_t *inputs, uint32_t tensor, bool *matters, rkb_error_t *err);
/* Sets how many threads the calling thread's evaluations may use from now on. */
void rkb_task_use_threads(int threads);
/* Settles what forks of this process would otherwise settle anew before they evaluate.  Call it before there are threads. */
void rkb_task_before_forks(void);

#endif
