/* The program behind a process stage: its options, its greeting, and one question at a time.  Owns the conversation; any thread. */
#ifndef PROCESS_STAGE_STAGE_PROGRAM_H
#define PROCESS_STAGE_STAGE_PROGRAM_H

#include <jansson.h>
#include <rkb/ext/conversation.h>
#include <rkb/ext/random.h>
#include <rkb/items.h>
#include <stddef.h>

#define PROCESS_PROTOCOL 1 /* docs/process-stages.md; raised when an older program could misread a line */

typedef struct process_config {
   const char *const *command, *const *environment;
   const char *folder;
   uint64_t wait_ns;
} process_config_t;

/* The options, the same for every kind. */
extern const rkb_option_t PROCESS_OPTIONS[4];

typedef struct stage_program {
   const rkb_host_t *host;
   const rkb_conversation_api_t *api;
   const rkb_random_api_t *random;
   rkb_conversation_t *conversation;
} stage_program_t;

/* kind: "mutator".  setup: further members of the greeting, or NULL; takes ownership of it. */
int stage_program_open(stage_program_t *program, const rkb_host_t *host, const process_config_t *config, const char *kind, json_t *setup,
                       rkb_error_t *err);
/* Uses an answer: an object that has the question's number.  Any other value than RKB_OK refuses it, and its process is killed. */
typedef int (*stage_answer_use_t)(void *argument, const json_t *answer, rkb_error_t *err);

/* Asks a question and takes over the object.  about: its subject for messages, or "". */
int stage_program_ask(stage_program_t *program, rkb_job_t job, json_t *question, const char *about, stage_answer_use_t use, void *argument,
                      rkb_error_t *err);
void stage_program_close(stage_program_t *program);

/* Returns a number from the job's stream, from which the program makes its own random numbers: equal in every
 * run of the same seed (or secret). */
json_int_t stage_program_seed(const stage_program_t *program, rkb_job_t job);

/* create and destroy of every stage; the greeting holds what is special to its kind. */
int process_stage_create(const rkb_host_t *host, const process_config_t *config, const char *kind, void **self, rkb_error_t *err);

/* The current job, as the argument for using its answer. */
typedef struct process_job {
   const rkb_host_t *host;
   rkb_job_t job;
   const rkb_item_t *in;
} process_job_t;
void process_stage_destroy(void *self);

#endif
