/* The command that starts a worker on this machine or another: its words and its environment.  It is filled once; then any thread may read it. */
#ifndef RKB_SYSTEM_WORKER_COMMAND_H
#define RKB_SYSTEM_WORKER_COMMAND_H

#include "system/pipe_process.h"

enum { RKB_PEER_COMMAND_WORDS = 32, RKB_PEER_COMMAND_VARIABLES = 24 };

typedef struct rkb_worker_command {
   char *words[RKB_PEER_COMMAND_WORDS + 1]; /* NULL-terminated */
   uint32_t word_count;
   char *environment[RKB_PEER_COMMAND_VARIABLES + 1]; /* "NAME=value", NULL-terminated */
   uint32_t variable_count;
} rkb_worker_command_t;

/* Each function appends words or a variable.  False: there is no room, or nothing to append.  A NULL list is empty. */
bool rkb_worker_command_add_words(rkb_worker_command_t *command, const char *const *words);
bool rkb_worker_command_add_split(rkb_worker_command_t *command, const char *text);      /* split at spaces */
bool rkb_worker_command_add_setting(rkb_worker_command_t *command, const char *setting); /* "NAME=value" */
/* Passes variables of this process on by name; variables that are not set are left out. */
bool rkb_worker_command_pass(rkb_worker_command_t *command, const char *const *names);
void rkb_worker_command_clear(rkb_worker_command_t *command);

/* Starts the command as rkb_pipe_process_start does, with `last` as an additional word unless it is NULL. ssh gets options that make it
 * notice within a minute that the other side is gone, unless the command has such options. */
int rkb_worker_command_start(const rkb_worker_command_t *command, const char *last, rkb_pipe_process_t *peer,
                             rkb_error_t *err);

#endif
