/* The table of rewrites, and the steps of a rewrite: parsing, applying, writing, and the rewrites that have
 * to be made first. */
#include "lift/rewrite.h"

#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "lift/parse.h"

enum { LONGEST_NAME = 48 };
enum { STEPS = 8 }; /* most rewrites of one request: the wanted rewrite and those that it needs */

const lift_rewrite_t LIFT_REWRITES[] = {
   {"select_load", "a load that is made or not is made always, and its value chosen afterwards",
    lift_select_load},
   {"uniform_exit", "threads past the end stay and store nothing, so that barriers may follow",
    lift_uniform_exit},
   {"stage_tile", "what all threads of a block read goes through shared memory", lift_stage_tile},
   {"register_tile", "a thread computes several results, and loads once what they share", lift_register_tile},
   {"split_reduction", "a sum is split over blocks; a second launch adds the parts in a fixed order",
    lift_split_reduction},
   {"vector_copy", "a copy into shared memory fetches four numbers at once", lift_vector_copy},
   {"vector_access", "a thread computes four neighbouring elements, and accesses them at once",
    lift_vector_access},
   {"double_buffer", "the next tile is copied into shared memory while the present one is computed with",
    lift_double_buffer},
   {"join_launches", "two launches that follow each other become one", lift_join_launches},
   {"block_to_warp", "a warp computes the row that a block computed", lift_block_to_warp},
   {"warp_to_block", "a block computes the row that a warp computed", lift_warp_to_block},
};
const uint32_t LIFT_REWRITE_COUNT = sizeof LIFT_REWRITES / sizeof *LIFT_REWRITES;

static const lift_rewrite_t *find(const char *name) {
   for (uint32_t i = 0; i < LIFT_REWRITE_COUNT; i++)
      if (strcmp(LIFT_REWRITES[i].name, name) == 0)
         return &LIFT_REWRITES[i];
   return NULL;
}

typedef struct asking {
   bool (*cancelled)(void *argument);
   void *argument;
   rkb_random_t *stream;
} asking_t;

/* Whether a declared name is longer than rewrites keep names; they would write it cut. */
static bool has_long_name(const lift_tree_t *tree) {
   char name[LONGEST_NAME + 2];
   for (uint32_t i = 0; i < tree->count; i++) {
      lift_name(tree, i, name, sizeof name);
      if (strlen(name) > LONGEST_NAME)
         return true;
   }
   return false;
}

/* Parses one text once and tries the rewrites in turn, from `first` on, until one applies.  *changed NULL: no
 * rewrite applies, and change->refusal is the refusal of the first rewrite. */
static int try_text(const char *source, const lift_rewrite_t *const *rewrites, uint32_t count, const asking_t *asking, char **changed,
                    lift_change_t *change, const char **made, rkb_error_t *err) {
   rkb_problems_t problems;
   lift_tree_t *tree = NULL;
   rkb_problems_init(&problems);
   *changed = NULL;
   manifest_t *manifest = (manifest_t *)rkb_manifest_parse("kernel.cu", source, strlen(source), &problems);
   rkb_problems_free(&problems);
   if (!manifest) {
      lift_refuse(change, "the text has no manifest");
      return RKB_OK;
   }
   int status = lift_parse(source, manifest, asking->cancelled, asking->argument, &tree, change->refusal, sizeof change->refusal, err);
   const lift_subject_t subject = {tree, manifest, asking->stream};
   if (status == RKB_OK && tree && has_long_name(tree)) {
      lift_refuse(change, "a name has more than %d characters", LONGEST_NAME);
      count = 0;
   }
   for (uint32_t i = 0; status == RKB_OK && tree && !*changed && i < count; i++) {
      char kept[sizeof change->refusal];
      const char *needed = change->first;
      snprintf(kept, sizeof kept, "%s", change->refusal);
      lift_change_free(change);
      if (rewrites[i]->apply(&subject, change)) {
         rkb_text_t text;
         rkb_text_init(&text, LIFT_MAX_TEXT);
         const bool written = lift_write(&text, tree, change, 0, tree->bytes) && !text.cut;
         *changed = written ? rkb_text_take(&text) : NULL;
         *made = rewrites[i]->name;
         rkb_text_free(&text);
         if (!written)
            lift_refuse(change, "the changes overlap, or the text becomes too long");
      }
      if (!*changed && kept[0]) {
         snprintf(change->refusal, sizeof change->refusal, "%s", kept);
         change->first = needed;
      }
   }
   lift_tree_free(tree);
   rkb_manifest_free(&manifest->public);
   return status;
}

/* Makes the wanted rewrite, after the rewrites that it needs first; *changed NULL when it is refused. */
static int make(const char *source, const lift_rewrite_t *wanted, const asking_t *asking, char **changed, char *note, size_t size,
                rkb_error_t *err) {
   const lift_rewrite_t *next = wanted;
   char *text = rkb_duplicate(source), notes[400] = "", refused[400] = "";
   int status = RKB_OK;
   bool done = false;
   *changed = NULL;
   for (uint32_t step = 0; status == RKB_OK && next && !done && step < STEPS; step++) {
      lift_change_t change = {0};
      const char *made = NULL;
      char *better = NULL;
      status = try_text(text, &next, 1, asking, &better, &change, &made, err);
      if (better) {
         snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s%s: %s", notes[0] ? "; " : "", made, change.note);
         free(text);
         text = better;
         done = next == wanted;
         next = wanted;
      } else {
         snprintf(refused, sizeof refused, "%s: %s", next->name, change.refusal);
         next = change.first ? find(change.first) : NULL;
      }
      lift_change_free(&change);
   }
   snprintf(note, size, "%s", done ? notes : refused);
   if (done)
      *changed = text;
   else
      free(text);
   return status;
}

int lift_rewrite(const char *source, const char *name, rkb_random_t *stream, bool (*cancelled)(void *argument), void *argument,
                 char **changed, char *note, size_t note_size, rkb_error_t *err) {
   const asking_t asking = {cancelled, argument, stream};
   const lift_rewrite_t *wanted = find(name);
   *changed = NULL;
   note[0] = '\0';
   if (wanted)
      return make(source, wanted, &asking, changed, note, note_size, err);
   if (strcmp(name, "any") != 0)
      return rkb_fail(err, RKB_ERR_INVALID, "there is no rewrite '%.100s'", name);
   uint32_t order[64];
   for (uint32_t i = 0; i < LIFT_REWRITE_COUNT; i++)
      order[i] = i;
   int status = RKB_OK;
   for (uint32_t left = LIFT_REWRITE_COUNT; status == RKB_OK && left > 0 && !*changed; left--) {
      const uint32_t at = (uint32_t)rkb_random_below(stream, left), drawn = order[at];
      order[at] = order[left - 1];
      status = make(source, &LIFT_REWRITES[drawn], &asking, changed, note, note_size, err);
   }
   return status;
}
