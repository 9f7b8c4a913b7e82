/* A candidate named on a command line: its text and manifest, the task it is for, the target's profile, a
 * tune assignment. */
#ifndef RKB_CLI_CANDIDATE_FILE_H
#define RKB_CLI_CANDIDATE_FILE_H

#include "cli/arguments.h"
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

/* Reads path and what the command's options --task DIR, --direction D, --target PROFILE and --tune NAME=VALUE
 * say of it (each may be missing from the command's table).  Without --task: tasks/<manifest's task> in one
 * of the directories above the file, then the shipped ones.  Prints every problem; returns RKB_EXIT_OK or
 * RKB_EXIT_USAGE.  Release with rkb_candidate_file_free either way. */
int rkb_candidate_file_load(const rkb_arguments_t *arguments, const char *path, rkb_candidate_file_t *file);
void rkb_candidate_file_free(rkb_candidate_file_t *file);

/* rkb_lookup_t over a case of the task. */
typedef struct rkb_case_names {
   const rkb_task_t *task;
   const rkb_case_t *the_case;
} rkb_case_names_t;
bool rkb_case_names_find(void *argument, const char *name, rkb_value_t *value);

#endif
