/* A prompt that a judge may get, its figures, and functions that show the figures of several.  Only the main
 * thread. */
#ifndef RKB_CLI_JUDGE_PROMPT_VARIANT_H
#define RKB_CLI_JUDGE_PROMPT_VARIANT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>

enum { RKB_VARIANT_HASH = 12 }; /* digits, enough to name a folder among a few dozen */

typedef struct rkb_prompt_variant {
   char *origin; /* the name of its file, or "written in round 1" */
   char *text;
   char *path;                      /* path of its copy */
   char hash[RKB_VARIANT_HASH + 1]; /* hash of its text */
   json_t *tuned;                   /* counts on the part that tunes (judge_tally.h), or NULL */
   double f1;                       /* F1 on that part; 0 without an alarm */
   json_t *kept;                    /* counts on the part kept out, or NULL */
   /* By kernel of that part: whether the judge was asked, and whether it was right. */
   bool *kept_asked, *kept_good;
} rkb_prompt_variant_t;

/* Several prompts of one judge. */
typedef struct rkb_prompt_variants {
   const char *judge, *option; /* "judge_memory", "screen.judge_memory.with.memory" */
   rkb_prompt_variant_t *list;
   uint32_t count, best;
   uint32_t tuned_count, kept_count; /* numbers of kernels in the parts */
} rkb_prompt_variants_t;

/* Takes ownership of text and writes a copy into folder, so that a file that is changed later counts as
 * another prompt.  Free the result, whatever is returned. */
int rkb_prompt_variant_make(const char *folder, const char *origin, char *text, rkb_prompt_variant_t *variant,
                            rkb_error_t *err);
void rkb_prompt_variant_free(rkb_prompt_variant_t *variant);

/* The figures as JSON (owned), and as text on standard output.  The first and the best prompt have judged the
 * part that was kept out. */
json_t *rkb_prompt_variants_json(const rkb_prompt_variants_t *variants);
void rkb_prompt_variants_print(const rkb_prompt_variants_t *variants);

#endif
