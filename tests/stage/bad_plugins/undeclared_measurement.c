/* A plugin that breaks one rule: undeclared measurement. */
#include "plugin/bad_objects/common.h"
static const char *const BOTH[] = {"verdict", "measurement", NULL}, *const MEASURES[] = {"speed", NULL};
static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   rkb_measurement_t other = {
      .name = "weight", .unit = "1", .better = "", .method = "guess", .value = 1, .spread = -1};
   rkb_emit_measurement(((const stage_t *)self)->host, job, &other);
   return good_run(self, job, in, err);
}
static const rkb_stage_t BAD = {.size = sizeof(rkb_stage_t),
                                .kind = RKB_VERIFIER,
                                .id = "bad.verifier.undeclared_measurement",
                                .summary = "",
                                .accepts = CANDIDATE,
                                .emits = BOTH,
                                .measures = MEASURES,
                                .create = good_create,
                                .run = run,
                                .destroy = good_destroy};
EXPORT(BAD);
