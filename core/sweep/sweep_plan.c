/* Writes and reads the plan of a sweep (sweep_plan.h).  Any thread. */
#include "sweep/sweep_plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "archive/archive.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

enum { PLAN_VERSION = 1, MAX_CELLS = 10000, MAX_SLUG = 60, MAX_PLAN_BYTES = 16 << 20 };

static char *path_plan(const char *directory) {
   return rkb_path_join(directory, "sweep.json");
}

char *rkb_sweep_path_secret(const char *directory) {
   return rkb_path_join(directory, "secret");
}

/* `lock` in the directory of a run is held by the process that writes the archive. */
char *rkb_sweep_path_lock(const rkb_sweep_t *sweep) {
   return rkb_path_join(sweep->directory, sweep->alone ? "coordinator.lock" : "lock");
}

char *rkb_sweep_path_cell(const rkb_sweep_t *sweep, uint32_t index) {
   return sweep->alone ? rkb_duplicate(sweep->directory)
                       : rkb_path_join(sweep->directory, sweep->cells[index].folder);
}

bool rkb_is_sweep(const char *directory) {
   char *path = path_plan(directory);
   bool is = rkb_path_exists(path);
   free(path);
   return is;
}

/* "003-wide-seed-1": the number makes it unique, the rest is for people. */
static char *folder_of(uint32_t index, const char *name) {
   char slug[MAX_SLUG + 1];
   size_t length = 0;
   for (const char *at = name; *at && length < MAX_SLUG; at++) {
      bool kept = isalnum((unsigned char)*at) || *at == '_' || *at == '.';
      if (kept)
         slug[length++] = *at;
      else if (length > 0 && slug[length - 1] != '-')
         slug[length++] = '-';
   }
   while (length > 0 && slug[length - 1] == '-')
      length--;
   slug[length] = '\0';
   return rkb_format("%03u-%s", index + 1, slug);
}

static int write_pipeline(const rkb_sweep_t *sweep, uint32_t index, const char *text, rkb_error_t *err) {
   char *directory = rkb_sweep_path_cell(sweep, index);
   char *path = rkb_run_path_pipeline(directory);
   int status = rkb_make_directories(directory, err);
   if (status == RKB_OK)
      status = rkb_file_write(path, text, strlen(text), err);
   free(path);
   free(directory);
   return status;
}

static int write_secret(const char *directory, const rkb_secret_t *secret, rkb_error_t *err) {
   char text[RKB_HASH_TEXT], *path = rkb_sweep_path_secret(directory);
   rkb_secret_write(secret, text);
   int status = rkb_file_write_own(path, text, strlen(text), err);
   free(path);
   return status;
}

static int write_plan(const rkb_sweep_t *sweep, rkb_error_t *err) {
   json_t *cells = json_array();
   for (uint32_t i = 0; i < sweep->count; i++) {
      const rkb_sweep_cell_t *cell = &sweep->cells[i];
      json_array_append_new(cells,
                            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "name", cell->name, "arm",
                                      cell->arm, "task", cell->task, "direction", cell->direction, "target",
                                      cell->target, "folder", cell->folder, "seed", (json_int_t)cell->seed));
   }
   json_t *plan = json_pack("{s:i, s:s, s:o}", "sweep", PLAN_VERSION, "name", sweep->name, "cells", cells);
   char *text = plan ? rkb_json_canonical(plan) : NULL, *path = path_plan(sweep->directory);
   int status = text ? rkb_file_write(path, text, strlen(text), err) : rkb_fail_memory(err, 0);
   json_decref(plan);
   free(path);
   free(text);
   return status;
}

static rkb_sweep_t *sweep_new(const char *directory, const char *name, uint32_t count) {
   rkb_sweep_t *sweep = rkb_allocate(1, sizeof *sweep);
   sweep->directory = rkb_duplicate(directory);
   sweep->name = rkb_duplicate(name);
   sweep->cells = rkb_allocate(count + 1, sizeof *sweep->cells);
   sweep->count = count;
   return sweep;
}

static int refuse_if_taken(const char *directory, rkb_error_t *err) {
   char *archive = rkb_run_path_archive(directory);
   bool run = rkb_path_exists(archive);
   free(archive);
   if (!run && !rkb_is_sweep(directory))
      return RKB_OK;
   return rkb_fail(err, RKB_ERR_INVALID,
                   "%.300s holds a %s already; give another directory, or continue it with --resume",
                   directory, run ? "run" : "sweep");
}

int rkb_sweep_make(const rkb_pipeline_t *pipeline, const char *directory, const rkb_secret_t *secret,
                   rkb_sweep_t **out, rkb_error_t *err) {
   int status = refuse_if_taken(directory, err);
   if (status != RKB_OK)
      return status;
   rkb_sweep_t *sweep = sweep_new(directory, rkb_pipeline_name(pipeline), rkb_pipeline_cell_count(pipeline));
   for (uint32_t i = 0; status == RKB_OK && i < sweep->count; i++) {
      const rkb_pipeline_cell_t *from = rkb_pipeline_cell(pipeline, i);
      sweep->cells[i] = (rkb_sweep_cell_t){.name = rkb_duplicate(from->name),
                                           .arm = rkb_duplicate(from->arm),
                                           .task = rkb_duplicate(from->task),
                                           .direction = rkb_duplicate(from->direction),
                                           .target = rkb_duplicate(from->target),
                                           .folder = folder_of(i, from->name),
                                           .seed = from->seed};
      status = write_pipeline(sweep, i, from->text, err);
   }
   if (status == RKB_OK)
      status = write_secret(directory, secret, err);
   if (status == RKB_OK)
      status = write_plan(sweep, err);
   if (status == RKB_OK)
      *out = sweep;
   else
      rkb_sweep_free(sweep);
   return status;
}

int rkb_sweep_alone(const char *name, const rkb_pipeline_t *pipeline, const char *directory,
                    const rkb_secret_t *secret, rkb_sweep_t **out, rkb_error_t *err) {
   rkb_sweep_t *sweep = sweep_new(directory, name, 1);
   int status = pipeline ? refuse_if_taken(directory, err) : RKB_OK;
   sweep->alone = true;
   sweep->cells[0] = (rkb_sweep_cell_t){.name = rkb_duplicate(name)};
   if (status == RKB_OK && pipeline)
      status = write_pipeline(sweep, 0, rkb_pipeline_text(pipeline), err);
   if (status == RKB_OK && pipeline)
      status = write_secret(directory, secret, err);
   if (status == RKB_OK)
      *out = sweep;
   else
      rkb_sweep_free(sweep);
   return status;
}

/* A folder's name comes from a file, and must not lead out of the sweep's directory. */
static bool folder_ok(const char *folder) {
   return folder[0] && folder[0] != '.' && !strchr(folder, '/');
}

static int read_cell(const json_t *from, rkb_sweep_cell_t *cell) {
   const char *name, *arm, *task, *direction, *target, *folder;
   json_int_t seed;
   if (json_unpack((json_t *)from, "{s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "name", &name, "arm", &arm, "task",
                   &task, "direction", &direction, "target", &target, "folder", &folder, "seed",
                   &seed) != 0 ||
       !folder_ok(folder) || seed < 0)
      return RKB_ERR_INVALID;
   *cell = (rkb_sweep_cell_t){.name = rkb_duplicate(name),
                              .arm = rkb_duplicate(arm),
                              .task = rkb_duplicate(task),
                              .direction = rkb_duplicate(direction),
                              .target = rkb_duplicate(target),
                              .folder = rkb_duplicate(folder),
                              .seed = (uint64_t)seed};
   return RKB_OK;
}

static int read_plan(const char *directory, const json_t *plan, rkb_sweep_t **out, rkb_error_t *err) {
   const json_t *cells = json_object_get(plan, "cells");
   const char *name = json_string_value(json_object_get(plan, "name"));
   const json_int_t version = json_integer_value(json_object_get(plan, "sweep"));
   if (version > PLAN_VERSION)
      return rkb_fail(err, RKB_ERR_INVALID, "%.300s: this sweep is from a newer rkb", directory);
   if (version != PLAN_VERSION || !name || !json_is_array(cells) || json_array_size(cells) == 0 ||
       json_array_size(cells) > MAX_CELLS)
      return rkb_fail(err, RKB_ERR_INVALID, "%.300s: sweep.json is no plan of a sweep", directory);
   rkb_sweep_t *sweep = sweep_new(directory, name, (uint32_t)json_array_size(cells));
   for (uint32_t i = 0; i < sweep->count; i++)
      if (read_cell(json_array_get(cells, i), &sweep->cells[i]) != RKB_OK) {
         rkb_sweep_free(sweep);
         return rkb_fail(err, RKB_ERR_INVALID, "%.300s: cell %u of sweep.json is damaged", directory, i + 1);
      }
   *out = sweep;
   return RKB_OK;
}

int rkb_sweep_open(const char *directory, rkb_sweep_t **sweep, rkb_error_t *err) {
   char *path = path_plan(directory), *text = NULL;
   size_t length;
   int status = rkb_file_read(path, MAX_PLAN_BYTES, &text, &length, err);
   if (status == RKB_OK) {
      rkb_error_t parsed;
      json_t *plan = rkb_json_parse(text, length, &parsed);
      status = plan ? read_plan(directory, plan, sweep, err)
                    : rkb_fail(err, RKB_ERR_INVALID, "%.300s: %.200s", path, parsed.message);
      json_decref(plan);
   }
   free(text);
   free(path);
   return status;
}

void rkb_sweep_free(rkb_sweep_t *sweep) {
   if (!sweep)
      return;
   for (uint32_t i = 0; i < sweep->count; i++) {
      rkb_sweep_cell_t *cell = &sweep->cells[i];
      free(cell->name);
      free(cell->arm);
      free(cell->task);
      free(cell->direction);
      free(cell->target);
      free(cell->folder);
   }
   free(sweep->cells);
   free(sweep->name);
   free(sweep->directory);
   free(sweep);
}
