/* A plugin that breaks one rule: wrong id. */
#include "common.h"
static const rkb_stage_t BAD = {.size = sizeof(rkb_stage_t),
                                .kind = RKB_VERIFIER,
                                .id = "bad.profiler.wrong_id",
                                .summary = "",
                                .accepts = CANDIDATE,
                                .emits = VERDICT,
                                .create = good_create,
                                .run = good_run,
                                .destroy = good_destroy};
EXPORT(BAD);
