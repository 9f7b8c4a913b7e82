/* A plugin that breaks one rule: garbage options. */
#include "common.h"
#include <stddef.h>
typedef struct config {
   int64_t one;
} config_t;
static const rkb_option_t OPTIONS[] = {
   {.name = "one", .type = RKB_OPT_INT, .offset = 4096, .help = "Far outside."}};
static const rkb_stage_t BAD = {
   STAGE_HEAD("garbage_options"), RKB_OPTIONS(OPTIONS), .config_size = sizeof(config_t),
   .create = good_create,         .run = good_run,      .destroy = good_destroy};
EXPORT(BAD);
