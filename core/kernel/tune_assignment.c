/* Tune assignments: makes a whole one from the manifest's defaults and a JSON object, and spells it
 * canonically.  Owns nothing; any thread. */
#include "kernel/kernel.h"
#include "kernel/candidate_finding.h"
#include "base/json.h"
#include "base/nearest_name.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 64 };

static void unknown_name(const rkb_manifest_t *manifest, const char *name, rkb_finding_t *finding) {
   const char *names[MAX_PARAMETERS + 1] = {NULL};
   const char *near;
   for (uint32_t i = 0; i < manifest->tune_count && i < MAX_PARAMETERS; i++)
      names[i] = manifest->tune[i].name;
   near = rkb_nearest(name, names);
   rkb_finding_set(finding, "plan.tune", 0, 0, "the manifest has no tune parameter '%.64s'%s%s%s", name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void check_value(const rkb_tune_parameter_t *tune, const json_t *value, int64_t *out,
                        rkb_finding_t *finding) {
   if (!json_is_integer(value)) {
      rkb_finding_set(finding, "plan.tune", tune->line, tune->column, "tune parameter '%s' takes an integer",
                      tune->name);
      return;
   }
   *out = json_integer_value(value);
   for (uint32_t i = 0; i < tune->choice_count; i++)
      if (tune->choices[i] == *out)
         return;
   rkb_finding_set(finding, "plan.tune", tune->line, tune->column,
                   "%lld is not one of the choices of tune parameter '%s'", (long long)*out, tune->name);
}

int rkb_tune_resolve(const rkb_manifest_t *manifest, const char *tune_json, int64_t *values,
                     rkb_finding_t *finding, rkb_error_t *err) {
   json_t *object = NULL, *value;
   const char *name;
   rkb_finding_clear(finding);
   for (uint32_t i = 0; i < manifest->tune_count; i++)
      values[i] = manifest->tune[i].fallback;
   if (!tune_json || !*tune_json)
      return RKB_OK;
   object = rkb_json_parse(tune_json, strlen(tune_json), err);
   if (!object)
      return err->status;
   if (!json_is_object(object)) {
      json_decref(object);
      *err = (rkb_error_t){.status = RKB_ERR_INVALID,
                           .message = "a tune assignment is a JSON object NAME: integer"};
      return RKB_ERR_INVALID;
   }
   json_object_foreach(object, name, value) {
      uint32_t i = 0;
      while (i < manifest->tune_count && strcmp(manifest->tune[i].name, name) != 0)
         i++;
      if (i == manifest->tune_count)
         unknown_name(manifest, name, finding);
      else
         check_value(&manifest->tune[i], value, &values[i], finding);
   }
   json_decref(object);
   return RKB_OK;
}

char *rkb_tune_canonical(const rkb_manifest_t *manifest, const int64_t *values) {
   char *text = NULL;
   json_t *object = json_object();
   for (uint32_t i = 0; object && i < manifest->tune_count; i++) {
      if (json_object_set_new(object, manifest->tune[i].name, json_integer(values[i])) != 0) {
         json_decref(object);
         return NULL;
      }
   }
   if (object)
      text = rkb_json_canonical(object);
   json_decref(object);
   return text;
}

char *rkb_tune_choices(const rkb_manifest_t *manifest) {
   json_t *object = json_object();
   for (uint32_t i = 0; object && i < manifest->tune_count; i++) {
      json_t *choices = json_array();
      for (uint32_t j = 0; j < manifest->tune[i].choice_count; j++)
         json_array_append_new(choices, json_integer(manifest->tune[i].choices[j]));
      if (json_array_size(choices) != manifest->tune[i].choice_count ||
          json_object_set_new(object, manifest->tune[i].name, choices) != 0) {
         json_decref(object);
         return NULL;
      }
   }
   char *text = object ? json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
   json_decref(object);
   return text;
}
