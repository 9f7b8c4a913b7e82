/* One table of all keys of a pipeline file.  The parser, `rkb help pipeline` and docs/pipeline-files.md use it.  Constants; any thread. */
#ifndef RKB_PIPELINE_PIPELINE_KEYS_H
#define RKB_PIPELINE_PIPELINE_KEYS_H

#include "base/key_table.h"

/* The mappings that have keys, as bits: a key may belong to several. */
enum rkb_pipeline_map {
   RKB_KEYS_FILE = 1,
   RKB_KEYS_OBJECTIVE = 2,
   RKB_KEYS_LIMITS = 4,
   RKB_KEYS_PROMOTE = 8,
   RKB_KEYS_SEARCH = 16,
   RKB_KEYS_INSERT = 32,
   RKB_KEYS_PROPOSED = 64, /* an entry of propose */
   RKB_KEYS_STAGE = 128,   /* of screen or evaluate */
   RKB_KEYS_OPERATOR = 256, /* of search.operators */
   RKB_KEYS_WORKER = 512    /* an entry of workers */
};
#define RKB_KEYS_ENTRY (RKB_KEYS_PROPOSED | RKB_KEYS_STAGE | RKB_KEYS_OPERATOR)

/* In the order of the documentation. */
extern const rkb_key_t RKB_PIPELINE_KEYS[];

/* Words that keys take; the index is what the parser stores. */
extern const char *const RKB_OVER_CHOICES[];    /* objective.over */
extern const char *const RKB_COMBINE_CHOICES[]; /* objective.combine: enum rkb_combine */
extern const char *const RKB_UNKNOWN_CHOICES[]; /* on_unknown: pass, stop */
extern const char *const RKB_ONLY_CHOICES[];    /* only: accept, suspect, unknown */

/* The measurements of the build step, NULL-terminated.  Rules and objectives may use these names after "build.". */
extern const char *const RKB_BUILD_MEASURES[];

#define RKB_DEFAULT_SEED 1
#define RKB_DEFAULT_WINDOW 16
#define RKB_DEFAULT_RETRIES 1
#define RKB_DEFAULT_REQUESTS 1
#define RKB_DEFAULT_WEIGHT 1
#define RKB_DEFAULT_DEADLINE_MINUTES 10

/* Adds a problem for each key that a mapping of this kind (`of`, one of enum rkb_pipeline_map) does not have.  what: the mapping's name in the message. */
void rkb_pipeline_keys_only(const rkb_yaml_t *map, const char *what, uint32_t of, rkb_problems_t *problems);
/* Index of the word at node among choices; -1, with a problem that lists them, when it is none of them. */
int32_t rkb_pipeline_choice(const rkb_yaml_t *node, const char *key, const char *const *choices,
                            rkb_problems_t *problems);

#endif
