/* rkb.translator.library - proposes kernels of earlier runs for this task, which are judged like any other.
 *
 * Owns nothing; runs on workers. */
#include <rkb/ext/library.h>
#include <rkb/items.h>
#include <stdlib.h>

/* The number of nearest entries that are read; entries of this task come before others at the same
 * distance. */
#define MOST_READ 64

typedef struct library_config {
   int64_t most;
} library_config_t;

typedef struct library {
   const rkb_host_t *host;
   const library_config_t *config;
} library_t;

static int library_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   library_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (library_t){host, config};
   *self = me;
   return RKB_OK;
}

static int library_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const library_t *me = self;
   const rkb_library_api_t *library = me->host->get_extension(me->host, RKB_EXT_LIBRARY);
   rkb_library_row_t rows[MOST_READ];
   const uint32_t count = library->nearest(me->host, job, 0, rows, MOST_READ);
   int64_t emitted = 0;
   int status = RKB_OK;
   (void)in;
   for (uint32_t i = 0; i < count && emitted < me->config->most && status == RKB_OK; i++) {
      char note[64];
      if (!rows[i].same_task)
         continue;
      snprintf(note, sizeof note, "library %.12s", rows[i].identity);
      status = rkb_emit_candidate(me->host, job, rows[i].source, rows[i].tune, note, NULL, 0);
      emitted++;
   }
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "a kernel of the library could not be emitted");
}

static void library_destroy(void *self) {
   free(self);
}

static const rkb_option_t options[] = {
   {.name = "most",
    .type = RKB_OPT_INT,
    .offset = offsetof(library_config_t, most),
    .fallback = "4",
    .min = 1,
    .max = 64,
    .help = "How many kernels one request proposes, the best of the same device first."},
};

static const rkb_stage_t library = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_TRANSLATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.translator.library",
   .summary = "Proposes kernels that earlier runs accepted for this task.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(library_config_t),
   .create = library_create,
   .run = library_run,
   .destroy = library_destroy,
   .needs = (const char *const[]){RKB_EXT_LIBRARY, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "translator.library",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&library, NULL},
};
