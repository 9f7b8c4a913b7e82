/* A model writes another prompt for a judge, from its present prompt and its wrong verdicts.  Questions and
 * their cost are stored in an archive of their own, so that a reply is bought only once.  The main thread
 * calls; the question waits on a thread of its own while an event loop runs here. */
#ifndef RKB_CLI_JUDGE_PROMPT_WRITER_H
#define RKB_CLI_JUDGE_PROMPT_WRITER_H

#include <rkb/plugin.h>

/* A wrong verdict: "wrong (race), and it was accepted: no fault found", and the kernel's text. */
typedef struct rkb_mistake {
   char *label, *text;
} rkb_mistake_t;

typedef struct rkb_prompt_writer {
   const char *pipeline;  /* path of the pipeline file whose models: are used */
   const char *model;     /* name of one of its models */
   const char *directory; /* directory of the archive; it is made */
   uint64_t seed;
   double cost_usd; /* cost limit for all questions; negative: no limit */
} rkb_prompt_writer_t;

/* Asks for the prompt of this round.  prompt: the text of the best prompt so far.  *written is owned; it is a
 * prompt that can be filled and has only slots of the given prompt.  RKB_ERR_UNAVAILABLE: the model gave no
 * such prompt, and err says why. */
int rkb_prompt_writer_ask(const rkb_prompt_writer_t *writer, uint32_t round, const char *prompt,
                          const rkb_mistake_t *mistakes, uint32_t count, char **written, rkb_error_t *err);

#endif
