/* Edits of the manifest: the block's shape. */
#include <inttypes.h>
#include <string.h>
#include "edits.h"
#include "shared/manifest_text.h"

enum { VALUE_MAX = 1024, VALUES_MAX = 64 };

static bool is_choice(const rkb_tune_parameter_t *parameter, int64_t value) {
   for (uint32_t i = 0; i < parameter->choice_count; i++)
      if (parameter->choices[i] == value)
         return true;
   return false;
}

/* Adds a value to the list of new ones, if it is possible and neither there nor a choice already. */
static void add_value(const rkb_tune_parameter_t *parameter, int64_t value, int64_t *values,
                      uint32_t *count) {
   if (value <= 0 || value > VALUE_MAX || is_choice(parameter, value) || *count == VALUES_MAX)
      return;
   for (uint32_t i = 0; i < *count; i++)
      if (values[i] == value)
         return;
   values[(*count)++] = value;
}

/* Chooses a value that is no choice yet: half or twice an existing one.  If all choices are multiples of a warp, also the middle between
 * two.  Values between smaller numbers, such as the side of a thread's tile, would rarely divide the size that they must divide.  Threads
 * stay multiples of a warp; the side of a block's tile may be halved to less than a warp, as a product of few rows wants. */
static int64_t new_value(const edit_subject_t *subject, const rkb_tune_parameter_t *parameter) {
   int64_t values[VALUES_MAX];
   uint32_t count = 0;
   bool warps = true;
   for (uint32_t i = 0; i < parameter->choice_count; i++)
      warps = warps && parameter->choices[i] % 32 == 0;
   const bool whole = warps && manifest_counts_threads(subject->manifest, parameter->name);
   for (uint32_t i = 0; i < parameter->choice_count; i++) {
      const int64_t value = parameter->choices[i];
      add_value(parameter, value / 2 - (whole ? value / 2 % 32 : 0), values, &count);
      add_value(parameter, value * 2, values, &count);
      for (uint32_t j = 0; warps && j <= i; j++) {
         const int64_t middle = j == i ? value + value / 2 : (value + parameter->choices[j]) / 2;
         add_value(parameter, middle - middle % 32, values, &count);
      }
   }
   return count > 0 ? values[edit_draw(subject, count)] : 0;
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
