/* T4 files (t4_space.h). */
#include "bench/t4_space.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/memory.h"

enum { TEXT_MAX = 128 << 20, POINTS_MAX = 65536, PARAMETERS_MAX = 32 };

typedef struct source {
   gzFile file;
   /* Bytes that may still be read; the limit is there because a small gzip file may expand without end. */
   size_t left;
} source_t;

static size_t read_some(void *buffer, size_t length, void *data) {
   source_t *source = data;
   if (length > source->left)
      length = source->left;
   int got = length ? gzread(source->file, buffer, (unsigned)length) : 0;
   if (got < 0)
      return (size_t)-1;
   source->left -= (size_t)got;
   return (size_t)got;
}

static json_t *read_document(const char *path, rkb_error_t *err) {
   json_error_t problem;
   source_t source = {gzopen(path, "rb"), TEXT_MAX};
   if (!source.file) {
      rkb_fail(err, RKB_ERR_INVALID, "%s: cannot open", path);
      return NULL;
   }
   json_t *document = json_load_callback(read_some, &source, 0, &problem);
   gzclose(source.file);
   if (!document)
      rkb_fail(err, RKB_ERR_INVALID, "%s:%d: %s", path, problem.line, problem.text);
   return document;
}

/* NAN: the result is not correct, or has no time. */
static double time_of(const json_t *result) {
   const char *invalidity = json_string_value(json_object_get(result, "invalidity"));
   const json_t *measurement;
   size_t i;
   if (!invalidity || strcmp(invalidity, "correct") != 0)
      return NAN;
   json_array_foreach(json_object_get(result, "measurements"), i, measurement) {
      const char *name = json_string_value(json_object_get(measurement, "name"));
      const json_t *value = json_object_get(measurement, "value");
      if (name && strcmp(name, "time") == 0)
         return json_is_number(value) && json_number_value(value) > 0 ? json_number_value(value) : NAN;
   }
   return NAN;
}

/* The first configuration names the parameters. */
static bool fill_row(const json_t *first, const json_t *configuration, double *row) {
   const char *name;
   json_t *unused;
   json_object_foreach((json_t *)first, name, unused) {
      const json_t *value = json_object_get(configuration, name);
      if (!json_is_number(value) && !json_is_boolean(value))
         return false;
      *row++ = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
   }
   return true;
}

static int fill(const json_t *results, const char *path, t4_space_t *space, rkb_error_t *err) {
   const json_t *first = json_object_get(json_array_get(results, 0), "configuration");
   size_t points = json_array_size(results), parameters = json_object_size(first);
   if (points == 0 || points > POINTS_MAX || parameters == 0 || parameters > PARAMETERS_MAX)
      return rkb_fail(err, RKB_ERR_INVALID, "%s: %zu results of %zu parameters; 1 to %d of 1 to %d can be read",
                      path, points, parameters, POINTS_MAX, PARAMETERS_MAX);
   space->point_count = (uint32_t)points;
   space->parameter_count = (uint32_t)parameters;
   space->values = rkb_allocate(points * parameters, sizeof *space->values);
   space->times = rkb_allocate(points, sizeof *space->times);
   if (!space->values || !space->times)
      return rkb_fail(err, RKB_ERR_NOMEM, "%s: cannot allocate %zu points", path, points);
   space->optimum = INFINITY;
   for (size_t i = 0; i < points; i++) {
      const json_t *result = json_array_get(results, i);
      if (!fill_row(first, json_object_get(result, "configuration"), space->values + i * parameters))
         return rkb_fail(err, RKB_ERR_INVALID, "%s: result %zu has a parameter that is no number", path, i);
      space->times[i] = time_of(result);
      space->optimum = fmin(space->optimum, space->times[i]);
   }
   if (!isfinite(space->optimum))
      return rkb_fail(err, RKB_ERR_INVALID, "%s: no result is correct", path);
   return RKB_OK;
}

int t4_space_read(const char *path, t4_space_t *space, rkb_error_t *err) {
   *space = (t4_space_t){0};
   json_t *document = read_document(path, err);
   if (!document)
      return RKB_ERR_INVALID;
   int status = fill(json_object_get(document, "results"), path, space, err);
   json_decref(document);
   if (status != RKB_OK)
      t4_space_free(space);
   return status;
}

void t4_space_free(t4_space_t *space) {
   free(space->values);
   free(space->times);
   *space = (t4_space_t){0};
}
