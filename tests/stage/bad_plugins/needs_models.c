/* A plugin that needs models, and the pipeline lists none. */
#include "plugin/bad_objects/common.h"
#include <rkb/ext/llm.h>
static const rkb_stage_t BAD = {STAGE_HEAD("needs_models"), .create = good_create, .run = good_run,
                                .destroy = good_destroy, .needs = (const char *const[]){RKB_EXT_LLM, NULL}};
EXPORT(BAD);
