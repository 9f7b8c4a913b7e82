/* Opens the pipeline that the user named, with the options that several commands share. */
#ifndef RKB_CLI_SHARED_PIPELINE_FILE_H
#define RKB_CLI_SHARED_PIPELINE_FILE_H

#include "cli/shared/arguments.h"
#include "pipeline/pipeline.h"

/* Rows for a command's option table, read by rkb_open_pipeline. */
#define RKB_PIPELINE_OPTIONS                                                                                 \
   {"task", "DIR", "Use this task directory, or the shipped task of this name, instead of the pipeline's.", false},                             \
      {"direction", "D", "forward or backward, instead of the pipeline's.", false},                          \
      {"target", "PROFILE", "Device profile, instead of the pipeline's.", false},                            \
      {"set", "PATH=VALUE", "Change one value of the pipeline, e.g. screen.machine.with.trials=4.", true}, { \
      "plugin-path", "PATH", "Look for plugins in this file or directory too.", true                         \
   }

/* Prints every problem to standard error; NULL when one of them is an error. */
rkb_pipeline_t *rkb_open_pipeline(const rkb_arguments_t *arguments, const char *path);
/* The same with another task directory and direction. */
rkb_pipeline_t *rkb_open_pipeline_for(const rkb_arguments_t *arguments, const char *path, const char *task,
                                      const char *direction);
/* Asks the servers of a pipeline's models for them.  Prints a line to standard error for each model that a
 * run cannot ask: no key, no answer, no such model.  Returns RKB_EXIT_OK; RKB_EXIT_USAGE if only keys are
 * missing; otherwise RKB_EXIT_BROKEN. */
int rkb_look_for_models(const struct rkb_models *models);
/* The same for commands that run nothing.  It reads the file without its plugins, and sends keys only to the
 * providers' own addresses. */
int rkb_say_models(const rkb_arguments_t *arguments, const char *path);
/* Says why path cannot be opened (errno), and suggests a near name: a file beside it, or a shipped file of folder ("pipelines"; NULL:
 * none). */
void rkb_say_absent(const char *folder, const char *path);
/* Prints the collected problems to standard error and frees them. */
void rkb_say_problems(rkb_problems_t *problems);
/* The name of a section, as in the file: "screen". */
const char *rkb_graph_section(uint32_t section);
/* "1h", "10 m 00 s" or "none" for 0. */
const char *rkb_spell_limit(uint64_t nanoseconds, char *out, size_t size);

#endif
