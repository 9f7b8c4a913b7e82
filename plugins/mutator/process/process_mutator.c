/* rkb.mutator.process - a mutator that is the user's own program (docs/process-stages.md).
 *
 * Owns a conversation; each of its processes serves one job at a time.  Runs on workers. */
#include "process_stage/proposing.h"

static int process_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   return process_stage_create(host, config, "mutator", self, err);
}

static const rkb_stage_t process = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_MUTATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.mutator.process",
   .summary = "Makes candidates from parents with a program of yours.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(PROCESS_OPTIONS),
   .config_size = sizeof(process_config_t),
   .create = process_create,
   .run = process_stage_propose,
   .destroy = process_stage_destroy,
   .needs = (const char *const[]){RKB_EXT_CONVERSATION, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "process",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&process, NULL},
};
