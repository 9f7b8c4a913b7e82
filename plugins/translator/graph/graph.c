/* rkb.translator.graph - first candidates written from the task's reference graph: no seed, no model.
 *
 * For the propose section it emits the kernels of the schedules that its option names; for a request of the search, the kernel of a
 * schedule drawn by chance.  Owns nothing between jobs; runs on workers. */
#include <rkb/ext/random.h>
#include <rkb/ext/schedule.h>
#include <rkb/items.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct graph_config {
   const char *const *starts;
} graph_config_t;

typedef struct graph {
   const rkb_host_t *host;
   const graph_config_t *config;
   const rkb_schedule_api_t *schedule;
   const rkb_random_api_t *random;
} graph_t;

static int graph_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   graph_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (graph_t){host, config, host->get_extension(host, RKB_EXT_SCHEDULE),
                   host->get_extension(host, RKB_EXT_RANDOM)};
   *self = me;
   return RKB_OK;
}

static int emit(const graph_t *me, rkb_job_t job, char *source, const char *note, rkb_error_t *err) {
   int status = source ? rkb_emit_candidate(me->host, job, source, NULL, note, NULL, 0) : RKB_OK;
   me->schedule->free_text(source);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "cannot emit the candidate");
}

/* Emits a start.  made counts the starts that could be written.  A start that cannot be written ends the job
 * only if it is the last one and none was written. */
static int emit_start(const graph_t *me, rkb_job_t job, const char *name, bool last, uint32_t *made,
                      rkb_error_t *err) {
   char *source = NULL, note[96];
   int status = me->schedule->start(me->host, name, &source, err);
   if (status == RKB_ERR_LIMIT && (!last || *made)) {
      rkb_warn(me->host, "schedule '%.40s' cannot be written: %s", name, err->message);
      return RKB_OK;
   }
   if (status != RKB_OK)
      return status;
   *made += 1;
   snprintf(note, sizeof note, "from the graph: schedule '%.40s'", name);
   return emit(me, job, source, note, err);
}

static int graph_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   static const char *const fallback[] = {"suited", "fused", "together", NULL};
   const graph_t *me = self;
   const char *section = me->host->item_text(me->host, in, "section");
   const char *const *starts = me->config->starts && me->config->starts[0] ? me->config->starts : fallback;
   if (section && strcmp(section, "search") == 0) {
      rkb_random_t stream = me->random->for_job(me->host, job, 0);
      char *source = NULL;
      const int status = me->schedule->draw(me->host, &stream, &source, err);
      return status == RKB_OK ? emit(me, job, source, "from the graph: a schedule drawn by chance", err)
                              : status;
   }
   int status = RKB_OK;
   for (uint32_t i = 0, made = 0; starts[i] && status == RKB_OK; i++)
      status = emit_start(me, job, starts[i], !starts[i + 1], &made, err);
   return status;
}

static void graph_destroy(void *self) {
   free(self);
}

static const rkb_option_t options[] = {
   {.name = "starts",
    .type = RKB_OPT_STRINGS,
    .offset = offsetof(graph_config_t, starts),
    .help =
       "Schedules to start from: suited (what belongs together, with decisions that suit the bench cases), together (the same "
       "launches, plainest decisions), fused (as suited; scores between products are never stored but computed again by each launch that "
       "needs them, and only where this differs from suited), apart (every node its own launch); default: suited, fused and together."},
};

static const rkb_stage_t graph = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_TRANSLATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.translator.graph",
   .summary = "Writes first candidates from the task's reference graph.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(graph_config_t),
   .create = graph_create,
   .run = graph_run,
   .destroy = graph_destroy,
   .needs = (const char *const[]){RKB_EXT_SCHEDULE, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "graph",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&graph, NULL},
};
