/* Texts that differ in the choices of their tune parameters (same_text_family.h). */
#include "same_text_family.h"
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include "shared/manifest_text.h"
#include "shared/patches.h"

static const char KEY[] = "choices:";

/* Past a list of choices that begins at `at` and ends in its line; NULL where there is none. */
static const char *past_choices(const char *at) {
   if (strncmp(at, KEY, sizeof KEY - 1) != 0)
      return NULL;
   const char *close = at + strcspn(at, "]\n");
   return *close == ']' ? close : NULL;
}

bool family_has(const rkb_manifest_t *manifest, const char *text, const char *other) {
   const char *const end = text + manifest->comment_start + manifest->comment_length;
   while (text < end && *text != '\0') {
      const char *after = past_choices(text), *other_after = past_choices(other);
      if (after && other_after) {
         text = after;
         other = other_after;
      } else if (*text++ != *other++) {
         return false;
      }
   }
   return strcmp(text, other) == 0;
}

static int64_t find_parameter(const rkb_manifest_t *manifest, const char *name) {
   for (uint32_t i = 0; i < manifest->tune_count; i++)
      if (strcmp(manifest->tune[i].name, name) == 0)
         return i;
   return -1;
}

bool family_values(const rkb_manifest_t *manifest, const char *tune_json, int64_t values[ASSIGNMENT_MAX]) {
   if (manifest->tune_count > ASSIGNMENT_MAX)
      return false;
   for (uint32_t i = 0; i < manifest->tune_count; i++)
      values[i] = manifest->tune[i].fallback;
   if (!tune_json)
      return true;
   json_t *tune = json_loads(tune_json, JSON_REJECT_DUPLICATES, NULL);
   bool known = json_is_object(tune);
   for (void *at = json_object_iter(tune); at && known; at = json_object_iter_next(tune, at)) {
      const int64_t parameter = find_parameter(manifest, json_object_iter_key(at));
      known = parameter >= 0 && json_is_integer(json_object_iter_value(at));
      if (known)
         values[parameter] = json_integer_value(json_object_iter_value(at));
   }
   json_decref(tune);
   return known;
}

bool family_is_choice(const rkb_tune_parameter_t *parameter, int64_t value) {
   for (uint32_t i = 0; i < parameter->choice_count; i++)
      if (parameter->choices[i] == value)
         return true;
   return false;
}

char *family_text(const rkb_manifest_t *manifest, const char *text, const int64_t values[ASSIGNMENT_MAX]) {
   patches_t patches = {0};
   bool found = true;
   for (uint32_t i = 0; i < manifest->tune_count && found; i++) {
      uint32_t at;
      if (family_is_choice(&manifest->tune[i], values[i]))
         continue;
      found = manifest_choices_end(text, manifest, i, &at);
      if (found)
         patches_add(&patches, at, 0, ", %" PRId64, values[i]);
   }
   char *changed = found ? patches_apply(&patches, text, strlen(text)) : NULL;
   patches_free(&patches);
   return changed;
}
