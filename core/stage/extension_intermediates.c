/* Extension rkb.intermediates/1: core/task's intermediates for plugins. */
#include "stage/extensions.h"
#include "task/intermediates.h"

const rkb_intermediates_api_t RKB_INTERMEDIATES_API = {.size = sizeof RKB_INTERMEDIATES_API,
                                                       .at = rkb_task_intermediate,
                                                       .alike = rkb_task_intermediates_alike,
                                                       .give = rkb_task_give,
                                                       .fill = rkb_task_given_fill,
                                                       .expect_points = rkb_task_expect_intermediate,
                                                       .judge = rkb_task_judge_intermediate};
