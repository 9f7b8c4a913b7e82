/* Edits of the manifest: the block's shape. */
#include <inttypes.h>
#include <string.h>
#include "edits.h"
#include "shared/manifest_text.h"

enum { VALUE_MAX = 1024 };

static bool is_choice(const rkb_tune_parameter_t *parameter, int64_t value) {
   for (uint32_t i = 0; i < parameter->choice_count; i++)
      if (parameter->choices[i] == value)
         return true;
   return false;
}

/* Chooses a value that is no choice yet: half or twice an existing one.  If all choices are multiples of a
 * warp, also the middle between two.  Values between smaller numbers, such as the side of a thread's tile,
 * would rarely divide the size that they must divide. */
static int64_t new_value(const edit_subject_t *subject, const rkb_tune_parameter_t *parameter) {
   const int64_t value = parameter->choices[edit_draw(subject, parameter->choice_count)];
   const int64_t other = parameter->choices[edit_draw(subject, parameter->choice_count)];
   const int64_t drawn[] = {value / 2, value * 2, value + value / 2, (value + other) / 2};
   bool warps = true;
   for (uint32_t i = 0; i < parameter->choice_count; i++)
      warps = warps && parameter->choices[i] % 32 == 0;
   int64_t next = drawn[edit_draw(subject, warps ? 4 : 2)];
   if (warps)
      next -= next % 32;
   return next > 0 && next <= VALUE_MAX && !is_choice(parameter, next) ? next : 0;
}

static bool shapes_blocks(const rkb_manifest_t *manifest, const char *name) {
   for (uint32_t l = 0; l < manifest->launch_count; l++)
      if (edit_has_word(manifest->launches[l].block, name))
         return true;
   return false;
}

bool edit_block_shape(const edit_subject_t *subject, edit_result_t *result) {
   const rkb_manifest_t *manifest = subject->manifest;
   uint32_t candidates[ASSIGNMENT_MAX], count = 0, at;
   for (uint32_t i = 0; i < manifest->tune_count && count < ASSIGNMENT_MAX; i++)
      if (shapes_blocks(manifest, manifest->tune[i].name))
         candidates[count++] = i;
   if (count == 0)
      return false;
   const uint32_t parameter = candidates[edit_draw(subject, count)];
   const int64_t value = new_value(subject, &manifest->tune[parameter]);
   if (value == 0 || !manifest_choices_end(subject->source->text, manifest, parameter, &at))
      return false;
   patches_add(&result->patches, at, 0, ", %" PRId64, value);
   result->tune_name = manifest->tune[parameter].name;
   result->tune_value = value;
   snprintf(result->note, sizeof result->note, "%s may be %" PRId64 " and is", result->tune_name, value);
   return true;
}
