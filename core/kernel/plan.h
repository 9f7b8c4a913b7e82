/* The state while a plan is made: its inputs, the names that its expressions may use, and its parts so far.
 * planner.c has the helpers.  One thread per plan. */
#ifndef RKB_KERNEL_PLAN_H
#define RKB_KERNEL_PLAN_H

#include "base/name_table.h"
#include "kernel/manifest.h"

/* The outcomes of the if()s in each let, and in each dim of each scratch buffer, in the manifest's order. */
typedef struct plan_choices {
   rkb_choices_t *expressions;
   uint32_t count;
} plan_choices_t;

typedef struct planner {
   const manifest_t *manifest;
   const rkb_build_t *build;
   const rkb_device_t *device;
   const rkb_case_t *the_case;
   rkb_lookup_t lookup; /* the case's dims, let names and attributes */
   void *argument;
   const rkb_device_t *named; /* the device whose properties expressions may name */
   rkb_decided_t decided;     /* called for each decision of an expression; may be NULL */
   void *decided_argument;
   bool *launched;           /* if not NULL, launches are marked here and not made */
   const rkb_plan_t *lender; /* the plan whose launches are borrowed; NULL: the launches whose `when` holds */
   plan_choices_t choices;
   const int64_t *tune;
   rkb_value_t *lets;
   uint32_t lets_known; /* how many of the lets have values, from the first on */
   rkb_arena_t *arena;
   rkb_plan_buffer_t *buffers;
   rkb_name_table_t buffer_names;
   rkb_plan_constant_t *constants;
   rkb_plan_launch_t *launches;
   rkb_plan_map_t *maps;
   uint32_t map_count;
   uint32_t buffer_count, constant_count, launch_count;
   rkb_finding_t *finding; /* keeps the first finding */
} planner_t;

void planner_find(planner_t *planner, const char *reason, rkb_place_t place, const char *fmt, ...)
   RKB_PRINTF(4, 5);
/* The value of a name in the planner's expressions: an rkb_lookup_t whose argument is the planner. */
bool planner_name(void *planner, const char *name, rkb_value_t *value);
/* Evaluates an expression; false after a finding (plan.expression). */
bool planner_value(planner_t *planner, const rkb_expression_t *expression, rkb_value_t *value);
bool planner_integer(planner_t *planner, const rkb_expression_t *expression, int64_t *value);
uint32_t planner_buffer(const planner_t *planner, const char *name); /* UINT32_MAX when there is none */
uint32_t planner_dtype_bytes(uint32_t dtype);

/* plan_maps.c: a tensor map of the manifest, evaluated when the first launch uses it.  UINT32_MAX: no map has
 * that name.  PLANNER_WRONG_MAP: the map is wrong, and there is a finding. */
#define PLANNER_WRONG_MAP (UINT32_MAX - 1)
uint32_t planner_map(planner_t *planner, const char *name);

/* plan_launch.c: appends the launch, evaluated and checked against the device.  Nothing is appended for an
 * empty grid. */
bool planner_launch(planner_t *planner, const manifest_launch_t *launch);
/* plan_arguments.c */
bool planner_arguments(planner_t *planner, const manifest_launch_t *launch, const rkb_built_kernel_t *kernel,
                       rkb_plan_launch_t *out);

/* A plan in an arena of its own, which rkb_plan_free frees.  choices: in the arena. */
rkb_plan_t *plan_adopt(rkb_arena_t *arena, const rkb_plan_t *plan, plan_choices_t choices);
/* The outcomes that a plan remembers; there are none if the plan was read from bytes. */
const plan_choices_t *plan_choices(const rkb_plan_t *plan);
size_t plan_bytes(const rkb_plan_t *plan); /* bytes of the plan's memory */

#endif
