/* Tune assignments over a manifest's parameters. */
#include "shared/assignment.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Index of value among the choices, or -1. */
static int64_t find_choice(const rkb_tune_parameter_t *parameter, int64_t value) {
   for (uint32_t i = 0; i < parameter->choice_count; i++)
      if (parameter->choices[i] == value)
         return i;
   return -1;
}

static int read_defaults(const rkb_manifest_t *manifest, assignment_t *assignment, rkb_error_t *err) {
   if (manifest->tune_count > ASSIGNMENT_MAX)
      return rkb_fail(err, RKB_ERR_LIMIT, "%u tune parameters; at most %d can be moved", manifest->tune_count,
                      ASSIGNMENT_MAX);
   *assignment = (assignment_t){.count = manifest->tune_count};
   for (uint32_t i = 0; i < manifest->tune_count; i++) {
      int64_t choice = find_choice(&manifest->tune[i], manifest->tune[i].fallback);
      if (choice < 0)
         return rkb_fail(err, RKB_ERR_INVALID, "the default %" PRId64 " of %s is not among its choices",
                         manifest->tune[i].fallback, manifest->tune[i].name);
      assignment->choice[i] = (uint32_t)choice;
   }
   return RKB_OK;
}

static int read_member(const rkb_manifest_t *manifest, const char *name, const json_t *value,
                       assignment_t *assignment, rkb_error_t *err) {
   for (uint32_t i = 0; i < manifest->tune_count; i++) {
      if (strcmp(manifest->tune[i].name, name) != 0)
         continue;
      int64_t choice =
         json_is_integer(value) ? find_choice(&manifest->tune[i], json_integer_value(value)) : -1;
      if (choice < 0)
         return rkb_fail(err, RKB_ERR_INVALID, "the value of %s is not one of its choices", name);
      assignment->choice[i] = (uint32_t)choice;
      return RKB_OK;
   }
   return rkb_fail(err, RKB_ERR_INVALID, "the manifest has no tune parameter '%.60s'", name);
}

int assignment_read(const rkb_manifest_t *manifest, const char *tune_json, assignment_t *assignment,
                    rkb_error_t *err) {
   int status = read_defaults(manifest, assignment, err);
   if (status != RKB_OK || !tune_json)
      return status;
   json_t *tune = json_loads(tune_json, JSON_REJECT_DUPLICATES, NULL);
   if (!json_is_object(tune)) {
      json_decref(tune);
      return rkb_fail(err, RKB_ERR_INVALID, "the tune assignment is not a JSON object");
   }
   for (void *at = json_object_iter(tune); at && status == RKB_OK; at = json_object_iter_next(tune, at))
      status = read_member(manifest, json_object_iter_key(at), json_object_iter_value(at), assignment, err);
   json_decref(tune);
   return status;
}

char *assignment_write_values(const rkb_manifest_t *manifest, const int64_t *values) {
   json_t *tune = json_object();
   for (uint32_t i = 0; tune && i < manifest->tune_count; i++) {
      if (json_object_set_new(tune, manifest->tune[i].name, json_integer(values[i])) != 0) {
         json_decref(tune);
         return NULL;
      }
   }
   char *text = tune ? json_dumps(tune, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
   json_decref(tune);
   return text;
}

void assignment_values(const rkb_manifest_t *manifest, const assignment_t *assignment, int64_t *values) {
   for (uint32_t i = 0; i < assignment->count; i++)
      values[i] = assignment_value(manifest, assignment, i);
}

char *assignment_write(const rkb_manifest_t *manifest, const assignment_t *assignment) {
   int64_t values[ASSIGNMENT_MAX];
   assignment_values(manifest, assignment, values);
   return assignment_write_values(manifest, values);
}

bool assignment_equal(const assignment_t *left, const assignment_t *right) {
   return left->count == right->count &&
          memcmp(left->choice, right->choice, left->count * sizeof left->choice[0]) == 0;
}

int64_t assignment_value(const rkb_manifest_t *manifest, const assignment_t *assignment, uint32_t parameter) {
   return manifest->tune[parameter].choices[assignment->choice[parameter]];
}

void assignment_difference(const rkb_manifest_t *manifest, const int64_t *from, const int64_t *to, char *out,
                           size_t size) {
   size_t used = 0;
   out[0] = '\0';
   for (uint32_t i = 0; i < manifest->tune_count && used < size; i++) {
      if (from[i] == to[i])
         continue;
      int written = snprintf(out + used, size - used, "%s%s %" PRId64 " -> %" PRId64, used > 0 ? ", " : "",
                             manifest->tune[i].name, from[i], to[i]);
      used += written > 0 ? (size_t)written : 0;
   }
}

uint64_t assignment_space(const rkb_manifest_t *manifest) {
   uint64_t count = 1;
   for (uint32_t i = 0; i < manifest->tune_count; i++)
      if (__builtin_mul_overflow(count, manifest->tune[i].choice_count, &count))
         return UINT64_MAX;
   return count;
}

bool assignment_at(const rkb_manifest_t *manifest, uint64_t index, assignment_t *assignment) {
   if (manifest->tune_count > ASSIGNMENT_MAX)
      return false;
   *assignment = (assignment_t){.count = manifest->tune_count};
   for (uint32_t i = manifest->tune_count; i-- > 0;) {
      uint32_t choices = manifest->tune[i].choice_count;
      assignment->choice[i] = (uint32_t)(index % choices);
      index /= choices;
   }
   return index == 0;
}

void assignment_neighbours(const rkb_manifest_t *manifest, const assignment_t *assignment, uint32_t parameter,
                           int32_t *below, int32_t *above) {
   const rkb_tune_parameter_t *of = &manifest->tune[parameter];
   const int64_t value = of->choices[assignment->choice[parameter]];
   *below = *above = -1;
   for (uint32_t i = 0; i < of->choice_count; i++) {
      if (of->choices[i] < value && (*below < 0 || of->choices[i] > of->choices[*below]))
         *below = (int32_t)i;
      if (of->choices[i] > value && (*above < 0 || of->choices[i] < of->choices[*above]))
         *above = (int32_t)i;
   }
}
