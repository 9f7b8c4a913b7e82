/* Runs core/tools/import/import_task.py, loads the task that it wrote, and moves the directory into place only if it loads.  Owns
 * the scratch directory beside the target meanwhile.  Any thread except the loop's. */
#include "task/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "system/process.h"
#include "task/python.h"
#include "task/task.h"

#define DEADLINE_NS                                                                                          \
   (600ull * 1000000000ull) /* importing PyTorch from a cold disk takes a minute at worst   \
                                              */
#define REFUSED 3 /* exit status of the script when something is not covered; 1 means an internal error */
#define MOST_REPEATED 32 /* limit for --dim, and for --input */
#define MOST_ARGUMENTS (16 + 4 * MOST_REPEATED)

static const char *const written_files[] = {"task.yaml", "reference.graph.yaml", "reference.py", NULL};

/* Finds the scripts: under share/rkb/import when installed, otherwise in the source tree. */
static char *find_script(void) {
   char *path = rkb_find_data("import/import_task.py");
   return path ? path : rkb_find_data("core/tools/import/import_task.py");
}

static int add_repeated(const char **arguments, uint32_t *count, const char *option,
                        const char *const *values, rkb_error_t *err) {
   for (uint32_t i = 0; values && values[i]; i++) {
      if (i == MOST_REPEATED)
         return rkb_fail(err, RKB_ERR_LIMIT, "more than %d %s options", MOST_REPEATED, option);
      arguments[(*count)++] = option;
      arguments[(*count)++] = values[i];
   }
   return RKB_OK;
}

static int run_script(const rkb_import_t *import, const char *script, const char *target,
                      const char *directions, rkb_text_t *report, rkb_error_t *err) {
   const char *python = import->python ? import->python : rkb_python_find();
   const char *arguments[MOST_ARGUMENTS] = {python,  "-B",   script,         import->file,
                                            "--out", target, "--directions", directions};
   uint32_t count = 8;
   if (import->entry) {
      arguments[count++] = "--entry";
      arguments[count++] = import->entry;
   }
   int status = add_repeated(arguments, &count, "--dim", import->dims, err);
   if (status == RKB_OK)
      status = add_repeated(arguments, &count, "--input", import->inputs, err);
   if (status != RKB_OK)
      return status;
   char *environment[RKB_PYTHON_VARIABLES];
   uint32_t passed = rkb_python_environment(environment);
   rkb_process_spec_t spec = {.size = sizeof spec,
                              .arguments = arguments,
                              .environment = (const char *const *)environment,
                              .deadline_ns = DEADLINE_NS};
   rkb_process_result_t *result = NULL;
   status = rkb_process_run(&spec, NULL, NULL, &result, err);
   for (uint32_t i = 0; i < passed; ++i)
      free(environment[i]);
   if (status != RKB_OK)
      return status;
   if (result->timed_out)
      status = rkb_fail(err, RKB_ERR_LIMIT, "%s took longer than 10 minutes to import", import->file);
   else if (result->signal)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "%s ended with signal %d", arguments[0], result->signal);
   else if (result->exit_code == REFUSED)
      status = rkb_fail(err, RKB_ERR_INVALID, "%s cannot be imported", import->file);
   else if (result->exit_code != 0)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "%s ended with status %d", arguments[0], result->exit_code);
   rkb_text_append(report, status == RKB_OK ? result->output : result->errors,
                   status == RKB_OK ? result->output_bytes : result->errors_bytes);
   rkb_process_result_free(result);
   return status;
}

/* Loads one direction.  Mistakes go to report without places, because the user will not see these files. */
static bool loads(const char *directory, const char *direction, const char *prefix, rkb_text_t *report) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(directory, direction, 0, &problems);
   for (uint32_t i = 0; task == NULL && i < problems.count; ++i) {
      bool again = false;
      for (uint32_t j = 0; j < i && !again; ++j)
         again = strcmp(problems.list[i].message, problems.list[j].message) == 0;
      if (!again)
         rkb_text_format(report, "%s%s\n", prefix, problems.list[i].message);
   }
   bool fine = task != NULL;
   rkb_task_free(task);
   rkb_problems_free(&problems);
   return fine;
}

static void remove_task(const char *directory) {
   for (uint32_t i = 0; written_files[i]; ++i) {
      char *path = rkb_path_join(directory, written_files[i]);
      if (path)
         unlink(path);
      free(path);
   }
   rmdir(directory);
}

static bool has_backward(const char *directory) {
   char *path = rkb_path_join(directory, "task.yaml"), *text = NULL;
   size_t length = 0;
   rkb_error_t ignored = {0};
   bool found = path && rkb_file_read(path, 1 << 20, &text, &length, &ignored) == RKB_OK &&
                strstr(text, "\ndirections: [forward, backward]");
   free(text);
   free(path);
   return found;
}

/* Removes the backward direction from the task's text. */
static int forward_alone(const char *directory, rkb_error_t *err) {
   static const char both[] = "\ndirections: [forward, backward]\n", one[] = "\ndirections: [forward]\n";
   char *path = rkb_path_join(directory, "task.yaml"), *text = NULL;
   size_t length = 0;
   int status = rkb_file_read(path, 1 << 20, &text, &length, err);
   char *at = status == RKB_OK ? strstr(text, both) : NULL,
        *wants = at ? strstr(at, "\nwants_grad: [") : NULL;
   char *end = wants ? strchr(wants + 1, '\n') : NULL;
   if (end) {
      rkb_text_t made;
      rkb_text_init(&made, 1 << 20);
      rkb_text_append(&made, text, (size_t)(at - text));
      rkb_text_add(&made, one);
      rkb_text_append(&made, at + strlen(both), (size_t)(wants - at) - strlen(both));
      rkb_text_add(&made, end);
      status = rkb_file_write(path, rkb_text_get(&made), strlen(rkb_text_get(&made)), err);
      rkb_text_free(&made);
   }
   free(text);
   free(path);
   return status;
}

/* Writes the task at target, with a backward direction if the graph has gradients. */
static int make_task(const rkb_import_t *import, const char *script, const char *target, rkb_text_t *report,
                     rkb_error_t *err) {
   int status = run_script(import, script, target, "forward,backward", report, err);
   if (status != RKB_OK)
      return status;
   if (!loads(target, "forward", "", report))
      return rkb_fail(err, RKB_ERR_INVALID, "%s cannot be imported", import->file);
   if (!has_backward(target) || loads(target, "backward", "note: no backward direction: ", report))
      return RKB_OK;
   return forward_alone(target, err);
}

int rkb_task_import(const rkb_import_t *import, rkb_text_t *report, rkb_error_t *err) {
   char *directory = rkb_duplicate(import->directory), *target = NULL, *script = NULL;
   int status = RKB_OK;
   bool stood = true; /* whether the folder above was there before */
   size_t length = strlen(directory);
   while (length > 1 && directory[length - 1] == '/')
      directory[--length] = '\0';
   const char *name = strrchr(directory, '/');
   name = name ? name + 1 : directory;
   char *parent = rkb_path_directory(directory), *scratch = rkb_format("%s/.rkb-import-XXXXXX", parent);
   if (access(directory, F_OK) == 0) {
      status = rkb_fail(err, RKB_ERR_INVALID, "%s exists already", directory);
      goto release;
   }
   script = find_script();
   if (script == NULL) {
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "the import scripts are not installed (share/rkb/import)");
      goto release;
   }
   stood = access(parent, F_OK) == 0;
   status = rkb_make_directories(parent, err);
   if (status != RKB_OK)
      goto release;
   if (mkdtemp(scratch) == NULL) {
      status = rkb_fail(err, RKB_ERR_IO, "cannot make a directory in %s: %s", parent, strerror(errno));
      goto release;
   }
   target = rkb_path_join(scratch, name);
   status = make_task(import, script, target, report, err);
   if (status == RKB_OK && rename(target, directory) != 0)
      status = rkb_fail(err, RKB_ERR_IO, "cannot make %s: %s", directory, strerror(errno));
   if (status != RKB_OK)
      remove_task(target);
   rmdir(scratch);
   if (status != RKB_OK && !stood)
      rmdir(parent);
release:
   free(target);
   free(script);
   free(scratch);
   free(parent);
   free(directory);
   return status;
}
