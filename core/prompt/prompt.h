/* Prompt files (docs/prompts.md): read, checked, filled.  Pure functions; any thread. */
#ifndef RKB_PROMPT_PROMPT_H
#define RKB_PROMPT_PROMPT_H

#include <rkb/ext/prompt.h>
#include "base/arena.h"
#include "base/problems.h"

#define RKB_PROMPT_MARKER "marker" /* a slot that every prompt has; its value marks the fences */

typedef struct rkb_template_slot {
   const char *name;
   uint64_t budget; /* bytes */
   rkb_place_t place;
   bool used;
} rkb_template_slot_t;

/* A line: literal texts with slots between them. */
typedef struct rkb_template_piece {
   const char *text; /* literal, or NULL for a slot */
   uint32_t bytes;
   int32_t slot; /* index; -1: the marker */
} rkb_template_piece_t;

typedef struct rkb_template_line {
   const rkb_template_piece_t *pieces;
   uint32_t count;
   uint32_t slots; /* number of slots among the pieces, without the marker */
} rkb_template_line_t;

typedef struct rkb_template_section {
   const rkb_template_line_t *lines;
   uint32_t count;
} rkb_template_section_t;

typedef struct rkb_template {
   rkb_template_slot_t slots[RKB_MAX_SLOTS];
   uint32_t slot_count;
   rkb_template_section_t system, user;
} rkb_template_t;

/* Reads a prompt.  Everything lives in the arena.  known: the names that a stage fills, NULL-terminated, or NULL when they were
 * checked before.  Adds all problems; NULL when there is one. */
rkb_template_t *rkb_template_parse(rkb_arena_t *arena, const char *path, const char *text,
                                   const char *const *known, rkb_problems_t *problems);

/* fill and free of <rkb/ext/prompt.h>. */
int rkb_prompt_fill(const rkb_prompt_t *prompt, const rkb_slot_value_t *values, uint32_t count,
                    rkb_random_t *marker, rkb_filled_prompt_t **filled, rkb_error_t *err);
void rkb_prompt_filled_free(rkb_filled_prompt_t *filled);

#endif
