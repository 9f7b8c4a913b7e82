/* A plugin that breaks one rule: emits wrong type. */
#include "common.h"
static const char *const LETTERS[] = {"verdict", "candidate", NULL};
static const rkb_stage_t BAD = {.size = sizeof(rkb_stage_t),
                                .kind = RKB_VERIFIER,
                                .id = "bad.verifier.emits_wrong_type",
                                .summary = "",
                                .accepts = CANDIDATE,
                                .emits = LETTERS,
                                .create = good_create,
                                .run = good_run,
                                .destroy = good_destroy};
EXPORT(BAD);
