/* Reads a candidate that a command line names.  Only the main thread. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/shared/candidate_file.h"
#include "cli/shared/pipeline_file.h"

#define MOST_SOURCE (16u << 20)
#define MOST_TEXT (1u << 20)

static const char *option(const rkb_arguments_t *arguments, const char *name) {
   return rkb_argument_known(arguments, name) ? rkb_argument(arguments, name) : NULL;
}

static char *task_below(const char *directory, const char *name) {
   char below[PATH_MAX];
   snprintf(below, sizeof below, "tasks/%s/task.yaml", name);
   char *file = rkb_path_join(directory, below), *found = NULL;
   if (file && rkb_path_exists(file))
      found = rkb_path_directory(file);
   free(file);
   return found;
}

/* Returns the directory itself when it is the task of that name, because a task's own seeds lie below it. */
static char *task_itself(const char *directory, const char *name) {
   const char *last = strrchr(directory, '/');
   char *file = last && strcmp(last + 1, name) == 0 ? rkb_path_join(directory, "task.yaml") : NULL,
        *found = NULL;
   if (file && rkb_path_exists(file))
      found = rkb_duplicate(directory);
   free(file);
   return found;
}

/* Finds the task: the one that contains the file, tasks/<name> in the file's directory or one above, or a shipped task. */
static char *find_task(const char *path, const char *name) {
   char resolved[PATH_MAX], *found = NULL;
   if (!realpath(path, resolved))
      return NULL;
   for (char *slash = strrchr(resolved, '/'); slash && !found; slash = strrchr(resolved, '/')) {
      slash[slash == resolved] = '\0';
      found = task_itself(resolved, name);
      if (!found)
         found = task_below(resolved, name);
      if (slash == resolved)
         break;
   }
   if (!found) {
      char shipped[PATH_MAX];
      snprintf(shipped, sizeof shipped, "tasks/%s", name);
      found = rkb_find_data(shipped);
   }
   return found;
}

/* NAME=VALUE texts as a JSON object; NULL after a message. */
static char *read_tune(const char *const *values) {
   json_t *object = json_object();
   for (uint32_t i = 0; values && values[i]; i++) {
      const char *equals = strchr(values[i], '=');
      int64_t value;
      char name[128];
      if (!equals || (size_t)(equals - values[i]) >= sizeof name || !rkb_parse_int(equals + 1, &value)) {
         fprintf(stderr, "--tune takes NAME=VALUE with an integer, not '%s'\n", values[i]);
         json_decref(object);
         return NULL;
      }
      snprintf(name, sizeof name, "%.*s", (int)(equals - values[i]), values[i]);
      json_object_set_new(object, name, json_integer(value));
   }
   char *text = rkb_json_canonical(object);
   json_decref(object);
   return text;
}

/* A name or value that the manifest does not have is an error of the command line. */
static bool tune_fits(const rkb_candidate_file_t *file) {
   int64_t *values = rkb_allocate(file->manifest->tune_count + 1, sizeof *values);
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   int status = rkb_tune_resolve(file->manifest, file->tune, values, &finding, &err);
   free(values);
   if (status != RKB_OK || finding.reason[0])
      fprintf(stderr, "--tune: %s\n", status != RKB_OK ? err.message : finding.message);
   return status == RKB_OK && !finding.reason[0];
}

static int load(const rkb_arguments_t *arguments, const char *path, rkb_candidate_file_t *file,
                rkb_problems_t *problems) {
   const char *task = option(arguments, "task"), *direction = option(arguments, "direction"),
              *target = option(arguments, "target");
   char *found = NULL;
   size_t length;
   rkb_error_t err;
   file->path = path;
   if (!rkb_path_exists(path)) {
      rkb_say_absent(NULL, path);
      return RKB_EXIT_USAGE;
   }
   if (rkb_file_read(path, MOST_SOURCE, &file->source, &length, &err) != RKB_OK) {
      fprintf(stderr, "%s\n", err.message);
      return RKB_EXIT_USAGE;
   }
   if (strlen(file->source) != length) { /* text after a NUL would be exported without having been judged */
      fprintf(stderr, "%s: byte %zu is zero: it is not a text\n", path, strlen(file->source) + 1);
      return RKB_EXIT_USAGE;
   }
   file->tune =
      read_tune(rkb_argument_known(arguments, "tune") ? rkb_argument_list(arguments, "tune") : NULL);
   file->manifest = rkb_manifest_parse(path, file->source, length, problems);
   file->device = rkb_device_load(target ? target : "h200", problems);
   if (!file->tune || !file->manifest || !file->device || !tune_fits(file))
      return RKB_EXIT_USAGE;
   if (direction && strcmp(direction, file->manifest->direction) != 0) {
      fprintf(stderr, "%s: its direction is %s, not %s\n", path, file->manifest->direction, direction);
      return RKB_EXIT_USAGE;
   }
   if (!task)
      task = found = find_task(path, file->manifest->task);
   if (!task) {
      fprintf(stderr, "%s: no directory tasks/%s beside it or above it; name the task with --task DIR\n",
              path, file->manifest->task);
      return RKB_EXIT_USAGE;
   }
   file->task = rkb_task_load(task, file->manifest->direction, 0, problems);
   free(found);
   return file->task ? RKB_EXIT_OK : RKB_EXIT_USAGE;
}

int rkb_candidate_file_load(const rkb_arguments_t *arguments, const char *path, rkb_candidate_file_t *file) {
   rkb_problems_t problems;
   memset(file, 0, sizeof *file);
   rkb_problems_init(&problems);
   int code = load(arguments, path, file, &problems);
   if (problems.count) {
      rkb_text_t text;
      rkb_text_init(&text, MOST_TEXT);
      rkb_problems_write(&problems, &text);
      fputs(rkb_text_get(&text), stderr);
      rkb_text_free(&text);
   }
   rkb_problems_free(&problems);
   return code;
}

void rkb_candidate_file_free(rkb_candidate_file_t *file) {
   rkb_task_free(file->task);
   rkb_device_free(file->device);
   rkb_manifest_free(file->manifest);
   free(file->tune);
   free(file->source);
   memset(file, 0, sizeof *file);
}

bool rkb_case_names_find(void *argument, const char *name, rkb_value_t *value) {
   const rkb_case_names_t *names = argument;
   return rkb_case_lookup(names->task, names->the_case, name, &value->is_real, &value->integer, &value->real);
}
