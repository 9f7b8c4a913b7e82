/* rkb/ext/prompt.h - prompts from files: a text with slots, filled once.  Extension "rkb.prompt/1".
 *
 * A prompt file (docs/prompts.md) names its slots at the top, each with a byte budget, and has a "# system" and a "# user"
 * section; "{{name}}" is replaced by the slot's value and nothing else happens.  A value is a list of entries; what does not
 * fit the budget is dropped entry by entry, lowest priority first, and recorded.  A fenced entry comes from a candidate, a
 * compiler or a model: it is put between two lines that carry a random marker, which the text cannot know.
 */
#ifndef RKB_EXT_PROMPT_H
#define RKB_EXT_PROMPT_H

#include <rkb/ext/random.h>
#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_PROMPT "rkb.prompt/1"
#define RKB_MAX_SLOTS 32
#define RKB_MAX_SLOT_ENTRIES 64

typedef struct rkb_slot_entry {
   const char *text;
   const char *label;   /* of a fence: "candidate 12", or NULL */
   int32_t priority;    /* higher stays longer; of equal ones the later goes first */
   bool fenced;
} rkb_slot_entry_t;

/* What a stage puts into a slot. */
typedef struct rkb_slot_value {
   const char *name;
   const rkb_slot_entry_t *entries; /* in the order they shall appear */
   uint32_t count;                  /* 0: the slot is empty */
   uint32_t reserved;
} rkb_slot_value_t;

typedef struct rkb_filled_prompt {
   uint32_t size;
   uint32_t cut;            /* entries that were dropped */
   const char *system;      /* "" when the file has no such section */
   const char *user;
   const char *provenance;  /* JSON: the file's hash, the marker, every slot's value, what was cut */
} rkb_filled_prompt_t;

typedef struct rkb_prompt_api {
   uint32_t size;
   uint32_t reserved;

   /* Fills a prompt that was checked when the pipeline was read (the option's choices name the slots a stage fills).
    * Values for slots that the file does not use are ignored.  marker: the job's stream; it is moved by two draws.
    * *filled is owned: free.  [any] */
   int (*fill)(const rkb_prompt_t *prompt, const rkb_slot_value_t *values, uint32_t count, rkb_random_t *marker,
               rkb_filled_prompt_t **filled, rkb_error_t *err);
   void (*free)(rkb_filled_prompt_t *filled); /* NULL is accepted */
} rkb_prompt_api_t;

#ifdef __cplusplus
}
#endif
#endif
