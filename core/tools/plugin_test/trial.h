/* Uses a stage or a strategy in a process of its own, because it may crash or hang. */
#ifndef RKB_TOOLS_PLUGIN_TEST_TRIAL_H
#define RKB_TOOLS_PLUGIN_TEST_TRIAL_H

#include <rkb/strategy.h>
#include "tools/plugin_test/trial_lines.h"

/* with: its options in YAML, or NULL for the defaults. */
void stage_trial(const rkb_stage_t *stage, const char *with, report_t *report);
void strategy_trial(const rkb_strategy_t *strategy, const char *with, report_t *report);

/* task_trial.c: runs the stage in the engine, with real kernels of a task.  A broken contract fails the
 * clause, and a job that cannot be done leaves it untried. */
typedef struct task_trial {
   const char *plugin;    /* the shared object */
   const char *task;      /* a directory, or the name of a shipped task */
   const char *direction; /* NULL: the task's first */
} task_trial_t;
void task_trial(const rkb_stage_t *stage, const char *with, const task_trial_t *task, report_t *report);

/* trial_config.c: a config struct filled from `with`, followed by guard bytes.  NULL when it cannot be made,
 * after the report says why; *required tells that an option without a default was missing. */
typedef struct trial_config {
   void *bytes;
   size_t size;
   struct rkb_arena *arena;
} trial_config_t;
bool trial_config_make(const char *id, const rkb_option_t *options, uint32_t count, size_t size,
                       const char *with, trial_config_t *config, report_t *report);
bool trial_config_intact(const trial_config_t *config); /* true: nothing was written past its end */
void trial_config_free(trial_config_t *config);
/* Checks alignment and overlap in an option table, which the loader does not. */
void trial_offsets(const char *id, const rkb_option_t *options, uint32_t count, report_t *report);

#endif
