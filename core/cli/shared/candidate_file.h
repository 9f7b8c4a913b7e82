/* A candidate named on a command line: its text and manifest, its task, the target's profile, and tune values. */
#ifndef RKB_CLI_SHARED_CANDIDATE_FILE_H
#define RKB_CLI_SHARED_CANDIDATE_FILE_H

#include "cli/shared/arguments.h"
#include "kernel/kernel.h"
#include "task/task.h"

typedef struct rkb_candidate_file {
   const char *path;
   char *source;
   rkb_manifest_t *manifest;
   rkb_task_t *task;
   rkb_device_t *device;
   char *tune; /* JSON object */
} rkb_candidate_file_t;

/* Reads path, and the options --task DIR, --direction D, --target PROFILE and --tune NAME=VALUE; the command's table may lack any of
 * them.  Without --task, looks for tasks/<manifest's task> in the directories above the file, then among the shipped tasks.  Prints
 * every problem; returns RKB_EXIT_OK or RKB_EXIT_USAGE.  Call rkb_candidate_file_free in both cases. */
int rkb_candidate_file_load(const rkb_arguments_t *arguments, const char *path, rkb_candidate_file_t *file);
void rkb_candidate_file_free(rkb_candidate_file_t *file);

/* rkb_lookup_t over a case of the task. */
typedef struct rkb_case_names {
   const rkb_task_t *task;
   const rkb_case_t *the_case;
} rkb_case_names_t;
bool rkb_case_names_find(void *argument, const char *name, rkb_value_t *value);

#endif
