/* Descriptors whose sizes end before needs or in the middle of it: needs must not be read. */
#include "plugin/bad_objects/common.h"

#define SHORT(name, bytes)                                                                                   \
   {                                                                                                         \
      STAGE_SIZED(name, bytes), .create = good_create, .run = good_run, .destroy = good_destroy,             \
                                .needs = (const char *const *)(uintptr_t)8                                   \
   }
static const rkb_stage_t ENDS_BEFORE = SHORT("ends_before", offsetof(rkb_stage_t, needs));
static const rkb_stage_t ENDS_INSIDE = SHORT("ends_inside", offsetof(rkb_stage_t, needs) + 4);
static const rkb_stage_t *const STAGES[] = {&ENDS_BEFORE, &ENDS_INSIDE, NULL};
RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, .name = "short_descriptor", .version = "1",
                                                  .stages = STAGES};
