/* One process that reads a line and answers with a line.  Owns the process, its pipes and the last bytes of its standard error; one thread at a time. */
#ifndef RKB_SYSTEM_LINE_PROCESS_H
#define RKB_SYSTEM_LINE_PROCESS_H

#include <stdbool.h>
#include <rkb/ext/conversation.h>

typedef struct talker_program {
   const char *const *command, *const *environment; /* NULL-terminated */
   const char *directory;                           /* or NULL */
   const char *name;                                /* for messages; lives as long as the talker */
   size_t line_limit;
} talker_program_t;

typedef struct line_process line_process_t;

typedef struct talker_wait {
   uint64_t until_ns; /* CLOCK_MONOTONIC */
   bool (*cancelled)(void *whom);
   void *whom;
} talker_wait_t;

/* Starts the process.  On failure *talker is NULL. */
int line_process_start(const talker_program_t *program, line_process_t **talker, rkb_error_t *err);
/* Sends a line and waits for the answer.  If the return value is not RKB_OK, the process can no longer be used: call line_process_end. */
int line_process_ask(line_process_t *talker, const char *line, const talker_wait_t *wait,
                     rkb_conversation_read_t read, void *argument, rkb_error_t *err);
void line_process_end(line_process_t *talker); /* kills the process group; NULL is accepted */

#endif
