/* The `schedule:` block of a manifest: prints schedules and reads them.  Pure functions. */
#ifndef RKB_GENERATOR_SCHEDULE_BLOCK_H
#define RKB_GENERATOR_SCHEDULE_BLOCK_H

#include "base/text.h"
#include "base/yaml.h"
#include "generator/graph/schedule.h"

/* Appends the `schedule:` block of a manifest, each line after "   ". */
void rkb_schedule_print(const rkb_graph_t *graph, const rkb_schedule_t *schedule, rkb_text_t *out);
/* The list of launches in a kernel's `schedule:` block of the current version; NULL: it has none.  Lives in
 * the arena. */
const rkb_yaml_t *rkb_schedule_launches(rkb_arena_t *arena, const char *source);
/* Reads the schedule from a kernel's text.  RKB_ERR_INVALID: the text has none (a person wrote or edited it),
 * or one of another graph. */
int rkb_schedule_parse(const rkb_graph_t *graph, const char *source, rkb_schedule_t *schedule,
                       rkb_error_t *err);

#endif
