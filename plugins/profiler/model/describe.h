/* Puts the model's findings into words and JSON.  Pure; any thread. */
#ifndef MODEL_DESCRIBE_H
#define MODEL_DESCRIBE_H

#include <jansson.h>
#include "roofline.h"

/* Writes a sentence like "global memory, 62 % of peak; 31 % of sectors wasted by stride-2 loads at line 41". */
void describe_launch(const launch_time_t *time, const rkb_launch_counters_t *counters, char *out,
                     size_t size);

/* One launch as a JSON object: kernel, us, limiter, parts_us, occupancy, waves, memory_bytes, sentence, advice
 * (shared/advice.h).  Owned; NULL when memory is out. */
json_t *describe_launch_json(const rkb_plan_launch_t *launch, const launch_time_t *time,
                             const rkb_launch_counters_t *counters);

#endif
