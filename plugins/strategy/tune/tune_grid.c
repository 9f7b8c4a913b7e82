/* Numbered assignments (tune_grid.h). */
#include "tune_grid.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static bool read_choices(const json_t *list, int64_t choices[TUNE_CHOICES_MAX], uint32_t *count) {
   size_t length = json_array_size(list);
   if (length == 0 || length > TUNE_CHOICES_MAX)
      return false;
   for (size_t i = 0; i < length; i++) {
      const json_t *choice = json_array_get(list, i);
      if (!json_is_integer(choice))
         return false;
      choices[i] = json_integer_value(choice);
   }
   *count = (uint32_t)length;
   return true;
}

static int read_parameters(tune_grid_t *grid, json_t *object, rkb_error_t *err) {
   const char *name;
   json_t *list;
   if (json_object_size(object) == 0 || json_object_size(object) > TUNING_PARAMETERS_MAX)
      return rkb_fail(err, RKB_ERR_INVALID, "a tune space has 1 to %d parameters", TUNING_PARAMETERS_MAX);
   json_object_foreach(object, name, list) {
      uint32_t i = grid->parameter_count;
      if (!read_choices(list, grid->choices[i], &grid->choice_counts[i]))
         return rkb_fail(err, RKB_ERR_INVALID, "parameter %s has no list of 1 to %d integers", name,
                         TUNE_CHOICES_MAX);
      grid->names[i] = strdup(name);
      if (!grid->names[i])
         return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate a parameter's name");
      grid->parameter_count++;
   }
   return RKB_OK;
}

/* Number of assignments; a space beyond 2^62 is cut there, at its last parameters' choices. */
static uint64_t size_of(const tune_grid_t *grid) {
   uint64_t size = 1;
   for (uint32_t i = grid->parameter_count; i-- > 0;)
      size = size > (UINT64_C(1) << 62) / grid->choice_counts[i] ? UINT64_C(1) << 62
                                                                  : size * grid->choice_counts[i];
   return size;
}

static int compare_ordinals(const void *left, const void *right) {
   uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
   return (a > b) - (a < b);
}

static int list_points(tune_grid_t *grid, const rkb_random_api_t *random, rkb_random_t *stream,
                       rkb_error_t *err) {
   uint64_t size = size_of(grid);
   uint32_t count = size < TUNE_GRID_POINTS_MAX ? (uint32_t)size : TUNE_GRID_POINTS_MAX;
   grid->ordinals = calloc(count, sizeof *grid->ordinals);
   if (!grid->ordinals)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u points", count);
   for (uint32_t i = 0; i < count; i++)
      grid->ordinals[i] = size > count ? random->below(stream, size) : i;
   qsort(grid->ordinals, count, sizeof *grid->ordinals, compare_ordinals);
   for (uint32_t i = 0; i < count; i++)
      if (i == 0 || grid->ordinals[i] != grid->ordinals[grid->point_count - 1])
         grid->ordinals[grid->point_count++] = grid->ordinals[i];
   return RKB_OK;
}

int tune_grid_read(tune_grid_t *grid, const char *tune_space, const rkb_random_api_t *random,
                   rkb_random_t *stream, rkb_error_t *err) {
   *grid = (tune_grid_t){0};
   json_t *object = json_loads(tune_space, 0, NULL);
   int status = read_parameters(grid, object, err);
   json_decref(object);
   return status == RKB_OK ? list_points(grid, random, stream, err) : status;
}

void tune_grid_free(tune_grid_t *grid) {
   for (uint32_t i = 0; i < grid->parameter_count; i++)
      free(grid->names[i]);
   free(grid->ordinals);
   *grid = (tune_grid_t){0};
}

static void values_at(const tune_grid_t *grid, uint32_t point, int64_t values[TUNING_PARAMETERS_MAX]) {
   uint64_t rest = grid->ordinals[point];
   for (uint32_t i = grid->parameter_count; i-- > 0;) {
      values[i] = grid->choices[i][rest % grid->choice_counts[i]];
      rest /= grid->choice_counts[i];
   }
}

int tune_grid_fill_space(const tune_grid_t *grid, tuning_space_t *space, rkb_error_t *err) {
   double *values = calloc((size_t)grid->point_count * grid->parameter_count, sizeof *values);
   if (!values)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u points", grid->point_count);
   for (uint32_t i = 0; i < grid->point_count; i++) {
      int64_t at[TUNING_PARAMETERS_MAX];
      values_at(grid, i, at);
      for (uint32_t j = 0; j < grid->parameter_count; j++)
         values[(size_t)i * grid->parameter_count + j] = (double)at[j];
   }
   int status = tuning_space_fill(space, values, grid->point_count, grid->parameter_count, err);
   free(values);
   return status;
}

static bool ordinal_of(const tune_grid_t *grid, const json_t *object, uint64_t *ordinal) {
   *ordinal = 0;
   for (uint32_t i = 0; i < grid->parameter_count; i++) {
      const json_t *value = json_object_get(object, grid->names[i]);
      uint32_t choice = 0;
      while (choice < grid->choice_counts[i] && grid->choices[i][choice] != json_integer_value(value))
         choice++;
      if (!json_is_integer(value) || choice == grid->choice_counts[i])
         return false;
      *ordinal = *ordinal * grid->choice_counts[i] + choice;
   }
   return true;
}

bool tune_grid_find(const tune_grid_t *grid, const char *assignment, uint32_t *point) {
   uint64_t ordinal;
   json_t *object = json_loads(assignment, 0, NULL);
   bool whole = ordinal_of(grid, object, &ordinal);
   json_decref(object);
   if (!whole)
      return false;
   const uint64_t *found =
      bsearch(&ordinal, grid->ordinals, grid->point_count, sizeof *grid->ordinals, compare_ordinals);
   if (found)
      *point = (uint32_t)(found - grid->ordinals);
   return found != NULL;
}

bool tune_grid_write(const tune_grid_t *grid, uint32_t point, char *out, size_t room) {
   int64_t values[TUNING_PARAMETERS_MAX];
   size_t used = 0;
   values_at(grid, point, values);
   for (uint32_t i = 0; i < grid->parameter_count && used < room; i++)
      used += (size_t)snprintf(out + used, room - used, "%s\"%s\": %" PRId64, i ? ", " : "{", grid->names[i],
                               values[i]);
   if (used < room)
      used += (size_t)snprintf(out + used, room - used, "}");
   return used < room;
}
