/* A prompt that may become a judge's, what it scored, and how the figures of several are shown.  The main thread alone. */
#ifndef RKB_CLI_JUDGE_PROMPT_VARIANT_H
#define RKB_CLI_JUDGE_PROMPT_VARIANT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>

enum { RKB_VARIANT_HASH = 12 }; /* digits: enough to name a folder among some dozens */

typedef struct rkb_prompt_variant {
   char *origin; /* the name of its file, or "written in round 1" */
   char *text;
   char *path;                      /* of its copy */
   char hash[RKB_VARIANT_HASH + 1]; /* of its text */
   json_t *tuned;                   /* counts of the part that tunes (judge_tally.h), or NULL */
   double f1;                       /* of that part; 0 without an alarm */
   json_t *kept;                    /* counts of the part kept out, or NULL */
   bool *kept_asked, *kept_good; /* by kernel of that part: it was asked about it; and was right about it */
} rkb_prompt_variant_t;

/* Several of them, of one judge. */
typedef struct rkb_prompt_variants {
   const char *judge, *option; /* "judge_memory", "screen.judge_memory.with.memory" */
   rkb_prompt_variant_t *list;
   uint32_t count, best;
   uint32_t tuned_count, kept_count; /* kernels of the parts */
} rkb_prompt_variants_t;

/* Takes text over, and writes a copy into folder, so that a file that is changed later is another prompt.  Whatever comes back, free it. */
int rkb_prompt_variant_make(const char *folder, const char *origin, char *text, rkb_prompt_variant_t *variant,
                            rkb_error_t *err);
void rkb_prompt_variant_free(rkb_prompt_variant_t *variant);

/* The figures as JSON (owned), and as text on standard output.  The first and the best one have judged the part that was kept out. */
json_t *rkb_prompt_variants_json(const rkb_prompt_variants_t *variants);
void rkb_prompt_variants_print(const rkb_prompt_variants_t *variants);

#endif
