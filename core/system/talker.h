/* One process that answers lines with lines.  Owns the process, its pipes and the end of its standard error; one thread at a
 * time. */
#ifndef RKB_SYSTEM_TALKER_H
#define RKB_SYSTEM_TALKER_H

#include <stdbool.h>
#include <rkb/ext/conversation.h>

typedef struct talker_program {
   const char *const *command, *const *environment; /* NULL-terminated */
   const char *directory;                           /* or NULL */
   const char *name;                                /* for messages; lives as long as the talker */
   size_t line_limit;
} talker_program_t;

typedef struct talker talker_t;

typedef struct talker_wait {
   uint64_t until_ns; /* CLOCK_MONOTONIC */
   bool (*cancelled)(void *whom);
   void *whom;
} talker_wait_t;

/* On failure *talker is NULL. */
int talker_start(const talker_program_t *program, talker_t **talker, rkb_error_t *err);
/* After any other return value than RKB_OK the process cannot be used any more: call talker_end. */
int talker_ask(talker_t *talker, const char *line, const talker_wait_t *wait, rkb_conversation_read_t read, void *argument,
               rkb_error_t *err);
void talker_end(talker_t *talker); /* kills the process group; NULL is accepted */

#endif
