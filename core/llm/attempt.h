/* One attempt at a question: sent over HTTP (http_exchange.c) or passed to a program (command_exchange.c).
 * Blocks; any thread except the loop's. */
#ifndef RKB_LLM_ATTEMPT_H
#define RKB_LLM_ATTEMPT_H

#include "llm/rate_limits.h"
#include "llm/provider.h"

enum rkb_attempt_end {
   RKB_ATTEMPT_REPLIED = 1, /* reply holds a whole reply */
   RKB_ATTEMPT_REJECTED,    /* the provider would reject a retry too, so there is none */
   RKB_ATTEMPT_FAILED,      /* a retry may succeed */
   RKB_ATTEMPT_UNREADABLE,  /* a reply came, but it cannot be used */
   RKB_ATTEMPT_CANCELLED
};

typedef struct rkb_attempt {
   /* input */
   const rkb_model_t *model;
   const char *key;  /* or NULL */
   const char *body; /* canonical */
   const rkb_llm_question_t *question;
   uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
   rkb_give_up_t give_up;
   void *argument;
   /* output */
   uint32_t end; /* enum rkb_attempt_end */
   rkb_reply_t reply;
   bool unsent;             /* the provider certainly received nothing */
   bool unbilled;           /* the provider answered with an error status, which providers do not charge */
   uint64_t retry_after_ns; /* the wait that the server asked for; 0: none */
   double seconds;
} rkb_attempt_t;

void rkb_attempt_http(rkb_loop_t *loop, rkb_http_t *http, rkb_attempt_t *attempt);
void rkb_attempt_command(rkb_attempt_t *attempt);

#endif
