/* rkb.translator.seed - first candidates from the task's seeds/<direction>/ or from files that the user
 * names.
 *
 * Owns nothing between jobs; runs on workers. */
#include <rkb/ext/task.h>
#include <rkb/items.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "seed_files/seed_files.h"

typedef struct seed_config {
   const char *directory;
   const char *const *files;
   bool optional;
} seed_config_t;

typedef struct seed {
   const rkb_host_t *host;
   const seed_config_t *config;
   const rkb_task_api_t *task;
} seed_t;

static int seed_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   seed_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (seed_t){host, config, host->get_extension(host, RKB_EXT_TASK)};
   if (!me->task && !me->config->directory) {
      free(me);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "without a task there are no seeds: give 'directory'");
   }
   *self = me;
   return RKB_OK;
}

static int emit_text(const seed_t *me, rkb_job_t job, const char *path, const char *text, rkb_error_t *err) {
   char note[256];
   snprintf(note, sizeof note, "seed %.200s", seed_file_name(path));
   const int status = rkb_emit_candidate(me->host, job, text, NULL, note, NULL, 0);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "cannot emit the seed '%s'", path);
}

static int emit_seed(const seed_t *me, rkb_job_t job, const char *path, rkb_error_t *err) {
   char *text = NULL;
   int status = seed_file_read(path, &text, err);
   if (status == RKB_OK)
      status = emit_text(me, job, path, text, err);
   free(text);
   return status;
}

/* A file that is no kernel's text is reported in the log and left out; the others are still seeds.  Fails
 * when none is left. */
static int emit_seeds(const seed_t *me, rkb_job_t job, const seed_files_t *files, rkb_error_t *err) {
   uint32_t read = 0;
   int status = RKB_OK;
   for (uint32_t i = 0; i < files->count; i++) {
      char *text = NULL;
      const int unreadable = seed_file_read(files->paths[i], &text, err);
      if (unreadable != RKB_OK) {
         RKB_LOG(me->host, RKB_LOG_WARN, "left out: %s", err->message);
         status = read ? status : unreadable;
         continue;
      }
      status = emit_text(me, job, files->paths[i], text, err);
      free(text);
      if (status != RKB_OK)
         return status;
      read++;
   }
   return status;
}

/* A task that was just imported has no folder of seeds. */
static bool may_be_absent(const seed_t *me, const char *directory) {
   return me->config->optional && access(directory, F_OK) != 0 && errno == ENOENT;
}

static int seed_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const seed_t *me = self;
   seed_files_t files;
   char directory[4096];
   if (me->config->directory) {
      snprintf(directory, sizeof directory, "%s", me->config->directory);
   } else {
      const rkb_task_info_t *info = me->task->info(me->host);
      snprintf(directory, sizeof directory, "%s/seeds/%s", info->directory, info->direction);
   }
   if (may_be_absent(me, directory)) {
      RKB_LOG(me->host, RKB_LOG_INFO, "no kernels to start from: there is no folder '%s'", directory);
      return RKB_OK;
   }
   int status = seed_files_find(directory, me->config->files, &files, err);
   if (status != RKB_OK)
      return status;

   const char *section = me->host->item_text(me->host, in, "section");
   if (section && strcmp(section, "search") == 0) {
      int64_t number = 0;
      me->host->item_int(me->host, in, "number", &number);
      status = emit_seed(me, job, files.paths[(uint64_t)number % files.count], err);
   } else {
      status = emit_seeds(me, job, &files, err);
   }
   seed_files_free(&files);
   return status;
}

static void seed_destroy(void *self) {
   free(self);
}

static const rkb_option_t options[] = {
   {.name = "directory",
    .type = RKB_OPT_PATH,
    .offset = offsetof(seed_config_t, directory),
    .help = "Where to find the kernels; default: the task's seeds/<direction>/."},
   {.name = "files",
    .type = RKB_OPT_STRINGS,
    .offset = offsetof(seed_config_t, files),
    .help = "Names below the directory, or absolute paths; default: every *.cu there, by name."},
   {.name = "optional",
    .type = RKB_OPT_BOOL,
    .offset = offsetof(seed_config_t, optional),
    .fallback = "false",
    .help =
       "true: give nothing if the directory does not exist, for pipelines with other stages that propose; false: fail."},
};

static const rkb_stage_t seed = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_TRANSLATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.translator.seed",
   .summary = "Makes the first candidates from kernel files.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(seed_config_t),
   .create = seed_create,
   .run = seed_run,
   .destroy = seed_destroy,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "seed",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&seed, NULL},
};
