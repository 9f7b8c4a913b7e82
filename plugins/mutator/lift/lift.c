/* rkb.mutator.lift - structural edits of a kernel that has no schedule: each a rewrite of its syntax tree (core/lift).
 *
 * A request whose rewrite is refused stays empty; the log says which condition did not hold.  Owns nothing between jobs; runs on workers. */
#include <rkb/ext/lift.h>
#include <rkb/ext/random.h>
#include <rkb/items.h>
#include <stdlib.h>

typedef struct lift_config {
   const char *rewrite;
} lift_config_t;

typedef struct mutator {
   const rkb_host_t *host;
   const lift_config_t *config;
   const rkb_lift_api_t *lift;
   const rkb_random_api_t *random;
} mutator_t;

static int lift_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   mutator_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (mutator_t){host, config, host->get_extension(host, RKB_EXT_LIFT), host->get_extension(host, RKB_EXT_RANDOM)};
   *self = me;
   return RKB_OK;
}

static int lift_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const mutator_t *me = self;
   const rkb_item_t *parent = me->host->item_reference(me->host, in, "parent", 0);
   char *child = NULL, note[400] = "";
   if (!parent)
      return rkb_fail(err, RKB_ERR_INVALID, "a structural edit needs a parent");
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   int status = me->lift->rewrite(me->host, job, &stream, me->config->rewrite, me->host->item_text(me->host, parent, "source"), &child,
                                  note, sizeof note, err);
   if (status != RKB_OK)
      return status;
   if (!child) {
      RKB_LOG(me->host, RKB_LOG_DEBUG, "refused: %s", note);
      return RKB_OK;
   }
   status = rkb_emit_candidate(me->host, job, child, me->host->item_json(me->host, parent, "tune"), note, &parent, 1);
   me->lift->free_text(child);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "cannot emit the candidate");
}

static void lift_destroy(void *self) {
   free(self);
}

static const rkb_option_t options[] = {
   {.name = "rewrite",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(lift_config_t, rewrite),
    .fallback = "any",
    .choices = (const char *const[]){"any", "select_load", "uniform_exit", "stage_tile", "register_tile",
                                     "split_reduction", "vector_copy", "vector_access", "double_buffer",
                                     "join_launches", "block_to_warp", "warp_to_block", NULL},
    .help = "Which rewrite to make; any: one of those that hold, drawn at random."},
};

static const rkb_stage_t lift = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_MUTATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.mutator.lift",
   .summary = "Rewrites a kernel's structure on its syntax tree, where that provably computes the same.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(lift_config_t),
   .create = lift_create,
   .run = lift_run,
   .destroy = lift_destroy,
   .needs = (const char *const[]){RKB_EXT_LIFT, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "lift",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&lift, NULL},
};
