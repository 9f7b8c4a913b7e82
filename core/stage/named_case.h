/* The names of a case - its dims, lets and attributes - as a manifest's expressions look them up. */
#ifndef RKB_STAGE_NAMED_CASE_H
#define RKB_STAGE_NAMED_CASE_H

#include "kernel/kernel.h"
#include "task/task.h"

typedef struct named_case {
   const rkb_task_t *task;
   const rkb_case_t *the_case;
} named_case_t;

/* An rkb_lookup_t; its argument is a named_case_t. */
static inline bool named_case_lookup(void *argument, const char *name, rkb_value_t *value) {
   const named_case_t *at = argument;
   return rkb_case_lookup(at->task, at->the_case, name, &value->is_real, &value->integer, &value->real);
}

#endif
