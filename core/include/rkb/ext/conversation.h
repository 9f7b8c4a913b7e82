/* rkb/ext/conversation.h - talk to another program in lines.  Extension "rkb.conversation/1".
 *
 * A conversation is a program and as many processes of it as there are questions at one time.  A process is started when a question
 * finds none free, is greeted once, and is kept for later questions.  Each question is one line, each answer is one line.  A process that
 * ends, is late, writes more than it may, or whose answer is refused, is killed with its whole process group; the next question starts
 * another one.
 *
 * A process gets an environment of PATH and the variables that are named, and no descriptor but the standard three.
 */
#ifndef RKB_EXT_CONVERSATION_H
#define RKB_EXT_CONVERSATION_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_CONVERSATION "rkb.conversation/1"

/* Reads an answer, without its newline; a NUL follows it.  Any other value than RKB_OK refuses it, and the process is killed. */
typedef int (*rkb_conversation_read_t)(void *argument, const char *line, size_t bytes, rkb_error_t *err);

typedef struct rkb_conversation_spec {
   uint32_t size;
   uint32_t reserved;
   const char *const *command;     /* NULL-terminated; command[0] is looked up on PATH unless it has a slash */
   const char *const *environment; /* names of variables that it gets in addition to PATH, NULL-terminated, or NULL */
   const char *directory;          /* its working directory, or NULL for the caller's */
   const char *greeting;           /* the first line to each process, without its newline */
   rkb_conversation_read_t greeted; /* reads the answer to the greeting; called from the thread that asks */
   void *argument;                 /* of greeted */
   uint64_t wait_ns;               /* longest wait for an answer; a job's own deadline may come sooner */
   size_t line_limit;              /* bytes of a question or an answer */
} rkb_conversation_spec_t;

typedef struct rkb_conversation rkb_conversation_t;

typedef struct rkb_conversation_api {
   uint32_t size;
   uint32_t reserved;

   /* Copies the spec; starts nothing yet.  Owned: close it in destroy.  [any] */
   int (*open)(const rkb_host_t *host, const rkb_conversation_spec_t *spec, rkb_conversation_t **conversation, rkb_error_t *err);

   /* Asks one question and reads its answer.  job may be 0: wait_ns alone bounds the wait then.  RKB_ERR_UNAVAILABLE: the program could
    * not be started, or it ended, and the message has its last words; RKB_ERR_TIMEOUT: it was late; RKB_ERR_CANCELLED: the job was
    * cancelled; RKB_ERR_LIMIT: a line was too long; otherwise what read returned.  Blocks.  [any] */
   int (*ask)(const rkb_host_t *host, rkb_conversation_t *conversation, rkb_job_t job, const char *line, rkb_conversation_read_t read,
              void *argument, rkb_error_t *err);

   /* Kills every process of it.  No question may be open.  NULL is accepted.  [any] */
   void (*close)(rkb_conversation_t *conversation);
} rkb_conversation_api_t;

#ifdef __cplusplus
}
#endif
#endif
