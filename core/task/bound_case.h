/* A case with its numbers: tensors, recipes and the program of one direction.  Immutable once bound, but for the pools. */
#ifndef RKB_TASK_BOUND_CASE_H
#define RKB_TASK_BOUND_CASE_H

#include "base/name_table.h"
#include "task/definition.h"
#include "task/drawn_element_lists.h"
#include "reference/evaluate.h"

typedef struct rkb_recipe {
   uint32_t kind;        /* enum rkb_init_kind; 0: not an input */
   double first, second; /* its parameters */
   uint32_t structure;   /* enum rkb_structure */
   bool masked;          /* some elements may be minus infinity */
} rkb_recipe_t;

typedef struct rkb_family_list rkb_family_list_t;

typedef struct rkb_bound {
   rkb_case_t view;    /* what other code sees; first member, so a rkb_case_t pointer converts to this type */
   rkb_arena_t *arena; /* owned */
   const rkb_definition_t *definition;
   bool backward;
   int64_t *let_values;
   bool *let_is_real;
   double *let_reals;
   uint32_t lets_known;                     /* lets evaluated so far, in order */
   const rkb_tensor_definition_t **origins; /* by case tensor */
   rkb_recipe_t *recipes;                   /* by case tensor */
   rkb_program_t *program;
   rkb_program_t *steps; /* the program, and what kernels keep beside its values: given_values.h */
   rkb_precision_t precision;
   rkb_family_list_t *families;
   uint64_t budget; /* the memory, in bytes, that one evaluation may use */
   rkb_drawn_lists_t pools; /* owned */
} rkb_bound_t;

static inline const rkb_bound_t *rkb_bound_of(const rkb_case_t *the_case) {
   return (const rkb_bound_t *)the_case;
}

/* Binds a case.  dims has one number per dim of the definition.  `what` names the case in messages.  Returns
 * NULL after adding problems. */
rkb_bound_t *rkb_bound_new(const rkb_definition_t *definition, bool backward, const char *name, uint32_t kind,
                           const int64_t *dims, const double *attributes, const rkb_init_setting_t *setting,
                           uint64_t budget, rkb_place_t place, rkb_problems_t *problems);
/* The same in two steps.  begin makes everything except operations, bytes and families; a caller that finds
 * the case too large needs none of them.  complete returns false when the case needs more families than there
 * may be; then the caller may only free it. */
rkb_bound_t *rkb_bound_begin(const rkb_definition_t *definition, bool backward, bool whole_layers,
                             const char *name, uint32_t kind, const int64_t *dims, const double *attributes,
                             const rkb_init_setting_t *setting, uint64_t budget, rkb_place_t place,
                             rkb_problems_t *problems);
bool rkb_bound_complete(rkb_bound_t *bound);
void rkb_bound_free(rkb_bound_t *bound);
bool rkb_bound_lookup(void *bound, const char *name, rkb_value_t *value); /* an rkb_lookup_t */

/* The least bytes that any evaluation must move: each input that reaches an output once, and each output once (input_influence.c). */
double rkb_bound_least_bytes(const rkb_bound_t *bound);

rkb_precision_t rkb_precision_of(const char *name);

/* Building the forward graph (graph_build.c).  rkb_graph_value finds values by their names in the graph.  False: the program
 * failed. */
typedef struct rkb_graph_scope {
   rkb_name_table_t names;
   uint32_t *values;
} rkb_graph_scope_t;
bool rkb_graph_build(rkb_bound_t *bound, rkb_graph_scope_t *scope, rkb_problems_t *problems);
uint32_t rkb_graph_value(const rkb_graph_scope_t *scope, const char *name);

/* families.c */
bool rkb_families_build(rkb_bound_t *bound);

#endif
