/* What a stage or a strategy does when it is used: in a process of its own, for it may crash or hang. */
#ifndef RKB_TOOLS_PLUGIN_TEST_TRIAL_H
#define RKB_TOOLS_PLUGIN_TEST_TRIAL_H

#include <rkb/strategy.h>
#include "tools/plugin_test/trial_lines.h"

/* with: its options in YAML, or NULL for the defaults. */
void stage_trial(const rkb_stage_t *stage, const char *with, report_t *report);
void strategy_trial(const rkb_strategy_t *strategy, const char *with, report_t *report);

/* task_trial.c: the stage in a run of the engine, with real kernels of a task.  Every broken contract is one of the report's, and a job that
 * cannot be done is untried. */
typedef struct task_trial {
   const char *plugin;    /* the shared object */
   const char *task;      /* directory, or the name of one that ships */
   const char *direction; /* NULL: the task's first */
} task_trial_t;
void task_trial(const rkb_stage_t *stage, const char *with, const task_trial_t *task, report_t *report);

/* trial_config.c: a config struct filled from with, followed by guard bytes.  NULL when it cannot be made, after reporting
 * why; *required tells that it is for options that have no default. */
typedef struct trial_config {
   void *bytes;
   size_t size;
   struct rkb_arena *arena;
} trial_config_t;
bool trial_config_make(const char *id, const rkb_option_t *options, uint32_t count, size_t size,
                       const char *with, trial_config_t *config, report_t *report);
bool trial_config_intact(const trial_config_t *config); /* nothing was written past its end */
void trial_config_free(trial_config_t *config);
/* Alignment and overlap of an option table, which the loader does not look at. */
void trial_offsets(const char *id, const rkb_option_t *options, uint32_t count, report_t *report);

#endif
