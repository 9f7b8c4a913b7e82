/* A model writes another prompt for a judge, from the prompt that it has and the verdicts in which that went wrong.  Questions and their cost are
 * kept in an archive of their own, so a reply is bought once.  The main thread calls; the question waits on a thread of its own while an
 * event loop turns here. */
#ifndef RKB_CLI_JUDGE_PROMPT_WRITER_H
#define RKB_CLI_JUDGE_PROMPT_WRITER_H

#include <rkb/plugin.h>

/* A verdict that was wrong: "wrong (race), and it was accepted: no fault found", and the kernel's text. */
typedef struct rkb_mistake {
   char *label, *text;
} rkb_mistake_t;

typedef struct rkb_prompt_writer {
   const char *pipeline;  /* path of the file whose models: are meant */
   const char *model;     /* a name there */
   const char *directory; /* of the archive; is made */
   uint64_t seed;
   double cost_usd; /* the most that all questions may cost; negative: no limit */
} rkb_prompt_writer_t;

/* Asks for the prompt of this round.  prompt: the text of the best one so far.  *written is owned; it is a prompt that can be filled and
 * has no slot but those of prompt.  RKB_ERR_UNAVAILABLE: the model gave none, and err says why. */
int rkb_prompt_writer_ask(const rkb_prompt_writer_t *writer, uint32_t round, const char *prompt,
                          const rkb_mistake_t *mistakes, uint32_t count, char **written, rkb_error_t *err);

#endif
